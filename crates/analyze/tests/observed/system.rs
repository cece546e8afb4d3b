//! Random systems: three threads in two processes, of which each receives on one topic and publishes on the next, so that
//! messages go round. Two of the threads share a mutually exclusive group.

use crate::support::recording::Payload;
use crate::support::{Flavour, Recording, stamp};

/// Random numbers; zeros when they are used up, so that what fails becomes short.
#[derive(Debug)]
pub struct Tape(pub std::vec::IntoIter<u32>);

impl Tape {
    pub fn of(numbers: Vec<u32>) -> Tape {
        Tape(numbers.into_iter())
    }

    pub fn below(&mut self, count: u32) -> u32 {
        self.0.next().unwrap_or(0) % count
    }
}

/// Process, thread, and where the addresses of a thread begin.
const THREADS: [(i64, i64, u64); 3] = [(100, 100, 0x1000), (100, 101, 0x2000), (200, 200, 0x3000)];

const TIMER: u64 = 0x70;
const RECEIVE: u64 = 0x30;
/// Of the timers; nothing random is meant by it.
pub const PERIOD: i64 = 50_000;

/// Some random life. Executors tell their phases or not; messages wait, and are taken in their order.
pub fn system(tape: &mut Tape, steps: usize, with_phases: bool) -> Recording {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    let mut entered = 0;
    for (number, (pid, tid, base)) in THREADS.into_iter().enumerate() {
        on(&mut recording, number);
        if entered != pid {
            recording.context(base + 1);
            entered = pid;
        }
        recording.node(base + 2, &format!("/n{tid}"));
        recording.publisher(base + 0x10, base + 2, &format!("/t{}", (number + 1) % 3));
        recording.subscription(
            base + 0x20,
            base + 2,
            &format!("/t{number}"),
            base + RECEIVE,
        );
        recording.timer(base + 0x60, base + 2, PERIOD, base + TIMER);
    }
    on(&mut recording, 0);
    recording.by_caret();
    recording.caret_init(recording.now(), "jazzy");
    recording.group_to_collector(0x9000, 0x9100, "mutually_exclusive");
    for (_, _, base) in &THREADS[..2] {
        let fields = [
            ("callback_group_addr", Payload::Pointer(0x9100)),
            ("subscription_handle", Payload::Pointer(base + 0x20)),
        ];
        recording.init("callback_group_add_subscription", &fields);
    }
    recording.by_ros2();
    let mut pending: [Vec<i64>; 3] = Default::default();
    let mut running: [Option<u64>; 3] = [None; 3];
    let mut messages = 0x10_0000;
    recording.at(5_000_000);
    for _ in 0..steps {
        let number = tape.below(3) as usize;
        let base = THREADS[number].2;
        on(&mut recording, number);
        recording.wait(u64::from(tape.below(4)) * 700);
        match (running[number], tape.below(4)) {
            (Some(_), 0 | 1) => {
                messages += 1;
                let made = stamp(recording.now() + 2_300);
                recording.publish(base + 0x10, messages, made);
                pending[(number + 1) % 3].push(made);
            }
            (Some(callback), _) => {
                recording.end(callback);
                running[number] = None;
            }
            (None, 0) if with_phases => {
                recording.wait_for_work();
            }
            (None, 1) if with_phases => {
                recording.get_next_ready();
            }
            (None, 3) => {
                recording.start(base + TIMER);
                running[number] = Some(base + TIMER);
            }
            (None, _) => {
                let of_group = running[..2].iter().enumerate();
                let mut of_group = of_group.filter_map(|(it, run)| Some((it, (*run)?)));
                let busy = of_group.any(|(it, run)| run == THREADS[it].2 + RECEIVE);
                if pending[number].is_empty() || number < 2 && busy {
                    continue;
                }
                let made = pending[number].remove(0);
                recording.rmw_take(base + 0x20, 0x7000, made);
                recording.start(base + RECEIVE);
                running[number] = Some(base + RECEIVE);
            }
        }
    }
    recording
}

fn on(recording: &mut Recording, number: usize) {
    let (pid, tid, _) = THREADS[number];
    recording.process(pid, "app").thread(tid).cpu(number as u32);
}
