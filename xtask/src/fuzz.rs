//! `cargo xtask fuzz TARGET`: coverage-guided fuzzing with libFuzzer, on stable Rust.
//!
//! The targets are in `fuzz/`, a workspace of its own, so that ordinary builds never see it. Two drivers share them:
//! `smoke` mutates the recordings of `testdata/` blindly for a bounded time and needs nothing but cargo (it runs
//! in `cargo xtask test`); `guided` is libFuzzer. cargo-fuzz would need a nightly compiler for its
//! sanitizers; coverage alone does not: the instrumentation is an LLVM pass that stable rustc can be told to run.

use std::process::Command;

use anyhow::{Result, bail};

use crate::arguments::{Arguments, WrongUsage};
use crate::step::succeed;
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
cargo xtask fuzz TARGET [--seconds N]
cargo xtask fuzz --smoke [--seconds N]
    Fuzzes one target (metadata, packet, …) with libFuzzer until it fails or N seconds are over (needs g++).
    What it learns is kept in fuzz/corpus/TARGET, inputs that fail in fuzz/artifacts/TARGET.
    --smoke       all targets, blind mutation of testdata, without libFuzzer (30 seconds)
    --seconds N   stop after N seconds";

/// What cargo-fuzz passes as well, without the sanitizers.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 --cfg fuzzing";

/// Names the workspace of the targets to cargo.
pub(crate) const MANIFEST: &str = "--manifest-path=fuzz/Cargo.toml";

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let seconds = arguments.count("--seconds")?;
    let smoke_only = arguments.flag("--smoke");
    let target = arguments.word();
    arguments.finish()?;
    match (smoke_only, target) {
        (true, None) => smoke(workspace, seconds.unwrap_or(30)),
        (false, Some(target)) => guided(workspace, &target, seconds),
        _ => Err(WrongUsage("name one target, or --smoke.".to_owned()).into()),
    }
}

/// Runs every target on seeds and mutated seeds for `seconds` in all.
pub(crate) fn smoke(workspace: &Workspace, seconds: u32) -> Result<()> {
    let program = workspace.built_program(&["build", "--release", MANIFEST, "--bin=smoke"])?;
    let mut command = Command::new(program);
    succeed(
        command
            .arg(format!("--seconds={seconds}"))
            .current_dir(workspace.root.join("fuzz")),
    )
}

fn guided(workspace: &Workspace, target: &str, seconds: Option<u32>) -> Result<()> {
    let folder = workspace.root.join("fuzz");
    let smoke = workspace.built_program(&["build", "--release", MANIFEST, "--bin=smoke"])?;
    let mut seeding = Command::new(smoke);
    succeed(
        seeding
            .arg(format!("--write-seeds={target}"))
            .current_dir(&folder),
    )?;

    // A target triple keeps the flags away from build scripts; a folder of its own keeps both builds warm.
    let triple = host_triple()?;
    let target_folder = workspace.target_folder()?.join("fuzz");
    let mut build = workspace.cargo(&["build", "--release", MANIFEST, "--bin=guided"]);
    build
        .args(["--features=libfuzzer", "--target", &triple])
        .arg("--target-dir")
        .arg(&target_folder)
        .env("RUSTFLAGS", COVERAGE);
    succeed(&mut build)?;

    // To libFuzzer 0 means: until it fails.
    let seconds = seconds.unwrap_or(0);
    let corpus = format!("corpus/{target}");
    let artifacts = format!("artifacts/{target}/");
    let regressions = format!("regressions/{target}");
    for folder_name in [&artifacts, &regressions] {
        std::fs::create_dir_all(folder.join(folder_name))?;
    }
    let program = target_folder.join(triple).join("release/guided");
    succeed(
        Command::new(program)
            .arg(corpus)
            .arg(regressions)
            .args([
                format!("-artifact_prefix={artifacts}"),
                format!("-max_total_time={seconds}"),
            ])
            .args([
                "-timeout=10",
                "-rss_limit_mb=2048",
                "-malloc_limit_mb=1024",
                "-max_len=65536",
            ])
            .env("FUZZ_TARGET", target)
            .current_dir(folder),
    )
}

fn host_triple() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().find_map(|line| line.strip_prefix("host: ")) {
        Some(triple) => Ok(triple.to_owned()),
        None => bail!("`rustc -vV` did not say which machine it compiles for."),
    }
}
