//! Index files: where the packets of a stream file begin, and what their headers say.
//!
//! Readers use them to find packets without reading the stream; they are optional and never the only truth. All
//! integers are big-endian, as in LTTng's version 1.1.

const MAGIC: u32 = 0xC1F1_DCC1;
const MAJOR: u32 = 1;
const MINOR: u32 = 1;
const ENTRY_BYTES: u32 = 72;

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
    pub stream_instance_id: u64,
    pub sequence: u64,
}

/// The bytes of an index file.
pub fn index_file(entries: &[IndexEntry]) -> Vec<u8> {
    let header = [MAGIC, MAJOR, MINOR, ENTRY_BYTES].map(u32::to_be_bytes);
    let mut file = header.concat();
    for entry in entries {
        let numbers = [
            entry.offset,
            entry.packet_size,
            entry.content_size,
            entry.timestamp_begin,
            entry.timestamp_end,
            entry.events_discarded,
            entry.stream_class_id,
            entry.stream_instance_id,
            entry.sequence,
        ];
        file.extend(numbers.into_iter().flat_map(u64::to_be_bytes));
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_length_that_the_header_says() {
        let entry = IndexEntry {
            offset: 1,
            sequence: 2,
            ..IndexEntry::default()
        };
        let file = index_file(&[entry, entry]);
        assert_eq!(file.len(), 16 + 2 * ENTRY_BYTES as usize);
        assert_eq!(file[..4], [0xC1, 0xF1, 0xDC, 0xC1]);
        assert_eq!(file[12..24], [0, 0, 0, 72, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(file[file.len() - 1], 2);
    }
}
