//! Deliveries through the middleware: which message reached which subscription, and what is said of those that did not.

use rostrace_model::flow::DeliveryKind::{Inter, Intra};
use rostrace_model::flow::DeliveryStatus::{Delivered, Lost, Queued, Unknown};
use rostrace_model::flow::Match;

use rostrace_testkit::made_up::{Flavour, Recording, deliveries, stamp};

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

#[test]
fn topic_and_source_timestamp_tie_a_take_to_a_publication() {
    for flavour in [Flavour::HumbleFork, Flavour::Jazzy, Flavour::Lyrical] {
        let mut recording = Recording::talker_and_listener(flavour);
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
    let mut recording = Recording::talker_and_listener(Flavour::GalacticFork);
    talk(&mut recording, 0x7, 5);
    recording
        .process(200, "listener")
        .dispatch(0x40, 5)
        .run(0x40);
    assert_eq!(deliveries(&recording.load()), [(0, 0, Delivered, Some(0))]);
}

#[test]
fn a_stamp_of_another_topic_is_no_match() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    recording.publisher(0x21, 0x10, "/b").publish(0x21, 0x7, 5);
    listen(&mut recording, 5);
    let model = recording.load();
    assert!(model.deliveries.is_empty());
    assert_eq!(model.takes[0].publication, None);
}

#[test]
fn a_message_between_two_that_arrived_is_lost_and_one_after_them_queued() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    (1..=5).for_each(|number| talk(&mut recording, 0x7, number));
    [2, 4]
        .iter()
        .for_each(|number| listen(&mut recording, *number));
    recording.go_on();
    let model = recording.load();
    let status = model.deliveries.iter().map(|row| row.status);
    let status: Vec<_> = status.collect();
    // Before the first one the two may not have known each other.
    assert_eq!(status, [Unknown, Delivered, Lost, Delivered, Queued]);
}

#[test]
fn a_message_that_may_be_taken_after_the_end_of_the_recording_is_unknown() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    (1..=2).for_each(|number| talk(&mut recording, 0x7, number));
    listen(&mut recording, 1);
    let expected = [(0, 0, Delivered, Some(0)), (1, 0, Unknown, None)];
    assert_eq!(deliveries(&recording.load()), expected);
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
    assert_eq!(deliveries(&recording.load()), [(0, 0, Unknown, None)]);
}

#[test]
fn what_is_published_when_the_receiver_has_said_its_last_word_is_unknown() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    talk(&mut recording, 0x7, 1);
    listen(&mut recording, 1);
    recording.wait(1_000_000);
    talk(&mut recording, 0x7, 2);
    let model = recording.load();
    let status = model.deliveries.iter().map(|row| row.status);
    let status: Vec<_> = status.collect();
    assert_eq!(status, [Delivered, Unknown]);
}

#[test]
fn a_message_that_was_taken_by_hand_is_delivered_to_no_callback() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    talk(&mut recording, 0x7, 1);
    recording.process(200, "listener").rmw_take(0x30, 0x7, 1);
    assert_eq!(deliveries(&recording.load()), [(0, 0, Delivered, None)]);
}

#[test]
fn a_late_joiner_receives_what_was_published_before_it_existed() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
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
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
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
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    recording.publisher(0x21, 0x10, "/a");
    talk(&mut recording, 0x7, 5);
    recording.publish(0x21, 0x8, 5);
    listen(&mut recording, 5);
    listen(&mut recording, 5);
    let model = recording.load();
    let rows = model.deliveries.iter().map(|row| (row.status, row.by));
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows, [(Delivered, Match::Ambiguous); 2]);
}

#[test]
fn messages_of_one_publisher_with_one_stamp_arrive_in_their_order() {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
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
        let mut recording = Recording::talker_and_listener(flavour);
        recording.at(5_000_000);
        talk(&mut recording, 0x7, 0);
        recording.get_next_ready();
        recording.at(6_000_000);
        talk(&mut recording, 0x7, 0);
        recording.get_next_ready();
        // The middleware stamps after the last event of the publication and before the next of its thread.
        listen(&mut recording, stamp(5_002_500));
        recording.go_on();
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
    // The subscription without intra-process communication gets it, the other one takes it and drops it: its intra-process subscription runs.
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
    let mut recording = Recording::talker_and_listener(Flavour::Humble);
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
    let mut recording = Recording::talker_and_listener(Flavour::Humble);
    recording.at(5_000_000);
    talk(&mut recording, 0x7, 0);
    recording.get_next_ready();
    listen(&mut recording, stamp(5_050_000));
    assert_eq!(deliveries(&recording.load()), [(0, 0, Unknown, None)]);
}

#[test]
fn without_takes_every_message_between_processes_is_unknown() {
    let mut recording = Recording::talker_and_listener(Flavour::Galactic);
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

#[test]
fn a_subscription_that_was_destroyed_misses_nothing_any_more() {
    use rostrace_testkit::made_up::Payload::Pointer;
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
