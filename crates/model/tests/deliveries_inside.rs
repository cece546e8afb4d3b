//! Deliveries without the middleware: through ring buffers of a process, by the addresses of messages, and by Agnocast's shared memory.

use rostrace_model::flow::DeliveryKind::Intra;
use rostrace_model::flow::DeliveryStatus::{Delivered, Overwritten, Queued, Unknown};
use rostrace_model::flow::{Fate, Match};

use rostrace_testkit::made_up::{Flavour, Recording, deliveries};

#[test]
fn a_ring_buffer_carries_messages_by_slot() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 1, false);
    recording
        .thread(101)
        .receive_intra(0x33, 0, 0x41)
        .receive_intra(0x33, 1, 0x41);
    let model = recording.load();
    assert_eq!(
        deliveries(&model),
        [(0, 0, Delivered, Some(0)), (1, 0, Delivered, Some(1))]
    );
    assert!(
        model
            .deliveries
            .iter()
            .all(|d| (d.by, d.kind) == (Match::RingBuffer, Intra))
    );
    assert_eq!(model.instances[0].source.unwrap().0, 0);
}

#[test]
fn a_full_ring_buffer_overwrites_and_what_is_left_at_the_end_is_queued() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    for (index, overwritten) in [(0, false), (1, false), (0, true)] {
        recording
            .intra_publish(0x20, 0x7)
            .enqueue(0x33, index, overwritten);
    }
    recording.receive_intra(0x33, 1, 0x41);
    recording.go_on();
    let model = recording.load();
    let status = model.deliveries.iter().map(|row| row.status);
    let status: Vec<_> = status.collect();
    assert_eq!(status, [Overwritten, Delivered, Queued]);
}

#[test]
fn a_ring_buffer_that_is_made_again_has_nothing_of_the_old_one() {
    for caret in [false, true] {
        let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
        recording.caret = caret;
        recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
        recording
            .intra_subscription(0x30, 0x10, "/b", 0x40, 2)
            .publisher(0x20, 0x10, "/b");
        recording
            .intra_publish(0x20, 0x8)
            .enqueue(0x33, 0, false)
            .receive_intra(0x33, 0, 0x41);
        let model = recording.load();
        let fates: Vec<_> = model.enqueues.iter().map(|enqueue| enqueue.fate).collect();
        assert_eq!(fates[0], Fate::Queued, "{caret}");
        assert!(matches!(fates[1], Fate::Delivered(_)), "{caret}");
    }
}

#[test]
fn a_ring_buffer_that_caret_tells_of_again_keeps_its_messages() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    recording
        .intra_publish(0x20, 0x7)
        .enqueue(0x33, 0, false)
        .by_caret();
    recording
        .wait(1_000_000)
        .replaying(Some(1_005_000))
        .ring_buffer(0x33, 2);
    recording.receive_intra(0x33, 0, 0x41);
    assert!(matches!(
        recording.load().enqueues[0].fate,
        Fate::Delivered(_)
    ));
}

#[test]
fn a_late_joiner_of_the_own_process_gets_messages_of_no_current_publication() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
    recording
        .intra_subscription(0x130, 0x10, "/a", 0x140, 2)
        .enqueue(0x133, 0, false);
    recording.receive_intra(0x133, 0, 0x141);
    recording.go_on();
    let model = recording.load();
    assert_eq!(model.enqueues[1].publication, None);
    assert_eq!(model.instances[0].source, None);
    assert_eq!(deliveries(&model), [(0, 0, Queued, None)]);
}

#[test]
fn a_message_that_came_inside_the_process_is_not_delivered_again_by_the_middleware() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    recording
        .intra_publish(0x20, 0x7)
        .enqueue(0x33, 0, false)
        .publish(0x20, 0x7, 5);
    recording
        .thread(101)
        .execute(0x30)
        .rmw_take(0x30, 0x9, 5)
        .get_next_ready();
    recording.receive_intra(0x33, 0, 0x41);
    let model = recording.load();
    assert_eq!(deliveries(&model), [(0, 0, Delivered, Some(0))]);
    assert_eq!(model.deliveries[0].kind, Intra);
    assert_eq!(model.takes[0].instance, None);
    assert_eq!(model.instances[0].take, None);
}

#[test]
fn a_callback_of_another_subscription_does_not_get_what_was_fetched() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    recording.intra_subscription(0x130, 0x10, "/b", 0x140, 2);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
    recording
        .dequeue(0x33, 0)
        .start_with(0x141, true)
        .end(0x141);
    let model = recording.load();
    assert_eq!(deliveries(&model), [(0, 0, Unknown, None)]);
    assert_eq!(model.instances[0].source, None);
}

#[test]
fn the_humble_fork_ties_messages_by_their_address_through_all_copies() {
    let mut recording = Recording::talker_to_itself(Flavour::HumbleFork);
    recording
        .intra_publish(0x20, 0x7)
        .construct(0x7, 0x8)
        .construct(0x8, 0x9);
    recording
        .thread(101)
        .dispatch_intra(0x41, 0x9)
        .start_with(0x41, true)
        .end(0x41);
    let model = recording.load();
    assert_eq!(deliveries(&model), [(0, 0, Delivered, Some(0))]);
    assert_eq!(model.deliveries[0].by, Match::MessageAddress);
}

#[test]
fn a_copy_of_an_unknown_message_at_a_known_address_is_unknown() {
    let mut recording = Recording::talker_to_itself(Flavour::HumbleFork);
    recording.intra_publish(0x20, 0x7).construct(0x99, 0x7);
    recording
        .dispatch_intra(0x41, 0x7)
        .start_with(0x41, true)
        .end(0x41);
    let model = recording.load();
    assert_eq!(model.instances[0].source, None);
    assert_eq!(model.deliveries[0].status, Unknown);
}

#[test]
fn agnocast_ties_messages_by_their_number_in_the_topic() {
    use rostrace_testkit::made_up::Payload::*;
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    let text = |text: &str| Text(text.to_owned());
    for (handle, topic) in [(0x20, "/a"), (0x21, "/b")] {
        recording.event(
            "agnocast:agnocast_publisher_init",
            &[
                ("publisher_handle", Pointer(handle)),
                ("node_handle", Pointer(0x10)),
                ("topic_name", text(topic)),
                ("queue_depth", Unsigned(1)),
            ],
        );
    }
    recording.event(
        "agnocast:agnocast_subscription_init",
        &[
            ("subscription_handle", Pointer(0x30)),
            ("node_handle", Pointer(0x10)),
            ("callback", Pointer(0x40)),
            ("callback_group", Pointer(0x90)),
            ("symbol", text("on_a")),
            ("topic_name", text("/a")),
            ("queue_depth", Unsigned(1)),
            ("pid_ciid", Unsigned(77)),
        ],
    );
    for (publisher, entry) in [(0x21, 1), (0x20, 1), (0x20, 2)] {
        let fields = [
            ("publisher_handle", Pointer(publisher)),
            ("entry_id", Signed(entry)),
        ];
        recording.event("agnocast:agnocast_publish", &fields);
    }
    recording.thread(101).event(
        "agnocast:agnocast_create_callable",
        &[
            ("callable", Pointer(0x500)),
            ("entry_id", Signed(1)),
            ("pid_ciid", Unsigned(77)),
        ],
    );
    recording.event(
        "agnocast:agnocast_callable_start",
        &[("callable", Pointer(0x500))],
    );
    recording.event(
        "agnocast:agnocast_callable_end",
        &[("callable", Pointer(0x500))],
    );
    recording.go_on();
    let model = recording.load();
    assert_eq!(model.instances[0].source.unwrap().0, 1);
    assert!(model.instances[0].end.is_some());
    assert_eq!(rostrace_testkit::made_up::owners(&model), ["/a_agnocast"]);
    let rows = model.deliveries.iter();
    let rows: Vec<_> = rows.map(|d| (d.publication.0, d.status, d.by)).collect();
    assert_eq!(
        rows,
        [(1, Delivered, Match::Entry), (2, Queued, Match::Nothing)]
    );
}
