//! Lifecycles, annotations, other providers, and events that nobody knows.

use rostrace_model::entity::Address;
use rostrace_model::flow::MessageSizeOf;
use rostrace_tracepoints::Kind;

use rostrace_testkit::made_up::Payload::*;
use rostrace_testkit::made_up::{Recording, owners, time};

#[test]
fn lifecycle_transitions_become_states_from_the_creation_on() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .at(5_000_000)
        .state_machine(0x15, 0x10);
    recording
        .node(0x11, "/other")
        .state_machine(0x16, 0x11)
        .at(6_000_000);
    recording.transition(0x15, "unconfigured", "configuring");
    recording.transition(0x15, "configuring", "inactive");
    let model = recording.load();
    let nodes = model.state_machines.iter().map(|m| model.node_name(m.node));
    let nodes: Vec<_> = nodes.collect();
    assert_eq!(nodes, [Some("/n"), Some("/other")]);
    let states: Vec<_> = (model.lifecycle_states.iter())
        .map(|state| {
            (
                state.state_machine.0,
                state.state.as_str(),
                state.begin,
                state.end,
            )
        })
        .collect();
    let (a, b) = (time(6_000_000), time(6_001_000));
    assert_eq!(
        states,
        [
            (0, "unconfigured", time(5_000_000), Some(a)),
            (0, "configuring", a, Some(b)),
            (0, "inactive", b, None),
            (1, "unconfigured", time(5_002_000), None),
        ]
    );
}

#[test]
fn a_state_machine_at_a_used_address_is_that_of_the_later_node() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app");
    for node in ["/first", "/second"] {
        recording.node(0x10, node).state_machine(0x15, 0x10);
        recording.transition(0x15, "unconfigured", "configuring");
    }
    let model = recording.load();
    let machines = model.transitions.iter().map(|t| t.state_machine.unwrap().0);
    let machines: Vec<_> = machines.collect();
    assert_eq!(machines, [0, 1]);
}

#[test]
fn a_transition_of_an_unknown_machine_is_kept_without_a_state() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .transition(0x15, "inactive", "activating");
    let model = recording.load();
    assert_eq!(model.transitions.len(), 1);
    assert!(model.lifecycle_states.is_empty());
}

#[test]
fn message_links_keep_their_handles() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app");
    let fields = [
        ("subs", Pointers(vec![0x30, 0x31])),
        ("pubs", Pointers(vec![0x20])),
    ];
    recording.event("ros2:message_link_periodic_async", &fields);
    recording.event("ros2:message_link_partial_sync", &fields);
    let model = recording.load();
    let partial = model.message_links.iter().map(|link| link.partial_sync);
    let partial: Vec<_> = partial.collect();
    assert_eq!(partial, [false, true]);
    assert_eq!(
        model.message_links[0].subscriptions,
        [Address(0x30), Address(0x31)]
    );
    assert_eq!(model.message_links[1].publishers, [Address(0x20)]);
}

#[test]
fn simulated_time_is_related_to_the_time_of_the_trace() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "clock")
        .at(5_000_000)
        .event("ros2_caret:sim_time", &[("stamp", Unsigned(77))]);
    let model = recording.load();
    assert_eq!(
        (model.sim_times[0].time, model.sim_times[0].simulated),
        (time(5_000_000), 77)
    );
}

#[test]
fn a_timer_by_the_clock_of_ros_is_simulated_where_time_is() {
    let mut recording = Recording::jazzy();
    for (pid, has_time) in [(100, true), (101, false)] {
        recording.process(pid, "timers").context(0x1);
        recording
            .node(0x10, "/n")
            .timer(0x20, 0x10, 20_000_000, 0x30)
            .timer(0x21, 0x10, 20_000_000, 0x31);
        for (timer, clock) in [(0x20, 1), (0x21, 3)] {
            recording.event(
                "rostrace:rcl_timer_clock",
                &[
                    ("timer_handle", Pointer(timer)),
                    ("clock_type", Unsigned(clock)),
                ],
            );
        }
        if has_time {
            recording.event("ros2_caret:sim_time", &[("stamp", Unsigned(77))]);
        }
    }
    let timers = recording.load().timers;
    let simulated: Vec<bool> = timers.iter().map(|timer| timer.simulated).collect();
    assert_eq!(simulated, [true, false, false, false]);
    assert_eq!(timers[0].system_period(), None);
}

#[test]
fn of_several_processes_one_tells_the_simulated_time() {
    let mut recording = Recording::jazzy();
    for (pid, at, stamp) in [(100, 5, 50), (101, 6, 50), (100, 7, 60), (101, 8, 50)] {
        recording
            .process(pid, "simulated")
            .at(at * 1_000_000)
            .event("ros2_caret:sim_time", &[("stamp", Unsigned(stamp))]);
    }
    let notes = recording.load().sim_times;
    let stamps: Vec<u64> = notes.iter().map(|note| note.simulated).collect();
    assert_eq!(stamps, [50, 60]);
}

#[test]
fn events_of_tilde_and_r2r_are_known_by_their_kind() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app");
    recording.event(
        "ros2_caret:tilde_subscribe",
        &[
            ("subscription", Pointer(1)),
            ("tilde_message_id", Unsigned(5)),
        ],
    );
    recording.event(
        "ros2_caret:tilde_publish",
        &[
            ("publisher", Pointer(1)),
            ("tilde_publish_timestamp", Unsigned(5)),
            ("subscription_id", Pointer(2)),
            ("tilde_message_id", Unsigned(6)),
        ],
    );
    recording.event("r2r:spin_wake", &[("node_handle", Pointer(0x10))]);
    let model = recording.load();
    for kind in [Kind::TildeSubscribe, Kind::TildePublish, Kind::R2rSpinWake] {
        assert_eq!(model.count(kind), 1, "{kind:?}");
    }
    let messages: Vec<u64> = model.tilde_steps.iter().map(|it| it.message_id).collect();
    assert_eq!(messages, [5, 6]);
    // Nobody told what they belong to.
    assert!(
        model
            .tilde_steps
            .iter()
            .all(|it| it.endpoint.is_none() && it.publication.is_none())
    );
}

#[test]
fn the_same_event_in_two_shapes_is_read_in_both() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .timer(0x50, 0x10, 10, 0x60)
        .run(0x60);
    // From another distribution, with a field of the future and the others in another order.
    recording.event(
        "ros2:callback_start",
        &[
            ("mood", Text("good".to_owned())),
            ("is_intra_process", Flag(false)),
            ("callback", Pointer(0x60)),
        ],
    );
    recording.end(0x60);
    assert_eq!(owners(&recording.load()), ["timer 10", "timer 10"]);
}

#[test]
fn a_callback_without_its_flag_is_not_intra_process() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .event("ros2:callback_start", &[("callback", Pointer(0x60))]);
    let model = recording.load();
    assert!(!model.instances[0].intra_process);
}

#[test]
fn a_trace_without_anything_of_ros_is_an_empty_model() {
    let mut recording = Recording::jazzy();
    recording.process(0, "swapper").event(
        "sched_switch",
        &[("prev_tid", Signed(1)), ("next_tid", Signed(2))],
    );
    let model = recording.load();
    assert_eq!(model.events, 1);
    assert!(model.nodes.is_empty() && model.instances.is_empty() && model.publications.is_empty());
    assert!(model.deliveries.is_empty() && model.requests.is_empty());
}

#[test]
fn a_trace_without_events_is_an_empty_model() {
    let mut recording = Recording::jazzy();
    recording.lose(1_000, 2_000);
    let model = recording.load();
    assert_eq!((model.events, model.begin, model.end), (0, None, None));
}

#[test]
fn sizes_of_serialised_messages_belong_to_who_sent_and_received_them() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1).node(0x2, "/n");
    recording.publisher(0x10, 0x2, "/a");
    recording.subscription(0x20, 0x2, "/a", 0x30);
    for (event, field, handle) in [
        ("rmw_publish_serialized", "rmw_publisher_handle", 0x10),
        ("rmw_take_serialized", "rmw_subscription_handle", 0x20),
    ] {
        let fields = [
            (field, Pointer(rostrace_testkit::made_up::rmw(handle))),
            ("message", Pointer(0x5000)),
            ("size", Unsigned(345)),
        ];
        recording.event(&format!("rostrace:{event}"), &fields);
    }
    let model = recording.load();
    let known: Vec<(u64, bool)> = model
        .message_sizes
        .iter()
        .map(|size| {
            let named = match size.by {
                MessageSizeOf::Publisher(_, id) => id.is_some(),
                MessageSizeOf::Subscription(_, id) => id.is_some(),
            };
            (size.bytes, named)
        })
        .collect();
    assert_eq!(known, [(345, true), (345, true)]);
}
