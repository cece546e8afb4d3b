//! What a transient-local publisher kept for subscriptions of its own process that come later.

use rostrace_model::flow::DeliveryStatus::Delivered;

use rostrace_testkit::made_up::{Flavour, Recording, deliveries};

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
