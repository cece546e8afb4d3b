//! Architecture files on disk: read with all their problems told, written so that a crash leaves the old file or the
//! new one.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rostrace_architecture::{Architecture, Problem, Reading, Refused, read, write};

use super::arguments::EditArguments;
use crate::render::diagnostic;

pub(super) fn text(path: &Path) -> anyhow::Result<String> {
    let bytes =
        std::fs::read(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
            + 1;
        anyhow::anyhow!(
            "{}: line {line}: not UTF-8; an architecture file is text",
            path.display()
        )
    })
}

/// Reads a file for a command that needs all of it to be right. Warnings are told and do not stop it.
pub(crate) fn open(path: &Path) -> anyhow::Result<Reading> {
    match read(&text(path)?) {
        Ok(reading) => {
            tell(path, &reading.warnings);
            Ok(reading)
        }
        Err(Refused { errors, warnings }) => {
            tell(path, &errors);
            tell(path, &warnings);
            match errors.len() {
                1 => bail!("{}: this file cannot be used", path.display()),
                count => bail!(
                    "{}: this file cannot be used, because of {count} errors",
                    path.display()
                ),
            }
        }
    }
}

fn tell(path: &Path, problems: &[Problem]) {
    for problem in problems {
        diagnostic::note(&format!(
            "{}: {}: {problem}",
            path.display(),
            problem.severity.word()
        ));
    }
}

/// Reads a file, changes it, and writes it back or to where the arguments say.
pub(super) fn edit(
    path: &Path,
    arguments: &EditArguments,
    change: impl FnOnce(&mut Architecture) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Reading {
        mut architecture, ..
    } = open(path)?;
    let target = match &arguments.output {
        Some(output) if !is_same(path, output) => {
            expect_free(output, arguments.force)?;
            output
        }
        _ => path,
    };
    change(&mut architecture).with_context(|| format!("{} was not changed", path.display()))?;
    if target == path && has_comments(&text(path)?) {
        diagnostic::note(&format!("{}: comments are not kept", path.display()));
    }
    save(write(&architecture).as_bytes(), target)
}

/// Lines that are nothing but a comment.
fn has_comments(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with('#'))
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (std::fs::canonicalize(one), std::fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

pub(super) fn expect_free(path: &Path, force: bool) -> anyhow::Result<()> {
    let exists = std::fs::metadata(path).is_ok_and(|it| it.is_file() || it.is_dir());
    if exists && !force {
        bail!("{} exists already; --force overwrites it", path.display());
    }
    Ok(())
}

/// Writes a file whole: under another name first, which then takes the place of the old file.
pub(super) fn save(bytes: &[u8], path: &Path) -> anyhow::Result<()> {
    let failed = || format!("{}: cannot be written", path.display());
    // Behind a link, the file that it leads to.
    let target: PathBuf = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = std::fs::metadata(&target).ok();
    if before.as_ref().is_some_and(|it| !it.is_file()) {
        // A pipe or a device cannot be replaced.
        return std::fs::write(&target, bytes).with_context(failed);
    }
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rostrace-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The user's mask takes its part from this.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).with_context(failed)?;
    file.write_all(bytes).with_context(failed)?;
    if let Some(before) = before {
        file.as_file()
            .set_permissions(before.permissions())
            .with_context(failed)?;
    }
    file.as_file().sync_all().with_context(failed)?;
    file.persist(&target)
        .map_err(|error| error.error)
        .with_context(failed)?;
    Ok(())
}
