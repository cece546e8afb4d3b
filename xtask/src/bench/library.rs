//! How fast the library is without a program around it, on one thread: the ordered cursor, the import into a model.
//!
//! The measuring is done by examples of the crates, which time the reading alone, best of five, with the trace opened and in
//! the page cache. A floor is compared with what the same machine does in the same minute only by the reader of the table.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

struct Reading {
    what: &'static str,
    package: &'static str,
    example: &'static str,
}

const READINGS: &[Reading] = &[
    Reading {
        what: "events in the order of time (`Cursor`)",
        package: "rostrace-ctf",
        example: "throughput",
    },
    Reading {
        what: "entities and flows (`Model::load`)",
        package: "rostrace-model",
        example: "import",
    },
];

/// The table of all readings.
pub(super) fn table(workspace: &Workspace, trace: &Path) -> Result<String> {
    let mut rows = String::from("| reading, one thread | result |\n|---|---|\n");
    for reading in READINGS {
        let package = format!("--package={}", reading.package);
        let example = format!("--example={}", reading.example);
        let program = workspace.built_program(&["build", "--release", &package, &example])?;
        let output = Command::new(&program)
            .arg(trace)
            .output()
            .with_context(|| format!("{} could not be started", program.display()))?;
        if !output.status.success() {
            bail!(
                "{}: {}",
                reading.what,
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        let result = String::from_utf8_lossy(&output.stdout);
        rows.push_str(&format!("| {} | {} |\n", reading.what, result.trim()));
    }
    Ok(rows)
}
