//! Index files: a tracer's own list of the packets in a stream file. All integers are big-endian, as in LTTng's version 1.1.
//!
//! An index is a hint, never the truth: packet heads are read from the stream file itself. It helps where the stream
//! file is broken: it tells where packets must begin, and how many there were.

/// What an index file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Index {
    pub(crate) entries: Vec<IndexEntry>,
    /// Of the first packet: its number in the stream, which old indexes do not have.
    pub(crate) first_sequence: Option<u64>,
}

/// What an index says about one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexEntry {
    /// In bytes, from the beginning of the file.
    pub offset: u64,
    /// In bits.
    pub packet_size: u64,
    /// In bits.
    pub content_size: u64,
    pub timestamp_begin: u64,
    pub timestamp_end: u64,
    pub events_discarded: u64,
    pub stream_class_id: u64,
    /// From here on old indexes say nothing.
    pub stream_instance_id: u64,
    pub sequence: u64,
}

const MAGIC: u32 = 0xC1F1_DCC1;
const MAJOR: u32 = 1;
const MINOR: u32 = 1;
const HEADER: usize = 16;
const ENTRY_BYTES: usize = 72;
const SMALLEST_ENTRY: usize = 56;

impl IndexEntry {
    /// In the order of the file.
    fn numbers(&self) -> [u64; ENTRY_BYTES / 8] {
        [
            self.offset,
            self.packet_size,
            self.content_size,
            self.timestamp_begin,
            self.timestamp_end,
            self.events_discarded,
            self.stream_class_id,
            self.stream_instance_id,
            self.sequence,
        ]
    }

    fn parse(bytes: &[u8]) -> IndexEntry {
        let number = |place: usize| {
            let bytes = bytes.get(8 * place..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
        };
        IndexEntry {
            offset: number(0),
            packet_size: number(1),
            content_size: number(2),
            timestamp_begin: number(3),
            timestamp_end: number(4),
            events_discarded: number(5),
            stream_class_id: number(6),
            stream_instance_id: number(7),
            sequence: number(8),
        }
    }
}

/// The bytes of an index file.
pub fn index_file(entries: &[IndexEntry]) -> Vec<u8> {
    let header = [MAGIC, MAJOR, MINOR, ENTRY_BYTES as u32].map(u32::to_be_bytes);
    let entries = entries.iter().flat_map(IndexEntry::numbers);
    let mut file = header.concat();
    file.extend(entries.flat_map(u64::to_be_bytes));
    file
}

impl Index {
    /// The index, if these bytes are a valid one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Index> {
        let number = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        if number(0)? != MAGIC || number(4)? != MAJOR {
            return None;
        }
        let stride = number(12)? as usize;
        let body = bytes.get(HEADER..)?;
        if stride < SMALLEST_ENTRY || !body.len().is_multiple_of(stride) {
            return None;
        }
        // Grown step by step: a wrong index is noticed long before its end.
        let mut entries = Vec::new();
        let mut expected = 0;
        for entry in body.chunks_exact(stride).map(IndexEntry::parse) {
            if entry.offset < expected
                || !entry.packet_size.is_multiple_of(8)
                || entry.packet_size == 0
                || entry.timestamp_begin > entry.timestamp_end
            {
                return None;
            }
            expected = entry.offset.checked_add(entry.packet_size / 8)?;
            entries.push(entry);
        }
        let first = entries.first().filter(|_| stride >= ENTRY_BYTES);
        Some(Index {
            first_sequence: first.map(|entry| entry.sequence),
            entries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(offset: u64, packet_size: u64, begin: u64, end: u64) -> IndexEntry {
        IndexEntry {
            offset,
            packet_size,
            timestamp_begin: begin,
            timestamp_end: end,
            sequence: 3,
            ..IndexEntry::default()
        }
    }

    fn is_valid(entries: &[IndexEntry]) -> bool {
        Index::parse(&index_file(entries)).is_some()
    }

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let entries = vec![entry(0, 32768, 5, 6), entry(4096, 65536, 7, 7)];
        let file = index_file(&entries);
        assert_eq!(file.len(), HEADER + 2 * ENTRY_BYTES);
        assert_eq!(file[..4], [0xC1, 0xF1, 0xDC, 0xC1]);
        assert_eq!(file[12..24], [0, 0, 0, 72, 0, 0, 0, 0, 0, 0, 0, 0]);
        let index = Index::parse(&file).unwrap();
        assert_eq!((index.entries, index.first_sequence), (entries, Some(3)));
    }

    #[test]
    fn an_old_index_has_no_sequence() {
        let mut file = index_file(&[entry(0, 64, 1, 2)]);
        file[15] = SMALLEST_ENTRY as u8;
        file.truncate(HEADER + SMALLEST_ENTRY);
        let index = Index::parse(&file).unwrap();
        assert_eq!(index.entries[0].timestamp_end, 2);
        assert_eq!(index.first_sequence, None);
    }

    #[test]
    fn what_cannot_be_true_makes_an_index_invalid() {
        assert!(is_valid(&[]));
        assert_eq!(Index::parse(b""), None);
        assert!(!is_valid(&[entry(0, 12, 0, 0)]));
        assert!(!is_valid(&[entry(0, 8, 2, 1)]));
        assert!(!is_valid(&[entry(8, 64, 0, 0), entry(0, 64, 0, 0)]));
        assert!(!is_valid(&[entry(u64::MAX, 64, 0, 0)]));
        let good = index_file(&[entry(0, 64, 0, 0)]);
        for (byte, value) in [(7, 2), (15, 8)] {
            let mut other = good.clone();
            other[byte] = value;
            assert_eq!(Index::parse(&other), None);
        }
        assert_eq!(Index::parse(&good[..good.len() - 1]), None);
    }
}
