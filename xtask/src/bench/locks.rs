//! What the library for locks costs locks that are free: `tracer/benches/lock.c` alone, and with the tracer and that library, in turn.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::step::succeed;
use crate::workspace::Workspace;

pub(super) fn contest(workspace: &Workspace, scratch: &Path, runs: u32) -> Result<String> {
    let packages = ["--package=rostrace-tracer", "--package=rostrace-locks"];
    succeed(&mut workspace.cargo(&["build", "--release", packages[0], packages[1]]))?;
    let release = workspace.target_folder()?.join("release");
    let [tracer, locks] = ["librostrace_tracer.so", "librostrace_locks.so"]
        .map(|name| release.join(name).display().to_string());
    let program = scratch.join("lock");
    succeed(
        Command::new("cc")
            .args(["-D_GNU_SOURCE", "-O2", "-pthread", "-o"])
            .arg(&program)
            .arg(workspace.root.join("tracer/benches/lock.c")),
    )?;
    let (mut alone, mut with) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        keep_best(&mut alone, costs(&program, "")?);
        keep_best(&mut with, costs(&program, &format!("{tracer}:{locks}"))?);
    }
    let mut table = String::from(
        "| lock and unlock, free | alone ns | with `--locks` ns | added ns |\n|---|---:|---:|---:|\n",
    );
    for ((name, alone), (_, with)) in alone.iter().zip(&with) {
        let added = with - alone;
        let _ = writeln!(table, "| {name} | {alone:.1} | {with:.1} | {added:.1} |");
    }
    Ok(table)
}

/// By kind of lock.
type Costs = Vec<(String, f64)>;

fn costs(program: &Path, preloaded: &str) -> Result<Costs> {
    let output = Command::new(program)
        .env("LD_PRELOAD", preloaded)
        .output()
        .with_context(|| format!("{} could not be started", program.display()))?;
    if !output.status.success() {
        bail!("{} ended with {}", program.display(), output.status);
    }
    let text = String::from_utf8(output.stdout)?;
    let lines = text.lines().map(|line| {
        let (name, cost) = line.split_once(' ').context("a line without a cost")?;
        Ok((name.to_owned(), cost.parse()?))
    });
    lines.collect()
}

fn keep_best(best: &mut Costs, costs: Costs) {
    if best.is_empty() {
        *best = costs;
        return;
    }
    for ((_, best), (_, cost)) in best.iter_mut().zip(costs) {
        *best = best.min(cost);
    }
}
