//! From the bytes of a `metadata` file to its text.
//!
//! The file is TSDL in packets (either byte order), plain TSDL, or a CTF 2 JSON text sequence. A tracer that died may
//! leave the last packet unfinished or a tail of zeros: that is the end of the text, not an error.

use super::error::{Position, Result, Warning};
use crate::schema::{ByteOrder, Uuid};

const PACKET_MAGIC: u32 = 0x75D1_1D57;
const HEADER_BYTES: usize = 37;
const RECORD_SEPARATOR: u8 = 0x1E;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Tsdl,
    Json,
}

/// The text of a metadata file.
#[derive(Debug)]
pub(super) struct Framed {
    pub(super) language: Language,
    pub(super) text: Vec<u8>,
    /// Why the framing says that the end of the text is missing.
    pub(super) cut: Option<String>,
    pub(super) warnings: Vec<Warning>,
}

/// Takes the text out of its frame.
pub(super) fn unframe(bytes: &[u8]) -> Result<Framed> {
    let Some(&first) = bytes.first() else {
        return Err(Position::NOWHERE
            .error("the metadata is empty")
            .with_hint("the tracer was stopped before it wrote anything; record again"));
    };
    if first == RECORD_SEPARATOR {
        return Ok(plain(bytes, Language::Json));
    }
    match bytes.first_chunk::<4>() {
        Some(magic) if u32::from_le_bytes(*magic) == PACKET_MAGIC => {
            packets(bytes, ByteOrder::Little)
        }
        Some(magic) if u32::from_be_bytes(*magic) == PACKET_MAGIC => packets(bytes, ByteOrder::Big),
        _ => Ok(plain(bytes, Language::Tsdl)),
    }
}

fn plain(bytes: &[u8], language: Language) -> Framed {
    let length = bytes.iter().rposition(|&b| b != 0).map_or(0, |at| at + 1);
    let zeros = bytes.len() - length;
    Framed {
        language,
        text: bytes[..length].to_vec(),
        cut: (zeros > 0).then(|| format!("the metadata ends with {zeros} zero bytes")),
        warnings: Vec::new(),
    }
}

fn packets(bytes: &[u8], order: ByteOrder) -> Result<Framed> {
    let mut framed = Framed {
        language: Language::Tsdl,
        text: Vec::with_capacity(bytes.len()),
        cut: None,
        warnings: Vec::new(),
    };
    let mut uuid = None;
    let mut offset = 0;
    while let Some(rest) = bytes.get(offset..)
        && rest.len() >= HEADER_BYTES
    {
        if rest.iter().all(|&b| b == 0) {
            framed.warnings.push(Position::NOWHERE.warning(format!(
                "the metadata has {} zero bytes after its last packet",
                rest.len()
            )));
            break;
        }
        let header = PacketHeader::read(rest, order, offset)?;
        if *uuid.get_or_insert(header.uuid) != header.uuid {
            framed.warnings.push(Position::NOWHERE.warning(format!(
                "the metadata packet at byte {offset} belongs to the trace {}, not to that of the first packet",
                header.uuid
            )));
        }
        match rest.get(HEADER_BYTES..header.content_bytes) {
            Some(text) => framed.text.extend_from_slice(text),
            None => {
                framed.text.extend_from_slice(&rest[HEADER_BYTES..]);
                framed.cut = Some(format!(
                    "the metadata packet at byte {offset} should hold {} bytes, but the file ends after {}",
                    header.content_bytes,
                    rest.len()
                ));
                break;
            }
        }
        offset = offset.saturating_add(header.packet_bytes);
    }
    if offset == 0 && bytes.len() < HEADER_BYTES {
        return Err(Position::NOWHERE
            .error("the metadata ends inside the header of its first packet")
            .with_hint("the tracer was stopped before it wrote the metadata; record again"));
    }
    Ok(framed)
}

#[derive(Debug)]
struct PacketHeader {
    uuid: Uuid,
    content_bytes: usize,
    packet_bytes: usize,
}

impl PacketHeader {
    /// `bytes` has at least [`HEADER_BYTES`].
    fn read(bytes: &[u8], order: ByteOrder, offset: usize) -> Result<PacketHeader> {
        let refuse = |what: String| {
            Position::NOWHERE.error(format!("the metadata packet at byte {offset} {what}"))
        };
        let mut header = [0; HEADER_BYTES];
        header.copy_from_slice(&bytes[..HEADER_BYTES]);
        let number = |at: usize| {
            let four = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            match order {
                ByteOrder::Little => u32::from_le_bytes(four),
                ByteOrder::Big => u32::from_be_bytes(four),
            }
        };
        if number(0) != PACKET_MAGIC {
            return Err(refuse(format!(
                "does not start with the magic number 0x{PACKET_MAGIC:08X}"
            )));
        }
        let (major, minor) = (header[35], header[36]);
        if (major, minor) != (1, 8) {
            return Err(
                refuse(format!("is of CTF version {major}.{minor}")).with_hint(
                    "only 1.8 is known; tracers of before 2012 wrote packets without a version",
                ),
            );
        }
        for (name, value) in [
            ("compressed", header[32]),
            ("encrypted", header[33]),
            ("protected by a checksum", header[34]),
        ] {
            if value != 0 {
                return Err(refuse(format!("is {name} (scheme {value})"))
                    .with_hint("no scheme is defined; the file may be damaged"));
            }
        }
        if number(20) != 0 {
            return Err(refuse("has a checksum of an unknown scheme".to_owned()));
        }
        let (content, packet) = (number(24) as usize, number(28) as usize);
        if content < HEADER_BYTES * 8 || content % 8 != 0 {
            return Err(refuse(format!(
                "has a content of {content} bits, which is no number of bytes that could hold its header"
            )));
        }
        if packet < content || packet % 8 != 0 {
            return Err(refuse(format!(
                "has a size of {packet} bits for a content of {content} bits"
            )));
        }
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&header[4..20]);
        Ok(PacketHeader {
            uuid: Uuid(uuid),
            content_bytes: content / 8,
            packet_bytes: packet / 8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(text: &[u8], padding: usize, order: ByteOrder) -> Vec<u8> {
        let number = |value: usize| match order {
            ByteOrder::Little => (value as u32).to_le_bytes(),
            ByteOrder::Big => (value as u32).to_be_bytes(),
        };
        let mut bytes = number(PACKET_MAGIC as usize).to_vec();
        bytes.extend([7; 16]);
        bytes.extend([0; 4]);
        bytes.extend(number((text.len() + HEADER_BYTES) * 8));
        bytes.extend(number((text.len() + HEADER_BYTES + padding) * 8));
        bytes.extend([0, 0, 0, 1, 8]);
        bytes.extend(text);
        bytes.extend(vec![0; padding]);
        bytes
    }

    #[test]
    fn a_word_cut_by_a_packet_boundary_is_joined() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let mut bytes = packet(b"/* CTF 1.8 */ tra", 40, order);
            bytes.extend(packet(b"", 3, order));
            bytes.extend(packet(b"ce {};", 0, order));
            let framed = unframe(&bytes).unwrap();
            assert_eq!(framed.text, b"/* CTF 1.8 */ trace {};");
            assert_eq!((framed.language, framed.cut), (Language::Tsdl, None));
        }
    }

    #[test]
    fn missing_padding_and_a_few_stray_bytes_at_the_end_are_accepted() {
        let mut bytes = packet(b"abc", 40, ByteOrder::Little);
        bytes.truncate(bytes.len() - 10);
        assert_eq!(unframe(&bytes).unwrap().text, b"abc");
        let mut bytes = packet(b"abc", 0, ByteOrder::Little);
        bytes.extend([1; 36]);
        let framed = unframe(&bytes).unwrap();
        assert_eq!((framed.text.as_slice(), framed.cut), (&b"abc"[..], None));
    }

    #[test]
    fn a_packet_whose_text_is_cut_is_the_end() {
        let mut bytes = packet(b"abcdef", 0, ByteOrder::Little);
        bytes.truncate(bytes.len() - 2);
        let framed = unframe(&bytes).unwrap();
        assert_eq!(framed.text, b"abcd");
        assert!(framed.cut.unwrap().contains("43 bytes"));
    }

    #[test]
    fn a_packet_of_another_trace_is_a_warning() {
        let mut bytes = packet(b"abc", 0, ByteOrder::Little);
        let mut other = packet(b"def", 0, ByteOrder::Little);
        other[4] = 8;
        bytes.extend(other);
        let framed = unframe(&bytes).unwrap();
        assert_eq!(framed.text, b"abcdef");
        assert_eq!(framed.warnings.len(), 1);
    }

    #[test]
    fn zeros_after_the_last_packet_are_a_warning() {
        let mut bytes = packet(b"abc", 0, ByteOrder::Little);
        bytes.extend([0; 4096]);
        let framed = unframe(&bytes).unwrap();
        assert_eq!(framed.text, b"abc");
        assert_eq!(framed.warnings.len(), 1);
    }

    #[test]
    fn a_checksum_a_compression_an_encryption_or_another_version_is_refused() {
        for (at, value) in [(20, 1), (32, 1), (33, 1), (34, 1), (35, 2), (36, 7)] {
            let mut bytes = packet(b"abc", 0, ByteOrder::Little);
            bytes[at] = value;
            assert!(unframe(&bytes).is_err(), "byte {at} = {value}");
        }
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for (at, value) in [(24, 0u32), (24, 8), (24, 297), (28, 0), (28, 296)] {
            let mut bytes = packet(b"abc", 0, ByteOrder::Little);
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert!(unframe(&bytes).is_err(), "byte {at} = {value}");
        }
    }

    #[test]
    fn plain_text_and_json_are_told_apart() {
        assert_eq!(unframe(b"\x1e{}").unwrap().language, Language::Json);
        assert_eq!(unframe(b"\n/* CTF").unwrap().language, Language::Tsdl);
        assert!(unframe(b"").is_err());
    }

    #[test]
    fn zeros_after_plain_text_are_a_cut() {
        let framed = unframe(b"trace\0\0").unwrap();
        assert_eq!(framed.text, b"trace");
        assert!(framed.cut.is_some());
    }
}
