//! Reports and timelines in a real browser: they open without an error, sort, filter, draw, zoom and save, and their numbers are
//! those of the tables. With ROSTRACE_SCREENSHOTS=FOLDER pictures are kept for a person to look at.

mod driver;
mod hostile_names;
mod keyboard;
mod large_timeline;
mod made_up;
mod numbers;
mod opened;
mod readable_report;
mod report;
mod shown;
mod timeline;
mod zoom;

use std::path::{Path, PathBuf};

/// The recordings that come unpacked.
fn scenarios() -> Vec<PathBuf> {
    let Some(shared) = crate::support::shared_recordings() else {
        return Vec::new();
    };
    let mut scenarios = Vec::new();
    for distribution in ["humble", "jazzy"] {
        let folder = std::fs::read_dir(shared.join(distribution)).unwrap();
        let folders = folder.map(|entry| entry.unwrap().path());
        scenarios.extend(folders.filter(|path| path.is_dir()));
    }
    scenarios.sort();
    assert!(!scenarios.is_empty());
    scenarios
}

/// The name of a recording with that of its distribution.
fn title(scenario: &Path) -> String {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    format!("{}-{}", name(scenario.parent().unwrap()), name(scenario))
}
