//! JSON: one array of objects, and each object is one line, so that the file is valid as a whole and can be searched line by line.

use std::fs::File;
use std::io::{self, Write};

use rostrace_analyze::table::Cell;

use super::BUFFER;
use crate::commands::export::schema::{Rows, Schema};

pub(super) fn write(schema: &Schema, rows: &Rows<'_>, mut file: &File) -> io::Result<()> {
    // What stands before each value.
    let mut keys = Vec::with_capacity(schema.fields.len());
    for (number, field) in schema.fields.iter().enumerate() {
        let before = if number > 0 { "," } else { "" };
        let key = serde_json::to_string(&field.name)?;
        keys.push(format!("{before}{key}:"));
    }
    let mut text = Vec::with_capacity(BUFFER + (BUFFER >> 2));
    text.extend_from_slice(b"[\n");
    let mut before = "";
    rows(&mut |row| {
        text.extend_from_slice(before.as_bytes());
        before = ",\n";
        text.push(b'{');
        for (key, cell) in keys.iter().zip(row) {
            text.extend_from_slice(key.as_bytes());
            value(&mut text, cell)?;
        }
        text.push(b'}');
        if text.len() >= BUFFER {
            file.write_all(&text)?;
            text.clear();
        }
        Ok(())
    })?;
    text.extend_from_slice(if before.is_empty() { b"]\n" } else { b"\n]\n" });
    file.write_all(&text)
}

fn value(text: &mut Vec<u8>, cell: &Cell<'_>) -> io::Result<()> {
    match cell {
        Cell::Nothing => text.extend_from_slice(b"null"),
        Cell::Text(string) => serde_json::to_writer(text, string)?,
        Cell::Integer(integer) => {
            text.extend_from_slice(itoa::Buffer::new().format(*integer).as_bytes());
        }
        // What is not finite becomes null.
        Cell::Number(number) => serde_json::to_writer(text, number)?,
        Cell::Flag(flag) => text.extend_from_slice(if *flag { b"true" } else { b"false" }),
    }
    Ok(())
}
