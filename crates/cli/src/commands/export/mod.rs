//! `rostrace export`: tables as files, for other programs.
//!
//! What is written comes as a [`schema`] and its rows, from `tables` (the analysis) or `caret` (CARET's columns); `format` writes
//! them; `new_file` makes them appear when all are complete.

mod arguments;
mod caret;
mod format;
mod parallel;
mod row_filter;
mod schema;
mod simulated_time;
mod tables;
mod views;

use std::io::Write;

use anyhow::bail;
use rostrace_analyze::table::{TABLES, Table};

use crate::interrupt;
use crate::new_file::NewFile;
use crate::outcome::{Outcome, wrong_usage};
use crate::recorded::Recorded;
use crate::render::{damage, diagnostic};
use crate::result_folder::ResultFolder;
use crate::source;
use crate::view::View;
use simulated_time::SimulatedTimes;
use tables::Tables;

pub(crate) use arguments::{ExportArguments, ExportFormat};

pub(crate) fn export(arguments: &ExportArguments) -> anyhow::Result<Outcome> {
    let tables = wanted(&arguments.tables)?;
    let folder = arguments.output.as_path();
    // Said before the trace is read, which can take a while.
    if folder.exists() && !folder.is_dir() {
        bail!("{}: this is a file, not a folder", folder.display());
    }
    let architecture = match &arguments.architecture {
        Some(file) => Some(super::architecture::file::open(file)?.architecture),
        None => None,
    };
    let Recorded { set, model, .. } = Recorded::read(&arguments.input.traces)?;
    let view = View::new(&set, &model, &arguments.filter)?;
    diagnostic::notes(&view.notes());
    let _made = ResultFolder::make(folder)?;

    let files = match &architecture {
        Some(architecture) if arguments.caret_columns => {
            caret::write(architecture, &view, arguments.format, folder)
        }
        _ => {
            let mut analysis = source::analysis(&set, &model, view.window().clone());
            analysis.architecture = architecture.as_ref();
            let tables_of_trace = Tables {
                analysis: &analysis,
                view: &view,
                simulated: arguments.sim_time.then(|| {
                    let (simulated, found) = SimulatedTimes::of(&model);
                    if !found {
                        diagnostic::note("the trace has no simulated time: its columns are empty");
                    }
                    simulated
                }),
                format: arguments.format,
                folder,
            };
            tables_of_trace.write(&tables)
        }
    };
    if interrupt::requested() {
        return Ok(Outcome::Interrupted);
    }
    let mut files = files?;
    if tables.len() == TABLES.len()
        && !arguments.caret_columns
        && let Some(text) = views::text(arguments.format)
    {
        let target = folder.join(views::NAME);
        files.push(NewFile::write(target, |mut out| {
            out.write_all(text.as_bytes())
        })?);
    }
    for file in files {
        file.publish()?;
    }
    let all_damage = || set.damage.iter().chain(&model.damage);
    if let Some(headline) = damage::headline(all_damage()) {
        diagnostic::note(&headline);
    }
    Ok(Outcome::of(all_damage()))
}

/// The tables of these names, each once; all if none is named.
fn wanted(names: &[String]) -> anyhow::Result<Vec<&'static Table>> {
    let mut wanted: Vec<&Table> = Vec::new();
    for name in names {
        match TABLES.iter().find(|table| table.name == name) {
            Some(table) if wanted.iter().any(|it| it.name == table.name) => {}
            Some(table) => wanted.push(table),
            None => {
                let known: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
                wrong_usage!("there is no table `{name}`; there are {}", known.join(", "));
            }
        }
    }
    if wanted.is_empty() {
        wanted.extend(TABLES);
    }
    Ok(wanted)
}
