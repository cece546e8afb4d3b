//! Stretches in which everything stood still: in made-up systems where it is plain, and in a recording whose four timers were held up at one instant.

use crate::observed::{self, whole};
use crate::support::kernel::ASLEEP;
use crate::support::{Payload, Recording};
use rostrace_analyze::finding::{self, Finding, FindingKind, Group, Measured, Root};
use rostrace_analyze::standstill::{Held, Scope};
use rostrace_analyze::why::{Cause, Why};
use rostrace_analyze::{Analysis, callback};
use rostrace_model::Model;
use rostrace_model::entity::InstanceId;
use rostrace_model::scheduling::Scheduling;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const PERIOD: u64 = 10 * MS;
/// When everything stands still, and for how long.
const STALL: u64 = 5 * SECOND;
const LENGTH: u64 = 60 * MS;

fn groups(analysis: &Analysis<'_>) -> Vec<Group> {
    let callbacks = callback::summaries(analysis);
    let measured = Measured::of(analysis);
    let found = finding::findings(analysis, measured.evidence(&callbacks));
    finding::groups(analysis, &callbacks, found)
}

/// A process with a timer that fires on time, but for what was due in the stall.
fn ticking(recording: &mut Recording, pid: i64, tid: i64, phase: u64, stalls: bool) {
    let (timer, callback) = (0x60 + 16 * tid as u64, 0x1000 + tid as u64);
    recording.process(pid, "app").thread(tid);
    recording
        .at(phase + SECOND)
        .timer(timer, 2, PERIOD as i64, callback);
    let created = phase + SECOND;
    recording.at(created + MS).wait_for_work();
    let mut due = created + PERIOD;
    while due < 10 * SECOND {
        let is_held = stalls && (STALL..STALL + LENGTH).contains(&due);
        let start = if is_held {
            STALL + LENGTH + phase / 100
        } else {
            due + MS / 20
        };
        recording.run_between(start, start + MS / 10, callback);
        recording.wait_for_work();
        while due <= start {
            due += PERIOD;
        }
    }
}

fn assert_none(recording: &Recording) {
    assert_eq!(whole(&recording.load()).standstills().list, []);
}

fn process(recording: &mut Recording, pid: i64) {
    recording.process(pid, "app").at(SECOND / 2).context(1);
    recording.node(2, &format!("/n{pid}"));
}

/// Three processes that stand still together. The third is in the middle of an execution then.
fn machine() -> Recording {
    machine_by_clock(None)
}

/// The same; how long that execution computes by the clock of its thread, and how often it leaves its CPU meanwhile, voluntarily and not.
fn machine_by_clock(clock: Option<(u64, u64, u64)>) -> Recording {
    let mut recording = Recording::jazzy();
    for pid in [1, 2, 3] {
        process(&mut recording, pid);
    }
    ticking(&mut recording, 1, 1, 3 * MS, true);
    ticking(&mut recording, 2, 2, 5 * MS, true);
    recording.process(3, "app").thread(3);
    recording
        .at(SECOND)
        .timer(0x90, 2, (PERIOD / 2) as i64, 0x2000);
    let mut due = SECOND + PERIOD / 2;
    while due < 10 * SECOND {
        let length = if due == STALL {
            LENGTH + MS / 2
        } else {
            MS / 10
        };
        let (start, end) = (due + MS / 50, due + MS / 50 + length);
        match clock.filter(|_| due == STALL) {
            None => recording.run_between(start, end, 0x2000),
            Some(after) => {
                recording.at(start).start(0x2000);
                read(&mut recording, (0, 0, 0));
                recording.at(end - 1000);
                read(&mut recording, after);
                recording.at(end).end(0x2000)
            }
        };
        recording.wait_for_work();
        while due <= recording.now() {
            due += PERIOD / 2;
        }
    }
    recording
}

fn read(recording: &mut Recording, (cpu, voluntary, involuntary): (u64, u64, u64)) {
    let fields = [
        ("callback", Payload::Pointer(0x2000)),
        ("cpu_time", Payload::Unsigned(cpu)),
        ("voluntary", Payload::Unsigned(voluntary)),
        ("involuntary", Payload::Unsigned(involuntary)),
    ];
    recording.event("rostrace:thread_clock", &fields);
}

/// Others stand still meanwhile, but the clock of its thread says that an execution went on, or that it only waited for something.
#[test]
fn who_computed_or_slept_of_its_own_accord_did_not_stand_still_by_its_clock() {
    let computed = LENGTH / 2;
    for (clock, stood) in [
        (None, true),
        (Some((MS, 0, 2)), true),
        (Some((MS, 2, 1)), true),
        (Some((MS, 1, 0)), false),
        (Some((computed, 0, 2)), false),
    ] {
        let model = machine_by_clock(clock).load();
        let analysis = whole(&model);
        assert_eq!(analysis.standstills().list.len(), 1, "{clock:?}");
        let long = model.instances.iter().position(|row| {
            row.end
                .is_some_and(|end| (end.0 - row.start.0) as u64 > LENGTH)
        });
        let long = InstanceId::from_index(long.unwrap());
        let explained = Why::new(&analysis).instance(long, None);
        let is_still = |cause: Cause| matches!(cause, Cause::Standstill(..));
        let found = explained.parts.iter().any(|part| is_still(part.cause));
        assert_eq!(found, stood, "{clock:?}: {:?}", explained.parts);
    }
}

#[test]
fn processes_that_were_held_up_together_are_one_finding() {
    let model = machine().load();
    let analysis = whole(&model);
    let list = &analysis.standstills().list;
    assert_eq!(list.len(), 1, "{list:?}");
    assert!(matches!(list[0].scope, Scope::Machine(_)));
    assert_eq!(list[0].held_up(&model), (3, 3));
    assert_eq!(list[0].running, []);
    let held: Vec<Held> = list[0].victims.iter().map(|(_, held)| *held).collect();
    assert_eq!(held.iter().filter(|it| **it == Held::Waiting).count(), 2);
    assert!((55 * MS as i64..=61 * MS as i64).contains(&list[0].duration()));

    let groups = groups(&analysis);
    let FindingKind::Standstill {
        ref victims, times, ..
    } = groups[0].head.kind
    else {
        panic!("{:?}", groups[0]);
    };
    assert_eq!((victims.len(), times), (3, 1));
    let late = |it: &&Finding| matches!(it.kind, FindingKind::LateExecution { .. });
    let long = |it: &&Finding| matches!(it.kind, FindingKind::LongExecution { .. });
    // The third one was due again when its execution went on at last.
    assert_eq!(groups[0].members.iter().filter(late).count(), 3);
    assert_eq!(groups[0].members.iter().filter(long).count(), 1);
    for member in &groups[0].members {
        let root = member.because.unwrap().root;
        assert!(matches!(root, Root::Standstill(_)), "{member:?}");
    }
    // They are reported there and nowhere else.
    let is_severe = |it: &&Group| it.severity >= 1.0;
    assert_eq!(groups.iter().filter(is_severe).count(), 1, "{groups:?}");
}

#[test]
fn an_explanation_says_that_everything_stood_still() {
    let model = machine().load();
    let analysis = whole(&model);
    let standstill = &analysis.standstills().list[0];
    let mut why = Why::new(&analysis);
    for (id, held) in &standstill.victims {
        let callback = analysis.instance(*id).callback.unwrap();
        let all = callback::instance_timings(&analysis, callback);
        let execution = all.iter().find(|it| it.instance == *id).unwrap();
        let explained = why.instance(*id, execution.firing.as_ref());
        let standing = explained.parts.iter().filter(|part| {
            matches!(part.cause, Cause::Standstill(_, inside) if inside.is_some() == (*held == Held::Executing))
        });
        let stood: i64 = standing.map(|part| part.duration()).sum();
        let total = explained.end.0 - explained.begin.0;
        assert!(10 * stood >= 9 * total, "{explained:?}");
        let parts: i64 = explained.parts.iter().map(|part| part.duration()).sum();
        assert_eq!(parts, total);
    }
}

#[test]
fn a_process_that_stands_still_while_others_go_on_is_reported_as_such() {
    let mut recording = Recording::jazzy();
    process(&mut recording, 1);
    process(&mut recording, 2);
    ticking(&mut recording, 1, 1, 3 * MS, true);
    ticking(&mut recording, 1, 11, 5 * MS, true);
    ticking(&mut recording, 2, 2, 4 * MS, false);
    let model = recording.load();
    let analysis = whole(&model);
    let list = &analysis.standstills().list;
    assert_eq!(list.len(), 1, "{list:?}");
    let Scope::Process(process) = list[0].scope else {
        panic!("{list:?}");
    };
    assert_eq!(model.processes[process.index()].pid, 1);
    let groups = groups(&analysis);
    assert!(matches!(
        groups[0].head.kind,
        FindingKind::Standstill { .. }
    ));
}

#[test]
fn one_thread_that_is_late_is_no_standstill_and_neither_is_a_quiet_system() {
    let mut recording = Recording::jazzy();
    process(&mut recording, 1);
    process(&mut recording, 2);
    ticking(&mut recording, 1, 1, 3 * MS, true);
    ticking(&mut recording, 2, 2, 4 * MS, false);
    assert_none(&recording);
    // Nothing is due for most of the time.
    let mut recording = Recording::jazzy();
    process(&mut recording, 1);
    process(&mut recording, 2);
    ticking(&mut recording, 1, 1, 3 * MS, false);
    ticking(&mut recording, 2, 2, 4 * MS, false);
    assert_none(&recording);
}

#[test]
fn lost_events_are_no_standstill() {
    let mut recording = machine();
    recording.lose(STALL + LENGTH - 2 * MS, STALL + LENGTH - MS);
    assert_none(&recording);
}

#[test]
fn the_clocks_of_two_hosts_have_no_standstill_in_common() {
    let mut recording = Recording::jazzy();
    process(&mut recording, 1);
    ticking(&mut recording, 1, 1, 3 * MS, true);
    recording.host("rover");
    process(&mut recording, 2);
    ticking(&mut recording, 2, 2, 5 * MS, true);
    assert_none(&recording);
}

/// What usually takes as long was under way, and is not accused of having stood still.
#[test]
fn what_usually_takes_as_long_went_on() {
    let mut recording = machine();
    process(&mut recording, 4);
    recording.process(4, "app").thread(4);
    recording.at(SECOND).timer(0x90, 2, 100 * MS as i64, 0x3000);
    let mut due = SECOND + 100 * MS;
    while due < 10 * SECOND {
        recording.at(due - MS).wait_for_work();
        recording.run_between(due, due + 80 * MS, 0x3000);
        due += 100 * MS;
    }
    let model = recording.load();
    let analysis = whole(&model);
    let list = &analysis.standstills().list;
    assert_eq!(list.len(), 1, "{list:?}");
    let running: Vec<i64> = (list[0].running.iter())
        .map(|id| model.processes[model.process_of(analysis.instance(*id).thread).index()].pid)
        .collect();
    assert_eq!(running, [4]);
}

#[test]
fn the_kernel_says_who_had_the_cpu() {
    let mut recording = machine();
    recording.process(0, "kernel").cpu(0);
    recording.at(SECOND / 4).switch(0, ASLEEP, 0);
    recording.at(STALL).switch(0, ASLEEP, 99);
    for tid in [1, 2] {
        recording.at(STALL + 6 * MS).wakeup(tid, 0);
    }
    recording.at(STALL + LENGTH - MS / 10).switch(99, ASLEEP, 1);
    recording.at(STALL + LENGTH + MS).switch(1, ASLEEP, 2);
    recording.at(STALL + LENGTH + 2 * MS).switch(2, ASLEEP, 0);
    let set = recording.open();
    let model = crate::support::model_of(&set);
    let mut analysis = whole(&model);
    analysis.scheduling = Scheduling::load(&set, &model, &mut |_| true);
    let list = &analysis.standstills().list;
    assert_eq!(list.len(), 1, "{list:?}");
    let meanwhile = list[0].meanwhile(&analysis).unwrap();
    let (task, share) = meanwhile.busiest.unwrap();
    let scheduling = analysis.scheduling.as_ref().unwrap();
    assert_eq!(scheduling.task(task).tid, 99);
    assert!(share > 0.9, "{meanwhile:?}");
    assert_eq!(meanwhile.waited, 2, "{meanwhile:?}");
}

/// The third process is in the middle of an execution, and sleeps of its own will; so do the other two, whose timers wait for nothing but their time.
#[test]
fn an_execution_that_slept_by_itself_was_not_held_up() {
    let held_up = |has_switches: bool| {
        let mut recording = machine();
        if has_switches {
            recording.process(0, "kernel").cpu(0);
            recording.at(SECOND / 4).switch_in(3);
            recording.at(STALL + MS).switch_out(3, false);
            recording.at(STALL + LENGTH).switch_in(3);
        }
        let set = recording.open();
        let model = crate::support::model_of(&set);
        let mut analysis = whole(&model);
        analysis.scheduling = Scheduling::load(&set, &model, &mut |_| true);
        let list = &analysis.standstills().list;
        let victims = list.iter().flat_map(|it| &it.victims);
        let executing = victims.filter(|(_, held)| *held == Held::Executing);
        (list.len(), executing.count())
    };
    assert_eq!(held_up(false), (1, 1));
    assert_eq!(held_up(true), (1, 0));
}

/// The third process is in the middle of an execution: for some of the time it has a CPU, then another recorded thread, then nobody that is known.
#[test]
fn who_had_a_cpu_did_not_stand_still() {
    let mut recording = machine();
    recording.process(0, "kernel").cpu(0);
    recording.at(SECOND / 4).switch_in(3);
    recording
        .at(STALL + 20 * MS)
        .switch_out(3, true)
        .switch_in(2);
    recording.at(STALL + 25 * MS).switch_out(2, false);
    recording.at(STALL + LENGTH).switch_in(3);
    let set = recording.open();
    let model = crate::support::model_of(&set);
    let mut analysis = whole(&model);
    analysis.scheduling = Scheduling::load(&set, &model, &mut |_| true);
    let list = &analysis.standstills().list;
    assert_eq!(list.len(), 1, "{list:?}");
    let executing = list[0]
        .victims
        .iter()
        .find(|(_, it)| *it == Held::Executing);
    let explained = Why::new(&analysis).instance(executing.unwrap().0, None);
    let sum = |name: &str| -> i64 {
        let parts = explained.parts.iter().filter(|it| it.cause.name() == name);
        parts.map(|part| part.duration()).sum::<i64>() / 100_000
    };
    // 20 ms from the beginning of the stall on, and half of one after it; in tenths of milliseconds.
    assert!((200..=206).contains(&sum("execution")), "{explained:?}");
    assert_eq!(sum("preempted"), 50, "{explained:?}");
    assert_eq!(sum("standstill"), 350, "{explained:?}");
}

/// Whatever was recorded: nothing that was recorded happens in a standstill, and what it held up lies in it for the most part.
#[test]
fn in_every_recording_nothing_happens_in_a_standstill() {
    for name in observed::recordings() {
        let Some(recorded) = observed::Recorded::open(&name) else {
            continue;
        };
        holds(&name, &recorded.model);
    }
}

fn holds(name: &str, model: &Model) {
    let analysis = whole(model);
    for it in &analysis.standstills().list {
        let is_inside = |at: rostrace_ctf::schema::Nanos| it.begin < at && at < it.end;
        let mut executions = model.instances.iter().filter(|row| {
            let process = model.process_of(row.thread);
            match it.scope {
                Scope::Process(own) => own == process,
                Scope::Machine(_) => true,
            }
        });
        let happens = executions.find(|row| is_inside(row.start) || row.end.is_some_and(is_inside));
        assert_eq!(happens, None, "{name}: {it:?}");
        assert!(
            it.victims.len() > 1 && it.duration() >= MS as i64,
            "{name}: {it:?}"
        );
    }
}

/// Four timers of four processes, which usually take some 40 µs, took 51 to 67 ms at one instant.
#[test]
fn the_four_timers_of_a_machine_that_stood_still_are_one_finding() {
    let Some(model) = rostrace_testkit::recordings::load_packed("jazzy/load_1m_caret.tar.zst")
    else {
        return;
    };
    holds("jazzy/load_1m_caret", &model);
    let analysis = whole(&model);
    let groups = groups(&analysis);
    let FindingKind::Standstill {
        duration,
        ref victims,
        processes,
        meanwhile,
        ..
    } = groups[0].head.kind
    else {
        panic!("{:?}", groups[0].head);
    };
    assert!(
        (50 * MS as i64..55 * MS as i64).contains(&duration),
        "{duration}"
    );
    assert_eq!((victims.len(), processes), (4, 4));
    assert_eq!(meanwhile, None);
    let long = groups[0].members.iter();
    let long = long.filter(|it| matches!(it.kind, FindingKind::LongExecution { .. }));
    assert!(long.count() >= 4, "{:?}", groups[0]);
    for group in &groups[1..] {
        // What is left of those timers is much less bad.
        if let FindingKind::LongExecution { worst, .. } = group.head.kind {
            assert!(worst < 51 * MS as i64, "{:?}", group.head);
        }
    }
}
