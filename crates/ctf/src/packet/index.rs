//! Index files: a tracer's own list of the packets in a stream file.
//!
//! An index is a hint, never the truth: packet heads are read from the stream file itself. It helps where the stream
//! file is broken: it tells where packets must begin, and how many there were.

/// Packet offsets in bytes and sizes in bits, as an index file lists them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Index {
    pub(crate) entries: Vec<IndexEntry>,
    /// Of the first packet: the id of its stream class, and its number in the stream, which old indexes do not have.
    pub(crate) class_id: u64,
    pub(crate) first_sequence: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) offset: u64,
    pub(crate) packet_size: u64,
    /// In cycles.
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

const MAGIC: u32 = 0xC1F1_DCC1;
const HEADER: usize = 16;
const SMALLEST_ENTRY: usize = 56;

impl Index {
    /// The index, if these bytes are a valid one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Index> {
        let number = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        if number(0)? != MAGIC || number(4)? != 1 {
            return None;
        }
        let stride = number(12)? as usize;
        let body = bytes.get(HEADER..)?;
        if stride < SMALLEST_ENTRY || !body.len().is_multiple_of(stride) {
            return None;
        }
        let in_first = |at: usize| {
            let first = body.get(..stride)?;
            Some(u64::from_be_bytes(*first.get(at..)?.first_chunk()?))
        };
        let (class_id, first_sequence) = (in_first(48).unwrap_or(0), in_first(64));
        // Grown step by step: a wrong index is noticed long before its end.
        let mut entries = Vec::new();
        let mut expected = 0;
        for entry in body.chunks_exact(stride) {
            let number = |at: usize| Some(u64::from_be_bytes(*entry.get(at..)?.first_chunk()?));
            let (offset, packet_size) = (number(0)?, number(8)?);
            let (begin, end) = (number(24)?, number(32)?);
            if offset < expected
                || !packet_size.is_multiple_of(8)
                || packet_size == 0
                || begin > end
            {
                return None;
            }
            expected = offset.checked_add(packet_size / 8)?;
            entries.push(IndexEntry {
                offset,
                packet_size,
                begin,
                end,
            });
        }
        Some(Index {
            entries,
            class_id,
            first_sequence,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(offset: u64, size: u64, begin: u64, end: u64) -> Vec<u8> {
        [offset, size, size, begin, end, 0, 0, 0, 0]
            .iter()
            .flat_map(|n| n.to_be_bytes())
            .collect()
    }

    fn index(major: u32, stride: u32, entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes: Vec<u8> = [MAGIC, major, 1, stride]
            .iter()
            .flat_map(|n| n.to_be_bytes())
            .collect();
        entries.iter().for_each(|entry| bytes.extend(entry));
        bytes
    }

    #[test]
    fn a_valid_index_lists_its_packets() {
        let bytes = index(1, 72, &[entry(0, 32768, 5, 6), entry(4096, 65536, 7, 7)]);
        let index = Index::parse(&bytes).unwrap();
        assert_eq!(
            index.entries[1],
            IndexEntry {
                offset: 4096,
                packet_size: 65536,
                begin: 7,
                end: 7,
            }
        );
    }

    #[test]
    fn what_cannot_be_true_makes_an_index_invalid() {
        assert_eq!(Index::parse(b""), None);
        assert_eq!(Index::parse(&index(2, 72, &[])), None);
        assert_eq!(Index::parse(&index(1, 8, &[])), None);
        assert_eq!(Index::parse(&index(1, 72, &[entry(0, 12, 0, 0)])), None);
        assert_eq!(Index::parse(&index(1, 72, &[entry(0, 8, 2, 1)])), None);
        assert_eq!(
            Index::parse(&index(1, 72, &[entry(8, 64, 0, 0), entry(0, 64, 0, 0)])),
            None
        );
        assert_eq!(
            Index::parse(&index(1, 72, &[entry(u64::MAX, 64, 0, 0)])),
            None
        );
        let mut short = index(1, 72, &[entry(0, 64, 0, 0)]);
        short.pop();
        assert_eq!(Index::parse(&short), None);
    }
}
