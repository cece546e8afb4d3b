//! Architecture files on disk: read with all their problems shown, written so that a crash leaves the old file or the
//! new one.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use glob::Pattern;
use rostrace_architecture::{Architecture, Problem, Reading, Refused, read, write};
use rostrace_ctf::input_file;

use super::arguments::EditArguments;
use crate::name;
use crate::new_file::NewFile;
use crate::render::diagnostic;

pub(super) fn text(path: &Path) -> anyhow::Result<String> {
    let bytes = input_file::read(path, input_file::LARGEST_TEXT)
        .with_context(|| format!("{}: cannot be read", path.display()))?;
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

/// Reads a file for a command that needs all of it to be right. Warnings are shown and do not stop it.
pub(crate) fn open(path: &Path) -> anyhow::Result<Reading> {
    match read(&text(path)?) {
        Ok(reading) => {
            tell(path, &reading.warnings);
            Ok(reading)
        }
        Err(Refused {
            errors, warnings, ..
        }) => {
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

/// The node that a name means; a slash, or namespaces, may be left out where only one is meant.
pub(super) fn node<'a>(
    architecture: &'a Architecture,
    option: &str,
    written: &str,
) -> anyhow::Result<&'a str> {
    meant(option, "node", written, architecture.node_names().collect())
}

/// The same for a topic.
pub(super) fn topic<'a>(
    architecture: &'a Architecture,
    option: &str,
    written: &str,
) -> anyhow::Result<&'a str> {
    let topics = architecture.topics().into_iter().collect();
    meant(option, "topic", written, topics)
}

/// The same for either of them.
pub(super) fn node_or_topic<'a>(
    architecture: &'a Architecture,
    option: &str,
    written: &str,
) -> anyhow::Result<&'a str> {
    let mut names: BTreeSet<&str> = architecture.node_names().collect();
    names.extend(architecture.topics());
    meant(option, "node and no topic", written, names)
}

fn meant<'a>(
    option: &str,
    noun: &str,
    written: &str,
    names: BTreeSet<&'a str>,
) -> anyhow::Result<&'a str> {
    let noun = format!("{noun} of this file");
    // What is written here is one name and never a pattern.
    let pattern = Pattern::new(&Pattern::escape(written))?;
    let meant = match names.contains(written) {
        true => pattern,
        false => name::meant(option, &noun, &pattern, &names)?,
    };
    let found = names.iter().find(|name| meant.matches(name));
    found
        .copied()
        .ok_or_else(|| name::unknown(option, &noun, written, names.into_iter()))
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

pub(super) fn save(bytes: &[u8], path: &Path) -> anyhow::Result<()> {
    let write = |mut file: &File| file.write_all(bytes).and_then(|()| file.sync_all());
    NewFile::write(path.to_owned(), write)?.publish()
}
