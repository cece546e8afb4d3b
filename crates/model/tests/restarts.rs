//! Processes that come back under a pid that was used before, and those that only look as if they did.

use rostrace_model::entity::ProcessId;

use rostrace_testkit::made_up::{Recording, owners};

#[test]
fn a_process_that_comes_back_with_another_version_is_another_one() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .context(0x1)
        .node(0x10, "/n")
        .timer(0x50, 0x10, 10, 0x60)
        .run(0x60);
    recording
        .context_of(0x1, "8.6.0")
        .node(0x10, "/n")
        .timer(0x50, 0x10, 20, 0x60)
        .run(0x60);
    let model = recording.load();
    let versions = model.processes.iter();
    let versions: Vec<_> = versions.map(|p| p.tracetools_version.as_deref()).collect();
    assert_eq!(versions, [Some("8.2.3"), Some("8.6.0")]);
    assert_eq!(owners(&model), ["timer 10", "timer 20"]);
    let processes = model.instances.iter().map(|i| model.process_of(i.thread).0);
    let processes: Vec<_> = processes.collect();
    assert_eq!(processes, [0, 1]);
}

#[test]
fn a_process_that_comes_back_under_another_name_is_another_one() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "talker")
        .context(0x1)
        .node(0x10, "/n")
        .run(0x60);
    recording
        .process(100, "listener")
        .context(0x1)
        .node(0x10, "/m")
        .run(0x61);
    let model = recording.load();
    let names: Vec<_> = model.processes.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["talker", "listener"]);
    assert_eq!(model.nodes[1].process, ProcessId(1));
}

#[test]
fn the_same_program_started_again_is_another_process_if_nothing_old_is_used_again() {
    let mut recording = Recording::jazzy();
    for _ in 0..3 {
        recording.process(100, "app").context(0x1).node(0x10, "/n");
        recording
            .publisher(0x20, 0x10, "/a")
            .timer(0x50, 0x10, 10, 0x60);
        // The last callback of each life never ends.
        recording
            .thread(101)
            .start(0x60)
            .publish(0x20, 0x7, 1)
            .end(0x60)
            .start(0x60);
        recording.process(100, "app").wait(1_000_000_000);
    }
    let model = recording.load();
    assert_eq!(model.processes.len(), 3);
    let nodes: Vec<_> = model.nodes.iter().map(|node| node.process.0).collect();
    assert_eq!(nodes, [0, 1, 2]);
    for (number, instance) in model.instances.iter().enumerate() {
        assert_eq!(model.process_of(instance.thread).index(), number / 2);
        assert_eq!(instance.end.is_some(), number % 2 == 0);
        assert_eq!(instance.callback.unwrap().index(), number / 2);
    }
    let publications = model.publications.iter().map(|p| p.instance.unwrap().0);
    let publications: Vec<_> = publications.collect();
    assert_eq!(publications, [0, 2, 4]);
    for (before, after) in model.processes.iter().zip(&model.processes[1..]) {
        assert!(before.last < after.first);
    }
    assert_eq!(
        model.processes.iter().map(|p| p.events).sum::<u64>(),
        model.events
    );
}

#[test]
fn a_second_context_in_a_living_process_is_no_new_process() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .context(0x1)
        .node(0x10, "/n")
        .timer(0x50, 0x10, 10, 0x60)
        .run(0x60);
    recording.context(0x2).node(0x11, "/m").run(0x60);
    let model = recording.load();
    assert_eq!(model.processes.len(), 1);
    assert_eq!(owners(&model), ["timer 10", "timer 10"]);
}

#[test]
fn a_context_after_which_no_node_appears_is_no_new_process() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .context(0x1)
        .node(0x10, "/n")
        .run(0x60)
        .context(0x2);
    assert_eq!(recording.load().processes.len(), 1);
}

#[test]
fn a_process_that_was_recorded_late_and_makes_a_context_is_still_the_same() {
    let mut recording = Recording::jazzy();
    recording
        .process(100, "app")
        .run(0x60)
        .context(0x2)
        .node(0x11, "/m")
        .run(0x60);
    assert_eq!(recording.load().processes.len(), 1);
}
