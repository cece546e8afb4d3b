//! The time that utilisations, rates and shares are parts of: what was recorded, and not what an attached tracer tells of the time before.

use rostrace_analyze::Analysis;
use rostrace_analyze::thread::process_observed;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::ProcessId;

use crate::recordings::rows;
use crate::support::Recording;

const SECOND: u64 = 1_000_000_000;

/// A timer that runs half of the time for ten seconds, in a process that is `age` old when they begin.
fn half_busy(age: u64, attached: bool) -> Recording {
    let mut recording = Recording::jazzy();
    if attached {
        recording.attach();
    }
    recording.at(SECOND).context(1).node(2, "/worker");
    recording.timer(3, 2, SECOND as i64, 4);
    recording.executor(5, 6, "single_threaded");
    recording.cpu(1);
    for second in 0..10 {
        let begin = SECOND + age + second * SECOND;
        recording.run_between(begin, begin + SECOND / 2, 4);
    }
    recording.at(SECOND + age + 10 * SECOND).run(4);
    recording
}

#[test]
fn what_was_reported_from_memory_does_not_stretch_the_time_that_was_recorded() {
    let model = half_busy(3_600 * SECOND, true).load();
    let process = &model.processes[0];
    let (begin, end) = process.recorded();
    assert!(process.first < begin);
    let recorded = end.0 - begin.0;
    assert!(
        (recorded - 10 * SECOND as i64).abs() < 1_000_000,
        "{recorded}"
    );
    assert_eq!(model.end, Some(end));
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    assert_eq!(process_observed(&analysis, ProcessId(0)), recorded);
    let callbacks = rows(&analysis, "callbacks");
    let utilisation = callbacks[0].number("utilisation").unwrap();
    assert!((utilisation - 0.5).abs() < 0.001, "{utilisation}");
    let processes = rows(&analysis, "process_shares");
    let cores = processes[0].number("cores").unwrap();
    assert!((cores - 0.5).abs() < 0.001, "{cores}");
    for executor in rows(&analysis, "executors") {
        assert_eq!(executor.integer("observed_ns"), recorded);
    }
}

#[test]
fn initialisation_that_was_recorded_when_it_happened_counts() {
    let model = half_busy(30 * SECOND, false).load();
    let process = &model.processes[0];
    assert_eq!(process.recorded(), (process.first, process.last));
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    assert_eq!(
        process_observed(&analysis, ProcessId(0)),
        process.last.0 - process.first.0
    );
}
