//! The tables of the analysis as files: one table per task, on all processors.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rostrace_analyze::Analysis;
use rostrace_analyze::table::Table;

use super::new_file::NewFile;
use super::parallel;
use super::row_filter::RowFilter;
use super::schema::{Rows, Schema};
use super::simulated_time::Twins;
use crate::args::{ExportFormat, ModelFilterArguments};
use crate::interrupt;

/// What all tables have in common.
pub(crate) struct Tables<'a> {
    pub(crate) analysis: &'a Analysis<'a>,
    pub(crate) filter: &'a ModelFilterArguments,
    /// Where times have twins on the simulated clock.
    pub(crate) twins: Option<Twins>,
    pub(crate) format: ExportFormat,
    pub(crate) folder: &'a Path,
}

impl Tables<'_> {
    /// Writes all tables; the files are complete, but not yet in their places.
    pub(crate) fn write(&self, tables: &[&Table]) -> anyhow::Result<Vec<NewFile>> {
        parallel::all(tables, |table, failed| self.table(table, failed))
    }

    fn table(&self, table: &Table, failed: &AtomicBool) -> anyhow::Result<NewFile> {
        let schema = Schema::of_table(table);
        let filter = RowFilter::new(&schema, self.filter);
        let rows: &Rows<'_> = &|take| {
            (table.rows)(self.analysis, &mut |row| {
                if failed.load(Ordering::Relaxed) || interrupt::requested() {
                    return Err(io::Error::other("stopped"));
                }
                if filter.keeps(row) { take(row) } else { Ok(()) }
            })
        };
        let name = format!("{}.{}", table.name, self.format.extension());
        NewFile::write(self.folder.join(name), |file| match &self.twins {
            Some(twins) => {
                let twinned = twins.rows(&schema, rows);
                self.format.write(&twins.extend(&schema), &twinned, file)
            }
            None => self.format.write(&schema, rows, file),
        })
    }
}
