//! The tables of the analysis as files: one table per task, on all processors.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rostrace_analyze::Analysis;
use rostrace_analyze::flow_path::FlowPaths;
use rostrace_analyze::table::{Role, Table};

use super::parallel;
use super::row_filter::{KeptPaths, RowFilter};
use super::schema::{Rows, Schema};
use super::simulated_time::SimulatedTimes;
use crate::commands::export::ExportFormat;
use crate::interrupt;
use crate::new_file::NewFile;
use crate::render::diagnostic;
use crate::view::View;

/// What filters left of all tables that they apply to.
#[derive(Default)]
struct Kept {
    /// Whether they apply to any.
    filtered: AtomicBool,
    rows: AtomicU64,
}

/// What all tables have in common.
pub(crate) struct Tables<'a> {
    pub(crate) analysis: &'a Analysis<'a>,
    pub(crate) view: &'a View<'a>,
    /// The columns of simulated times, with `--sim-time`.
    pub(crate) simulated: Option<SimulatedTimes>,
    pub(crate) format: ExportFormat,
    pub(crate) folder: &'a Path,
}

impl Tables<'_> {
    /// Writes all tables; the files are complete, but not yet in their places.
    pub(crate) fn write(&self, tables: &[&Table]) -> anyhow::Result<Vec<NewFile>> {
        let paths = self.paths(tables);
        let kept = Kept::default();
        let files = parallel::all(tables, |table, failed| {
            self.table(table, &paths, &kept, failed)
        })?;
        if kept.filtered.load(Ordering::Relaxed) && kept.rows.load(Ordering::Relaxed) == 0 {
            let filter = self.view.filter();
            diagnostic::notes(filter.nothing_fits("row of these tables").as_slice());
        }
        Ok(files)
    }

    /// The paths that are in the view, if a table asks for them.
    fn paths(&self, tables: &[&Table]) -> KeptPaths {
        let mut kept = KeptPaths::default();
        if self.view.filter().is_empty() {
            return kept;
        }
        let named = self.analysis.architecture.iter().flat_map(|it| &it.paths);
        let named = named.filter(|path| self.view.has_named_path(path));
        kept.named = named.map(|path| path.name.clone()).collect();
        let has_path =
            |table: &&Table| table.columns.iter().any(|column| column.role == Role::Path);
        if tables.iter().any(has_path) {
            let paths = FlowPaths::observed(self.analysis);
            let numbered = (0..).zip(&paths);
            let observed = numbered.filter(|(_, path)| self.view.has_path(path));
            kept.observed = observed.map(|(number, _)| number).collect();
        }
        kept
    }

    fn table(
        &self,
        table: &Table,
        paths: &KeptPaths,
        kept: &Kept,
        failed: &AtomicBool,
    ) -> anyhow::Result<NewFile> {
        let schema = Schema::of_table(table);
        let filter = RowFilter::new(&schema, self.view.selection(), paths);
        kept.filtered.fetch_or(filter.applies(), Ordering::Relaxed);
        let rows: &Rows<'_> = &|take| {
            (table.rows)(self.analysis, &mut |row| {
                if failed.load(Ordering::Relaxed) || interrupt::requested() {
                    return Err(io::Error::other("stopped"));
                }
                if !filter.keeps(row) {
                    return Ok(());
                }
                if filter.applies() {
                    kept.rows.fetch_add(1, Ordering::Relaxed);
                }
                take(row)
            })
        };
        let name = format!("{}.{}", table.name, self.format.extension());
        NewFile::write(self.folder.join(name), |file| match &self.simulated {
            Some(simulated) => {
                let with_simulated = simulated.rows(&schema, rows);
                self.format
                    .write(&simulated.extend(&schema), &with_simulated, file)
            }
            None => self.format.write(&schema, rows, file),
        })
    }
}
