//! The markers of one thread. The format has them as columns, so those of one thread are collected, and no more.

use std::io::{self, Write};

use super::milliseconds;

#[derive(Debug, Default)]
pub(super) struct Markers {
    rows: Vec<Marker>,
    /// What the markers say, one after the other.
    payloads: Vec<u8>,
    is_unsorted: bool,
}

/// Times count from the beginning of the profile.
#[derive(Debug, Clone, Copy)]
struct Marker {
    begin: i64,
    end: Option<i64>,
    name: u32,
    category: u8,
    payload: (usize, usize),
}

impl Markers {
    /// A marker whose payload is what `write` appends.
    pub(super) fn push(
        &mut self,
        (begin, end): (i64, Option<i64>),
        name: u32,
        category: u8,
        write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let first = self.payloads.len();
        write(&mut self.payloads)?;
        let last = self.rows.last();
        self.is_unsorted |= last.is_some_and(|last| begin < last.begin);
        self.rows.push(Marker {
            begin,
            end,
            name,
            category,
            payload: (first, self.payloads.len()),
        });
        Ok(())
    }

    /// Columns in the order of time, which is what the program expects.
    pub(super) fn write(mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        if self.is_unsorted {
            self.rows.sort_by_key(|row| row.begin);
        }
        let payloads = &self.payloads;
        write!(bytes, "{{\"length\":{}", self.rows.len())?;
        let mut column = |name: &str,
                          cell: &dyn Fn(&mut Vec<u8>, &Marker) -> io::Result<()>|
         -> io::Result<()> {
            write!(bytes, ",\"{name}\":[")?;
            for (place, row) in self.rows.iter().enumerate() {
                if place > 0 {
                    bytes.push(b',');
                }
                cell(bytes, row)?;
            }
            bytes.push(b']');
            Ok(())
        };
        column("name", &|bytes, row| write!(bytes, "{}", row.name))?;
        column("category", &|bytes, row| write!(bytes, "{}", row.category))?;
        column("startTime", &|bytes, row| milliseconds(bytes, row.begin))?;
        column("endTime", &|bytes, row| match row.end {
            Some(end) => milliseconds(bytes, end),
            None => bytes.write_all(b"null"),
        })?;
        // An instant, or an interval.
        column("phase", &|bytes, row| {
            bytes.write_all(if row.end.is_some() { b"1" } else { b"0" })
        })?;
        column("data", &|bytes, row| {
            bytes.write_all(&payloads[row.payload.0..row.payload.1])
        })?;
        bytes.push(b'}');
        Ok(())
    }
}
