//! Recordings of the repository in memory, ready to be damaged, and what is read of them packet by packet.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rostrace_ctf::schema::Schema;
use rostrace_ctf::{
    Conversion, Cursor, DamageKind, Event, StreamBytes, StreamId, TraceSet, metadata,
};

use rostrace_testkit::agreement::counts_agree;
use rostrace_testkit::recordings::testdata;

/// Places in the head of an LTTng packet, in bytes.
pub const UUID: usize = 4;
pub const STREAM_ID: usize = 20;
pub const INSTANCE: usize = 24;
pub const BEGIN: usize = 32;
pub const END: usize = 40;
pub const CONTENT: usize = 48;
pub const SIZE: usize = 56;
pub const SEQUENCE: usize = 64;
pub const DISCARDED: usize = 72;
pub const HEAD: usize = 84;

/// A stream file of a recording, and where its packets are.
#[derive(Debug, Clone)]
pub struct Original {
    pub schema: Arc<Schema>,
    pub bytes: Vec<u8>,
    pub index: Option<Vec<u8>>,
    /// Offset and size of each packet.
    pub packets: Vec<(usize, usize)>,
    pub reading: Reading,
}

/// What was read, by the bytes of the packets: where a packet stands does not matter.
#[derive(Debug, Clone)]
pub struct Reading {
    pub packets: HashMap<Vec<u8>, Vec<Event>>,
    pub at: HashMap<u64, Vec<Event>>,
    pub events: u64,
    pub damage: Vec<DamageKind>,
}

impl Original {
    pub fn open(folder: &Path, file: &str) -> Original {
        let folder = folder.join("ust/uid/0/64-bit");
        let metadata = std::fs::read(folder.join("metadata")).unwrap();
        let schema = Arc::new(metadata::read(&metadata).unwrap().schema);
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let index = std::fs::read(folder.join(format!("index/{file}.idx"))).ok();
        let mut packets = Vec::new();
        let mut offset = 0;
        while offset < bytes.len() {
            let size = number(&bytes, offset + SIZE) as usize / 8;
            packets.push((offset, size));
            offset += size;
        }
        let reading = read(&schema, &bytes, None);
        assert_eq!(reading.packets.len(), packets.len());
        Original {
            schema,
            bytes,
            index,
            packets,
            reading,
        }
    }

    /// A file of many small packets, and one of few large ones.
    pub fn all() -> Vec<Original> {
        vec![
            Original::open(&testdata().join("lossy"), "ros2_1"),
            Original::open(&testdata().join("lifecycle_caret"), "ros2_0"),
        ]
    }

    pub fn packet(&self, number: usize) -> &[u8] {
        let (offset, size) = self.packets[number];
        &self.bytes[offset..offset + size]
    }

    /// The packet that a byte of the file is in.
    pub fn packet_at(&self, place: usize) -> usize {
        self.packets
            .partition_point(|&(offset, size)| offset + size <= place)
    }

    /// Reads damaged bytes; all packets but the touched ones must be there, with all their events.
    pub fn check(&self, what: &str, bytes: &[u8], touched: &[usize]) -> Reading {
        let reading = read(&self.schema, bytes, self.index.as_deref());
        for number in 0..self.packets.len() {
            if touched.contains(&number) {
                continue;
            }
            let expected = &self.reading.packets[self.packet(number)];
            let found = reading.packets.get(self.packet(number));
            assert!(
                found == Some(expected),
                "{what}: packet {number} at {} has {:?} instead of {} events; {:?}",
                self.packets[number].0,
                found.map(Vec::len),
                expected.len(),
                reading.damage,
            );
        }
        reading
    }
}

impl Reading {
    pub fn says(&self, kind: DamageKind) -> bool {
        self.damage.contains(&kind)
    }
}

pub fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().unwrap())
}

pub fn put(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

pub fn read(schema: &Arc<Schema>, bytes: &[u8], index: Option<&[u8]>) -> Reading {
    read_set(&one_file(schema, bytes.to_vec(), index))
}

/// A trace of one stream file.
pub fn one_file(schema: &Arc<Schema>, bytes: Vec<u8>, index: Option<&[u8]>) -> TraceSet {
    let file = StreamBytes {
        name: PathBuf::from("stream"),
        bytes,
        index: index.map(<[u8]>::to_vec),
    };
    TraceSet::in_memory(Arc::clone(schema), vec![file])
}

/// Reads everything; cursor and survey must agree on how much that is.
pub fn read_set(set: &TraceSet) -> Reading {
    let mut reading = Reading {
        packets: HashMap::new(),
        at: HashMap::new(),
        events: 0,
        damage: set.damage.iter().map(|damage| damage.kind).collect(),
    };
    let mut found: HashMap<(StreamId, usize), Vec<Event>> = HashMap::new();
    let mut cursor = Cursor::new(set, Conversion::Exact);
    while let Some(event) = cursor.next() {
        reading.events += 1;
        let packet = (event.stream_id(), event.packet_number());
        found.entry(packet).or_default().push(event.event());
    }
    for id in set.streams() {
        for (number, packet) in set.stream(id).packets.iter().enumerate() {
            let events = found.remove(&(id, number)).unwrap_or_default();
            let data = set.trace_of(id).data(packet);
            reading.packets.insert(data.to_vec(), events.clone());
            reading.at.insert(packet.offset, events);
        }
    }
    let found = cursor
        .damage
        .into_rows()
        .into_iter()
        .map(|damage| damage.kind);
    reading.damage.extend(found);
    counts_agree(set, reading.events).unwrap();
    reading
}

/// SplitMix64.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % (limit as u64).max(1)) as usize
    }
}
