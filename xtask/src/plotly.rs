//! `cargo xtask plotly`: brings the chart library of the report from the npm registry.
//!
//! The file is committed, so that a build needs neither npm nor a network. It is the bundle that has lines and bars and nothing else, as Plotly
//! itself publishes it. A new version is a new `VERSION` and a new `SHA512`.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::step::succeed;
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
cargo xtask plotly
    Brings the chart library of the report from the npm registry, checks its hash and puts it into crates/report/assets/plotly (needs npm).";

const PACKAGE: &str = "plotly.js-basic-dist-min";
const VERSION: &str = "3.0.1";
/// Of the package's archive: what the registry calls its integrity, as `sha512sum` writes it.
const SHA512: &str = "d8335f8e7d17bfe20093a92c6889bc0074a5282c5640ec7d7f7bf9246bf314a3f011b251b0b232e14a7470e3ea3b9de42f88eb770f0b9d44eb33d140cef28cb1";
/// The library, its licence, and what says its version.
const FILES: &[&str] = &["plotly-basic.min.js", "LICENSE", "package.json"];

pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    let scratch = workspace.target_folder()?.join("plotly");
    fs::create_dir_all(&scratch)
        .with_context(|| format!("{} could not be made", scratch.display()))?;
    let mut pack = Command::new("npm");
    succeed(
        pack.args(["pack", "--silent", &format!("{PACKAGE}@{VERSION}")])
            .current_dir(&scratch),
    )?;
    let archive = format!("{PACKAGE}-{VERSION}.tgz");
    let output = Command::new("sha512sum")
        .arg(&archive)
        .current_dir(&scratch)
        .output()
        .context("`sha512sum` could not be started")?;
    let found = String::from_utf8_lossy(&output.stdout);
    if found.split_whitespace().next() != Some(SHA512) {
        bail!("{archive} is not the archive that was agreed on: its SHA-512 is {found}");
    }
    let mut unpack = Command::new("tar");
    succeed(unpack.args(["-xzf", &archive]).current_dir(&scratch))?;
    let place = workspace.root.join("crates/report/assets/plotly");
    for file in FILES {
        fs::copy(scratch.join("package").join(file), place.join(file))
            .with_context(|| format!("{file} could not be put into {}", place.display()))?;
    }
    println!(
        "{PACKAGE} {VERSION} is in {}; `git status` shows whether it changed.",
        place.display()
    );
    Ok(())
}
