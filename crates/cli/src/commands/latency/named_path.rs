//! Which paths of an architecture file are meant, for the verbs that follow named paths.

use std::path::Path;

use anyhow::bail;
use glob::Pattern;
use rostrace_architecture::{Architecture, NamedPath};

use crate::name;
use crate::outcome::wrong_usage;
use crate::view::View;

pub(crate) fn open(file: &Path) -> anyhow::Result<Architecture> {
    Ok(crate::commands::architecture::file::open(file)?.architecture)
}

/// The paths of a file whose names fit one of the patterns; all if there are none.
pub(crate) fn named<'a>(
    architecture: &'a Architecture,
    file: &Path,
    patterns: &[Pattern],
) -> anyhow::Result<Vec<&'a NamedPath>> {
    if architecture.paths.is_empty() {
        bail!(
            "{}: names no paths; `rostrace architecture add-path` adds one, and `rostrace latency` needs none",
            file.display()
        );
    }
    let fits = |pattern: &Pattern, path: &NamedPath| {
        pattern.matches(&path.name) || pattern.matches(&name::with_arrows(&path.name))
    };
    let is_named = |path: &&NamedPath| {
        patterns.is_empty() || patterns.iter().any(|pattern| fits(pattern, path))
    };
    for pattern in patterns {
        if !architecture.paths.iter().any(|path| fits(pattern, path)) {
            let names = architecture.paths.iter().map(|path| path.name.as_str());
            let written = pattern.as_str();
            let instead = name::similar_or(written, names, &names_of(architecture));
            wrong_usage!("--path: no path of this file is named `{written}`; {instead}");
        }
    }
    let named: Vec<&NamedPath> = architecture.paths.iter().filter(is_named).collect();
    Ok(named)
}

/// Those of them that `--node`, `--topic` and `--pid` leave.
pub(crate) fn in_view<'a>(
    architecture: &Architecture,
    mut named: Vec<&'a NamedPath>,
    view: &View<'_>,
) -> anyhow::Result<Vec<&'a NamedPath>> {
    named.retain(|path| view.has_named_path(path));
    if named.is_empty() {
        let sentence = view.filter().nothing_fits("path of this file");
        bail!(
            "{}; {}",
            sentence.unwrap_or_default(),
            names_of(architecture)
        );
    }
    Ok(named)
}

/// What to say when none was meant.
pub(crate) fn names_of(architecture: &Architecture) -> String {
    let names = architecture.paths.iter().map(|it| it.name.as_str());
    let names: Vec<&str> = names.collect();
    format!("it names {}", names.join(", "))
}
