//! Initialisation as it is announced: in any order, by ros2_tracing or CARET or both, early, late, again, or not at all.

use rostrace_model::entity::CallbackOwner;

use rostrace_testkit::made_up::{
    Flavour, Recording, node_names, owner, owners, publisher_nodes, time,
};

#[test]
fn a_twin_gets_its_callback_before_it_is_tied_to_its_subscription() {
    for flavour in [
        Flavour::HumbleFork,
        Flavour::Iron,
        Flavour::Jazzy,
        Flavour::Lyrical,
    ] {
        let mut recording = Recording::new(flavour, "robot");
        recording.process(100, "app").node(0x10, "/n");
        recording
            .intra_subscription(0x30, 0x10, "/a", 0x40, 1)
            .run(0x40);
        recording.start_with(0x41, true).end(0x41);
        let model = recording.load();
        assert_eq!(owners(&model), ["/a", "/a"], "{flavour:?}");
        assert_eq!(model.callbacks.len(), 1, "{flavour:?}");
        let addresses: Vec<u64> = model.callbacks[0].addresses.iter().map(|a| a.0).collect();
        assert_eq!(addresses, [0x40, 0x41], "{flavour:?}");
        assert!(model.subscriptions[0].intra_process, "{flavour:?}");
    }
}

#[test]
fn up_to_iron_the_rosout_publisher_comes_before_its_node() {
    let mut recording = Recording::new(Flavour::Iron, "robot");
    recording.process(100, "app").context(0x1);
    recording
        .publisher(0x20, 0x10, "/rosout")
        .node(0x10, "/first");
    recording
        .wait(500)
        .publisher(0x21, 0x10, "/rosout")
        .wait(2000)
        .node(0x10, "/second");
    let model = recording.load();
    assert_eq!(publisher_nodes(&model), [Some("/first"), Some("/second")]);
}

#[test]
fn from_jazzy_on_the_rosout_publisher_comes_after_its_node() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1);
    recording
        .node(0x10, "/first")
        .wait(5000)
        .publisher(0x20, 0x10, "/rosout");
    recording
        .node(0x10, "/second")
        .wait(5000)
        .publisher(0x21, 0x10, "/rosout");
    let model = recording.load();
    assert_eq!(publisher_nodes(&model), [Some("/first"), Some("/second")]);
}

#[test]
fn without_initialisation_callbacks_and_publishers_keep_their_addresses_and_get_no_names() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .rmw_take(0x30, 0x7, 5)
        .start(0x40)
        .publish(0x20, 0x8, 6)
        .end(0x40);
    let model = recording.load();
    assert!(model.nodes.is_empty() && model.callbacks.is_empty() && model.publishers.is_empty());
    assert_eq!(model.instances[0].address.0, 0x40);
    assert_eq!(model.instances[0].callback, None);
    assert_eq!(model.publications[0].handle.0, 0x20);
    assert_eq!(model.publications[0].publisher, None);
    assert_eq!(model.takes[0].subscription, None);
    assert!(model.deliveries.is_empty());
}

#[test]
fn an_entity_that_both_providers_announce_is_one() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app");
    for _ in 0..2 {
        recording.by_caret().context(0x1).by_ros2().context(0x1);
        recording
            .by_caret()
            .node(0x10, "/n")
            .by_ros2()
            .node(0x10, "/n");
        recording
            .by_caret()
            .publisher(0x20, 0x10, "/a")
            .by_ros2()
            .publisher(0x20, 0x10, "/a");
        recording.by_caret().subscription(0x30, 0x10, "/a", 0x40);
        recording.by_ros2().subscription(0x30, 0x10, "/a", 0x40);
        recording
            .by_caret()
            .timer(0x50, 0x10, 10, 0x60)
            .by_ros2()
            .timer(0x50, 0x10, 10, 0x60);
        recording.run(0x60).wait(1_000_000_000);
    }
    let model = recording.load();
    // Everything was made twice, and each time announced twice.
    assert_eq!(node_names(&model), ["/n", "/n"]);
    assert_eq!(
        (
            model.publishers.len(),
            model.subscriptions.len(),
            model.timers.len()
        ),
        (2, 2, 2)
    );
    assert_eq!(model.callbacks.len(), 4);
    let instances = model.instances.iter().map(|i| i.callback.unwrap().0);
    let instances: Vec<_> = instances.collect();
    assert_eq!(instances, [1, 3]);
    assert_eq!(
        model.processes[0].tracetools_version.as_deref(),
        Some("8.2.3")
    );
}

#[test]
fn what_caret_repeats_when_recording_begins_is_known_from_its_original_time() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").by_caret().at(10_000_000);
    recording
        .node(0x10, "/n")
        .timer(0x50, 0x10, 10, 0x60)
        .run(0x60);
    // The same again, a second later and in another order.
    recording
        .at(1_010_001_000)
        .replaying(Some(1_000_000_000))
        .timer(0x50, 0x10, 10, 0x60);
    recording
        .at(1_010_000_000)
        .thread(101)
        .node(0x10, "/n")
        .run(0x60);
    let model = recording.load();
    assert_eq!(node_names(&model), ["/n"]);
    assert_eq!((model.timers.len(), model.callbacks.len()), (1, 1));
    assert_eq!(model.timers[0].node.unwrap().0, 0);
    assert_eq!(model.timers[0].created, time(10_001_000));
    assert_eq!(owners(&model), ["timer 10", "timer 10"]);
}

#[test]
fn a_clock_that_does_not_count_nanoseconds_is_related_to_caret_by_its_offset() {
    let mut recording = Recording::jazzy();
    recording.frequency = 10_000_000;
    // Only the caret_init tells what CARET's clock shows: seven seconds more than the trace's.
    let caret = |at: u64| at + 7_000_000_000;
    recording
        .process(100, "app")
        .by_caret()
        .at(2_000_000_000)
        .caret_init(caret(2_000_000_000), "jazzy");
    let fields = [
        (
            "timer_handle",
            rostrace_testkit::made_up::Payload::Pointer(0x50),
        ),
        ("period", rostrace_testkit::made_up::Payload::Signed(10)),
        (
            "init_timestamp",
            rostrace_testkit::made_up::Payload::Signed(caret(1_500_000_000) as i64),
        ),
    ];
    recording.event("ros2_caret:rcl_timer_init", &fields);
    let model = recording.load();
    assert_eq!(model.timers[0].created, time(1_500_000_000));
}

#[test]
fn an_init_timestamp_of_a_nanosecond_clock_is_the_traces_own() {
    let mut recording = Recording::jazzy();
    // The caret_init is written 40 µs after it read the clock: that is no offset of the clocks.
    recording
        .process(100, "app")
        .by_caret()
        .at(2_000_000_000)
        .caret_init(1_999_960_000, "jazzy");
    recording.replaying(Some(500_000_000)).node(0x10, "/n");
    let model = recording.load();
    assert_eq!(model.nodes[0].created, time(1_500_001_000));
    assert_eq!(model.processes[0].distribution.unwrap().name(), "Jazzy");
}

#[test]
fn an_init_event_without_its_optional_fields_still_counts() {
    let mut recording = Recording::jazzy();
    let pointer = rostrace_testkit::made_up::Payload::Pointer;
    let text = |text: &str| rostrace_testkit::made_up::Payload::Text(text.to_owned());
    recording
        .process(100, "app")
        .event("ros2:rcl_init", &[("context_handle", pointer(1))]);
    recording.event(
        "ros2:rcl_node_init",
        &[("node_handle", pointer(0x10)), ("node_name", text("n"))],
    );
    recording.event(
        "ros2_caret:caret_init",
        &[(
            "clock_offset",
            rostrace_testkit::made_up::Payload::Signed(5),
        )],
    );
    recording.event(
        "ros2:rcl_publisher_init",
        &[
            ("publisher_handle", pointer(0x20)),
            ("topic_name", text("/a")),
            ("news", text("of 2030")),
        ],
    );
    let model = recording.load();
    assert_eq!(node_names(&model), ["/n"]);
    assert_eq!(model.publishers[0].node, None);
    assert_eq!(model.processes[0].distribution, None);
}

#[test]
fn a_mangled_symbol_is_shown_as_people_wrote_it() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .subscription(0x30, 0x10, "/a", 0x40);
    recording.symbol(0x40, "_ZN4Node8callbackEv");
    assert_eq!(
        recording.load().callbacks[0].symbol.as_deref(),
        Some("Node::callback()")
    );
}

#[test]
fn a_service_that_adopts_a_foreign_handle_has_a_callback_of_unknown_owner() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n").init(
        "rclcpp_service_callback_added",
        &[
            (
                "service_handle",
                rostrace_testkit::made_up::Payload::Pointer(0x70),
            ),
            (
                "callback",
                rostrace_testkit::made_up::Payload::Pointer(0x40),
            ),
        ],
    );
    recording.run(0x40);
    let model = recording.load();
    assert_eq!(model.callbacks[0].owner, CallbackOwner::Unknown);
    assert_eq!(owner(&model, model.instances[0].callback), "unknown");
}

#[test]
fn the_service_of_a_node_for_descriptions_of_types_is_adopted_under_another_handle() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .service(0x70, 0x10, "/n/get_parameters", 0x40)
        .init(
            "rcl_service_init",
            &[
                (
                    "service_handle",
                    rostrace_testkit::made_up::Payload::Pointer(0x18),
                ),
                (
                    "node_handle",
                    rostrace_testkit::made_up::Payload::Pointer(0x10),
                ),
                (
                    "rmw_service_handle",
                    rostrace_testkit::made_up::Payload::Pointer(0x1018),
                ),
                (
                    "service_name",
                    rostrace_testkit::made_up::Payload::Text("/n/get_type_description".to_owned()),
                ),
            ],
        )
        .init(
            "rclcpp_service_callback_added",
            &[
                (
                    "service_handle",
                    rostrace_testkit::made_up::Payload::Pointer(0x78),
                ),
                (
                    "callback",
                    rostrace_testkit::made_up::Payload::Pointer(0x48),
                ),
            ],
        );
    recording.run(0x40).run(0x48);
    let model = recording.load();
    assert_eq!(
        owners(&model),
        ["/n/get_parameters", "/n/get_type_description"]
    );
}
