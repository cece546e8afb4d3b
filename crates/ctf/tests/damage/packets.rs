//! Whole packets: missing, twice, in another order, of another trace, and the counters by which their loss is known.

use std::sync::Arc;
use std::time::Instant;

use rostrace_ctf::{DamageKind, StreamBytes, TraceSet, metadata};

use crate::support::damaged::*;
use rostrace_testkit::recordings::testdata;

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
    let set = one_file(&original.schema, bytes, None);
    assert_eq!(set.traces[0].streams[0].packets.len(), 8000);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn counters_that_begin_anew_are_losses_of_unknown_size() {
    for original in Original::all() {
        let mut bytes = original.bytes.clone();
        let (first, second) = (original.packets[0].0, original.packets[1].0);
        put(&mut bytes, first + DISCARDED, 1000);
        put(&mut bytes, first + SEQUENCE, 1 << 40);
        put(&mut bytes, second + DISCARDED, 2);
        let set = one_file(&original.schema, bytes, None);
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
    let set = one_file(&schema, bytes, None);
    let losses: Vec<_> = (set.traces[0].losses(&set.traces[0].streams[0]).iter())
        .map(|loss| (loss.kind, loss.count, loss.packet))
        .collect();
    let expected = [
        (DamageKind::DiscardedEvents, None, 0),
        (DamageKind::DiscardedEvents, Some(10), 1),
        (DamageKind::LostPackets, Some(2), 2),
    ];
    assert_eq!(losses, expected);
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

#[test]
fn a_loss_is_reported_with_the_file_and_the_byte_of_the_packet_that_counts_it() {
    let original = &Original::all()[0];
    // The stream is in three files, as where their size is limited.
    let cuts = [original.packets.len() / 3, 2 * original.packets.len() / 3];
    let cuts = cuts.map(|packet| original.packets[packet].0);
    let parts = [
        &original.bytes[..cuts[0]],
        &original.bytes[cuts[0]..cuts[1]],
        &original.bytes[cuts[1]..],
    ];
    let files: Vec<StreamBytes> = (parts.iter().enumerate())
        .map(|(number, bytes)| StreamBytes {
            name: format!("part_{number}").into(),
            bytes: bytes.to_vec(),
            index: None,
        })
        .collect();
    let whole = StreamBytes {
        name: "whole".into(),
        bytes: original.bytes.clone(),
        index: None,
    };
    let losses = |files| {
        let set = TraceSet::in_memory(original.schema.clone(), files);
        let rows = set.damage.into_iter();
        rows.filter(|row| row.kind == DamageKind::DiscardedEvents)
            .collect::<Vec<_>>()
    };
    let (of_parts, of_whole) = (losses(files), losses(vec![whole]));
    assert_eq!(of_parts.len(), of_whole.len());
    let mut files_with_losses = std::collections::BTreeSet::new();
    for (of_part, of_whole) in of_parts.iter().zip(&of_whole) {
        let (at, whole_at) = (of_part.offset.unwrap(), of_whole.offset.unwrap());
        let name = of_part.path.to_str().unwrap();
        let part: usize = name.strip_prefix("part_").unwrap().parse().unwrap();
        let begin = if part == 0 { 0 } else { cuts[part - 1] };
        assert_eq!(begin as u64 + at, whole_at);
        // That packet has counted more than the one before it.
        let packet = original.packet_at(whole_at as usize);
        let counted = |packet: usize| {
            let (offset, _) = original.packets[packet];
            number(&original.bytes, offset + DISCARDED)
        };
        assert_eq!(original.packets[packet].0 as u64, whole_at);
        assert_eq!(Some(counted(packet) - counted(packet - 1)), of_part.count);
        files_with_losses.insert(part);
    }
    assert!(files_with_losses.len() > 1, "{files_with_losses:?}");
}
