//! Numbers and strings, digit by digit as C's `printf` and babeltrace2 write them.

use rostrace_ctf::schema::{Base, Mappings};

const UPPER: &[u8; 16] = b"0123456789ABCDEF";
const LOWER: &[u8; 16] = b"0123456789abcdef";

/// How an integer is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct IntegerStyle {
    pub(super) base: Base,
    pub(super) signed: bool,
    pub(super) size: u32,
}

/// `raw` is sign-extended to 64 bits if the integer is signed.
#[inline]
pub(super) fn integer(out: &mut Vec<u8>, raw: u64, style: IntegerStyle) {
    match style.base {
        Base::Decimal if style.signed => signed(out, raw as i64),
        Base::Decimal => unsigned(out, raw),
        Base::Hexadecimal => {
            out.extend_from_slice(b"0x");
            hexadecimal(out, masked(raw, style, 4));
        }
        Base::Octal => {
            out.push(b'0');
            digits(out, masked(raw, style, 3), 3);
        }
        Base::Binary => {
            out.extend_from_slice(b"0b");
            for bit in (0..style.size.clamp(1, 64)).rev() {
                out.push(b'0' + (raw >> bit & 1) as u8);
            }
        }
    }
}

/// A negative number is cut to its size, rounded up to whole digits.
#[inline]
fn masked(raw: u64, style: IntegerStyle, bits_per_digit: u32) -> u64 {
    let size = style.size.next_multiple_of(bits_per_digit);
    if !style.signed || raw as i64 >= 0 || size >= 64 {
        raw
    } else {
        raw & ((1 << size) - 1)
    }
}

#[inline]
pub(super) fn unsigned(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[inline]
pub(super) fn signed(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Upper case, no leading zeros.
#[inline]
pub(super) fn hexadecimal(out: &mut Vec<u8>, number: u64) {
    let count = (64 - number.leading_zeros()).div_ceil(4).max(1) as usize;
    let mut text = [0u8; 16];
    for (i, place) in text.iter_mut().enumerate() {
        *place = UPPER[(number >> (60 - 4 * i) & 15) as usize];
    }
    out.extend_from_slice(&text[16 - count..]);
}

fn digits(out: &mut Vec<u8>, number: u64, bits: u32) {
    let count = (64 - number.leading_zeros()).div_ceil(bits).max(1);
    for digit in (0..count).rev() {
        out.push(UPPER[(number >> (digit * bits) & ((1 << bits) - 1)) as usize]);
    }
}

/// So many digits, with leading zeros.
#[inline]
pub(super) fn padded(out: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut text = [b'0'; 20];
    let mut at = text.len();
    while number > 0 && at > 0 {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    let start = at.min(text.len().saturating_sub(width));
    out.extend_from_slice(&text[start..]);
}

/// C's `%g`: six significant digits, the exponent only where it is shorter.
pub(super) fn float(out: &mut Vec<u8>, number: f64) {
    if number.is_nan() {
        out.extend_from_slice(if number.is_sign_negative() {
            b"-nan"
        } else {
            b"nan"
        });
        return;
    }
    if number.is_infinite() {
        out.extend_from_slice(if number < 0.0 { b"-inf" } else { b"inf" });
        return;
    }
    let scientific = format!("{number:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = (5 - exponent).max(0) as usize;
        let plain = format!("{number:.decimals$}");
        out.extend_from_slice(without_trailing_zeros(&plain).as_bytes());
    } else {
        out.extend_from_slice(without_trailing_zeros(mantissa).as_bytes());
        let sign = if exponent < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("e{sign}{:02}", exponent.abs()).as_bytes());
    }
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// In double quotes, escaped.
#[inline]
pub(super) fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    if text.iter().all(|&byte| is_plain(byte)) {
        out.extend_from_slice(text);
    } else {
        text.iter().for_each(|&byte| escaped(out, byte));
    }
    out.push(b'"');
}

#[inline]
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != 0x7f && !matches!(byte, b'\\' | b'\'' | b'"' | b'?')
}

fn escaped(out: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'\\' | b'\'' | b'"' | b'?' => byte,
        0x07 => b'a',
        0x08 => b'b',
        0x1b => b'e',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x0b => b'v',
        0..=0x1f | 0x7f => {
            out.extend_from_slice(b"\\x");
            out.push(LOWER[usize::from(byte >> 4)]);
            out.push(LOWER[usize::from(byte & 15)]);
            return;
        }
        _ => {
            out.push(byte);
            return;
        }
    };
    out.push(b'\\');
    out.push(letter);
}

/// `( "LABEL" : container = VALUE )`
pub(super) fn enumeration(out: &mut Vec<u8>, raw: u64, style: IntegerStyle, mappings: &Mappings) {
    let value = if style.signed {
        i128::from(raw as i64)
    } else {
        i128::from(raw)
    };
    out.extend_from_slice(b"( ");
    let mut any = false;
    for label in mappings.labels_of(value) {
        if any {
            out.extend_from_slice(b", ");
        }
        quoted(out, label.as_bytes());
        any = true;
    }
    if !any {
        out.extend_from_slice(b"<unknown>");
    }
    out.extend_from_slice(b" : container = ");
    integer(out, raw, style);
    out.extend_from_slice(b" )");
}

/// `{ 82 2f c1 }`
pub(super) fn blob(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"{ ");
    for byte in bytes {
        out.push(LOWER[usize::from(byte >> 4)]);
        out.push(LOWER[usize::from(byte & 15)]);
        out.push(b' ');
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn shown(raw: i64, base: Base, signed: bool, size: u32) -> String {
        written(|out| integer(out, raw as u64, IntegerStyle { base, signed, size }))
    }

    #[test]
    fn integers_are_shown_in_their_base() {
        assert_eq!(shown(-1, Base::Hexadecimal, true, 8), "0xFF");
        assert_eq!(shown(-16384, Base::Hexadecimal, true, 15), "0xC000");
        assert_eq!(shown(-2, Base::Octal, true, 8), "0776");
        assert_eq!(shown(0, Base::Octal, false, 8), "00");
        assert_eq!(shown(2, Base::Binary, false, 3), "0b010");
        assert_eq!(shown(-1, Base::Decimal, true, 64), "-1");
        assert_eq!(shown(-1, Base::Decimal, false, 64), "18446744073709551615");
        assert_eq!(shown(0, Base::Hexadecimal, false, 64), "0x0");
    }

    #[test]
    fn floats_have_six_significant_digits() {
        let cases = [
            (1.5, "1.5"),
            (f64::from(f32::MAX), "3.40282e+38"),
            (9.99995e-41, "9.99995e-41"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (100000.0, "100000"),
            (1e6, "1e+06"),
            (999999.5, "1e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e100, "1e+100"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (number, text) in cases {
            assert_eq!(written(|out| float(out, number)), text);
        }
    }

    #[test]
    fn strings_are_escaped_byte_by_byte() {
        let text = b"a\\b'c\"d?\x07\x1b\n\x01\x7f\xff";
        let mut out = Vec::new();
        quoted(&mut out, text);
        assert_eq!(out, b"\"a\\\\b\\'c\\\"d\\?\\a\\e\\n\\x01\\x7f\xff\"");
    }

    #[test]
    fn padded_numbers_keep_their_width() {
        assert_eq!(written(|out| padded(out, 42, 9)), "000000042");
        assert_eq!(written(|out| padded(out, 0, 2)), "00");
        assert_eq!(
            written(|out| padded(out, u64::MAX, 20)),
            "18446744073709551615"
        );
        assert_eq!(written(|out| padded(out, 12345, 2)), "12345");
    }
}
