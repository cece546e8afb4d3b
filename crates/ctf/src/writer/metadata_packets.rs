//! Cuts metadata text into the packets that tracers write.

use crate::schema::{ByteOrder, Uuid};

const MAGIC: u32 = 0x75D1_1D57;
const HEADER_BYTES: usize = 37;
const PACKET_BYTES: usize = 4096;
const MAJOR: u8 = 1;
const MINOR: u8 = 8;

/// The text in packets of 4096 bytes; the last one is padded with zeros.
pub fn metadata_packets(text: &str, uuid: Uuid, order: ByteOrder) -> Vec<u8> {
    let number = |number: u32| match order {
        ByteOrder::Little => number.to_le_bytes(),
        ByteOrder::Big => number.to_be_bytes(),
    };
    let mut file = Vec::new();
    for part in text.as_bytes().chunks(PACKET_BYTES - HEADER_BYTES) {
        let end = file.len() + PACKET_BYTES;
        file.extend(number(MAGIC));
        file.extend(uuid.0);
        file.extend(number(0));
        file.extend(number((HEADER_BYTES + part.len()) as u32 * 8));
        file.extend(number(PACKET_BYTES as u32 * 8));
        // No compression, no encryption, no checksum.
        file.extend([0, 0, 0, MAJOR, MINOR]);
        file.extend(part);
        file.resize(end, 0);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_all_packets_give_the_whole_text() {
        let text = "0123456789".repeat(1000);
        let file = metadata_packets(&text, Uuid([7; 16]), ByteOrder::Big);
        assert_eq!(file.len(), 3 * PACKET_BYTES);
        let mut found = Vec::new();
        for packet in file.chunks(PACKET_BYTES) {
            assert_eq!(packet[..5], [0x75, 0xD1, 0x1D, 0x57, 7]);
            let content = u32::from_be_bytes(packet[24..28].try_into().unwrap()) as usize / 8;
            found.extend_from_slice(&packet[HEADER_BYTES..content]);
        }
        assert_eq!(found, text.as_bytes());
    }
}
