//! What the verbs that list entities have in common: they read the trace, tell the damage first, print rows as a table, as JSON
//! or as CSV, and say what is missing.

use std::io::{BufWriter, Write};

use rostrace_ctf::{Damage, TraceSet};
use rostrace_trace::Model;
use serde::Serialize;

use crate::args::{LookArguments, LookFormat};
use crate::family::INITIALISATION;
use crate::outcome::Outcome;
use crate::render::palette::Palette;
use crate::render::table::Table;
use crate::render::{damage, diagnostic, units};
use crate::source;
use crate::view::View;

/// One entity. Its JSON is its serialisation.
pub(crate) trait Row: Serialize {
    /// What one is called.
    const NOUN: &'static str;
    /// The header of the CSV.
    const COLUMNS: &'static [&'static str];

    /// The cells of the CSV, in the order of the header.
    fn cells(&self) -> Vec<String>;
}

/// A trace that was read to be listed.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    arguments: &'a LookArguments,
    set: TraceSet,
    model: Model,
}

impl<'a> Reading<'a> {
    /// Nothing if Ctrl-C stopped it.
    pub(crate) fn of(arguments: &'a LookArguments) -> anyhow::Result<Option<Reading<'a>>> {
        let set = source::open(&arguments.input)?;
        Ok(source::model(&set).map(|model| Reading {
            arguments,
            set,
            model,
        }))
    }

    /// The part that was asked for.
    pub(crate) fn view(&self) -> anyhow::Result<View<'_>> {
        let view = View::new(&self.set, &self.model, &self.arguments.filter)?;
        diagnostic::notes(&view.hints());
        Ok(view)
    }

    fn damage(&self) -> impl Iterator<Item = &Damage> {
        self.set.damage.iter().chain(&self.model.damage)
    }

    /// `3 callbacks have no name: …`, and why; nothing for none.
    pub(crate) fn unnamed(&self, number: usize, noun: &str) -> Option<String> {
        let have = if number == 1 { "has" } else { "have" };
        let counted = units::counted(number as u64, noun);
        (number > 0).then(|| format!("{counted} {have} no name: {}", self.why_unnamed()))
    }

    /// Why entities of this trace may have no name.
    pub(crate) fn why_unnamed(&self) -> &'static str {
        if INITIALISATION.events(&self.model.kinds) == 0 {
            "the recording has no initialisation events, since it began after the nodes were created"
        } else if Outcome::of(self.damage()) == Outcome::LostData {
            "events were lost, among them some of their initialisation"
        } else {
            "their initialisation is not complete in the recording, or they were created before it began"
        }
    }

    /// Prints all rows in the format that was asked for; `notes` say what is missing.
    pub(crate) fn print<R: Row>(
        &self,
        rows: &[R],
        table: impl FnOnce() -> Table,
        notes: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<Outcome> {
        let headline = damage::headline(self.damage());
        let mut out = BufWriter::new(std::io::stdout().lock());
        match self.arguments.format {
            LookFormat::Table => {
                if let Some(headline) = &headline {
                    writeln!(out, "{}", Palette::for_stdout().alarm(headline))?;
                }
                write!(out, "{}", table())?;
            }
            LookFormat::Json => {
                serde_json::to_writer_pretty(&mut out, rows).map_err(std::io::Error::from)?;
                out.write_all(b"\n")?;
            }
            LookFormat::Csv => {
                let mut csv = csv::Writer::from_writer(&mut out);
                csv.write_record(R::COLUMNS)?;
                for row in rows {
                    csv.write_record(row.cells())?;
                }
                csv.flush()?;
            }
        }
        out.flush()?;
        drop(out);
        if let (Some(headline), false) = (&headline, self.arguments.format == LookFormat::Table) {
            diagnostic::note(headline);
        }
        let filter = &self.arguments.filter.entities;
        // What the trace does not have at all was told before.
        if rows.is_empty() && filter.hints(&self.model).is_empty() {
            filter
                .nothing_fits(R::NOUN)
                .iter()
                .for_each(|it| diagnostic::note(it));
        }
        for note in notes {
            diagnostic::note(&note);
        }
        Ok(Outcome::of(self.damage()))
    }
}

/// A cell of the CSV: empty for what is not known.
pub(crate) fn cell(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
