//! The life of a packet: it is filled, full, written to the disk, free, and filled again, while its writer may be killed at any step.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::keep::stop_recording;
use crate::memory::layout::Layout;
use crate::memory::writer::Writer;
use crate::models::trace::{Event, read};
use crate::models::{Emitted, Process, emit, explore, start};
use crate::sync::modelled::ended_after;

const LAYOUT: Layout = Layout {
    streams: 1,
    small: 1,
    large: 2,
    dump_bytes: 64 << 10,
};

/// What a writer did.
#[derive(Debug, Clone, Copy)]
struct Work {
    events: u16,
    /// Of each payload.
    bytes: usize,
    /// How the keeper looks meanwhile: at everything, or at what is full.
    looks: &'static [bool],
    /// Steps after which the writer is killed.
    steps: usize,
}

/// A writer emits while the keeper looks, which does so once more when all is over. Returns whether the writer was killed.
fn live(work: Work) -> bool {
    let process = Process::new(LAYOUT);
    let mut kept = process.record(2);
    process.adopt();
    let (written, dropped) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let memory = process.memory;
    let writer = start({
        let (written, dropped) = (Arc::clone(&written), Arc::clone(&dropped));
        move || {
            let emit_all = || {
                let mut writer = Writer::NONE;
                for number in 0..work.events {
                    let event = Event {
                        lane: 1,
                        number,
                        bytes: work.bytes,
                    };
                    match emit(&memory, &mut writer, event) {
                        Emitted::Written(2) => written.fetch_add(1, Ordering::Relaxed),
                        Emitted::Dropped => dropped.fetch_add(1, Ordering::Relaxed),
                        other => unreachable!("{other:?}"),
                    };
                }
            };
            ended_after(work.steps, emit_all).is_none()
        }
    });
    let keeper = start(move || {
        for all in work.looks {
            kept.drain(*all);
            let full = memory.header().free.full.load(Ordering::Relaxed);
            assert!(full <= LAYOUT.packets(), "more were written than were full");
        }
        kept
    });
    let was_killed = writer.join().expect("no panic");
    let mut kept = keeper.join().expect("no panic");
    stop_recording(&memory, 4);
    kept.finish();
    let found = read(&process.trace(2));
    let (written, dropped) = (
        written.load(Ordering::Relaxed),
        dropped.load(Ordering::Relaxed),
    );
    // Of the event in which it was killed nobody can say whether it happened.
    let open = usize::from(was_killed);
    let recorded = found.events.len();
    let discarded = found.discarded as usize;
    assert!(
        (written..=written + open).contains(&recorded)
            && (dropped..=dropped + open).contains(&discarded)
            && recorded + discarded <= written + dropped + open,
        "{recorded} of {written} are there, {discarded} of {dropped} are counted"
    );
    assert_eq!(kept.discarded(), found.discarded);
    // Those that are there are in order, without a hole but for those that were dropped.
    let numbers = found.numbers(1);
    assert!(numbers.is_sorted());
    if dropped == 0 {
        let all: Vec<u16> = (0..recorded as u16).collect();
        assert_eq!(numbers, all);
    }
    was_killed
}

#[test]
fn a_packet_that_grows_is_read_up_to_its_last_complete_event() {
    let work = Work {
        events: 3,
        bytes: 10,
        looks: &[false, true],
        steps: usize::MAX,
    };
    explore("packet that grows", 2, move || assert!(!live(work)));
}

#[test]
fn packets_go_round_between_a_writer_and_its_keeper() {
    // Every event needs a packet of its own, and there are two: what finds none is counted.
    let work = Work {
        events: 3,
        bytes: 300,
        looks: &[false, true],
        steps: usize::MAX,
    };
    explore("packets go round", 1, move || assert!(!live(work)));
}

/// Kills the writer after every number of steps.
fn kill(name: &str, switches: usize, mut work: Work) {
    let mut orders = 0;
    for steps in 0.. {
        work.steps = steps;
        let killed = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&killed);
        orders += explore(&format!("{name} {steps}"), switches, move || {
            count.fetch_add(live(work).into(), Ordering::Relaxed);
        });
        if killed.load(Ordering::Relaxed) == 0 {
            println!("{name}: {orders} orders, killed before each of {steps} steps");
            break;
        }
    }
}

#[test]
fn a_writer_is_killed_while_a_packet_grows() {
    let work = Work {
        events: 2,
        bytes: 10,
        looks: &[true],
        steps: 0,
    };
    kill("killed while a packet grows", 1, work);
}

#[test]
fn a_writer_is_killed_while_packets_go_round() {
    let work = Work {
        events: 2,
        bytes: 300,
        looks: &[true],
        steps: 0,
    };
    kill("killed while packets go round", 1, work);
}
