//! Damaged recordings: never a panic, never a hang; the damage is reported, and of all packets that it did not touch every
//! event is there, as it was. Here bytes inside of packets are damaged.

mod folder;
mod packets;

use std::sync::Arc;
use std::time::Instant;

use rostrace_ctf::{DamageKind, Event, metadata};

use crate::support::damaged::*;

/// The events of a packet that end within its first bytes.
fn events_within(events: &[Event], bytes: usize) -> &[Event] {
    let whole = events.partition_point(|event| event.end <= bytes as u64 * 8);
    &events[..whole]
}

#[test]
fn a_file_that_is_cut_anywhere_loses_nothing_before_the_cut() {
    let mut random = Random(1);
    for original in Original::all() {
        let length = original.bytes.len();
        let mut cuts: Vec<usize> = (0..length).step_by(997).collect();
        cuts.extend((0..300).map(|_| random.below(length)));
        for &(offset, size) in original.packets.iter().take(4) {
            cuts.extend([0, 1, 4, 20, 48, 64, HEAD - 1, HEAD, HEAD + 1].map(|at| offset + at));
            cuts.push(offset + size - 1);
        }
        for cut in cuts {
            let last = original.packet_at(cut);
            let touched: Vec<usize> = (last..original.packets.len()).collect();
            let what = format!("cut at {cut}");
            let reading = original.check(&what, &original.bytes[..cut], &touched);
            let (offset, _) = original.packets[last];
            let expected = events_within(
                &original.reading.packets[original.packet(last)],
                cut - offset,
            );
            let found = reading
                .at
                .get(&(offset as u64))
                .map_or(&[][..], Vec::as_slice);
            assert_eq!(found, expected, "{what}");
            if cut > 0 {
                let reported = [
                    DamageKind::CutPacket,
                    DamageKind::CorruptPacket,
                    DamageKind::MissingPackets,
                    DamageKind::NotAStream,
                ];
                let indexed = original.index.is_some() || cut > offset;
                assert!(
                    !indexed || reported.iter().any(|kind| reading.says(*kind)),
                    "{what} is not reported: {:?}",
                    reading.damage
                );
            }
        }
    }
}

#[test]
fn a_flipped_bit_touches_one_packet_only() {
    let mut random = Random(2);
    for original in Original::all() {
        for round in 0..5000 {
            let mut bytes = original.bytes.clone();
            let number = random.below(original.packets.len());
            let (offset, size) = original.packets[number];
            // Half of them in the head, where they can do most.
            let at = offset + random.below(if round % 2 == 0 { HEAD } else { size });
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            let what = format!("bit {bit} of byte {at} ({} in its packet)", at - offset);
            original.check(&what, &bytes, &[number]);
        }
    }
}

#[test]
fn a_wrong_number_in_a_head_touches_one_packet_only() {
    for original in Original::all() {
        let last = original.packets.len() - 1;
        for packet in [0, 1, last] {
            let (offset, size) = original.packets[packet];
            for place in [
                STREAM_ID, INSTANCE, BEGIN, END, CONTENT, SIZE, SEQUENCE, DISCARDED,
            ] {
                let right = number(&original.bytes, offset + place);
                let bits = size as u64 * 8;
                for wrong in [
                    0,
                    1,
                    7,
                    8,
                    672,
                    bits,
                    bits + 8,
                    2 * bits,
                    bits - 8,
                    bits / 2,
                    u64::MAX,
                    u64::MAX - 7,
                    1 << 63,
                    u64::MAX / 8,
                    right + 1,
                    right.wrapping_sub(1),
                ] {
                    let mut bytes = original.bytes.clone();
                    put(&mut bytes, offset + place, wrong);
                    let what = format!("{wrong} at byte {place} of packet {packet}");
                    original.check(&what, &bytes, &[packet]);
                }
            }
        }
    }
}

#[test]
fn bytes_cut_out_or_put_in_touch_one_packet_only() {
    let mut random = Random(3);
    for original in Original::all() {
        for round in 0..500 {
            let number = random.below(original.packets.len());
            let (offset, size) = original.packets[number];
            let at = random.below(size);
            let count = 1 + random.below(if round % 2 == 0 { 8 } else { size - at });
            let mut bytes = original.bytes.clone();
            let what = if round % 3 == 0 {
                let junk: Vec<u8> = (0..count).map(|_| random.next() as u8).collect();
                bytes.splice(offset + at..offset + at, junk);
                format!("{count} more bytes at {}", offset + at)
            } else {
                let count = count.min(size - at);
                bytes.drain(offset + at..offset + at + count);
                format!("{count} less bytes at {}", offset + at)
            };
            original.check(&what, &bytes, &[number]);
        }
    }
}

#[test]
fn elements_without_bits_do_not_take_the_time_that_their_number_suggests() {
    let text = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; }; stream { };
        event { name = \"e\"; fields := struct {
            integer { size = 8; align = 8; } x; struct { } nothing[1000000]; }; };";
    let schema = Arc::new(metadata::read(text.as_bytes()).unwrap().schema);
    let start = Instant::now();
    let reading = read(&schema, &[1; 50_000], None);
    assert!(reading.says(DamageKind::UndecodableEvents));
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

/// As a crashed tracer leaves it in shared memory: no sizes, no end, zeros behind the last event.
fn open_up(bytes: &mut [u8], offset: usize, size: usize) {
    let content = number(bytes, offset + CONTENT) as usize / 8;
    put(bytes, offset + CONTENT, u64::MAX);
    put(bytes, offset + SIZE, u64::MAX);
    put(bytes, offset + END, 0);
    bytes[offset + content..offset + size].fill(0);
}

#[test]
fn open_packets_are_read_up_to_their_last_event() {
    for original in Original::all() {
        let count = original.packets.len();
        let all: Vec<usize> = (0..count).collect();
        for open in [&all[..], &all[count - 1..], &all[..1], &all[count / 2..]] {
            let mut bytes = original.bytes.clone();
            for &number in open {
                let (offset, size) = original.packets[number];
                open_up(&mut bytes, offset, size);
            }
            let reading = original.check("open packets", &bytes, open);
            for (number, &(offset, _)) in original.packets.iter().enumerate() {
                let expected = &original.reading.packets[original.packet(number)];
                let found = reading
                    .at
                    .get(&(offset as u64))
                    .map_or(&[][..], Vec::as_slice);
                assert_eq!(found, expected, "packet {number} of {open:?}");
            }
            let reported = reading
                .damage
                .iter()
                .filter(|kind| **kind == DamageKind::OpenPacket);
            assert_eq!(reported.count(), open.len());
        }
    }
}

#[test]
fn an_end_of_zero_changes_no_event() {
    for original in Original::all() {
        let mut bytes = original.bytes.clone();
        for (offset, _) in &original.packets {
            put(&mut bytes, offset + END, 0);
        }
        let reading = read(&original.schema, &bytes, None);
        assert_eq!(reading.at, original.reading.at);
    }
}
