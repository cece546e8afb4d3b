//! Streams: the packets of one stream class and instance, in order, whatever files they are in.

use std::collections::BTreeMap;

use crate::packet::Packet;
use crate::packet::discover::Found;

/// One data stream: in LTTng one channel on one CPU.
#[derive(Debug)]
pub struct Stream {
    /// Index of the stream class in the schema.
    pub class: usize,
    /// `stream_instance_id`, or a number given in the order of the files.
    pub id: u64,
    /// In the order of time.
    pub packets: Vec<Packet>,
    /// The place of the cut that it is from: each cut tells what names things, and counts its packets anew. Nothing if its folders are no cuts.
    pub(crate) cut: Option<usize>,
    /// Packets must be decoded one after the other, for they do not tell the whole time.
    pub sequential: bool,
    /// Packets that stood in their file in another order than that of time.
    pub(crate) unordered: u64,
    /// Which of two streams comes first when both have an event at the same time. Equal for streams that
    /// nothing tells apart.
    pub rank: u32,
}

/// Puts packets together to streams. Packets without an instance id, or without a begin time, make a stream per file. `cut_of` says
/// which cut a file is from.
pub(crate) fn assemble(
    found: Vec<Found>,
    sequential: &[bool],
    cut_of: impl Fn(u32) -> Option<usize>,
) -> Vec<Stream> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Key {
        Instance(u64),
        File(u32),
    }
    let mut groups: BTreeMap<(usize, Key, Option<usize>), Vec<Packet>> = BTreeMap::new();
    for Found {
        packet,
        class,
        instance,
        has_begin,
    } in found
    {
        let key = match instance {
            Some(id) if has_begin => Key::Instance(id),
            _ => Key::File(packet.file),
        };
        let cut = cut_of(packet.file);
        groups.entry((class, key, cut)).or_default().push(packet);
    }
    let mut unnamed = BTreeMap::new();
    let streams = groups.into_iter().map(|((class, key, cut), packets)| {
        let id = match key {
            Key::Instance(id) => id,
            Key::File(_) => {
                let next = unnamed.entry(class).or_insert(0);
                *next += 1;
                *next - 1
            }
        };
        let (packets, unordered) = in_order(packets, sequential[class]);
        Stream {
            class,
            id,
            packets,
            cut,
            sequential: sequential[class],
            unordered,
            rank: 0,
        }
    });
    streams.collect()
}

/// Sorts packets by time. Of a stream whose packets depend on each other only whole files can be moved.
fn in_order(mut packets: Vec<Packet>, sequential: bool) -> (Vec<Packet>, u64) {
    let back = |pair: &[Packet]| pair[0].file == pair[1].file && pair[0].begin > pair[1].begin;
    let unordered = packets.windows(2).filter(|pair| back(pair)).count() as u64;
    if sequential {
        let mut first_begin = BTreeMap::new();
        for packet in &packets {
            first_begin.entry(packet.file).or_insert(packet.begin);
        }
        packets.sort_by_key(|packet| (first_begin.get(&packet.file).copied(), packet.file));
        return (packets, 0);
    }
    if packets.windows(2).any(|pair| pair[0].begin > pair[1].begin) {
        packets.sort_by_key(|packet| packet.begin);
    }
    (packets, unordered)
}
