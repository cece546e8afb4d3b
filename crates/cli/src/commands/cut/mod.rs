//! `rostrace cut`: a smaller trace with a part of the events, that every reader of CTF can read.
//!
//! The new folder appears when it is complete, or not at all. The events by which programs said what their nodes, topics
//! and callbacks are called are kept from before the part too: without them nothing in it would have a name.

mod initialisation;
mod new_folder;

use anyhow::Context;
use rostrace_ctf::{Trim, TrimReport};

use crate::args::CutArguments;
use crate::filter;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::progress::Progress;
use crate::render::{self, diagnostic, time};
use crate::source;
use new_folder::NewFolder;
use rostrace_base::units;

pub(crate) fn cut(arguments: &CutArguments) -> anyhow::Result<Outcome> {
    let set = source::open_events(&arguments.input.traces)?;
    let selection = filter::selection(&set, &arguments.filter)?;
    for hint in filter::hints(&set, &selection) {
        diagnostic::note(&hint);
    }
    let new = NewFolder::prepare(&arguments.output, &arguments.input.traces, arguments.force)?;
    let cut = Trim {
        selection,
        initialisation: if arguments.no_init {
            Vec::new()
        } else {
            initialisation::patterns()
        },
    };
    let bar = Progress::new("cutting", set.bytes());
    let report = cut.write(&set, new.path(), &mut |bytes| {
        bar.done(bytes);
        !interrupt::requested()
    });
    drop(bar);
    let report = report.with_context(|| {
        let output = arguments.output.display();
        format!("{output} cannot be written")
    })?;
    let Some(report) = report else {
        return Ok(Outcome::Interrupted);
    };
    new.publish()?;
    render::damage::tell(&report.damage);
    diagnostic::note(&summary(arguments, &report));
    Ok(Outcome::of(&report.damage))
}

/// `part: 1,234 of the 9,644 events read, and 56 for initialisation; 123.4 KiB, 14:03:07.250000 – 14:03:08.250000`
fn summary(arguments: &CutArguments, report: &TrimReport) -> String {
    let selected = report.kept - report.initialisation;
    let mut summary = arguments.output.display().to_string();
    if selected == 0 {
        summary += ": no event is selected";
    } else {
        let read = units::counted(report.read, "event");
        summary += &format!(": {} of the {read} read", units::count(selected));
    }
    if report.initialisation > 0 {
        let count = units::count(report.initialisation);
        summary += &format!(", and {count} for initialisation");
    }
    if report.kept == 0 {
        summary += ", so this is a trace without events";
    }
    summary += &format!("; {}", units::bytes(report.bytes));
    if let Some((first, last)) = report.span {
        let (first, last) = (time::time_of_day(first), time::time_of_day(last));
        summary += &format!(", {first} – {last}");
    }
    summary
}
