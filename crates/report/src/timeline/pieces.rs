//! A file on its way out: what a format writes is collected and handed on in pieces, and counted.

use std::io;

/// Enough for one call of the system not to matter.
const PIECE: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct Pieces<'o, W> {
    out: &'o mut W,
    /// Not handed on yet. Formats append to it.
    pub(super) bytes: Vec<u8>,
    written: u64,
}

impl<'o, W: io::Write> Pieces<'o, W> {
    pub(super) fn new(out: &'o mut W) -> Pieces<'o, W> {
        Pieces {
            out,
            bytes: Vec::with_capacity(PIECE + (PIECE >> 2)),
            written: 0,
        }
    }

    /// To be asked where something is complete.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        match self.bytes.len() >= PIECE {
            true => self.flush(),
            false => Ok(()),
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.written += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    /// Hands on what was collected, and this after it.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.flush()?;
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Hands on the rest, and says how many bytes there were in all.
    pub(super) fn end(mut self) -> io::Result<u64> {
        self.flush()?;
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::{PIECE, Pieces};

    #[test]
    fn everything_arrives_in_order_and_is_counted() {
        let mut out = Vec::new();
        let mut pieces = Pieces::new(&mut out);
        pieces.bytes.push(b'a');
        pieces.flush_if_full().unwrap();
        assert_eq!(pieces.bytes, b"a");
        pieces.pass(b"bc").unwrap();
        pieces.bytes.resize(PIECE, b'd');
        pieces.flush_if_full().unwrap();
        assert!(pieces.bytes.is_empty());
        pieces.bytes.push(b'e');
        assert_eq!(pieces.end().unwrap(), PIECE as u64 + 4);
        assert!(out.starts_with(b"abcd") && out.ends_with(b"de"));
        assert_eq!(out.len(), PIECE + 4);
    }
}
