//! What is on the disk at the end of a model: events that know who emitted them, and how many are missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::memory::packet::{HEAD, Head};
use crate::memory::writer::CONTEXT;

/// Bytes of the short header of an event.
const SHORT_HEADER: usize = 6;

/// An event of a model: who emitted it, its number there, and how long its payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) lane: u16,
    pub(super) number: u16,
    pub(super) bytes: usize,
}

impl Event {
    /// # Safety
    /// There is room for as many bytes as it has.
    pub(super) unsafe fn fill(self, at: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe { at.copy_from_nonoverlapping(self.payload().as_ptr(), self.bytes) };
    }

    fn payload(self) -> Vec<u8> {
        let [lane, number, bytes] =
            [self.lane, self.number, self.bytes as u16].map(u16::to_ne_bytes);
        let mut payload = [lane, number, bytes].concat();
        payload.resize(self.bytes, self.number as u8 + 1);
        payload
    }

    fn read(payload: &[u8]) -> Event {
        let half = |at: usize| u16::from_ne_bytes([payload[at], payload[at + 1]]);
        let event = Event {
            lane: half(0),
            number: half(2),
            bytes: half(4).into(),
        };
        assert!(payload.len() >= event.bytes, "{event:?} is cut");
        assert_eq!(payload[..event.bytes], event.payload(), "a half event");
        event
    }
}

/// Of all events.
pub(super) fn context() -> [u8; 32] {
    [0xcc; 32]
}

/// A folder for the traces of this test.
pub(super) fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let parent = match memory.is_dir() {
        true => memory.to_owned(),
        false => std::env::temp_dir(),
    };
    let test = std::thread::current();
    let name = test.name().unwrap_or("model").replace("::", "-");
    parent.join(format!("model-of-rostrace-{}-{name}", std::process::id()))
}

/// What a reader finds in the trace of a recording.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Sorted.
    pub(super) events: Vec<Event>,
    pub(super) discarded: u64,
}

impl Found {
    pub(super) fn numbers(&self, lane: u16) -> Vec<u16> {
        let of_lane = self.events.iter().filter(|event| event.lane == lane);
        of_lane.map(|event| event.number).collect()
    }
}

/// Reads the trace of the only process below a folder, and makes sure that it is sound. Nothing is there if nothing was to be said.
pub(super) fn read(trace: &Path) -> Found {
    let mut found = Found::default();
    let Ok(processes) = std::fs::read_dir(trace) else {
        return found;
    };
    let mut streams = BTreeMap::new();
    let mut uuid = None;
    for process in processes.map(|entry| entry.expect("can be read").path()) {
        for file in std::fs::read_dir(process).expect("can be read") {
            let path = file.expect("can be read").path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if let Some((stream, "0")) = name.rsplit_once('_') {
                let bytes = std::fs::read(&path).expect("can be read");
                let its = head(&bytes).uuid;
                assert_eq!(*uuid.get_or_insert(its), its, "of another trace");
                let discarded = read_stream(&name, &bytes, &mut found.events);
                assert_eq!(streams.insert(stream.to_owned(), discarded), None);
            }
        }
    }
    found.discarded = streams.values().sum();
    found.events.sort();
    let all = found.events.len();
    found.events.dedup();
    assert_eq!(all, found.events.len(), "an event is there twice");
    found
}

fn head(packet: &[u8]) -> Head {
    Head::read(packet.first_chunk().expect("a whole head"))
}

/// Returns how many events the stream says are missing.
fn read_stream(name: &str, mut bytes: &[u8], events: &mut Vec<Event>) -> u64 {
    let (mut last, mut discarded, mut end) = (None, 0, 0);
    let uuid = head(bytes).uuid;
    while !bytes.is_empty() {
        let head = head(bytes);
        let (content, number) = (head.content_bytes, head.number);
        assert_eq!(content, head.packet_bytes, "{name}");
        assert_eq!(head.uuid, uuid, "{name}");
        assert!(last.is_none_or(|last| last + 1 == number), "{name}: a hole");
        assert!(head.begin >= end, "{name}: packets overlap");
        end = head.end;
        assert!(head.discarded >= discarded, "{name}: losses shrink");
        discarded = head.discarded;
        last = Some(number);
        let mut rest = &bytes[HEAD..content];
        while !rest.is_empty() {
            let time = u32::from_ne_bytes(rest[2..6].try_into().expect("4 bytes"));
            assert!(
                time <= end as u32,
                "{name}: an event after the packet's end"
            );
            let context_at = SHORT_HEADER..SHORT_HEADER + CONTEXT;
            assert_eq!(rest[context_at.clone()], context()[..CONTEXT], "{name}");
            let event = Event::read(&rest[context_at.end..]);
            rest = &rest[context_at.end + event.bytes..];
            events.push(event);
        }
        bytes = &bytes[content..];
    }
    discarded
}
