//! `rostrace export`: tables as files, for other programs.

mod caret;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, bail};
use rostrace_analyze::Analysis;
use rostrace_analyze::table::{Cell, TABLES, Table};
use rostrace_ctf::schema::Nanos;

use crate::args::ExportArguments;
use crate::outcome::Outcome;
use crate::source;

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
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    for table in wanted {
        let path = arguments.output.join(format!("{}.csv", table.name));
        write(table, &analysis, &path)
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    Ok(Outcome::of(set.damage.iter().chain(&model.damage)))
}

fn write(table: &Table, analysis: &Analysis<'_>, path: &Path) -> anyhow::Result<()> {
    let mut csv = csv::Writer::from_writer(BufWriter::new(File::create(path)?));
    csv.write_record(table.columns.iter().map(|column| column.name))?;
    (table.rows)(analysis, &mut |row| {
        for cell in row {
            match cell {
                Cell::Nothing => csv.write_field("")?,
                Cell::Text(text) => csv.write_field(text)?,
                Cell::Integer(integer) => csv.write_field(integer.to_string())?,
                Cell::Number(number) => csv.write_field(number.to_string())?,
                Cell::Flag(flag) => csv.write_field(if *flag { "1" } else { "0" })?,
            }
        }
        Ok(csv.write_record(None::<&[u8]>)?)
    })?;
    csv.into_inner()
        .map_err(|error| error.into_error())?
        .flush()?;
    Ok(())
}
