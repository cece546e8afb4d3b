//! The life of a recording: it ends while threads emit, and the next one begins.

use crate::keep::stop_recording;
use crate::memory::Memory;
use crate::memory::layout::Layout;
use crate::memory::writer::Writer;
use crate::models::trace::{Event, read};
use crate::models::{Emitted, Process, emit, explore, start};

const LAYOUT: Layout = Layout {
    streams: 2,
    small: 2,
    large: 2,
    dump_bytes: 64 << 10,
};

/// Emits events, and says in which recordings they are.
fn emit_some(
    memory: &Memory,
    writer: &mut Writer,
    lane: u16,
    numbers: std::ops::Range<u16>,
    bytes: usize,
) -> Vec<(u16, Emitted)> {
    numbers
        .map(|number| {
            let event = Event {
                lane,
                number,
                bytes,
            };
            (number, emit(memory, writer, event))
        })
        .collect()
}

/// The numbers of those that are in this recording.
fn in_recording(emitted: &[(u16, Emitted)], generation: u64) -> Vec<u16> {
    let written = emitted
        .iter()
        .filter(|(_, became)| *became == Emitted::Written(generation));
    written.map(|(number, _)| *number).collect()
}

/// A thread that emits all the time sees one recording end and the next begin. Another one lives in the second only, and ends in it.
/// It has emitted some events before.
fn model(before: u16, events: u16, bytes: usize) {
    let process = Process::new(LAYOUT);
    let mut first = process.record(2);
    let memory = process.memory;
    let mut writer = Writer::NONE;
    let mut of_thread = emit_some(&memory, &mut writer, 1, 0..before, bytes);
    process.adopt();
    let writer = OfOneThread(writer);
    let thread = start(move || {
        let mut writer = writer.take();
        let numbers = before..before + events;
        let emitted = emit_some(&memory, &mut writer, 1, numbers, bytes);
        writer.release(&memory);
        emitted
    });
    let keeper = process.clone();
    let keeper = start(move || {
        stop_recording(&keeper.memory, 4);
        first.finish();
        let mut second = keeper.record(6);
        let mut writer = Writer::NONE;
        let emitted = emit_some(&keeper.memory, &mut writer, 2, 0..1, bytes);
        writer.release(&keeper.memory);
        second.drain(true);
        (first, second, emitted)
    });
    of_thread.extend(thread.join().expect("no panic"));
    let (first, mut second, of_other) = keeper.join().expect("no panic");
    stop_recording(&memory, 8);
    second.finish();
    let (in_first, in_second) = (read(&process.trace(2)), read(&process.trace(6)));
    assert_eq!(first.discarded(), in_first.discarded);
    // An event that was being written when the recording ended may be missing at its end.
    let written = in_recording(&of_thread, 2);
    assert!(
        written.starts_with(&in_first.numbers(1)),
        "{of_thread:?} {in_first:?}"
    );
    assert_eq!(in_first.numbers(2), []);
    // The second recording has everything that was written into it, and counts what was not.
    assert_eq!(in_second.numbers(1), in_recording(&of_thread, 6));
    assert_eq!(in_second.numbers(2), in_recording(&of_other, 6));
    assert_eq!(second.discarded(), in_second.discarded);
    let all = of_thread.iter().chain(&of_other);
    let dropped = all
        .filter(|(_, became)| *became == Emitted::Dropped)
        .count() as u64;
    assert!(in_second.discarded + in_first.discarded <= dropped);
}

/// All threads of a model are one thread of the system.
struct OfOneThread(Writer);

// SAFETY: as above.
unsafe impl Send for OfOneThread {}

impl OfOneThread {
    fn take(self) -> Writer {
        self.0
    }
}

#[test]
fn a_recording_ends_and_another_begins_while_a_thread_emits_for_the_first_time() {
    explore("recordings, first event", 2, || model(0, 1, 10));
}

#[test]
fn a_recording_ends_and_another_begins_while_a_thread_emits() {
    explore("recordings, further events", 1, || model(1, 2, 10));
}

#[test]
fn a_recording_ends_and_another_begins_while_a_thread_needs_a_packet() {
    explore("recordings, packets go round", 2, || model(1, 1, 300));
}
