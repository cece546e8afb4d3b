//! Packets as LTTng-UST 2.13 writes them on x86-64: fixed offsets, little-endian, nothing aligned.
//!
//! The generator of big traces changes a handful of fields in place and so depends on these offsets. Whether a trace has
//! this layout is read from its metadata text ([`refuse_other_layouts`]), never assumed.

use anyhow::{Result, bail, ensure};

/// Bytes before the first event.
pub(super) const HEADER: usize = 84;

const MAGIC: u32 = 0xC1FC_1FC1;
const STREAM_ID: usize = 20;
const STREAM_INSTANCE_ID: usize = 24;
const TIMESTAMP_BEGIN: usize = 32;
const TIMESTAMP_END: usize = 40;
const CONTENT_SIZE: usize = 48;
const PACKET_SIZE: usize = 56;
const PACKET_SEQ_NUM: usize = 64;
const EVENTS_DISCARDED: usize = 72;

/// The fields of a packet's header and context that repeating a trace has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) stream: StreamKey,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// The whole packet in bytes.
    pub(super) size: usize,
    pub(super) sequence_number: u64,
    pub(super) events_discarded: u64,
}

/// What tells streams apart, whatever their files are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StreamKey {
    pub(super) class: u32,
    pub(super) instance: u64,
}

impl Header {
    pub(super) fn read(bytes: &[u8; HEADER]) -> Result<Self> {
        let u32_at = |at| u32::from_le_bytes(array(bytes, at));
        let u64_at = |at| u64::from_le_bytes(array(bytes, at));
        ensure!(
            u32_at(0) == MAGIC,
            "there is no packet here: the magic number is {:#010x}.",
            u32_at(0)
        );
        let (content, packet) = (u64_at(CONTENT_SIZE), u64_at(PACKET_SIZE));
        ensure!(
            packet % 8 == 0 && content <= packet && content >= HEADER as u64 * 8,
            "the packet's sizes make no sense: content {content} bits, packet {packet} bits."
        );
        let (begin, end) = (u64_at(TIMESTAMP_BEGIN), u64_at(TIMESTAMP_END));
        ensure!(
            begin <= end,
            "the packet ends ({end}) before it begins ({begin})."
        );
        Ok(Header {
            stream: StreamKey {
                class: u32_at(STREAM_ID),
                instance: u64_at(STREAM_INSTANCE_ID),
            },
            begin,
            end,
            size: usize::try_from(packet / 8)?,
            sequence_number: u64_at(PACKET_SEQ_NUM),
            events_discarded: u64_at(EVENTS_DISCARDED),
        })
    }

    /// Writes the fields that repeating changes back into the packet.
    pub(super) fn patch(&self, packet: &mut [u8]) {
        for (at, value) in [
            (TIMESTAMP_BEGIN, self.begin),
            (TIMESTAMP_END, self.end),
            (PACKET_SEQ_NUM, self.sequence_number),
            (EVENTS_DISCARDED, self.events_discarded),
        ] {
            packet[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

/// What the metadata must say, in words that are separated by single spaces.
const LAYOUT: &[&str] = &[
    "byte_order = le;",
    "tracer_name = \"lttng-ust\";",
    "freq = 1000000000;",
    "integer { size = 8; align = 8; signed = false; } := uint8_t;",
    "integer { size = 16; align = 8; signed = false; } := uint16_t;",
    "integer { size = 32; align = 8; signed = false; } := uint32_t;",
    "integer { size = 64; align = 8; signed = false; } := uint64_t;",
    "integer { size = 64; align = 8; signed = false; } := unsigned long;",
    "integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; } := uint32_clock_monotonic_t;",
    "integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_monotonic_t;",
    "packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id; };",
    "struct packet_context { uint64_clock_monotonic_t timestamp_begin; uint64_clock_monotonic_t timestamp_end; \
     uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num; unsigned long events_discarded; \
     uint32_t cpu_id; };",
    "struct event_header_large { enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id; \
     variant <id> { struct { uint32_clock_monotonic_t timestamp; } compact; \
     struct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended; } v; } align(8);",
];

/// What every stream class must use, however many there are: the attribute, and its value.
const EVERY_STREAM: &[(&str, &str)] = &[
    (
        "event.header :=",
        "event.header := struct event_header_large;",
    ),
    (
        "packet.context :=",
        "packet.context := struct packet_context;",
    ),
];

/// Fails unless the metadata text describes packets and event headers as this module knows them.
pub(super) fn refuse_other_layouts(metadata: &str) -> Result<()> {
    let text = metadata.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in LAYOUT {
        if !text.contains(line) {
            bail!(
                "only LTTng-UST traces of x86-64 can be repeated, and this one's metadata does not say `{line}`."
            );
        }
    }
    for (attribute, value) in EVERY_STREAM {
        let (all, fitting) = (text.matches(attribute).count(), text.matches(value).count());
        ensure!(
            all > 0 && all == fitting,
            "{all} stream classes have `{attribute}`, {fitting} of them `{value}`; only that layout can be repeated."
        );
    }
    Ok(())
}

/// The text of a metadata file, freed from its packets (37 bytes of header each) if it has them.
pub(super) fn metadata_text(file: &[u8]) -> Result<String> {
    const PACKET_MAGIC: [u8; 4] = 0x75D1_1D57_u32.to_le_bytes();
    const PACKET_HEADER: usize = 37;
    if !file.starts_with(&PACKET_MAGIC) {
        return Ok(String::from_utf8_lossy(file).into_owned());
    }
    let mut text = Vec::new();
    let mut rest = file;
    while !rest.is_empty() {
        ensure!(
            rest.len() >= PACKET_HEADER && rest.starts_with(&PACKET_MAGIC),
            "the metadata file is damaged at byte {}.",
            file.len() - rest.len()
        );
        let content = u32::from_le_bytes(array(rest, 24)) as usize / 8;
        let packet = u32::from_le_bytes(array(rest, 28)) as usize / 8;
        ensure!(
            (PACKET_HEADER..=packet).contains(&content) && packet <= rest.len(),
            "the metadata file is damaged at byte {}.",
            file.len() - rest.len()
        );
        text.extend_from_slice(&rest[PACKET_HEADER..content]);
        rest = &rest[packet..];
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pingpong() -> String {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../testdata/pingpong/ust/uid/0/64-bit/metadata"
        );
        metadata_text(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn the_metadata_of_a_recording_has_the_layout() {
        let text = pingpong();
        assert!(text.starts_with("/* CTF 1.8 */"));
        refuse_other_layouts(&text).unwrap();
    }

    #[test]
    fn natural_alignment_and_compact_headers_are_refused() {
        let text = pingpong();
        for (from, to) in [
            (
                "size = 64; align = 8; signed = false;\n",
                "size = 64; align = 64; signed = false;\n",
            ),
            (
                "event.header := struct event_header_large",
                "event.header := struct event_header_compact",
            ),
            ("byte_order = le", "byte_order = be"),
            ("lttng-ust", "lttng-modules"),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(
                refuse_other_layouts(&text.replace(from, to)).is_err(),
                "{to}"
            );
        }
    }

    #[test]
    fn a_header_is_read_and_patched_at_its_offsets() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../testdata/pingpong/ust/uid/0/64-bit/ros2_1"
        );
        let file = std::fs::read(path).unwrap();
        let mut bytes: [u8; HEADER] = array(&file, 0);
        let mut header = Header::read(&bytes).unwrap();
        assert_eq!(
            (
                header.stream.instance,
                header.sequence_number,
                header.events_discarded
            ),
            (1, 0, 0)
        );
        header.begin += 1 << 32;
        header.end += 1 << 32;
        header.sequence_number = 77;
        header.events_discarded = 5;
        header.patch(&mut bytes);
        assert_eq!(Header::read(&bytes).unwrap(), header);
    }

    #[test]
    fn bytes_that_are_no_packet_are_refused() {
        let error = Header::read(&[0; HEADER]).unwrap_err();
        assert!(error.to_string().starts_with("there is no packet here"));
    }
}
