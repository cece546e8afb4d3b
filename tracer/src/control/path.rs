//! A path, or another short text, that is put together on the stack: where memory must not be allocated.

use std::ffi::CStr;

const LONGEST: usize = 1536;

/// Pieces that do not fit are left out; opening the path then fails, which is noticed there.
#[derive(Debug, Clone)]
pub(crate) struct PathBuffer {
    bytes: [u8; LONGEST],
    used: usize,
}

impl PathBuffer {
    pub(crate) fn new() -> PathBuffer {
        PathBuffer {
            bytes: [0; LONGEST],
            used: 0,
        }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) {
        // The last byte stays zero.
        if self.used + piece.len() < LONGEST {
            self.bytes[self.used..self.used + piece.len()].copy_from_slice(piece);
            self.used += piece.len();
        }
    }

    pub(crate) fn push_number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[first..]);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_numbers_become_a_path() {
        let mut path = PathBuffer::new();
        path.push(b"/tmp/thread_");
        path.push_number(0);
        path.push(b"_");
        path.push_number(1205);
        assert_eq!(path.as_c_str(), c"/tmp/thread_0_1205");
    }

    #[test]
    fn a_piece_that_does_not_fit_is_left_out() {
        let mut path = PathBuffer::new();
        path.push(&[b'x'; LONGEST]);
        path.push(b"y");
        assert_eq!(path.as_c_str(), c"y");
    }
}
