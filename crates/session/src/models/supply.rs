//! Who gets packets and streams: nobody the same as somebody else, and all of them can be had, whatever the system said meanwhile.

use crate::memory::Memory;
use crate::memory::layout::Layout;
use crate::memory::supply::{Supply, take_packet, take_stream};
use crate::models::{Process, explore, start};
use crate::sync::modelled::{set_full, will_write};

const LAYOUT: Layout = Layout {
    streams: 3,
    small: 1,
    large: 3,
    dump_bytes: 64 << 10,
};
/// Of an event for which a small packet is too small.
const MUCH: usize = 400;

/// Takes a packet and writes to it: nobody else may.
fn take(memory: &Memory) -> Option<u32> {
    let number = take_packet(memory, MUCH, false)?;
    let (packet, bytes) = memory.packet(number);
    will_write(packet.0, bytes);
    Some(number)
}

fn top_up(process: &Process) -> Option<i32> {
    let allocate = |at, bytes| process.memory.populate(at, bytes);
    let (_, error) = Supply::new(1 << 20).top_up(&process.memory, &allocate);
    error
}

/// Takes everything that is left, and makes sure that together with what was taken it is all there is.
fn assert_whole(taken: Vec<Option<u32>>, rest: impl Fn() -> Option<u32>, first: u32, count: u32) {
    let mut all: Vec<u32> = taken.into_iter().flatten().collect();
    all.extend(std::iter::from_fn(rest));
    all.sort_unstable();
    assert_eq!(all, (first..first + count).collect::<Vec<_>>());
}

#[test]
fn threads_and_their_supplier_hand_out_every_packet_once() {
    explore("supply of packets", 2, || {
        let process = Process::new(LAYOUT);
        process.adopt();
        let memory = process.memory;
        let takers = [0, 1].map(|_| start(move || take(&memory)));
        let supplier = process.clone();
        let supplier = start(move || top_up(&supplier));
        let taken = takers.map(|taker| taker.join().expect("no panic"));
        assert_eq!(supplier.join().expect("no panic"), None);
        assert_whole(taken.into(), || take(&memory), LAYOUT.small, LAYOUT.large);
    });
}

#[test]
fn no_packet_is_lost_when_the_system_has_no_memory_for_a_while() {
    explore("supply without memory", 2, || {
        let process = Process::new(LAYOUT);
        process.adopt();
        let memory = process.memory;
        set_full(true);
        let takers = [0, 1].map(|_| start(move || take(&memory)));
        let supplier = process.clone();
        let supplier = start(move || {
            let error = top_up(&supplier);
            set_full(false);
            error
        });
        let taken = takers.map(|taker| taker.join().expect("no panic"));
        supplier.join().expect("no panic");
        assert_whole(taken.into(), || take(&memory), LAYOUT.small, LAYOUT.large);
    });
}

#[test]
fn no_stream_is_lost_when_the_system_has_no_memory_for_a_while() {
    explore("streams without memory", 3, || {
        let process = Process::new(LAYOUT);
        let memory = process.memory;
        let free = &memory.header().free;
        free.streams_supplied
            .store(1, std::sync::atomic::Ordering::Relaxed);
        process.adopt();
        set_full(true);
        let takers = [0, 1].map(|_| start(move || take_stream(&memory)));
        let taken = takers.map(|taker| taker.join().expect("no panic"));
        assert!(taken.iter().any(Option::is_some), "one was allocated");
        set_full(false);
        assert_whole(taken.into(), || take_stream(&memory), 0, LAYOUT.streams);
    });
}
