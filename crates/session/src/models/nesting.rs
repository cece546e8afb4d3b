//! Signals: a handler that emits in the middle of an event, at every step of it, and one that leaves the event for good.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::keep::stop_recording;
use crate::memory::layout::{LARGE, Layout};
use crate::memory::packet::HEAD;
use crate::memory::supply::take_packet;
use crate::memory::writer::Writer;
use crate::models::trace::{Event, Found, read};
use crate::models::{Emitted, Process, emit, explore};
use crate::sync::modelled::{ended_after, interrupted_after};

const LAYOUT: Layout = Layout {
    streams: 2,
    small: 2,
    large: 3,
    dump_bytes: 64 << 10,
};
const SHORT: usize = 10;

fn event(lane: u16, number: u16, bytes: usize) -> Event {
    Event {
        lane,
        number,
        bytes,
    }
}

/// Tries a model with every number of steps, until it says that there were no more.
fn at_every_step(name: &str, model: impl Fn(usize) -> bool + Send + Sync + 'static) {
    let model = Arc::new(model);
    for steps in 0.. {
        let reached = Arc::<AtomicUsize>::default();
        let (model, count) = (Arc::clone(&model), Arc::clone(&reached));
        explore(&format!("{name} {steps}"), 0, move || {
            count.fetch_add(model(steps).into(), Ordering::Relaxed);
        });
        if reached.load(Ordering::Relaxed) == 0 {
            println!("{name}: at each of {steps} steps");
            return;
        }
    }
}

fn finish(process: &Process, mut kept: crate::keep::Kept) -> Found {
    stop_recording(&process.memory, 4);
    kept.finish();
    let found = read(&process.trace(2));
    assert_eq!(kept.discarded(), found.discarded);
    found
}

fn handler_emits(bytes: usize, steps: usize) -> bool {
    let process = Process::new(LAYOUT);
    let kept = process.record(2);
    let memory = process.memory;
    let outer = Rc::new(RefCell::new(Writer::NONE));
    // A handler has the writer of the next level.
    let handler = move || {
        let mut inner = Writer::NONE;
        for number in 0..2 {
            emit(&memory, &mut inner, event(2, number, bytes));
        }
        inner.release(&memory);
    };
    let (became, is_reached) = interrupted_after(steps, handler, || {
        let mut outer = outer.borrow_mut();
        [0, 1].map(|number| emit(&memory, &mut outer, event(1, number, bytes)))
    });
    assert!(became.iter().all(|it| *it != Emitted::Unwanted));
    let found = finish(&process, kept);
    let emitted = if is_reached { 4 } else { 2 };
    assert_eq!(found.events.len() as u64 + found.discarded, emitted);
    // There are packets enough for all.
    assert_eq!(found.discarded, 0, "{found:?}");
    is_reached
}

#[test]
fn a_handler_that_emits_disturbs_no_event_at_any_step() {
    at_every_step("handler, short events", |steps| handler_emits(SHORT, steps));
    at_every_step("handler, packets go round", |steps| {
        handler_emits(120, steps)
    });
}

/// The thread emits, leaves an event for good after so many steps, and emits again.
fn handler_jumps(bytes: usize, steps: usize) -> bool {
    let process = Process::new(LAYOUT);
    let kept = process.record(2);
    let memory = process.memory;
    let mut writer = Writer::NONE;
    let has_jumped = ended_after(steps, || {
        for number in 0..2 {
            writer.begin();
            emit(&memory, &mut writer, event(1, number, bytes));
        }
    })
    .is_none();
    writer.abandon(&memory, crate::clock::monotonic());
    for number in 2..4 {
        emit(&memory, &mut writer, event(1, number, bytes));
    }
    let found = finish(&process, kept);
    // What was left before the second event began was never emitted.
    let emitted = found.events.len() as u64 + found.discarded;
    assert!(
        emitted == 4 || has_jumped && emitted == 3 && !found.numbers(1).contains(&1),
        "{found:?}"
    );
    assert!(found.numbers(1).ends_with(&[2, 3]), "{found:?}");
    // The stream has one packet, and all others can be taken, whatever was interrupted.
    let (is_small, is_large) = (true, false);
    let rest = [is_small, is_large].map(|is_new| {
        let bytes = if is_new { HEAD + 1 } else { LARGE };
        std::iter::from_fn(|| take_packet(&memory, bytes, is_new)).count()
    });
    let packets = LAYOUT.packets() as usize;
    assert_eq!(
        rest.iter().sum::<usize>() + 1,
        packets,
        "after {steps} steps"
    );
    has_jumped
}

#[test]
fn a_handler_that_never_returns_costs_one_event_which_is_counted() {
    at_every_step("jump, short events", |steps| handler_jumps(SHORT, steps));
    at_every_step("jump, packets go round", |steps| handler_jumps(120, steps));
}
