//! The tables of the analysis as files: one table per task, on all processors.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rostrace_analyze::Analysis;
use rostrace_analyze::table::Table;

use super::new_file::NewFile;
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

#[derive(Default)]
struct Results {
    files: Vec<NewFile>,
    /// The first error ends the others' work.
    error: Option<anyhow::Error>,
}

impl Tables<'_> {
    /// Writes all tables; the files are complete, but not yet in their places.
    pub(crate) fn write(&self, tables: &[&Table]) -> anyhow::Result<Vec<NewFile>> {
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let results = Mutex::new(Results::default());
        let work = || {
            while let Some(table) = tables.get(next.fetch_add(1, Ordering::Relaxed)) {
                let written = self.table(table, &failed);
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                match written {
                    Ok(file) => results.files.push(file),
                    Err(error) => {
                        results.error.get_or_insert(error);
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(tables.len()) {
                scope.spawn(work);
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        match results.error {
            Some(error) => Err(error),
            None => Ok(results.files),
        }
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
