//! Whether our own library is there and can be loaded, and whether sessions can be made.

use std::process::{Command, Stdio};

use super::{Check, Verdict};
use crate::error::Error;
use crate::library::TracerLibrary;
use crate::runtime_folder::RuntimeFolder;

const GROUP: &str = "tracer";

pub(super) fn checks(found: &Result<TracerLibrary, Error>) -> Vec<Check> {
    let locks = found.as_ref().ok().map(locks);
    let checks = [Some(library(found)), locks, Some(sessions())];
    checks.into_iter().flatten().collect()
}

fn locks(library: &TracerLibrary) -> Check {
    match library.locks() {
        Ok(_) => Check::new(
            GROUP,
            "locks",
            Verdict::Ok,
            "can be recorded with `--locks`: `rostrace why` tells who waited for whom",
        ),
        Err(error @ Error::NoLocksLibrary(_)) => {
            Check::new(GROUP, "locks", Verdict::Missing, error.to_string())
                .fix("cargo build --release")
        }
        Err(error) => Check::new(GROUP, "locks", Verdict::Missing, error.to_string()),
    }
}

fn library(found: &Result<TracerLibrary, Error>) -> Check {
    let library = match found {
        Ok(library) => library,
        Err(error) => {
            return Check::new(GROUP, "library", Verdict::Broken, error.to_string())
                .fix("cargo build --release -p rostrace-tracer");
        }
    };
    if let Err(error) = library.check() {
        return Check::new(GROUP, "library", Verdict::Broken, error.to_string())
            .fix("cargo build --release");
    }
    let shown = library.path().display().to_string();
    // The dynamic linker complains on standard error and goes on without a library that it cannot load.
    let tried = Command::new("/bin/sh")
        .args(["-c", ":"])
        .env("LD_PRELOAD", library.path())
        .env("ROSTRACE", "off")
        .stdin(Stdio::null())
        .output();
    match tried {
        Ok(output) if output.status.success() && !mentions_preload(&output.stderr) => Check::new(
            GROUP,
            "library",
            Verdict::Ok,
            format!("{shown} can be loaded"),
        ),
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Check::new(
                GROUP,
                "library",
                Verdict::Broken,
                format!("{shown} cannot be loaded: {complaint}"),
            )
            .fix("build rostrace on this machine: cargo build --release")
        }
        Err(error) => Check::new(
            GROUP,
            "library",
            Verdict::Warning,
            format!("{shown} is there, but could not be tried: {error}"),
        ),
    }
}

fn mentions_preload(text: &[u8]) -> bool {
    text.windows(10).any(|window| window == b"LD_PRELOAD")
}

fn sessions() -> Check {
    match RuntimeFolder::of_user() {
        Ok(folder) => Check::new(
            GROUP,
            "sessions",
            Verdict::Ok,
            format!("are kept in {}", folder.path().display()),
        ),
        Err(error) => Check::new(GROUP, "sessions", Verdict::Broken, error.to_string())
            .fix("export XDG_RUNTIME_DIR=/path/to/a/folder/of/yours"),
    }
}
