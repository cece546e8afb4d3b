//! Deliveries: which message reached which subscription, and what is said of those that did not.

mod support;

use rostrace_trace::flow::DeliveryKind::{Inter, Intra};
use rostrace_trace::flow::DeliveryStatus::{Delivered, Lost, Overwritten, Queued, Unknown};
use rostrace_trace::flow::{Fate, Match};
use support::{Flavour, Recording, deliveries, stamp};

/// A talker in process 100 (publisher 0x20) and a listener in process 200 (subscription 0x30, callback 0x40).
fn pair(flavour: Flavour) -> Recording {
    let mut recording = Recording::new(flavour, "robot");
    recording
        .process(200, "listener")
        .context(0x1)
        .node(0x10, "/l");
    recording.subscription(0x30, 0x10, "/a", 0x40);
    recording
        .process(100, "talker")
        .context(0x1)
        .node(0x10, "/t")
        .publisher(0x20, 0x10, "/a");
    recording
}

fn talk(recording: &mut Recording, message: u64, stamp: i64) {
    recording
        .process(100, "talker")
        .publish(0x20, message, stamp);
}

fn listen(recording: &mut Recording, stamp: i64) {
    recording
        .process(200, "listener")
        .receive(0x30, stamp, 0x40);
}

/// The recording goes on for long enough that whatever is on its way would have been taken.
fn go_on(recording: &mut Recording) {
    recording
        .wait(1_000_000_000)
        .process(900, "bystander")
        .get_next_ready();
}

#[test]
fn topic_and_source_timestamp_tie_a_take_to_a_publication() {
    for flavour in [Flavour::HumbleFork, Flavour::Jazzy, Flavour::Lyrical] {
        let mut recording = pair(flavour);
        talk(&mut recording, 0x7, 5);
        talk(&mut recording, 0x7, 6);
        listen(&mut recording, 6);
        listen(&mut recording, 5);
        let model = recording.load();
        let expected = [(0, 0, Delivered, Some(1)), (1, 0, Delivered, Some(0))];
        assert_eq!(deliveries(&model), expected, "{flavour:?}");
        assert!(
            model
                .deliveries
                .iter()
                .all(|d| (d.by, d.kind) == (Match::SourceTimestamp, Inter))
        );
    }
}

#[test]
fn galactic_is_tied_by_the_stamp_of_the_announced_callback() {
    let mut recording = pair(Flavour::GalacticFork);
    talk(&mut recording, 0x7, 5);
    recording
        .process(200, "listener")
        .dispatch(0x40, 5)
        .run(0x40);
    assert_eq!(deliveries(&recording.load()), [(0, 0, Delivered, Some(0))]);
}

#[test]
fn a_stamp_of_another_topic_is_no_match() {
    let mut recording = pair(Flavour::Jazzy);
    recording.publisher(0x21, 0x10, "/b").publish(0x21, 0x7, 5);
    listen(&mut recording, 5);
    let model = recording.load();
    assert!(model.deliveries.is_empty());
    assert_eq!(model.takes[0].publication, None);
}

#[test]
fn a_message_between_two_that_arrived_is_lost_and_one_after_them_queued() {
    let mut recording = pair(Flavour::Jazzy);
    (1..=5).for_each(|number| talk(&mut recording, 0x7, number));
    [2, 4]
        .iter()
        .for_each(|number| listen(&mut recording, *number));
    go_on(&mut recording);
    let status: Vec<_> = recording
        .load()
        .deliveries
        .iter()
        .map(|row| row.status)
        .collect();
    // Before the first one the two may not have known each other.
    assert_eq!(status, [Unknown, Delivered, Lost, Delivered, Queued]);
}

#[test]
fn a_message_that_may_be_taken_after_the_end_of_the_recording_is_unknown() {
    let mut recording = pair(Flavour::Jazzy);
    (1..=2).for_each(|number| talk(&mut recording, 0x7, number));
    listen(&mut recording, 1);
    let expected = [(0, 0, Delivered, Some(0)), (1, 0, Unknown, None)];
    assert_eq!(deliveries(&recording.load()), expected);
    let mut recording = inside(Flavour::Jazzy);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
    assert_eq!(deliveries(&recording.load()), [(0, 0, Unknown, None)]);
}

#[test]
fn what_is_published_when_the_receiver_has_said_its_last_word_is_unknown() {
    let mut recording = pair(Flavour::Jazzy);
    talk(&mut recording, 0x7, 1);
    listen(&mut recording, 1);
    recording.wait(1_000_000);
    talk(&mut recording, 0x7, 2);
    let status: Vec<_> = recording
        .load()
        .deliveries
        .iter()
        .map(|row| row.status)
        .collect();
    assert_eq!(status, [Delivered, Unknown]);
}

#[test]
fn a_message_that_was_taken_by_hand_is_delivered_to_no_callback() {
    let mut recording = pair(Flavour::Jazzy);
    talk(&mut recording, 0x7, 1);
    recording.process(200, "listener").rmw_take(0x30, 0x7, 1);
    assert_eq!(deliveries(&recording.load()), [(0, 0, Delivered, None)]);
}

#[test]
fn a_late_joiner_receives_what_was_published_before_it_existed() {
    let mut recording = pair(Flavour::Jazzy);
    talk(&mut recording, 0x7, 1);
    talk(&mut recording, 0x7, 2);
    recording
        .process(300, "late")
        .node(0x10, "/late")
        .subscription(0x30, 0x10, "/a", 0x40);
    recording.receive(0x30, 2, 0x40);
    let rows = deliveries(&recording.load());
    assert_eq!(
        rows,
        [
            (0, 0, Unknown, None),
            (1, 0, Unknown, None),
            (1, 1, Delivered, Some(0))
        ]
    );
}

#[test]
fn two_publishers_that_stamp_in_the_same_nanosecond_are_not_told_apart() {
    let mut recording = pair(Flavour::Jazzy);
    recording.publisher(0x21, 0x10, "/a");
    talk(&mut recording, 0x7, 5);
    recording.publish(0x21, 0x8, 5);
    // Only one of the two arrived: nobody knows which.
    listen(&mut recording, 5);
    let model = recording.load();
    assert_eq!(
        deliveries(&model),
        [(0, 0, Unknown, None), (1, 0, Unknown, None)]
    );
    assert_eq!(model.takes[0].publication, None);
}

#[test]
fn if_all_messages_with_one_stamp_arrived_each_was_delivered_but_by_an_ambiguous_match() {
    let mut recording = pair(Flavour::Jazzy);
    recording.publisher(0x21, 0x10, "/a");
    talk(&mut recording, 0x7, 5);
    recording.publish(0x21, 0x8, 5);
    listen(&mut recording, 5);
    listen(&mut recording, 5);
    let model = recording.load();
    let rows: Vec<_> = model
        .deliveries
        .iter()
        .map(|row| (row.status, row.by))
        .collect();
    assert_eq!(rows, [(Delivered, Match::Ambiguous); 2]);
}

#[test]
fn messages_of_one_publisher_with_one_stamp_arrive_in_their_order() {
    let mut recording = pair(Flavour::Jazzy);
    talk(&mut recording, 0x7, 5);
    talk(&mut recording, 0x7, 5);
    listen(&mut recording, 5);
    listen(&mut recording, 5);
    let expected = [(0, 0, Delivered, Some(0)), (1, 0, Delivered, Some(1))];
    assert_eq!(deliveries(&recording.load()), expected);
}

#[test]
fn without_stamps_the_instant_of_the_publication_decides() {
    for flavour in [Flavour::Humble, Flavour::Iron] {
        let mut recording = pair(flavour);
        recording.at(5_000_000);
        talk(&mut recording, 0x7, 0);
        recording.get_next_ready();
        recording.at(6_000_000);
        talk(&mut recording, 0x7, 0);
        recording.get_next_ready();
        // The middleware stamps after the last event of the publication and before the next of its thread.
        listen(&mut recording, stamp(5_002_500));
        go_on(&mut recording);
        let model = recording.load();
        let expected = [(0, 0, Delivered, Some(0)), (1, 0, Queued, None)];
        assert_eq!(deliveries(&model), expected, "{flavour:?}");
        assert_eq!(model.deliveries[0].by, Match::Instant, "{flavour:?}");
    }
}

#[test]
fn on_humble_a_copy_that_rclcpp_drops_is_not_delivered_by_hand() {
    let mut recording = Recording::new(Flavour::Humble, "robot");
    recording
        .process(100, "composed")
        .context(0x1)
        .node(0x10, "/n")
        .publisher(0x20, 0x10, "/a");
    recording
        .intra_subscription(0x30, 0x10, "/a", 0x40, 10)
        .subscription(0x50, 0x10, "/a", 0x60);
    recording.at(5_000_000).publish(0x20, 0x7, 0);
    recording.get_next_ready();
    // The subscription without intra-process communication gets it, the other one takes it and drops it: its twin runs.
    recording.receive(0x50, stamp(5_002_500), 0x60);
    recording.get_next_ready();
    recording.rmw_take(0x30, 0x9, stamp(5_002_500));
    recording.get_next_ready();
    recording.start_with(0x41, true).end(0x41);
    // This one overtakes its copy, which is overwritten in the middleware.
    recording.at(6_000_000).publish(0x20, 0x7, 0);
    recording.get_next_ready();
    recording.receive(0x50, stamp(6_002_500), 0x60);
    let model = recording.load();
    let kinds: Vec<_> = (model.deliveries.iter().zip(deliveries(&model)))
        .map(|(row, it)| (it, row.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ((0, 0, Unknown, None), Intra),
            ((0, 1, Delivered, Some(0)), Inter),
            ((1, 0, Unknown, None), Intra),
            ((1, 1, Delivered, Some(2)), Inter),
        ]
    );
}

#[test]
fn a_stamp_that_two_publications_could_have_made_stays_unknown() {
    let mut recording = pair(Flavour::Humble);
    recording
        .publisher(0x21, 0x10, "/a")
        .at(5_000_000)
        .thread(101)
        .publish(0x20, 0x7, 0);
    recording
        .thread(102)
        .publish(0x21, 0x8, 0)
        .thread(101)
        .get_next_ready();
    recording.thread(102).get_next_ready();
    listen(&mut recording, stamp(5_005_500));
    let model = recording.load();
    assert_eq!(
        deliveries(&model),
        [(0, 0, Unknown, None), (1, 0, Unknown, None)]
    );
    assert_eq!(model.takes[0].publication, None);
}

#[test]
fn a_stamp_that_no_recorded_publication_could_have_made_is_of_someone_else() {
    let mut recording = pair(Flavour::Humble);
    recording.at(5_000_000);
    talk(&mut recording, 0x7, 0);
    recording.get_next_ready();
    listen(&mut recording, stamp(5_050_000));
    assert_eq!(deliveries(&recording.load()), [(0, 0, Unknown, None)]);
}

#[test]
fn without_takes_every_message_between_processes_is_unknown() {
    let mut recording = pair(Flavour::Galactic);
    for number in 0..4 {
        talk(&mut recording, 0x7, number);
        recording.process(200, "listener").run(0x40);
    }
    let model = recording.load();
    assert_eq!(model.deliveries.len(), 4);
    assert!(
        model
            .deliveries
            .iter()
            .all(|row| row.status == Unknown && row.instance.is_none())
    );
}

/// Publisher 0x20 and intra-process subscription 0x30 (callbacks 0x40, 0x41, ring buffer 0x33 of two slots).
fn inside(flavour: Flavour) -> Recording {
    let mut recording = Recording::new(flavour, "robot");
    recording
        .process(100, "app")
        .context(0x1)
        .node(0x10, "/n")
        .publisher(0x20, 0x10, "/a");
    recording.intra_subscription(0x30, 0x10, "/a", 0x40, 2);
    recording
}

#[test]
fn a_ring_buffer_carries_messages_by_slot() {
    let mut recording = inside(Flavour::Jazzy);
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
    let mut recording = inside(Flavour::Jazzy);
    for (index, overwritten) in [(0, false), (1, false), (0, true)] {
        recording
            .intra_publish(0x20, 0x7)
            .enqueue(0x33, index, overwritten);
    }
    recording.receive_intra(0x33, 1, 0x41);
    go_on(&mut recording);
    let status: Vec<_> = recording
        .load()
        .deliveries
        .iter()
        .map(|row| row.status)
        .collect();
    assert_eq!(status, [Overwritten, Delivered, Queued]);
}

#[test]
fn a_ring_buffer_that_is_made_again_has_nothing_of_the_old_one() {
    for caret in [false, true] {
        let mut recording = inside(Flavour::Jazzy);
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
    let mut recording = inside(Flavour::Jazzy);
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

/// Publisher 0x20 that keeps two messages (ring buffer 0x23), and has published three.
fn latched() -> Recording {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording
        .process(100, "app")
        .context(0x1)
        .node(0x10, "/n")
        .latching_publisher(0x20, 0x10, "/a", 2);
    for (index, overwritten) in [(0, false), (1, false), (0, true)] {
        recording
            .intra_publish(0x20, 0x7)
            .enqueue(0x23, index, overwritten);
    }
    recording
}

/// Subscription 0x30 (callback 0x41, ring buffer 0x33) comes late and gets two messages.
fn join_late(recording: &mut Recording) -> &mut Recording {
    recording
        .intra_subscription(0x30, 0x10, "/a", 0x40, 2)
        .enqueue(0x33, 0, false)
        .enqueue(0x33, 1, false)
        .receive_intra(0x33, 0, 0x41)
        .receive_intra(0x33, 1, 0x41)
}

#[test]
fn a_late_joiner_of_the_own_process_gets_what_the_publisher_kept() {
    let mut recording = latched();
    join_late(&mut recording);
    recording
        .intra_publish(0x20, 0x7)
        .enqueue(0x23, 1, true)
        .enqueue(0x33, 0, false)
        .receive_intra(0x33, 0, 0x41);
    let model = recording.load();
    assert_eq!(
        deliveries(&model),
        [
            (1, 0, Delivered, Some(0)),
            (2, 0, Delivered, Some(1)),
            (3, 0, Delivered, Some(2))
        ]
    );
    assert_eq!(model.instances[0].source.unwrap().0, 1);
}

#[test]
fn what_a_late_joiner_gets_is_unknown_where_two_publishers_kept_something() {
    let mut recording = latched();
    recording
        .latching_publisher(0x50, 0x10, "/a", 2)
        .intra_publish(0x50, 0x8)
        .enqueue(0x53, 0, false);
    join_late(&mut recording);
    let model = recording.load();
    assert!(model.instances.iter().all(|row| row.source.is_none()));
}

/// As [`latched`], but the recording began before the last of the three.
fn latched_before_the_recording() -> Recording {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording
        .process(100, "app")
        .context(0x1)
        .node(0x10, "/n")
        .latching_publisher(0x20, 0x10, "/a", 2)
        .intra_publish(0x20, 0x7)
        .enqueue(0x23, 0, true);
    recording
}

#[test]
fn of_what_a_late_joiner_gets_the_newest_is_known_where_the_recording_began_after_some_of_it() {
    let mut recording = latched_before_the_recording();
    join_late(&mut recording);
    let model = recording.load();
    assert_eq!(deliveries(&model), [(0, 0, Delivered, Some(1))]);
    assert_eq!(model.instances[0].source, None);
}

#[test]
fn what_a_late_joiner_gets_is_unknown_where_another_publisher_may_have_kept_some_of_it() {
    let mut recording = latched_before_the_recording();
    recording.latching_publisher(0x50, 0x10, "/a", 2);
    join_late(&mut recording);
    let model = recording.load();
    assert!(model.instances.iter().all(|row| row.source.is_none()));
}

#[test]
fn what_a_late_joiner_gets_is_unknown_where_something_was_published_meanwhile() {
    let mut recording = latched();
    recording.intra_subscription(0x30, 0x10, "/a", 0x40, 2);
    recording
        .thread(101)
        .intra_publish(0x20, 0x7)
        .enqueue(0x23, 1, true);
    recording
        .thread(100)
        .enqueue(0x33, 0, false)
        .enqueue(0x33, 1, false)
        .receive_intra(0x33, 0, 0x41);
    let model = recording.load();
    assert_eq!(model.instances[0].source, None);
}

#[test]
fn a_late_joiner_of_the_own_process_gets_messages_of_no_current_publication() {
    let mut recording = inside(Flavour::Jazzy);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
    recording
        .intra_subscription(0x130, 0x10, "/a", 0x140, 2)
        .enqueue(0x133, 0, false);
    recording.receive_intra(0x133, 0, 0x141);
    go_on(&mut recording);
    let model = recording.load();
    assert_eq!(model.enqueues[1].publication, None);
    assert_eq!(model.instances[0].source, None);
    assert_eq!(deliveries(&model), [(0, 0, Queued, None)]);
}

#[test]
fn a_message_that_came_inside_the_process_is_not_delivered_again_by_the_middleware() {
    let mut recording = inside(Flavour::Jazzy);
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
    let mut recording = inside(Flavour::Jazzy);
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
    let mut recording = inside(Flavour::HumbleFork);
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
    let mut recording = inside(Flavour::HumbleFork);
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
    use support::Payload::*;
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
    go_on(&mut recording);
    let model = recording.load();
    assert_eq!(model.instances[0].source.unwrap().0, 1);
    assert!(model.instances[0].end.is_some());
    assert_eq!(support::owners(&model), ["/a_agnocast"]);
    let rows: Vec<_> = model
        .deliveries
        .iter()
        .map(|d| (d.publication.0, d.status, d.by))
        .collect();
    assert_eq!(
        rows,
        [(1, Delivered, Match::Entry), (2, Queued, Match::Nothing)]
    );
}

#[test]
fn a_subscription_that_was_destroyed_misses_nothing_any_more() {
    use support::Payload::Pointer;
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1).node(0x2, "/n");
    recording.publisher(0x10, 0x2, "/a");
    recording.subscription(0x20, 0x2, "/a", 0x30);
    for number in 0..4u64 {
        let at = stamp(recording.now() + 2_300);
        recording.publish(0x10, 0x5000 + number, at);
        if number < 2 {
            recording.execute(0x20).rmw_take(0x20, 0x7000, at).run(0x30);
        }
        if number == 1 {
            let handle = [("subscription_handle", Pointer(0x20))];
            recording.event("rostrace:rcl_subscription_fini", &handle);
        }
    }
    let model = recording.load();
    assert_eq!(model.deliveries.len(), 2, "{:?}", model.deliveries);
    assert!(model.subscriptions[0].ended.is_some());
    assert_eq!(model.publications.len(), 4);
}
