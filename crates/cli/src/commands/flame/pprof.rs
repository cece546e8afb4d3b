//! The file format of pprof (<https://github.com/google/pprof/blob/main/proto/profile.proto>): Protocol Buffers, compressed with gzip. The
//! callback is a label of each sample.
//!
//! The messages that are needed are few, so they are written by hand.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use rostrace_analyze::profile::{CallTreeNode, Profile};

use super::Flame;

/// A message that is being written.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }
}

/// What messages refer to by number.
#[derive(Debug, Default)]
struct Tables<'f> {
    texts: Vec<&'f str>,
    text_places: HashMap<&'f str, u64>,
    /// Name and file; locations and functions are the same here, and count from 1.
    functions: Vec<(u64, u64)>,
    function_places: HashMap<(u64, u64), u64>,
}

impl<'f> Tables<'f> {
    fn text(&mut self, text: &'f str) -> u64 {
        let texts = &mut self.texts;
        *self.text_places.entry(text).or_insert_with(|| {
            texts.push(text);
            texts.len() as u64 - 1
        })
    }

    fn function(&mut self, node: &'f CallTreeNode) -> u64 {
        let key = (self.text(&node.name), self.text(&node.file));
        let functions = &mut self.functions;
        *self.function_places.entry(key).or_insert_with(|| {
            functions.push(key);
            functions.len() as u64
        })
    }
}

pub(super) fn write(out: &mut dyn Write, flames: &[Flame], profile: &Profile) -> io::Result<()> {
    let mut tables = Tables::default();
    let mut file = Message::default();
    // The first text is empty.
    tables.text("");
    let mut value_type = |kind: &'static str, unit: &'static str| {
        let mut message = Message::default();
        message.number(1, tables.text(kind));
        message.number(2, tables.text(unit));
        message
    };
    let (samples, cpu) = (
        value_type("samples", "count"),
        value_type("cpu", "nanoseconds"),
    );
    file.message(1, &samples);
    file.message(1, &cpu);
    file.message(11, &cpu);
    let period = profile.period().unsigned_abs();
    file.number(12, period);
    let key = tables.text("callback");
    for flame in flames {
        let mut label = Message::default();
        label.number(1, key);
        label.number(2, tables.text(&flame.callback));
        for root in &flame.tree.roots {
            add(&mut file, &mut tables, root, &[], (&label, period));
        }
    }
    for (number, (name, path)) in tables.functions.iter().enumerate() {
        let id = number as u64 + 1;
        let (mut line, mut location, mut function) =
            (Message::default(), Message::default(), Message::default());
        line.number(1, id);
        location.number(1, id);
        location.message(4, &line);
        function.number(1, id);
        function.number(2, *name);
        function.number(3, *name);
        function.number(4, *path);
        file.message(4, &location);
        file.message(5, &function);
    }
    for text in &tables.texts {
        file.bytes(6, text.as_bytes());
    }
    let mut compressed = GzEncoder::new(out, Compression::default());
    compressed.write_all(&file.0)?;
    compressed.finish()?;
    Ok(())
}

fn add<'f>(
    file: &mut Message,
    tables: &mut Tables<'f>,
    node: &'f CallTreeNode,
    above: &[u64],
    (label, period): (&Message, u64),
) {
    // The innermost first.
    let place = [tables.function(node)];
    let stack = [&place[..], above].concat();
    if node.own > 0 {
        let own = node.own as u64;
        let (mut sample, mut places, mut values) =
            (Message::default(), Message::default(), Message::default());
        stack.iter().for_each(|place| places.varint(*place));
        values.varint(own);
        values.varint(own * period);
        sample.bytes(1, &places.0);
        sample.bytes(2, &values.0);
        sample.message(3, label);
        file.message(2, &sample);
    }
    for child in &node.children {
        add(file, tables, child, &stack, (label, period));
    }
}
