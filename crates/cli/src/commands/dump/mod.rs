//! `rostrace dump`: events in the order of time, as text, JSON or CSV.
//!
//! All formats take their events from [`walk`] and write each as whole lines. Memory does not grow with the trace.

mod csv;
mod fields;
mod json;
pub(crate) mod text;

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};

use anyhow::Context;
use rostrace_ctf::{
    Conversion, Cursor, Damage, DamageKind, EventView, Selection, TraceSet, Trouble,
};

use crate::args::{DumpArguments, DumpFormat};
use crate::filter::{self, Filter};
use crate::interrupt;
use crate::outcome::{self, Outcome};
use crate::progress::Progress;
use crate::render::{self, diagnostic};
use crate::source;

const BUFFER: usize = 256 * 1024;
/// The progress bar is moved once in so many events.
const PROGRESS_EVERY: u64 = 1 << 16;

pub(crate) fn dump(arguments: &DumpArguments) -> anyhow::Result<Outcome> {
    let set = source::open(&arguments.input)?;
    let selection = filter::selection(&set, &arguments.filter)?;
    for hint in filter::hints(&set, &selection) {
        diagnostic::note(&hint);
    }
    let limit = arguments.limit;
    let mut out: Box<dyn Write> = match &arguments.output {
        Some(path) => {
            let file = File::create(path)
                .with_context(|| format!("{}: cannot be written", path.display()))?;
            Box::new(BufWriter::with_capacity(BUFFER, file))
        }
        None => Box::new(BufWriter::with_capacity(BUFFER, std::io::stdout().lock())),
    };
    let result = match arguments.format {
        DumpFormat::Text => text::dump(&set, &arguments.text(), &selection, limit, &mut *out),
        DumpFormat::Json => json::dump(&set, &selection, limit, &mut *out),
        DumpFormat::Csv => csv::dump(&set, &selection, limit, &mut *out),
    };
    match result {
        Err(error) if outcome::is_closed_pipe(&error) => Ok(Outcome::of(&set.damage)),
        result => result,
    }
}

/// What a walk through the events came to.
#[derive(Debug)]
pub(crate) struct Walked {
    interrupted: bool,
    damage: Vec<Damage>,
}

impl Walked {
    pub(crate) fn add_damage(&mut self, damage: Vec<Damage>) {
        self.damage.extend(damage);
    }

    /// Sends the rest of the output on its way, tells about damage, and says how it ended.
    pub(crate) fn finish(self, set: &TraceSet, out: &mut dyn Write) -> anyhow::Result<Outcome> {
        out.flush().context("the events cannot be written")?;
        if self.interrupted {
            return Ok(Outcome::Interrupted);
        }
        let damage = || set.damage.iter().chain(&self.damage);
        render::damage::tell(damage());
        Ok(Outcome::of(damage()))
    }
}

/// Visits the selected events in order, until the limit or Ctrl-C.
pub(crate) fn walk(
    set: &TraceSet,
    conversion: Conversion,
    selection: &Selection,
    limit: Option<u64>,
    mut visit: impl FnMut(&EventView<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Walked> {
    let mut filter = Filter::new(set, selection)?;
    let mut cursor = Cursor::within(set, conversion, filter.range());
    // A bar between lines of output would only disturb, and how far a range of time reaches is not known.
    let progress = if std::io::stdout().is_terminal() || selection.time.is_some() || limit.is_some()
    {
        Progress::hidden()
    } else {
        Progress::new("reading", set.bytes())
    };
    let mut left = limit.unwrap_or(u64::MAX);
    let (mut seen, mut bits) = (0u64, 0u64);
    let mut interrupted = false;
    while left > 0 {
        let Some(event) = cursor.next() else { break };
        if interrupt::requested() {
            interrupted = true;
            break;
        }
        if filter.admits(&event) {
            visit(&event)?;
            left -= 1;
        }
        bits += event.event().end - event.event().start;
        seen += 1;
        if seen % PROGRESS_EVERY == 0 {
            progress.done(bits / 8);
        }
    }
    Ok(Walked {
        interrupted,
        damage: cursor.damage,
    })
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
