//! Lost events: nothing that spans a loss is asserted.

use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::flow::DeliveryStatus::{Delivered, Lost, Overwritten, Unknown};
use rostrace_model::flow::{Fate, Losses};

use rostrace_testkit::made_up::{Flavour, Recording, deliveries};

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
    let inside = model.publications.iter().map(|p| p.instance.is_some());
    let inside: Vec<_> = inside.collect();
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
    let model = recording.load();
    let status = model.deliveries.iter().map(|row| row.status);
    let status: Vec<_> = status.collect();
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

/// Threads 100 and 101, each on a processor of its own, publish to a ring buffer of one slot, from which 100 receives; of 101 the flight
/// recorder has kept the newest only.
fn flight() -> Recording {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .publisher(0x20, 0x10, "/a");
    recording.intra_subscription(0x30, 0x10, "/a", 0x40, 1);
    for round in 0..2 {
        recording
            .at(5_000_000 + round * 4_000_000)
            .intra_publish(0x20, 0x7)
            .enqueue(0x33, 0, false);
        recording
            .cpu(1)
            .thread(101)
            .intra_publish(0x20, 0x8)
            .enqueue(0x33, 0, true);
        recording.cpu(0).thread(100).receive_intra(0x33, 0, 0x41);
    }
    recording.cpu(1).forget(7_000_000).cpu(0);
    recording
}

#[test]
fn what_threads_tell_together_is_unknown_before_the_flight_recorder_has_kept_all_of_them() {
    let model = flight().load();
    assert_eq!(model.enqueues[0].fate, Fate::Unknown);
    assert_eq!(model.instances[0].source, None, "it got the other message");
    assert_eq!(model.enqueues[1].fate, Fate::Overwritten);
    assert!(matches!(model.enqueues[2].fate, Fate::Delivered(_)));
    let status: Vec<_> = model.deliveries.iter().map(|row| row.status).collect();
    assert_eq!(status, [Unknown, Overwritten, Delivered]);
}

#[test]
fn a_message_is_not_lost_before_the_flight_recorder_has_kept_all_threads() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "talker")
        .node(0x10, "/talker")
        .publisher(0x20, 0x10, "/a");
    recording
        .process(200, "listener")
        .node(0x10, "/listener")
        .subscription(0x30, 0x10, "/a", 0x40);
    for number in 0..6 {
        let at = 5_000_000 + number * 1_000_000;
        recording.process(100, "talker").at(at).cpu(0);
        recording.publish(0x20, 0x7, number as i64 + 1);
        // Two threads take turns; the second one took 1, and has missed 3 and 5.
        recording.process(200, "listener").at(at + 500_000);
        match number {
            1 => recording.cpu(1).thread(201).receive(0x30, 2, 0x40),
            3 | 5 => recording.cpu(1).thread(201).run(0x40),
            _ => recording.receive(0x30, number as i64 + 1, 0x40),
        };
    }
    recording.cpu(1).forget(7_000_000);
    let status: Vec<_> = (recording.load().deliveries.iter())
        .map(|row| row.status)
        .collect();
    assert_eq!(
        status,
        [Delivered, Unknown, Delivered, Lost, Delivered, Unknown]
    );
}

#[test]
fn a_recording_that_kept_only_names_does_not_end_before_it_begins() {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording
        .attach()
        .cpu(1)
        .forget(7_000_000)
        .lose(8_000_000, 9_000_000);
    let model = recording.load();
    assert_eq!(model.nodes.len(), 1, "it is named from memory");
    assert_eq!(model.begin, model.end, "nothing happened that was kept");
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
    let model = recording.load();
    let ends = model.lifecycle_states.iter();
    let ends: Vec<_> = ends.map(|state| state.end.is_some()).collect();
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

#[test]
fn the_time_of_a_stream_that_is_gone_is_a_window_of_loss() {
    let recording = Recording::talker_and_listener(Flavour::Jazzy);
    let folder = tempfile::tempdir().unwrap();
    recording.save(folder.path());
    let whole = TraceSet::open(&[folder.path()]).unwrap();
    assert!(!Losses::of(&whole).any());
    let (begin, end) = whole.traces[0].span(&whole.traces[0].streams[0]).unwrap();
    let file = whole.traces[0]
        .path_of(&whole.traces[0].streams[0])
        .to_owned();
    std::fs::write(file, "").unwrap();
    let losses = Losses::of(&TraceSet::open(&[folder.path()]).unwrap());
    assert!(losses.any());
    assert!(losses.between(begin, end));
}

#[test]
fn behind_the_cut_of_a_file_without_an_index_nothing_is_certain() {
    let recording = Recording::talker_and_listener(Flavour::Jazzy);
    let folder = tempfile::tempdir().unwrap();
    recording.save(folder.path());
    let whole = TraceSet::open(&[folder.path()]).unwrap();
    let (_, end) = whole.traces[0].span(&whole.traces[0].streams[0]).unwrap();
    let file = whole.traces[0]
        .path_of(&whole.traces[0].streams[0])
        .to_owned();
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(file, &bytes[..bytes.len() - 1]).unwrap();
    let losses = Losses::of(&TraceSet::open(&[folder.path()]).unwrap());
    let (second, hour) = (1_000_000_000, 3_600_000_000_000);
    assert!(losses.between(Nanos(end.0 + second), Nanos(end.0 + hour)));
    assert!(!losses.between(Nanos(end.0 - hour), Nanos(end.0 - hour + second)));
}
