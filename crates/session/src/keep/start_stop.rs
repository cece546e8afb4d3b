//! How a recording begins and ends in the memory of a process.

use std::sync::atomic::Ordering;

use crate::command::{Command, State};
use crate::events;
use crate::glob;
use crate::memory::Memory;
use crate::memory::filter;
use crate::memory::header::write_text;
use crate::memory::supply::Supply;
use crate::statedump::entry::{Entry, entries};

/// Whether a command to record means this process.
pub fn is_meant(memory: &Memory, command: &Command) -> bool {
    let header = memory.header();
    let is_chosen = !command.chosen_only || header.recording.is_chosen.load(Ordering::Relaxed) != 0;
    let ignored = &command.settings.filters.ignore_processes;
    command.state != State::Idle
        && is_chosen
        && (ignored.is_empty() || !glob::matches_any(ignored, &header.program()))
}

/// Begins a recording. The keeper does so, or the process itself when it is new and a command stands. The error is an `errno`: there was no room.
pub fn start_recording(
    memory: &Memory,
    generation: u64,
    command: &Command,
    allocate: &dyn Fn(usize, usize) -> Result<(), i32>,
) -> Result<(), i32> {
    let header = memory.header();
    let recording = &header.recording;
    let is_filtered = filter::is_any(&command.settings.filters);
    recording
        .is_filtered
        .store(is_filtered.into(), Ordering::Relaxed);
    let (_, error) = Supply::new(command.settings.memory_bytes).top_up(memory, allocate);
    if let Some(error) = error {
        recording.is_filtered.store(0, Ordering::Relaxed);
        return Err(error);
    }
    // From here on nothing that is new is dropped from the statedump before the keeper has it.
    header.dump.written.store(0, Ordering::Release);
    let mut last = None;
    // A process that is tidying up is done in a moment.
    for _ in 0..100 {
        last = entries(memory, |all| judge(memory, command, is_filtered, all));
        if last.is_some() {
            break;
        }
        std::thread::yield_now();
    }
    header
        .dump
        .began
        .store(last.unwrap_or(0), Ordering::Relaxed);
    let reports = &header.reports;
    let lost = reports.lost.load(Ordering::Relaxed);
    reports.lost_before.store(lost, Ordering::Relaxed);
    for (place, half) in recording.uuid.iter().zip(random_uuid()) {
        place.store(half, Ordering::Relaxed);
    }
    write_text(&header.directory, &command.directory);
    let deadline = match command.deadline {
        0 => u64::MAX,
        deadline => deadline,
    };
    recording.deadline.store(deadline, Ordering::Relaxed);
    let settings = &command.settings;
    recording
        .process_bytes
        .store(settings.process_bytes, Ordering::Relaxed);
    recording
        .keep_free
        .store(settings.keep_free, Ordering::Relaxed);
    recording
        .flight_signal
        .store(settings.flight_signal.into(), Ordering::Relaxed);
    reports.errno.store(0, Ordering::Relaxed);
    reports.bytes.store(0, Ordering::Relaxed);
    reports.unwritten.store(0, Ordering::Relaxed);
    recording.generation.store(generation, Ordering::Release);
    recording.last_epoch.store(generation, Ordering::Release);
    recording.epoch.store(generation, Ordering::Release);
    for (word, remembered) in events::initialisation().into_iter().enumerate() {
        recording.recorded[word].store(command.mask[word], Ordering::Release);
        recording.enabled[word].store(remembered | command.mask[word], Ordering::Release);
    }
    recording.active.store(1, Ordering::Release);
    Ok(())
}

/// From now on this event is recorded as well, if anything is. Only the keeper changes what is recorded.
pub fn also_record(memory: &Memory, event: u16) {
    let recording = &memory.header().recording;
    let (word, bit) = (usize::from(event) / 64, 1 << (event % 64));
    for masks in [&recording.recorded, &recording.enabled] {
        let before = masks[word].load(Ordering::Relaxed);
        masks[word].store(before | bit, Ordering::Release);
    }
}

/// The command that was carried out in a memory, as far as whoever goes on with the work of a keeper needs it.
pub fn standing_command(memory: &Memory, directory: &[u8]) -> Command {
    let recording = &memory.header().recording;
    let mut command = Command::record(directory);
    if recording.epoch.load(Ordering::Acquire) != 0 {
        command.mask = std::array::from_fn(|word| recording.recorded[word].load(Ordering::Relaxed));
    }
    command.settings.process_bytes = recording.process_bytes.load(Ordering::Relaxed);
    command.settings.keep_free = recording.keep_free.load(Ordering::Relaxed);
    command
}

/// Decides which of the entities that exist are recorded. Returns the number of the last entry.
fn judge(
    memory: &Memory,
    command: &Command,
    is_filtered: bool,
    all: &mut dyn Iterator<Item = Entry<'_>>,
) -> u64 {
    if !is_filtered {
        memory.set_filter_texts(&command.settings.filters);
        return all.last().map_or(0, |entry| entry.number);
    }
    let all: Vec<Entry<'_>> = all.collect();
    let live: Vec<Entry<'_>> = all.iter().filter(|entry| entry.is_live).copied().collect();
    memory.set_filters(&command.settings.filters, &live);
    all.last().map_or(0, |entry| entry.number)
}

/// Ends it: no event goes into it from here on, but for those that are being written.
pub fn stop_recording(memory: &Memory, generation: u64) {
    let header = memory.header();
    let recording = &header.recording;
    recording.active.store(0, Ordering::Release);
    for (word, remembered) in events::initialisation().into_iter().enumerate() {
        recording.enabled[word].store(remembered, Ordering::Release);
        recording.recorded[word].store(0, Ordering::Release);
    }
    recording.epoch.store(0, Ordering::Release);
    recording.is_filtered.store(0, Ordering::Relaxed);
    recording.generation.store(generation, Ordering::Release);
    header.dump.written.store(u64::MAX, Ordering::Release);
}

/// A number that no other trace has.
pub(super) fn random_uuid() -> [u64; 2] {
    let mut uuid = [0_u8; 16];
    // SAFETY: writes at most 16 bytes.
    let got = unsafe { libc::getrandom(uuid.as_mut_ptr().cast(), 16, libc::GRND_NONBLOCK) };
    if got < 16 {
        // Early at boot: the time and the place in memory differ as well.
        uuid[..8].copy_from_slice(&crate::clock::monotonic().to_ne_bytes());
        let place = (&raw const uuid) as u64;
        uuid[8..].copy_from_slice(&(place ^ crate::clock::monotonic()).to_ne_bytes());
    }
    uuid[6] = uuid[6] & 0x0f | 0x40;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    let half = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| uuid[at + byte]));
    [half(0), half(8)]
}
