//! Who is who: addresses are used again, and the same ones mean others on another host.

use rostrace_model::entity::{CallbackGroupType, ProcessId};

use rostrace_testkit::made_up::{Recording, node_names, owners, publisher_nodes, topics};

#[test]
fn a_node_at_a_used_address_is_another_node_and_keeps_its_own_entities() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1);
    recording.node(0x10, "/first").publisher(0x20, 0x10, "/a");
    recording.node(0x10, "/second").publisher(0x21, 0x10, "/b");
    let model = recording.load();
    assert_eq!(node_names(&model), ["/first", "/second"]);
    assert_eq!(publisher_nodes(&model), [Some("/first"), Some("/second")]);
}

#[test]
fn a_publisher_at_a_used_address_takes_over_the_publications_from_then_on() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .publisher(0x20, 0x10, "/a");
    recording.publish(0x20, 0x7, 1);
    recording.publisher(0x20, 0x10, "/b").publish(0x20, 0x7, 2);
    let model = recording.load();
    assert_eq!(topics(&model), [Some("/a"), Some("/b")]);
    assert_eq!(model.publishers[0].ended, Some(model.publishers[1].created));
    assert_eq!(model.publishers[1].ended, None);
}

#[test]
fn a_subscription_at_a_used_address_takes_over_the_messages_from_then_on() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    recording
        .subscription(0x30, 0x10, "/a", 0x40)
        .receive(0x30, 1, 0x40);
    recording
        .subscription(0x30, 0x10, "/b", 0x40)
        .receive(0x30, 2, 0x40);
    let model = recording.load();
    assert_eq!(owners(&model), ["/a", "/b"]);
    let takes = model.takes.iter().map(|take| take.subscription.unwrap().0);
    let takes: Vec<_> = takes.collect();
    assert_eq!(takes, [0, 1]);
    assert_eq!(
        model.subscriptions[0].ended,
        Some(model.subscriptions[1].created)
    );
}

#[test]
fn a_timer_at_a_used_address_is_another_timer() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    recording.timer(0x50, 0x10, 10, 0x60).run(0x60);
    recording.timer(0x50, 0x10, 20, 0x61).run(0x61);
    let model = recording.load();
    assert_eq!(owners(&model), ["timer 10", "timer 20"]);
}

#[test]
fn a_callback_address_may_be_used_again_by_a_callback_of_another_kind() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    recording.timer(0x50, 0x10, 10, 0x60).run(0x60);
    recording.subscription(0x30, 0x10, "/a", 0x60).run(0x60);
    recording.service(0x70, 0x10, "/s", 0x60).run(0x60);
    let model = recording.load();
    assert_eq!(owners(&model), ["timer 10", "/a", "/s"]);
    assert_eq!(model.callbacks.len(), 3);
}

#[test]
fn a_ring_buffer_at_a_used_address_belongs_to_the_later_subscription() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .publisher(0x20, 0x10, "/a")
        .publisher(0x21, 0x10, "/b");
    recording.intra_subscription(0x30, 0x10, "/a", 0x40, 2);
    recording
        .intra_publish(0x20, 0x7)
        .enqueue(0x33, 0, false)
        .receive_intra(0x33, 0, 0x41);
    recording.intra_subscription(0x30, 0x10, "/b", 0x40, 2);
    recording
        .intra_publish(0x21, 0x8)
        .enqueue(0x33, 0, false)
        .receive_intra(0x33, 0, 0x41);
    let model = recording.load();
    assert_eq!(owners(&model), ["/a", "/b"]);
}

#[test]
fn a_group_at_a_used_address_is_another_group_when_its_callbacks_are_of_another_node() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .by_caret()
        .executor(0xe, 0xec, "single_threaded_executor");
    recording
        .node(0x10, "/first")
        .timer(0x50, 0x10, 10, 0x60)
        .group_timer(0x90, 0x50);
    recording.group_to_collector(0xec, 0x90, "mutually_exclusive");
    recording
        .node(0x11, "/second")
        .timer(0x51, 0x11, 20, 0x61)
        .group_timer(0x90, 0x51);
    recording.group_to_collector(0xec, 0x90, "reentrant");
    let model = recording.load();
    let kinds = model.callback_groups.iter().map(|group| group.kind);
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(
        kinds,
        [
            CallbackGroupType::MutuallyExclusive,
            CallbackGroupType::Reentrant
        ]
    );
    let sizes = model.callback_groups.iter();
    let sizes: Vec<_> = sizes.map(|group| group.callbacks.len()).collect();
    assert_eq!(sizes, [1, 1]);
}

#[test]
fn a_group_that_is_given_to_its_executor_before_it_has_callbacks_is_the_new_one() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").by_caret();
    recording
        .executor(0xe, 0xec, "single_threaded_executor")
        .executor(0xf, 0xfc, "multi_threaded_executor");
    recording
        .node(0x10, "/first")
        .timer(0x50, 0x10, 10, 0x60)
        .group_timer(0x90, 0x50);
    recording.group_to_collector(0xec, 0x90, "mutually_exclusive");
    recording
        .node(0x11, "/second")
        .group_to_collector(0xfc, 0x90, "mutually_exclusive");
    recording
        .timer(0x51, 0x11, 20, 0x61)
        .group_timer(0x90, 0x51);
    let model = recording.load();
    let executors = model.callback_groups.iter();
    let executors: Vec<_> = executors.map(|g| g.executor.map(|e| e.0)).collect();
    assert_eq!(executors, [Some(0), Some(1)]);
    let kinds = model.callback_groups.iter().map(|group| group.kind);
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds, [CallbackGroupType::MutuallyExclusive; 2]);
}

#[test]
fn the_same_pids_and_addresses_on_two_hosts_are_different_things() {
    let mut recording = Recording::jazzy();
    for (host, topic) in [("left", "/l"), ("right", "/r")] {
        recording
            .host(host)
            .process(100, "app")
            .node(0x10, &format!("/{host}"));
        recording.subscription(0x30, 0x10, topic, 0x40);
    }
    recording.host("left").receive(0x30, 1, 0x40);
    recording.host("right").receive(0x30, 2, 0x40);
    let model = recording.load();
    assert_eq!(node_names(&model), ["/left", "/right"]);
    assert_eq!(owners(&model), ["/l", "/r"]);
    let hosts: Vec<_> = (0..2).map(|p| model.host_name(ProcessId(p))).collect();
    assert_eq!(hosts, ["left", "right"]);
}

#[test]
fn what_happens_before_the_first_entity_at_an_address_is_not_its() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").run(0x60);
    recording
        .node(0x10, "/n")
        .timer(0x50, 0x10, 10, 0x60)
        .run(0x60);
    assert_eq!(owners(&recording.load()), ["nobody", "timer 10"]);
}
