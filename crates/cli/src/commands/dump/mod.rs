//! `rostrace dump`: events in the order of time, as text, JSON or CSV.
//!
//! Every format writes whole lines, so that the output is readable wherever it stops, and returns the damage that it met.
//! Memory does not grow with the trace.

mod csv;
mod fields;
mod json;
mod lines;
pub(crate) mod text;

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};

use anyhow::Context;
use rostrace_ctf::{Damage, DamageKind, EventView, Trouble};

use crate::args::{DumpArguments, DumpFormat};
use crate::filter;
use crate::interrupt;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use crate::render::{self, diagnostic};
use crate::source;

const BUFFER: usize = 256 * 1024;

pub(crate) fn dump(arguments: &DumpArguments) -> anyhow::Result<Outcome> {
    let set = source::open(&arguments.input)?;
    let selection = filter::selection(&set, &arguments.filter)?;
    for hint in filter::hints(&set, &selection) {
        diagnostic::note(&hint);
    }
    let mut out = output(arguments)?;
    let bar = progress_bar(arguments, set.bytes());
    let mut go_on = |bytes| {
        bar.done(bytes);
        !interrupt::requested()
    };
    let limit = arguments.limit;
    let written = match arguments.format {
        DumpFormat::Text => text::dump(
            &set,
            &arguments.text(),
            &selection,
            limit,
            &mut *out,
            &mut go_on,
        ),
        DumpFormat::Json => json::dump(&set, &selection, limit, &mut *out, &mut go_on),
        DumpFormat::Csv => csv::dump(&set, &selection, limit, &mut *out, &mut go_on),
    };
    let written = written
        .and_then(|damage| out.flush().map(|()| damage))
        .context("the events cannot be written");
    drop(bar);
    let found = match written {
        Ok(found) => found,
        Err(error) if outcome::is_closed_pipe(&error) => return Ok(Outcome::of(&set.damage)),
        Err(error) => return Err(error),
    };
    if interrupt::requested() {
        return Ok(Outcome::Interrupted);
    }
    let damage = || set.damage.iter().chain(&found);
    render::damage::tell(damage());
    Ok(Outcome::of(damage()))
}

fn output(arguments: &DumpArguments) -> anyhow::Result<Box<dyn Write>> {
    Ok(match &arguments.output {
        Some(path) => {
            let file = File::create(path)
                .with_context(|| format!("{}: cannot be written", path.display()))?;
            Box::new(BufWriter::with_capacity(BUFFER, file))
        }
        None => Box::new(BufWriter::with_capacity(BUFFER, std::io::stdout().lock())),
    })
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
pub(crate) fn unreadable_fields(event: &EventView<'_>, trouble: &Trouble) -> Damage {
    Damage {
        kind: DamageKind::UndecodableEvents,
        trace: event.trace().name.clone(),
        path: event.trace().path_of_packet(event.packet()).to_owned(),
        offset: Some(event.packet().offset + event.event().start / 8),
        begin: event.nanos(),
        end: None,
        count: Some(1),
        message: format!("the fields of an event cannot be read: {trouble}"),
    }
}
