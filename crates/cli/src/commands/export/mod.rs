//! `rostrace export`: tables as files, for other programs.

mod caret;
mod tables;

use std::fs::{self, File};
use std::io::{BufWriter, Write};

use anyhow::{Context, bail};
use rostrace_trace::Model;

use crate::args::ExportArguments;
use crate::outcome::Outcome;
use crate::source;
use tables::TABLES;

pub(crate) fn export(arguments: &ExportArguments) -> anyhow::Result<Outcome> {
    let mut wanted = Vec::new();
    for name in &arguments.tables {
        match TABLES.iter().find(|table| table.name == name) {
            Some(table) => wanted.push(table),
            None => {
                let known: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
                bail!("there is no table `{name}`; there are {}", known.join(", "));
            }
        }
    }
    if wanted.is_empty() {
        wanted.extend(TABLES);
    }
    let set = source::open(&arguments.input)?;
    let Some(model) = source::model(&set) else {
        return Ok(Outcome::Interrupted);
    };
    fs::create_dir_all(&arguments.output)
        .with_context(|| format!("{}: cannot be created", arguments.output.display()))?;
    if let Some(file) = &arguments.architecture {
        let architecture = super::architecture::file::open(file)?.architecture;
        caret::export(&model, &architecture, &arguments.output)?;
        return Ok(Outcome::of(set.damage.iter().chain(&model.damage)));
    }
    for table in wanted {
        let path = arguments.output.join(format!("{}.csv", table.name));
        write(table, &model, &path)
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    Ok(Outcome::of(set.damage.iter().chain(&model.damage)))
}

fn write(table: &tables::TableOf, model: &Model, path: &std::path::Path) -> anyhow::Result<()> {
    let mut csv = csv::Writer::from_writer(BufWriter::new(File::create(path)?));
    csv.write_record(table.columns)?;
    (table.rows)(model, &mut |row| Ok(csv.write_record(row)?))?;
    csv.into_inner()
        .map_err(|error| error.into_error())?
        .flush()?;
    Ok(())
}
