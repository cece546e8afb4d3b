//! Tables with CARET's columns, one file per object of an architecture file, so that notebooks made for CARET go on working.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::tables::Indexed;
use rostrace_analyze::table::{Cell, Sink};
use rostrace_architecture::{Architecture, NamedPath};
use rostrace_base::time::Nanos;
use rostrace_base::units;
use rostrace_caret::{Part, Wanted};
use sha2::{Digest, Sha256};

use super::parallel;
use super::schema::Schema;
use crate::commands::export::ExportFormat;
use crate::interrupt;
use crate::new_file::NewFile;
use crate::render::diagnostic;
use crate::view::View;

/// Longer names are cut: file systems do not take more.
const LONGEST_STEM: usize = 220;

impl Wanted for View<'_> {
    fn has_named(&self, nodes: &[&str], topics: &[&str]) -> bool {
        View::has_named(self, nodes, topics)
    }

    fn has_named_path(&self, path: &NamedPath) -> bool {
        View::has_named_path(self, path)
    }

    fn window(&self) -> &RangeInclusive<Nanos> {
        View::window(self)
    }
}

/// Writes the tables of all objects that are in the view; the files are complete, but not yet in their places.
pub(crate) fn write(
    architecture: &Architecture,
    view: &View<'_>,
    format: ExportFormat,
    folder: &Path,
) -> anyhow::Result<Vec<NewFile>> {
    let indexed = Indexed::new(view.model, Style::Caret);
    if indexed.left_out() > 0 {
        diagnostic::note(&format!(
            "{} ran without CARET's library; tables with CARET's columns leave out what ran there, as CARET does",
            units::counted(indexed.left_out() as u64, "process")
        ));
    }
    let files = parallel::all(&Part::all(architecture, view), |part, failed| {
        let mut files = Vec::new();
        part.tables(&indexed, architecture, view, &mut |stem, records| {
            let name = format!("{}.{}", short(stem), format.extension());
            files.push(write_table(records, format, &folder.join(name), failed)?);
            anyhow::Ok(())
        })?;
        Ok(files)
    })?;
    let files: Vec<NewFile> = files.into_iter().flatten().collect();
    if files.is_empty() {
        let sentence = view
            .filter()
            .nothing_fits("object of the architecture file");
        diagnostic::notes(sentence.as_slice());
    }
    Ok(files)
}

/// Stops where another file could not be written: there is no need to go on.
fn write_table(
    records: &Records,
    format: ExportFormat,
    path: &Path,
    failed: &AtomicBool,
) -> anyhow::Result<NewFile> {
    let schema = Schema::of_records(records);
    let file = NewFile::write(path.to_owned(), |file| {
        let rows = |take: Sink<'_>| {
            let mut cells = Vec::new();
            for row in &records.rows {
                if failed.load(Ordering::Relaxed) || interrupt::requested() {
                    return Err(io::Error::other("stopped"));
                }
                cells.clear();
                cells.extend(row.iter().map(|cell| Cell::from(*cell)));
                take(&cells)?;
            }
            Ok(())
        };
        format.write(&schema, &rows, file)
    })?;
    Ok(file)
}

fn short(stem: &str) -> String {
    if stem.len() <= LONGEST_STEM {
        return stem.to_owned();
    }
    let digest = Sha256::digest(stem.as_bytes());
    let hexadecimal: String = digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "{}~{hexadecimal}~{}",
        &stem[..160],
        &stem[stem.len() - 46..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_ends_and_stays_unique() {
        let long = format!("comm__{}", "x".repeat(400));
        let other = format!("{}y", &long[..long.len() - 1]);
        assert_eq!(short(&long).len(), 160 + 1 + 12 + 1 + 46);
        assert_ne!(short(&long), short(&other));
    }
}
