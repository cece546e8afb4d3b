//! How a recording begins and ends in the memory of a process.

use std::sync::atomic::Ordering;

use crate::events;
use crate::glob;
use crate::memory::Memory;
use crate::memory::entry::{Entry, entries};
use crate::memory::filter;
use crate::memory::header::write_text;
use crate::memory::supply::Supply;
use crate::order::{Order, State};

/// Whether an order to record means this process.
pub fn is_meant(memory: &Memory, order: &Order) -> bool {
    let header = memory.header();
    let is_chosen = !order.chosen_only || header.orders.is_chosen.load(Ordering::Relaxed) != 0;
    let ignored = &order.filters.ignore_processes;
    order.state != State::Idle
        && is_chosen
        && (ignored.is_empty() || !glob::matches_any(ignored, &header.program()))
}

/// Begins a recording. The keeper does so, or the process itself when it is new and an order stands. The error is an `errno`: there was no room.
pub fn carry_out(
    memory: &Memory,
    generation: u64,
    order: &Order,
    allocate: &dyn Fn(usize, usize) -> Result<(), i32>,
) -> Result<(), i32> {
    let header = memory.header();
    let orders = &header.orders;
    let is_filtered = filter::is_any(&order.filters);
    orders
        .is_filtered
        .store(is_filtered.into(), Ordering::Relaxed);
    let (_, error) = Supply::new(order.room.memory_bytes).top_up(memory, allocate);
    if let Some(error) = error {
        orders.is_filtered.store(0, Ordering::Relaxed);
        return Err(error);
    }
    // From here on nothing that is new is dropped from the statedump before the keeper has it.
    header.dump.written.store(0, Ordering::Release);
    let mut last = None;
    // A process that is tidying up is done in a moment.
    for _ in 0..100 {
        last = entries(memory, |all| judge(memory, order, is_filtered, all));
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
    for (place, half) in orders.uuid.iter().zip(random_uuid()) {
        place.store(half, Ordering::Relaxed);
    }
    write_text(&header.directory, &order.directory);
    let deadline = match order.deadline {
        0 => u64::MAX,
        deadline => deadline,
    };
    orders.deadline.store(deadline, Ordering::Relaxed);
    let room = &order.room;
    orders
        .process_bytes
        .store(room.process_bytes, Ordering::Relaxed);
    orders.keep_free.store(room.keep_free, Ordering::Relaxed);
    orders
        .flight_signal
        .store(order.flight_signal.into(), Ordering::Relaxed);
    reports.errno.store(0, Ordering::Relaxed);
    reports.bytes.store(0, Ordering::Relaxed);
    reports.unwritten.store(0, Ordering::Relaxed);
    orders.generation.store(generation, Ordering::Release);
    orders.last_epoch.store(generation, Ordering::Release);
    orders.epoch.store(generation, Ordering::Release);
    for (word, remembered) in events::initialisation().into_iter().enumerate() {
        orders.recorded[word].store(order.mask[word], Ordering::Release);
        orders.enabled[word].store(remembered | order.mask[word], Ordering::Release);
    }
    orders.attention.store(1, Ordering::Release);
    Ok(())
}

/// The order that was carried out in a memory, as far as whoever goes on with the work of a keeper needs it.
pub fn standing(memory: &Memory, directory: &[u8]) -> Order {
    let orders = &memory.header().orders;
    let mut order = Order::record(directory);
    if orders.epoch.load(Ordering::Acquire) != 0 {
        order.mask = std::array::from_fn(|word| orders.recorded[word].load(Ordering::Relaxed));
    }
    order.room.process_bytes = orders.process_bytes.load(Ordering::Relaxed);
    order.room.keep_free = orders.keep_free.load(Ordering::Relaxed);
    order
}

/// Decides which of the entities that exist are recorded. Returns the number of the last entry.
fn judge(
    memory: &Memory,
    order: &Order,
    is_filtered: bool,
    all: &mut dyn Iterator<Item = Entry<'_>>,
) -> u64 {
    if !is_filtered {
        memory.set_filter_texts(&order.filters);
        return all.last().map_or(0, |entry| entry.number);
    }
    let all: Vec<Entry<'_>> = all.collect();
    let live: Vec<Entry<'_>> = all.iter().filter(|entry| entry.is_live).copied().collect();
    memory.set_filters(&order.filters, &live);
    all.last().map_or(0, |entry| entry.number)
}

/// Ends it: no event goes into it from here on, but for those that are being written.
pub fn cease(memory: &Memory, generation: u64) {
    let header = memory.header();
    let orders = &header.orders;
    orders.attention.store(0, Ordering::Release);
    for (word, remembered) in events::initialisation().into_iter().enumerate() {
        orders.enabled[word].store(remembered, Ordering::Release);
        orders.recorded[word].store(0, Ordering::Release);
    }
    orders.epoch.store(0, Ordering::Release);
    orders.is_filtered.store(0, Ordering::Relaxed);
    orders.generation.store(generation, Ordering::Release);
    header.dump.written.store(u64::MAX, Ordering::Release);
}

/// A number that no other trace has.
fn random_uuid() -> [u64; 2] {
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
