//! `dump` as CSV: who and when in columns of their own, all other fields as `name=value` in the last one.
//!
//! Members of structures are `outer.inner=value`, lists `[1,2]`, text is quoted where it would not be a single word,
//! enumerations are their number.

use std::fmt::Write as _;
use std::io::{self, Write};

use rostrace_ctf::{Damage, DecodeError, EventView, Scope, TraceSet};

use super::fields::{EventFields, Sink};
use super::lines::{self, Chunk, LineRenderer, Request};
use crate::per_class_cache::{Contexts, PerClass, PerPacket, cpu_of};

const HEADER: &[u8] = b"time_ns,name,host,vpid,vtid,procname,cpu_id,fields\n";
/// Contexts that have a column of their own.
const COLUMNS: [&str; 3] = ["vpid", "vtid", "procname"];

pub(crate) fn dump(request: Request<'_>, out: &mut dyn Write) -> io::Result<Vec<Damage>> {
    let set = request.set;
    out.write_all(HEADER)?;
    let renderer = || CsvLines {
        set,
        classes: PerClass::new(set),
        cpus: PerPacket::new(set),
        row: String::new(),
        fields: Pairs::default(),
    };
    lines::write(request, renderer, |chunk| out.write_all(&chunk.text))
}

/// Renders events as lines on one thread.
#[derive(Debug)]
struct CsvLines<'s> {
    set: &'s TraceSet,
    classes: PerClass<(Contexts, EventFields<'s>)>,
    cpus: PerPacket<Option<u64>>,
    row: String,
    fields: Pairs,
}

impl LineRenderer for CsvLines<'_> {
    type ChunkBoundary = ();

    fn line(&mut self, event: &EventView<'_>, chunk: &mut Chunk<()>) -> Result<(), DecodeError> {
        let out = &mut chunk.text;
        let CsvLines {
            set,
            classes,
            cpus,
            row,
            fields,
        } = self;
        let (contexts, class) = classes.of(event, || (Contexts::of(event), fields_of(set, event)));
        fields.clear();
        let visited = class.visit(event, fields, |fields, scope| {
            fields.skip_columns = scope != Scope::Payload;
        });
        row.clear();
        let schema = &event.trace().schema;
        optional(row, event.nanos().map(|nanos| nanos.0));
        quoted(row, event.class().name.as_deref().unwrap_or_default());
        row.push(',');
        quoted(row, schema.environment_text("hostname").unwrap_or_default());
        row.push(',');
        optional(row, contexts.vpid(event));
        optional(row, contexts.vtid(event));
        quoted(row, &contexts.procname(event).unwrap_or_default());
        row.push(',');
        optional(row, *cpus.of(event, || cpu_of(event)));
        quoted(row, &fields.text);
        row.push('\n');
        out.extend_from_slice(row.as_bytes());
        visited
    }
}

fn fields_of<'s>(set: &'s TraceSet, event: &EventView<'_>) -> EventFields<'s> {
    let stream = &set.traces[event.stream_id().trace].schema.streams[event.stream().class];
    let class = &stream.events[event.event().class as usize];
    EventFields::new(
        event,
        stream.event_context.as_ref(),
        class.context.as_ref(),
        class.payload.as_ref(),
    )
}

/// A number and a comma, or the comma alone.
fn optional(row: &mut String, number: Option<impl std::fmt::Display>) {
    if let Some(number) = number {
        let _ = write!(row, "{number}");
    }
    row.push(',');
}

/// A cell after RFC 4180.
fn quoted(row: &mut String, cell: &str) {
    if !cell.contains(['"', ',', '\n', '\r']) {
        row.push_str(cell);
        return;
    }
    row.push('"');
    for part in cell.split_inclusive('"') {
        row.push_str(part);
        if part.ends_with('"') {
            row.push('"');
        }
    }
    row.push('"');
}

/// `name=value` pairs in the making.
#[derive(Debug, Default)]
struct Pairs {
    text: String,
    /// The names that lead to the next value, each with its dot; and how long it is at each open structure.
    path: String,
    prefixes: Vec<usize>,
    /// Lists (and the structures in them) that are open: their values stand inside brackets.
    depth: usize,
    /// The members of this scope that have columns of their own are left out.
    skip_columns: bool,
    skipping: bool,
}

impl Pairs {
    fn clear(&mut self) {
        self.text.clear();
        self.path.clear();
        self.prefixes.clear();
        self.depth = 0;
    }

    fn value(&mut self, value: impl std::fmt::Display) {
        self.put(|text| {
            let _ = write!(text, "{value}");
        });
    }

    /// Writes the name of a value that stands alone, then the value.
    fn put(&mut self, write: impl FnOnce(&mut String)) {
        if self.skipping {
            return;
        }
        if self.depth == 0 {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(&self.path);
            self.text.push('=');
        }
        write(&mut self.text);
    }
}

impl Sink for Pairs {
    fn unsigned(&mut self, number: u64) {
        self.value(number);
    }

    fn signed(&mut self, number: i64) {
        self.value(number);
    }

    fn float(&mut self, number: f64) {
        self.value(number);
    }

    fn boolean(&mut self, value: bool) {
        self.value(value);
    }

    fn labelled(&mut self, number: i128, _labels: &mut dyn Iterator<Item = &str>) {
        self.value(number);
    }

    fn text(&mut self, text: &[u8]) {
        self.put(|out| word(out, &String::from_utf8_lossy(text)));
    }

    fn blob(&mut self, bytes: &[u8]) {
        self.put(|out| {
            for byte in bytes {
                let _ = write!(out, "{byte:02x}");
            }
        });
    }

    fn absent(&mut self) {
        self.put(|_| ());
    }

    fn begin_struct(&mut self) {
        if self.depth > 0 {
            self.depth += 1;
            self.put(|text| text.push('{'));
            return;
        }
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.prefixes.push(self.path.len());
    }

    fn key(&mut self, name: &str) {
        if self.depth > 0 {
            let is_first = self.text.ends_with('{');
            self.put(|text| {
                if !is_first {
                    text.push(' ');
                }
                text.push_str(name);
                text.push('=');
            });
            return;
        }
        if let [_] = self.prefixes[..] {
            self.skipping = self.skip_columns && COLUMNS.contains(&name);
        }
        self.path
            .truncate(self.prefixes.last().copied().unwrap_or(0));
        self.path.push_str(name);
    }

    fn end_struct(&mut self) {
        if self.depth > 0 {
            self.put(|text| text.push('}'));
            self.depth -= 1;
            return;
        }
        let prefix = self.prefixes.pop().unwrap_or(0);
        self.path.truncate(prefix.saturating_sub(1));
        if self.prefixes.is_empty() {
            self.skipping = false;
        }
    }

    fn begin_list(&mut self) {
        self.put(|text| text.push('['));
        self.depth += 1;
    }

    fn element(&mut self) {
        if !self.text.ends_with('[') {
            self.put(|text| text.push(','));
        }
    }

    fn end_list(&mut self) {
        self.put(|text| text.push(']'));
        self.depth -= 1;
    }
}

/// A text that is not a plain word is quoted, with backslashes before what would end it or leave its line.
fn word(out: &mut String, text: &str) {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"\"\\=[]{},".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let mut row = String::new();
        quoted(&mut row, "a=\"x, y\"");
        assert_eq!(row, "\"a=\"\"x, y\"\"\"");
        row.clear();
        quoted(&mut row, "ros2:callback_start");
        assert_eq!(row, "ros2:callback_start");
    }

    #[test]
    fn structures_and_lists_are_spelled_as_names_and_brackets() {
        let mut pairs = Pairs::default();
        pairs.begin_struct();
        pairs.key("a");
        pairs.unsigned(1);
        pairs.key("inner");
        pairs.begin_struct();
        pairs.key("b");
        pairs.text(b"two words");
        pairs.end_struct();
        pairs.key("list");
        pairs.begin_list();
        for number in [1, 2] {
            pairs.element();
            pairs.begin_struct();
            pairs.key("x");
            pairs.signed(-number);
            pairs.key("y");
            pairs.boolean(true);
            pairs.end_struct();
        }
        pairs.end_list();
        pairs.key("last");
        pairs.absent();
        pairs.end_struct();
        assert_eq!(
            pairs.text,
            "a=1 inner.b=\"two words\" list=[{x=-1 y=true},{x=-2 y=true}] last="
        );
    }

    #[test]
    fn contexts_with_columns_are_not_repeated() {
        let mut pairs = Pairs {
            skip_columns: true,
            ..Pairs::default()
        };
        pairs.begin_struct();
        pairs.key("vpid");
        pairs.signed(4711);
        pairs.key("prio");
        pairs.signed(20);
        pairs.end_struct();
        assert_eq!(pairs.text, "prio=20");
    }
}
