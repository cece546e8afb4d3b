//! `rostrace dump`: events in the order of time, as text, JSON or CSV.
//!
//! Every format writes whole lines, so that what a pipe got is readable wherever it stops, and returns the damage that it met.
//! Memory does not grow with the trace.

mod arguments;
mod csv;
mod fields;
mod json;
pub(crate) mod lines;
pub(crate) mod text;

use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::Context;
use rostrace_ctf::{Conversion, Damage, DamageKind, DecodeError, EventView};

use self::lines::Request;
use crate::filter;
use crate::interrupt;
use crate::new_file::{self, NewFile};
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use crate::render::{self, diagnostic};
use crate::source;

pub(crate) use arguments::{DumpArguments, DumpFormat};

const BUFFER: usize = 256 * 1024;

pub(crate) fn dump(arguments: &DumpArguments) -> anyhow::Result<Outcome> {
    let set = source::open_events(&arguments.input.traces)?;
    let selection = filter::selection(&set, &arguments.filter)?;
    let hints = filter::hints(&set, &selection);
    diagnostic::notes(&hints);
    if let Some(path) = &arguments.output {
        new_file::expect_place(path)?;
        source::expect_apart(&set, path)?;
    }
    let bar = progress_bar(arguments, set.bytes());
    let mut go_on = |bytes| {
        bar.done(bytes);
        !interrupt::requested()
    };
    let request = Request {
        set: &set,
        // Text shows the times that babeltrace2 computes, everything else the exact ones.
        conversion: match arguments.format {
            DumpFormat::Text => Conversion::DoublePrecision,
            DumpFormat::Json | DumpFormat::Csv => Conversion::Exact,
        },
        selection: &selection,
        limit: arguments.limit,
        progress: &mut go_on,
    };
    let mut found = Vec::new();
    let mut is_empty = true;
    let write = |out: &mut dyn Write| -> io::Result<()> {
        let out = Watched {
            out,
            is_empty: &mut is_empty,
        };
        let mut out = BufWriter::with_capacity(BUFFER, out);
        found = match arguments.format {
            DumpFormat::Text => text::dump(request, &arguments.text(), &mut out)?,
            DumpFormat::Json => json::dump(request, &mut out)?,
            DumpFormat::Csv => csv::dump(request, &mut out)?,
        };
        out.flush()
    };
    let file = match &arguments.output {
        Some(path) => NewFile::write(path.clone(), |mut file| write(&mut file)).map(Some),
        None => write(&mut std::io::stdout().lock())
            .map(|()| None)
            .context("the events cannot be written"),
    };
    drop(bar);
    let file = match file {
        Ok(file) => file,
        Err(error) if outcome::is_closed_pipe(&error) => return Ok(Outcome::of(&set.damage)),
        Err(error) => return Err(error),
    };
    if interrupt::requested() {
        return Ok(Outcome::Interrupted);
    }
    if let Some(file) = file {
        file.publish()?;
    }
    if is_empty && !selection.is_everything() && hints.is_empty() {
        diagnostic::note(
            "no event fits what was asked for; `rostrace info` lists processes and names of events",
        );
    }
    let damage = || set.damage.iter().chain(&found);
    render::damage::tell(damage());
    Ok(Outcome::of(damage()))
}

/// An outlet that knows whether anything came.
struct Watched<'w> {
    out: &'w mut dyn Write,
    is_empty: &'w mut bool,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.is_empty &= bytes.is_empty();
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A bar between lines of output would only disturb, and a few events need none.
fn progress_bar(arguments: &DumpArguments, bytes: u64) -> Progress {
    let on_terminal = arguments.output.is_none() && std::io::stdout().is_terminal();
    if on_terminal || arguments.limit.is_some() {
        Progress::hidden()
    } else {
        Progress::new("reading", bytes)
    }
}

/// The row for an event whose fields turn out to be unreadable although its size was known.
pub(crate) fn unreadable_fields(event: &EventView<'_>, error: &DecodeError) -> Damage {
    let (kind, packet) = (DamageKind::UndecodableEvents, event.packet());
    let message = format!("the fields of an event cannot be read: {error}");
    Damage {
        offset: Some(packet.offset + event.event().start / 8),
        begin: event.nanos(),
        count: Some(1),
        ..(event.trace()).damage_of_packet(kind, packet, message)
    }
}
