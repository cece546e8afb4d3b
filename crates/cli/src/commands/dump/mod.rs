//! `rostrace dump`: events in the order of time, as text, JSON or CSV.
//!
//! Every format writes whole lines, so that the output is readable wherever it stops, and returns the damage that it met.
//! Memory does not grow with the trace.

mod arguments;
mod csv;
mod fields;
mod json;
pub(crate) mod lines;
pub(crate) mod text;

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};

use anyhow::Context;
use rostrace_ctf::{Conversion, Damage, DamageKind, EventView, Trouble};

use self::lines::Request;
use crate::filter;
use crate::interrupt;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use crate::render::{self, diagnostic};
use crate::source;

pub(crate) use arguments::{DumpArguments, DumpFormat};

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
    let mut replaced = 0;
    let written = match arguments.format {
        DumpFormat::Text => text::dump(request, &arguments.text(), &mut *out).map(|dumped| {
            replaced = dumped.replaced;
            dumped.damage
        }),
        DumpFormat::Json => json::dump(request, &mut *out),
        DumpFormat::Csv => csv::dump(request, &mut *out),
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
    if replaced > 0 {
        diagnostic::note(&replaced_texts(replaced));
    }
    let damage = || set.damage.iter().chain(&found);
    render::damage::tell(damage());
    Ok(Outcome::of(damage()))
}

fn replaced_texts(count: u64) -> String {
    let texts = match count {
        1 => "1 empty text is".to_owned(),
        _ => format!("{count} empty texts are"),
    };
    format!(
        "{texts} shown as babeltrace2 shows {}, with the text of an earlier event; --format json and csv show what is in the trace",
        if count == 1 { "it" } else { "them" },
    )
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
