//! Executions of callbacks: which start belongs to which end, and what happened inside.

use rostrace_testkit::made_up::{Flavour, Recording, owners, time};

/// A node with two timers, whose callbacks are at 0x60 and 0x61, and a publisher at 0x20.
fn two_timers() -> Recording {
    let mut recording = Recording::talker(Flavour::Jazzy);
    recording
        .timer(0x50, 0x10, 10, 0x60)
        .timer(0x51, 0x10, 20, 0x61);
    recording
}

#[test]
fn a_reentrant_callback_runs_on_several_threads_at_once() {
    let mut recording = two_timers();
    recording
        .at(5_000_000)
        .thread(101)
        .start(0x60)
        .thread(102)
        .start(0x60);
    recording
        .thread(101)
        .publish(0x20, 0x7, 1)
        .end(0x60)
        .thread(102)
        .end(0x60);
    let model = recording.load();
    let times = model.instances.iter().map(|i| (i.start, i.end.unwrap()));
    let times: Vec<_> = times.collect();
    assert_eq!(
        times,
        [
            (time(5_000_000), time(5_005_000)),
            (time(5_001_000), time(5_006_000))
        ]
    );
    assert_eq!(model.publications[0].instance.unwrap().0, 0);
}

#[test]
fn a_callback_that_spins_contains_other_callbacks() {
    let mut recording = two_timers();
    recording
        .at(5_000_000)
        .start(0x60)
        .get_next_ready()
        .execute(0x51)
        .start(0x61);
    recording
        .publish(0x20, 0x7, 1)
        .end(0x61)
        .get_next_ready()
        .publish(0x20, 0x7, 2)
        .end(0x60);
    let model = recording.load();
    assert_eq!(owners(&model), ["timer 10", "timer 20"]);
    assert!(model.instances[0].end > model.instances[1].end);
    let inside = model.publications.iter().map(|p| p.instance.unwrap().0);
    let inside: Vec<_> = inside.collect();
    assert_eq!(inside, [1, 0]);
}

#[test]
fn a_callback_that_spins_may_contain_itself() {
    let mut recording = two_timers();
    recording
        .at(5_000_000)
        .start(0x60)
        .start(0x60)
        .end(0x60)
        .end(0x60);
    let model = recording.load();
    let ends: Vec<_> = model.instances.iter().map(|i| i.end.unwrap()).collect();
    assert_eq!(ends, [time(5_003_000), time(5_002_000)]);
}

#[test]
fn an_exception_leaves_a_start_without_an_end() {
    let mut recording = two_timers();
    recording.start(0x60).get_next_ready().run(0x61).run(0x60);
    let model = recording.load();
    let ended: Vec<_> = model.instances.iter().map(|i| i.end.is_some()).collect();
    assert_eq!(ended, [false, true, true]);
}

#[test]
fn an_end_without_a_start_is_no_execution() {
    let mut recording = two_timers();
    recording.end(0x60).run(0x61).end(0x60);
    let model = recording.load();
    assert_eq!(owners(&model), ["timer 20"]);
}

#[test]
fn what_is_published_after_a_deferred_service_callback_is_not_inside_it() {
    // Neither when another callback came in between, nor when only the executor went on.
    for between in [true, false] {
        let mut recording = two_timers();
        recording
            .service(0x70, 0x10, "/later", 0x80)
            .start(0x80)
            .publish(0x20, 0x7, 1);
        if between {
            recording.run(0x60);
        } else {
            recording.get_next_ready().wait_for_work();
        }
        recording.publish(0x20, 0x7, 2);
        let model = recording.load();
        let inside = model.publications.iter().map(|p| p.instance.map(|i| i.0));
        let inside: Vec<_> = inside.collect();
        assert_eq!(inside, [Some(0), None], "{between}");
        assert_eq!(model.instances[0].end, None);
    }
}

#[test]
fn what_is_published_outside_of_callbacks_belongs_to_none() {
    let mut recording = two_timers();
    recording
        .publish(0x20, 0x7, 1)
        .run(0x60)
        .publish(0x20, 0x7, 2);
    recording
        .thread(101)
        .start(0x60)
        .thread(102)
        .publish(0x20, 0x7, 3);
    let model = recording.load();
    assert!(model.publications.iter().all(|p| p.instance.is_none()));
}

#[test]
fn a_callback_that_is_still_running_at_the_end_has_no_end_and_keeps_its_publications() {
    let mut recording = two_timers();
    recording.start(0x60).publish(0x20, 0x7, 1);
    let model = recording.load();
    assert_eq!(model.instances[0].end, None);
    assert_eq!(model.publications[0].instance.unwrap().0, 0);
}

#[test]
fn a_take_belongs_to_the_callback_of_its_subscription_that_follows_on_its_thread() {
    let mut recording = two_timers();
    recording
        .subscription(0x30, 0x10, "/a", 0x40)
        .subscription(0x38, 0x10, "/b", 0x42);
    recording
        .thread(101)
        .rmw_take(0x30, 0x7, 1)
        .thread(102)
        .rmw_take(0x38, 0x7, 2);
    recording.thread(101).run(0x40).thread(102).run(0x42);
    let model = recording.load();
    let takes = model.takes.iter().map(|take| take.instance.unwrap().0);
    let takes: Vec<_> = takes.collect();
    assert_eq!(takes, [0, 1]);
}

#[test]
fn a_take_by_hand_belongs_to_no_callback() {
    let mut recording = two_timers();
    recording.subscription(0x30, 0x10, "/a", 0x40);
    recording
        .start(0x60)
        .rmw_take(0x30, 0x7, 1)
        .rmw_take_in_vain(0x30)
        .end(0x60)
        .run(0x61);
    let model = recording.load();
    assert_eq!(model.takes.len(), 1);
    assert_eq!(model.takes[0].instance, None);
    let mut instances = model.instances.iter();
    assert!(instances.all(|instance| instance.take.is_none()));
}

#[test]
fn a_loaned_message_without_a_take_does_not_get_the_take_before() {
    let mut recording = two_timers();
    recording.subscription(0x30, 0x10, "/a", 0x40);
    recording
        .execute(0x30)
        .rmw_take(0x30, 0x7, 1)
        .get_next_ready()
        .execute(0x30)
        .run(0x40);
    let model = recording.load();
    assert_eq!(model.instances[0].take, None);
}

#[test]
fn galactic_announces_the_callback_instead_of_the_take() {
    let mut recording = Recording::new(Flavour::GalacticFork, "robot");
    recording
        .process(100, "app")
        .node(0x10, "/n")
        .subscription(0x30, 0x10, "/a", 0x40);
    recording.dispatch(0x40, 77).run(0x40);
    let model = recording.load();
    assert_eq!(model.takes.len(), 1);
    assert_eq!(model.takes[0].source_timestamp, 77);
    assert_eq!(model.takes[0].subscription.unwrap().0, 0);
    assert_eq!(model.instances[0].take.unwrap().0, 0);
}

#[test]
fn executor_phases_are_kept_per_thread() {
    let mut recording = two_timers();
    recording
        .thread(101)
        .wait_for_work()
        .thread(102)
        .get_next_ready()
        .thread(101)
        .execute(0x50);
    let model = recording.load();
    let phases = model.phases.iter().map(|p| (p.thread.0, p.handle.0));
    let phases: Vec<_> = phases.collect();
    assert_eq!(phases, [(1, 0), (2, 0), (1, 0x50)]);
}
