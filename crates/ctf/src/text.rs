//! Texts in the encodings that CTF knows, from and to UTF-8.
//!
//! UTF-8 is never validated: the bytes pass as the tracer wrote them. UTF-16 and UTF-32 are converted; what is not
//! valid there becomes U+FFFD, also a code unit that is cut by the end of the field.

use crate::schema::Encoding;

/// The text of a field: the code units before the first zero code unit, as UTF-8.
pub fn to_utf8(bytes: &[u8], encoding: Encoding) -> Vec<u8> {
    let unit = encoding.unit();
    let end = bytes
        .chunks_exact(unit)
        .position(|code| code.iter().all(|byte| *byte == 0))
        .map_or(bytes.len(), |index| index * unit);
    let bytes = &bytes[..end];
    let mut text = String::new();
    match encoding {
        Encoding::Utf8 => return bytes.to_vec(),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let units = bytes.chunks_exact(2).map(|pair| match encoding {
                Encoding::Utf16Le => u16::from_le_bytes([pair[0], pair[1]]),
                _ => u16::from_be_bytes([pair[0], pair[1]]),
            });
            text.extend(
                char::decode_utf16(units)
                    .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)),
            );
        }
        Encoding::Utf32Le | Encoding::Utf32Be => {
            text.extend(bytes.chunks_exact(4).map(|four| {
                let four = [four[0], four[1], four[2], four[3]];
                let code = match encoding {
                    Encoding::Utf32Le => u32::from_le_bytes(four),
                    _ => u32::from_be_bytes(four),
                };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }));
        }
    }
    if !bytes.len().is_multiple_of(unit) {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text.into_bytes()
}

/// The inverse of [`to_utf8`], without a terminating zero. Invalid UTF-8 becomes U+FFFD, except where the
/// encoding is UTF-8 itself.
pub fn from_utf8(text: &[u8], encoding: Encoding) -> Vec<u8> {
    if encoding == Encoding::Utf8 {
        return text.to_vec();
    }
    let text = String::from_utf8_lossy(text);
    let (units, characters) = (text.encode_utf16(), text.chars().map(u32::from));
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf16Le => units.flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16Be => units.flat_map(u16::to_be_bytes).collect(),
        Encoding::Utf32Le => characters.flat_map(u32::to_le_bytes).collect(),
        Encoding::Utf32Be => characters.flat_map(u32::to_be_bytes).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Encoding; 5] = [
        Encoding::Utf8,
        Encoding::Utf16Le,
        Encoding::Utf16Be,
        Encoding::Utf32Le,
        Encoding::Utf32Be,
    ];

    #[test]
    fn text_survives_every_encoding() {
        for encoding in ALL {
            let encoded = from_utf8("aé😀Ā".as_bytes(), encoding);
            assert_eq!(to_utf8(&encoded, encoding), "aé😀Ā".as_bytes());
        }
    }

    #[test]
    fn text_ends_at_a_zero_code_unit_on_a_unit_boundary() {
        // U+6100 U+0062: the two middle zero bytes are no zero code unit.
        let bytes = [0x61, 0x00, 0x00, 0x62, 0, 0, 0x63, 0];
        assert_eq!(
            to_utf8(&bytes, Encoding::Utf16Be),
            "\u{6100}\u{62}".as_bytes()
        );
        assert_eq!(to_utf8(b"ab\0c", Encoding::Utf8), b"ab");
    }

    #[test]
    fn what_is_not_valid_becomes_the_replacement_character() {
        for (bytes, encoding, text) in [
            (&[0x00, 0xD8, 0x61, 0][..], Encoding::Utf16Le, "\u{FFFD}a"),
            (&[0, 0x11, 0, 0], Encoding::Utf32Be, "\u{FFFD}"),
            (&[0x61, 0, 0x62], Encoding::Utf16Le, "a\u{FFFD}"),
        ] {
            assert_eq!(to_utf8(bytes, encoding), text.as_bytes());
        }
        assert_eq!(to_utf8(&[0xFF, 0x61], Encoding::Utf8), [0xFF, 0x61]);
    }
}
