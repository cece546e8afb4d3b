//! Comma-separated values as of RFC 4180, with a header; lines end with a line feed alone.
//!
//! Written by hand, since most cells are integers and names that need no quotes: a general writer looks at each byte twice.

use std::fs::File;
use std::io::{self, Write};

use rostrace_analyze::table::Cell;

use super::BUFFER;
use crate::commands::export::schema::{Rows, Schema};

pub(super) fn write(schema: &Schema, rows: &Rows<'_>, mut file: &File) -> io::Result<()> {
    let mut line = Vec::with_capacity(BUFFER + (BUFFER >> 2));
    let header = schema.fields.iter();
    record(&mut line, header.map(|field| Cell::Text(&field.name)));
    rows(&mut |row| {
        record(&mut line, row.iter().copied());
        if line.len() >= BUFFER {
            file.write_all(&line)?;
            line.clear();
        }
        Ok(())
    })?;
    file.write_all(&line)
}

fn record<'c>(line: &mut Vec<u8>, cells: impl Iterator<Item = Cell<'c>>) {
    let begin = line.len();
    let mut number = 0;
    for cell in cells {
        if number > 0 {
            line.push(b',');
        }
        number += 1;
        match cell {
            Cell::Nothing => {}
            Cell::Text(text) => quoted(line, text.as_bytes()),
            Cell::Integer(integer) => {
                line.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
            }
            Cell::Number(number) if number.is_finite() => {
                // Writing to memory does not fail.
                let _ = write!(line, "{number}");
            }
            Cell::Number(_) => {}
            Cell::Flag(flag) => line.push(if flag { b'1' } else { b'0' }),
        }
    }
    // Readers skip empty lines, so the only cell of a row must not make one.
    if number == 1 && line.len() == begin {
        line.extend_from_slice(b"\"\"");
    }
    line.push(b'\n');
}

fn quoted(line: &mut Vec<u8>, text: &[u8]) {
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if !text.iter().any(special) {
        line.extend_from_slice(text);
        return;
    }
    line.push(b'"');
    for byte in text {
        if *byte == b'"' {
            line.push(b'"');
        }
        line.push(*byte);
    }
    line.push(b'"');
}
