//! The life of a stream: threads begin and end, and whoever comes next goes on in the stream of one that has ended.

use std::sync::atomic::Ordering;

use crate::keep::stop_recording;
use crate::memory::Memory;
use crate::memory::layout::Layout;
use crate::memory::writer::Writer;
use crate::models::trace::{Event, read};
use crate::models::{Emitted, Process, emit, explore, start};

/// Emits so many events, and ends. Returns how many were dropped.
fn live(memory: &Memory, lane: u16, events: u16, bytes: usize) -> u64 {
    let mut writer = Writer::NONE;
    let mut dropped = 0;
    for number in 0..events {
        let event = Event {
            lane,
            number,
            bytes,
        };
        match emit(memory, &mut writer, event) {
            Emitted::Written(2) => {}
            Emitted::Dropped => dropped += 1,
            other => unreachable!("{other:?}"),
        }
    }
    writer.release(memory);
    dropped
}

/// A thread lives while the keeper looks, in the middle of which another one lives. Or two threads live at once.
fn model(layout: Layout, events: u16, bytes: usize, is_kept: bool) {
    let process = Process::new(layout);
    let mut kept = process.record(2);
    process.adopt();
    let memory = process.memory;
    let thread = start(move || live(&memory, 1, events, bytes));
    let keeper = start(move || {
        if is_kept {
            kept.drain(true);
        }
        let dropped = live(&memory, 2, events, bytes);
        if is_kept {
            kept.drain(true);
        }
        (kept, dropped)
    });
    let dropped = thread.join().expect("no panic");
    let (mut kept, dropped_too) = keeper.join().expect("no panic");
    // A third one goes on where they ended.
    let dropped = dropped + dropped_too + live(&memory, 3, 1, bytes);
    stop_recording(&memory, 4);
    kept.finish();
    let found = read(&process.trace(2));
    let emitted = 2 * u64::from(events) + 1;
    assert_eq!(found.discarded, dropped);
    assert_eq!(kept.discarded(), dropped);
    assert_eq!(found.events.len() as u64 + dropped, emitted);
    assert_eq!(kept.events(), found.events.len() as u64);
    let threads = memory.header().reports.threads.load(Ordering::Relaxed);
    assert_eq!(threads, 0, "a stream was not given back");
}

/// Enough for all.
const MANY: Layout = Layout {
    streams: 2,
    small: 2,
    large: 1,
    dump_bytes: 64 << 10,
};
/// One stream for two threads, and a packet of each size: a small one for one event, a large one for three.
const FEW: Layout = Layout {
    streams: 1,
    small: 1,
    large: 1,
    dump_bytes: 64 << 10,
};

#[test]
fn threads_that_come_and_go_share_streams() {
    explore("streams", 3, || model(MANY, 1, 10, false));
}

#[test]
fn threads_come_and_go_while_the_keeper_looks() {
    explore("streams, kept", 2, || model(MANY, 1, 10, true));
}

#[test]
fn threads_without_a_stream_or_a_packet_count_what_they_drop() {
    explore("streams that are short", 2, || model(FEW, 2, 100, false));
    explore("streams that are short, kept", 1, || {
        model(FEW, 1, 100, true);
    });
}
