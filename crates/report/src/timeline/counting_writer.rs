//! A file on its way out: what a format writes is buffered, handed on, and counted.

use std::io;

/// Enough for one call of the system not to matter.
const BUFFER: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct CountingWriter<'o, W> {
    out: &'o mut W,
    /// Not handed on yet. Formats append to it.
    pub(super) bytes: Vec<u8>,
    written: u64,
}

impl<'o, W: io::Write> CountingWriter<'o, W> {
    pub(super) fn new(out: &'o mut W) -> CountingWriter<'o, W> {
        CountingWriter {
            out,
            bytes: Vec::with_capacity(BUFFER + (BUFFER >> 2)),
            written: 0,
        }
    }

    /// To be asked where something is complete.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        match self.bytes.len() >= BUFFER {
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
    use super::{BUFFER, CountingWriter};

    #[test]
    fn everything_arrives_in_order_and_is_counted() {
        let mut out = Vec::new();
        let mut writer = CountingWriter::new(&mut out);
        writer.bytes.push(b'a');
        writer.flush_if_full().unwrap();
        assert_eq!(writer.bytes, b"a");
        writer.pass(b"bc").unwrap();
        writer.bytes.resize(BUFFER, b'd');
        writer.flush_if_full().unwrap();
        assert!(writer.bytes.is_empty());
        writer.bytes.push(b'e');
        assert_eq!(writer.end().unwrap(), BUFFER as u64 + 4);
        assert!(out.starts_with(b"abcd") && out.ends_with(b"de"));
        assert_eq!(out.len(), BUFFER + 4);
    }
}
