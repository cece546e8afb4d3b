//! Damaged recordings: never a panic, never a hang; the damage is reported, and of all packets that it did not touch every
//! event is there, as it was.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rostrace_ctf::{DamageKind, Event, StreamBytes, TraceSet, metadata};
use support::babeltrace::empty_folder;
use support::damaged::*;
use support::recordings::testdata;

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
fn removed_packets_are_counted() {
    for original in Original::all() {
        for number in 0..original.packets.len() {
            let (offset, size) = original.packets[number];
            let mut bytes = original.bytes.clone();
            bytes.drain(offset..offset + size);
            let reading = original.check("a packet removed", &bytes, &[number]);
            if number > 0 && number + 1 < original.packets.len() {
                assert!(reading.says(DamageKind::LostPackets), "packet {number}");
            }
        }
    }
}

#[test]
fn a_zeroed_packet_is_a_gap() {
    for original in Original::all() {
        for number in 0..original.packets.len() {
            let (offset, size) = original.packets[number];
            for fill in [0, 0xFF, 0x55] {
                let mut bytes = original.bytes.clone();
                bytes[offset..offset + size].fill(fill);
                let what = format!("packet {number} filled with {fill:#x}");
                let reading = original.check(&what, &bytes, &[number]);
                assert!(reading.says(DamageKind::CorruptPacket), "{what}");
            }
            let mut bytes = original.bytes.clone();
            bytes[offset..offset + HEAD].fill(0);
            let reading = original.check("a head zeroed", &bytes, &[number]);
            assert!(reading.says(DamageKind::CorruptPacket));
        }
    }
}

#[test]
fn a_packet_that_is_there_twice_is_read_once() {
    for original in Original::all() {
        for number in 0..original.packets.len() {
            let copy = original.packet(number).to_vec();
            let (offset, _) = original.packets[number];
            let mut beside = original.bytes.clone();
            beside.splice(offset..offset, copy.iter().copied());
            let mut behind = original.bytes.clone();
            behind.extend(&copy);
            for bytes in [beside, behind] {
                let reading = original.check("a packet twice", &bytes, &[]);
                assert_eq!(reading.events, original.reading.events, "packet {number}");
            }
        }
    }
}

#[test]
fn packets_in_another_order_are_sorted() {
    let mut random = Random(4);
    for original in Original::all() {
        for _ in 0..20 {
            let mut order: Vec<usize> = (0..original.packets.len()).collect();
            for place in (1..order.len()).rev() {
                order.swap(place, random.below(place + 1));
            }
            let bytes: Vec<u8> = (order.iter())
                .flat_map(|&number| original.packet(number).iter().copied())
                .collect();
            let reading = original.check("packets in another order", &bytes, &[]);
            assert_eq!(reading.events, original.reading.events);
            let sorted = order.is_sorted();
            assert_eq!(reading.says(DamageKind::UnorderedPackets), !sorted);
            assert!(!reading.says(DamageKind::TimeGoesBack));
        }
    }
}

#[test]
fn what_stands_behind_the_last_packet_is_reported() {
    let mut random = Random(5);
    for original in Original::all() {
        for count in [1, 3, 4, 83, 84, 85, 4096, 10_000] {
            let zeros = vec![0; count];
            let ones = vec![0xFF; count];
            let junk: Vec<u8> = (0..count).map(|_| random.next() as u8).collect();
            for stray in [zeros, ones, junk] {
                let bytes = [&original.bytes[..], &stray].concat();
                let reading = original.check("stray bytes", &bytes, &[]);
                assert_eq!(reading.events, original.reading.events);
                assert!(
                    reading.says(DamageKind::CorruptPacket) || reading.says(DamageKind::CutPacket),
                    "{count} bytes: {:?}",
                    reading.damage
                );
            }
        }
    }
}

/// All packets with the UUID of another trace.
fn foreign(original: &Original) -> Vec<u8> {
    let mut bytes = original.bytes.clone();
    for (offset, _) in &original.packets {
        bytes[offset + UUID..offset + UUID + 16].fill(0x77);
    }
    bytes
}

#[test]
fn packets_of_another_trace_are_read_and_reported() {
    for original in Original::all() {
        let bytes = foreign(&original);
        let reading = read(&original.schema, &bytes, None);
        assert_eq!(reading.events, original.reading.events);
        assert!(reading.says(DamageKind::ForeignPackets));
        // One foreign packet among the own ones.
        for number in 0..original.packets.len() {
            let mut bytes = original.bytes.clone();
            let at = original.packets[number].0 + UUID;
            bytes[at..at + 16].fill(0x77);
            let reading = original.check("a foreign packet", &bytes, &[number]);
            assert_eq!(reading.events, original.reading.events);
        }
    }
}

#[test]
fn damage_among_packets_of_another_trace_is_a_gap_too() {
    for original in Original::all() {
        let mut bytes = foreign(&original);
        let (offset, _) = original.packets[1];
        bytes[offset..offset + HEAD].fill(0);
        let reading = read(&original.schema, &bytes, None);
        let lost = original.reading.packets[original.packet(1)].len() as u64;
        assert_eq!(reading.events, original.reading.events - lost);
    }
}

#[test]
fn a_large_file_of_another_trace_takes_no_longer_than_an_own_one() {
    let original = Original::open(&testdata().join("lossy"), "ros2_1");
    let mut packet = foreign(&original)[..original.packets[0].1].to_vec();
    let mut bytes = Vec::new();
    for number in 0..8000u64 {
        put(&mut packet, BEGIN, 1000 + number);
        bytes.extend_from_slice(&packet);
    }
    let start = Instant::now();
    let file = StreamBytes {
        bytes,
        ..Default::default()
    };
    let set = TraceSet::in_memory(Arc::clone(&original.schema), vec![file]);
    assert_eq!(set.traces[0].streams[0].packets.len(), 8000);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
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

#[test]
fn counters_that_begin_anew_are_losses_of_unknown_size() {
    for original in Original::all() {
        let mut bytes = original.bytes.clone();
        let (first, second) = (original.packets[0].0, original.packets[1].0);
        put(&mut bytes, first + DISCARDED, 1000);
        put(&mut bytes, first + SEQUENCE, 1 << 40);
        put(&mut bytes, second + DISCARDED, 2);
        let file = StreamBytes {
            bytes,
            ..Default::default()
        };
        let set = TraceSet::in_memory(Arc::clone(&original.schema), vec![file]);
        for kind in [DamageKind::DiscardedEvents, DamageKind::LostPackets] {
            let at_second = (set.damage.iter())
                .find(|damage| damage.kind == kind && damage.offset == Some(second as u64));
            assert_eq!(at_second.unwrap().count, None, "{kind:?}");
        }
    }
}

#[test]
fn a_counter_of_eight_bits_wraps_around() {
    let text = "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8;
        trace { major = 1; minor = 8; byte_order = le; };
        stream { packet.context := struct { u8 packet_size; u8 events_discarded; u8 packet_seq_num; }; };
        event { name = \"e\"; fields := struct { u8 x; }; };";
    let schema = Arc::new(metadata::read(text.as_bytes()).unwrap().schema);
    let bytes = vec![32, 250, 254, 1, 32, 4, 255, 2, 32, 4, 2, 3];
    let file = StreamBytes {
        bytes,
        ..Default::default()
    };
    let set = TraceSet::in_memory(schema, vec![file]);
    let losses: Vec<_> = (set.traces[0].losses(&set.traces[0].streams[0]).iter())
        .map(|loss| (loss.kind, loss.count, loss.packet))
        .collect();
    assert_eq!(
        losses,
        [
            (DamageKind::DiscardedEvents, None, 0),
            (DamageKind::DiscardedEvents, Some(10), 1),
            (DamageKind::LostPackets, Some(2), 2),
        ]
    );
}

#[test]
fn a_wrong_index_changes_nothing() {
    let mut random = Random(6);
    for original in Original::all() {
        let Some(index) = &original.index else {
            continue;
        };
        let mut wrong: Vec<Vec<u8>> = (0..index.len().min(16 + 2 * 72))
            .flat_map(|at| {
                [0, 0xFF, 1].map(|with| {
                    let mut index = index.clone();
                    index[at] ^= with;
                    index
                })
            })
            .collect();
        wrong.extend(
            (0..=index.len())
                .step_by(23)
                .map(|cut| index[..cut].to_vec()),
        );
        // Every offset wrong by a little, and an index of another, longer file.
        let mut shifted = index.clone();
        for entry in shifted[16..].chunks_exact_mut(72) {
            entry[7] ^= 1 + random.below(255) as u8;
        }
        wrong.push(shifted);
        wrong.push([&index[..], &index[16..]].concat());
        for index in &wrong {
            let reading = read(&original.schema, &original.bytes, Some(index));
            assert_eq!(reading.at, original.reading.at);
        }
        // Also where the index is needed.
        let mut bytes = original.bytes.clone();
        let (offset, size) = original.packets[1];
        bytes[offset..offset + size].fill(0);
        for index in &wrong {
            let damaged = Original {
                index: Some(index.clone()),
                ..original.clone()
            };
            damaged.check("a wrong index and a gap", &bytes, &[1]);
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn other_files_in_the_folder_do_no_harm() {
    let folder = empty_folder("other_files_in_the_folder");
    copy_folder(&testdata().join("lossy"), &folder);
    let events = read_set(&TraceSet::open(&[&folder]).unwrap()).events;
    let trace = folder.join("ust/uid/0/64-bit");
    std::fs::write(trace.join("README"), "Recorded on a Tuesday.\n").unwrap();
    std::fs::write(trace.join(".hidden"), "not looked at").unwrap();
    std::fs::write(trace.join("empty"), "").unwrap();
    std::fs::write(trace.join("one"), "1").unwrap();
    std::fs::create_dir(trace.join("folder")).unwrap();
    let reading = read_set(&TraceSet::open(&[&folder]).unwrap());
    assert_eq!(reading.events, events);
    let strange = reading
        .damage
        .iter()
        .filter(|kind| **kind == DamageKind::NotAStream);
    assert_eq!(strange.count(), 2);
}

#[test]
fn metadata_that_is_cut_anywhere_is_read_as_far_as_it_goes() {
    let folder = testdata().join("lossy/ust/uid/0/64-bit");
    let metadata = std::fs::read(folder.join("metadata")).unwrap();
    let bytes = std::fs::read(folder.join("ros2_1")).unwrap();
    let all = read(
        &Arc::new(metadata::read(&metadata).unwrap().schema),
        &bytes,
        None,
    );
    let mut read_at_all = 0;
    for cut in (0..metadata.len()).step_by(101) {
        let Ok(part) = metadata::read(&metadata[..cut]) else {
            continue;
        };
        read_at_all += 1;
        let reading = read(&Arc::new(part.schema), &bytes, None);
        assert!(reading.events <= all.events);
        for (bytes, events) in &reading.packets {
            assert!(all.packets[bytes].starts_with(events), "cut at {cut}");
        }
        let reported = part.cut_short.is_some();
        assert!(
            reported || reading.events == all.events || reading.says(DamageKind::UndecodableEvents),
            "cut at {cut}"
        );
    }
    assert!(read_at_all > 50, "{read_at_all}");
}

#[test]
fn a_stream_in_several_files_is_one_stream() {
    let mut random = Random(7);
    for original in Original::all() {
        for _ in 0..10 {
            let mut files = vec![StreamBytes::default(); 3];
            for number in 0..original.packets.len() {
                let file = random.below(files.len());
                files[file].bytes.extend_from_slice(original.packet(number));
            }
            let set = TraceSet::in_memory(Arc::clone(&original.schema), files);
            assert_eq!(set.traces[0].streams.len(), 1);
            let reading = read_set(&set);
            assert_eq!(reading.packets, original.reading.packets);
            assert!(!reading.says(DamageKind::UnorderedPackets));
            assert!(!reading.says(DamageKind::LostPackets));
        }
    }
}
