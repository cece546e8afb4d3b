//! Random machines: whatever the scheduler does, the timelines agree with a simulation that looks at every nanosecond.

use proptest::prelude::*;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::ThreadId;
use rostrace_model::scheduling::{Cpu, Scheduling, State};

use rostrace_testkit::made_up::kernel::{ASLEEP, PREEMPTED};
use rostrace_testkit::made_up::{Recording, time};

const CPUS: usize = 3;
const THREADS: usize = 5;
const BEGIN: u64 = 5_000_000;
const END: u64 = BEGIN + 400;

/// What happens to one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    In(usize),
    Preempted,
    Sleeps,
    Woken,
}

/// What a thread does, without the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    Running(usize),
    Waiting,
    Blocked,
    Unknown,
}

/// A recording, and for each thread what happened to it.
struct Machine {
    recording: Recording,
    turns: Vec<Vec<(u64, Turn)>>,
    last: u64,
}

fn tid(thread: usize) -> i64 {
    100 + thread as i64
}

/// Lets a machine do what random numbers say.
fn machine(tape: &[(u8, u8, u8, u8)]) -> Machine {
    let mut recording = Recording::jazzy();
    for thread in 0..THREADS {
        let at = 1_000_000 + thread as u64 * 10_000;
        recording.process(tid(thread), "app").at(at).run(0x40);
    }
    // So that there is a switch in any case.
    recording.cpu(0).at(BEGIN).switch(0, PREEMPTED, 0);
    let mut turns = vec![Vec::new(); THREADS];
    let mut on_cpu: [Option<usize>; CPUS] = [None; CPUS];
    let mut asleep = [false; THREADS];
    let (mut now, mut last) = (BEGIN, BEGIN);
    for (step, what, cpu, who) in tape {
        now += 1 + u64::from(step % 9);
        let (cpu, who) = (usize::from(*cpu) % CPUS, usize::from(*who) % THREADS);
        recording.cpu(cpu as u32).at(now);
        if what % 3 == 0 && !on_cpu.contains(&Some(who)) {
            recording.wakeup(tid(who), cpu as i64);
            turns[who].push((now, Turn::Woken));
            asleep[who] = false;
            last = now;
            continue;
        }
        let next = Some(who).filter(|who| !asleep[*who] && !on_cpu.contains(&Some(*who)));
        let prev = on_cpu[cpu];
        if prev == next {
            continue;
        }
        let sleeps = what % 2 == 0;
        if let Some(prev) = prev {
            asleep[prev] = sleeps;
            let turn = if sleeps {
                Turn::Sleeps
            } else {
                Turn::Preempted
            };
            turns[prev].push((now, turn));
        }
        let state = if sleeps { ASLEEP } else { PREEMPTED };
        let number = |thread: Option<usize>| thread.map_or(0, tid);
        recording.switch(number(prev), state, number(next));
        if let Some(next) = next {
            turns[next].push((now, Turn::In(cpu)));
        }
        on_cpu[cpu] = next;
        last = now;
    }
    Machine {
        recording,
        turns,
        last,
    }
}

/// What a thread does at one instant.
fn oracle(machine: &Machine, thread: usize, at: u64) -> Activity {
    let turns = &machine.turns[thread];
    if at >= machine.last {
        return Activity::Unknown;
    }
    let is_switch = |turn: &&(u64, Turn)| turn.1 != Turn::Woken;
    let before = || turns.iter().filter(|turn| turn.0 <= at);
    let woken = before()
        .next_back()
        .is_some_and(|turn| turn.1 == Turn::Woken);
    match before().rfind(is_switch).map(|turn| turn.1) {
        Some(Turn::In(cpu)) => Activity::Running(cpu),
        Some(Turn::Preempted) => Activity::Waiting,
        Some(_) if woken => Activity::Waiting,
        Some(_) => Activity::Blocked,
        None if woken => match turns.iter().find(is_switch) {
            Some((_, Turn::In(_))) => Activity::Waiting,
            _ => Activity::Unknown,
        },
        None => Activity::Unknown,
    }
}

fn activity(state: State) -> Activity {
    match state {
        State::Running { cpu: Cpu(cpu) } => Activity::Running(cpu.into()),
        State::Waiting { .. } => Activity::Waiting,
        State::Blocked(_) => Activity::Blocked,
        State::Unknown => Activity::Unknown,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_nanosecond_is_what_the_simulation_says(
        tape in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 0..60),
        reversed in any::<bool>(),
        cut in (0u64..400, 0u64..400),
    ) {
        let mut machine = machine(&tape);
        machine.recording.reversed = reversed;
        let set = machine.recording.open();
        let model = rostrace_testkit::made_up::model_of(&set);
        let scheduling = Scheduling::load(&set, &model, &mut |_| true).unwrap();
        let ranges = [(BEGIN, END), (BEGIN + cut.0.min(cut.1), BEGIN + cut.0.max(cut.1))];
        for thread in 0..THREADS {
            let id = model.threads.iter().position(|row| row.tid == tid(thread)).unwrap();
            let id = ThreadId(id as u32);
            for (from, to) in ranges {
                let mut now = time(from);
                let (mut running, mut waiting, mut blocked, mut unknown) = (0, 0, 0, 0);
                for slice in scheduling.slices(id, time(from), time(to)) {
                    prop_assert_eq!(slice.from, now, "no gap");
                    prop_assert!(slice.to > slice.from, "nothing empty");
                    for at in slice.from.0..slice.to.0 {
                        let at = from + (at - time(from).0) as u64;
                        let expected = oracle(&machine, thread, at);
                        prop_assert_eq!(activity(slice.state), expected, "thread {} at {}", thread, at);
                        match expected {
                            Activity::Running(_) => running += 1,
                            Activity::Waiting => waiting += 1,
                            Activity::Blocked => blocked += 1,
                            Activity::Unknown => unknown += 1,
                        }
                    }
                    now = slice.to;
                }
                prop_assert_eq!(now, time(to).max(time(from)), "to the end");
                let sums = scheduling.off_cpu(id, time(from), time(to));
                let found = [sums.running, sums.waiting, sums.blocked, sums.unknown];
                prop_assert_eq!(found, [running, waiting, blocked, unknown].map(Nanos));
            }
            for latency in scheduling.latencies(id) {
                prop_assert!(latency.ready <= latency.running);
                let at = BEGIN + (latency.running.0 - time(BEGIN).0) as u64;
                let begins = |turn: &(u64, Turn)| turn.0 == at && matches!(turn.1, Turn::In(_));
                prop_assert!(machine.turns[thread].iter().any(begins));
            }
        }
    }

    #[test]
    fn a_loss_hides_but_never_lies(
        tape in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 10..60),
        window in (0u64..200, 1u64..100),
        cpu in 0..CPUS as u32,
    ) {
        let mut machine = machine(&tape);
        let (from, to) = (BEGIN + window.0, BEGIN + window.0 + window.1);
        machine.recording.cpu(cpu).lose_of_kernel(from, to);
        let set = machine.recording.open();
        let model = rostrace_testkit::made_up::model_of(&set);
        let Some(scheduling) = Scheduling::load(&set, &model, &mut |_| true) else {
            return Ok(());
        };
        for thread in 0..THREADS {
            let id = model.threads.iter().position(|row| row.tid == tid(thread)).unwrap();
            for slice in scheduling.slices(ThreadId(id as u32), time(BEGIN), time(END)) {
                for at in slice.from.0..slice.to.0 {
                    let at = BEGIN + (at - time(BEGIN).0) as u64;
                    let found = activity(slice.state);
                    let truth = oracle(&machine, thread, at);
                    prop_assert!(
                        found == truth || found == Activity::Unknown,
                        "thread {} at {}: {:?} instead of {:?}", thread, at, found, truth
                    );
                }
            }
        }
    }
}
