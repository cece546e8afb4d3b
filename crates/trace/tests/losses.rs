//! Lost events: nothing that spans a loss is asserted.

mod support;

use rostrace_trace::flow::DeliveryStatus::{Delivered, Unknown};
use rostrace_trace::flow::Fate;
use support::{Flavour, Recording, deliveries};

/// A talker that has a timer (callback 0x60), and a listener.
fn pair() -> Recording {
    let mut recording = Recording::talker_and_listener(Flavour::Jazzy);
    recording.timer(0x50, 0x10, 10, 0x60);
    recording
}

#[test]
fn a_start_and_an_end_on_both_sides_of_a_loss_are_no_pair() {
    let mut recording = pair();
    recording
        .at(5_000_000)
        .start(0x60)
        .end(0x60)
        .start(0x60)
        .end(0x60)
        .run(0x60);
    recording.lose(5_001_000, 5_003_000);
    let model = recording.load();
    let ended: Vec<_> = model.instances.iter().map(|i| i.end.is_some()).collect();
    assert_eq!(ended, [false, true]);
}

#[test]
fn a_publication_after_a_loss_is_not_inside_the_callback_before_it() {
    let mut recording = pair();
    recording
        .at(5_000_000)
        .start(0x60)
        .publish(0x20, 0x7, 1)
        .end(0x60)
        .publish(0x20, 0x7, 2);
    recording.lose(5_004_000, 5_005_000);
    let model = recording.load();
    let inside: Vec<_> = model
        .publications
        .iter()
        .map(|p| p.instance.is_some())
        .collect();
    assert_eq!(inside, [true, false]);
}

#[test]
fn layers_on_both_sides_of_a_loss_are_not_one_publication() {
    let mut recording = pair();
    recording
        .at(5_000_000)
        .rclcpp_publish(0x20, 0x7)
        .rcl_publish(0x20, 0x7);
    recording
        .rclcpp_publish(0x20, 0x7)
        .rcl_publish(0x20, 0x7)
        .rmw_publish(0x20, 0x7, 2);
    recording.lose(5_001_000, 5_003_000);
    let model = recording.load();
    assert_eq!(model.publications.len(), 2);
    assert_eq!(model.publications[0].source_timestamp, None);
}

#[test]
fn a_take_before_a_loss_does_not_belong_to_the_callback_after_it() {
    let mut recording = pair();
    recording.publish(0x20, 0x7, 1).publish(0x20, 0x7, 2);
    recording
        .process(200, "listener")
        .at(5_000_000)
        .rmw_take(0x30, 0x7, 1)
        .start(0x40)
        .end(0x40);
    recording
        .rmw_take(0x30, 0x7, 2)
        .start(0x40)
        .end(0x40)
        .lose(5_001_000, 5_004_000);
    let model = recording.load();
    assert_eq!(model.instances[0].take, None);
    assert_eq!(
        deliveries(&model),
        [(0, 0, Unknown, None), (1, 0, Unknown, None)]
    );
}

#[test]
fn what_lies_completely_after_a_loss_is_as_certain_as_ever() {
    let mut recording = pair();
    recording
        .lose(4_000_000, 4_500_000)
        .at(5_000_000)
        .publish(0x20, 0x7, 1);
    recording.process(200, "listener").receive(0x30, 1, 0x40);
    assert_eq!(deliveries(&recording.load()), [(0, 0, Delivered, Some(0))]);
}

#[test]
fn with_losses_no_message_is_called_lost_or_queued() {
    let mut recording = pair();
    for number in 1..=4 {
        recording.process(100, "talker").publish(0x20, 0x7, number);
    }
    for number in [1, 3] {
        recording
            .process(200, "listener")
            .receive(0x30, number, 0x40);
    }
    recording
        .wait(1_000_000)
        .run(0x40)
        .lose(4_000_000, 4_500_000);
    let status: Vec<_> = recording
        .load()
        .deliveries
        .iter()
        .map(|row| row.status)
        .collect();
    assert_eq!(status, [Delivered, Unknown, Delivered, Unknown]);
}

#[test]
fn what_a_ring_buffer_held_during_a_loss_is_unknown() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording
        .intra_subscription(0x30, 0x10, "/a", 0x40, 1)
        .at(5_000_000);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
    recording
        .lose(6_000_000, 7_000_000)
        .at(8_000_000)
        .receive_intra(0x33, 0, 0x41);
    recording
        .intra_publish(0x20, 0x7)
        .enqueue(0x33, 0, false)
        .receive_intra(0x33, 0, 0x41);
    let model = recording.load();
    assert_eq!(model.enqueues[0].fate, Fate::Unknown);
    assert_eq!(model.instances[0].source, None);
    assert!(matches!(model.enqueues[1].fate, Fate::Delivered(_)));
}

#[test]
fn a_lifecycle_state_that_spans_a_loss_has_no_end() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .state_machine(0x15, 0x10)
        .at(5_000_000);
    recording
        .transition(0x15, "unconfigured", "configuring")
        .lose(6_000_000, 7_000_000);
    recording
        .at(8_000_000)
        .transition(0x15, "configuring", "inactive");
    let ends: Vec<_> = recording
        .load()
        .lifecycle_states
        .iter()
        .map(|state| state.end.is_some())
        .collect();
    assert_eq!(ends, [true, false, false]);
}

#[test]
fn an_enqueue_after_a_loss_is_not_of_the_publication_before_it() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    recording.at(5_000_000);
    recording.intra_publish(0x20, 0x7).enqueue(0x33, 0, false);
    recording
        .intra_publish(0x20, 0x7)
        .enqueue(0x33, 1, false)
        .lose(5_001_000, 5_003_000);
    assert_eq!(recording.load().enqueues[0].publication, None);
}
