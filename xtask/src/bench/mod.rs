//! `cargo xtask bench`: how fast we are, as ratios to other programs in the same minute on the same machine.
//!
//! A recording is repeated in time until it is big enough (`generate`, with `lttng_packet` for the layout and `walk` for what
//! needs decoding), the programs' answers are checked (`answer`), then the programs of a contest run on it in turn (`measure`) and the best of their runs become a
//! table (`table`). Absolute seconds mean little on a shared machine; ratios inside one table do.

mod analysis;
mod answer;
mod contest;
mod generate;
mod library;
mod lttng_packet;
mod measure;
mod recording;
mod size;
mod table;
pub(crate) mod tracing;
mod walk;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::packages;
use crate::workspace::Workspace;
use generate::BigTrace;
use size::Size;

pub(crate) const USAGE: &str = "\
cargo xtask bench [--size SIZE] [--trace DIR] [--runs N] [--tracing]
    Repeats a recording in time until it has SIZE bytes, runs rostrace and other readers on it in turn and prints
    tables of their best times as ratios. The repeated trace is kept in the target folder's bench/.
    --size SIZE   500M (the default), 2G, …; `original` measures the recording as it is
    --trace DIR   an LTTng-UST recording, or one packed as .tar.zst (default: ../shared/traces/jazzy/load_1m.tar.zst, else testdata/pingpong)
    --runs N      runs of each program, of which the best counts (default: 5)
    --tracing     only what recording costs: our tracer against LTTng-UST";

const DEFAULT_SIZE: &str = "500M";
const DEFAULT_RUNS: u32 = 5;

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let size: Size = arguments
        .option("--size")?
        .as_deref()
        .unwrap_or(DEFAULT_SIZE)
        .parse()?;
    let trace = arguments.option("--trace")?.map(PathBuf::from);
    let runs = arguments.count("--runs")?.unwrap_or(DEFAULT_RUNS);
    let tracing_only = arguments.flag("--tracing");
    arguments.finish()?;
    packages::ensure(packages::FOR_BENCHMARKS)?;

    let scratch = workspace.target_folder()?.join("bench");
    std::fs::create_dir_all(&scratch)
        .with_context(|| format!("the folder {} could not be made", scratch.display()))?;
    if tracing_only {
        return print_tracing(workspace, &scratch, runs);
    }
    let named = trace.is_some();
    let recording = match trace {
        Some(path) if path.is_file() => recording::unpacked(&path, &scratch)?,
        Some(folder) => folder,
        None => recording::largest(workspace, &scratch)?,
    };
    let source = recording::trace_folder(&recording)?;
    let original = BigTrace::original(&source)?;
    let big = match size {
        Size::Original => BigTrace::original(&source)?,
        Size::Bytes(bytes) => generate::cached(&source, bytes, &scratch)?,
    };
    println!(
        "Trace: {} (from {})",
        big.folder.display(),
        recording.display()
    );
    println!("Runs: {runs} of each program in turn, the best counts; output to /dev/null.");

    let program = workspace.release_program()?;
    let files = big.stream_files()?;
    warm_page_cache(&files)?;
    let log = scratch.join("stderr.txt");
    let mut failed = Vec::new();
    for contest in contest::CONTESTS {
        let programs = contest.programs(&program, &big.folder, &files);
        // Answers are compared on the recording as it is: the repeated one would take minutes.
        let wrong = answer::wrong(&contest.programs(
            &program,
            &original.folder,
            &original.stream_files()?,
        ))?;
        let outcomes = measure::interleaved(&programs, wrong, runs, &log)?;
        println!(
            "\n{}\n\n{}",
            contest.title,
            table::render(&programs, &outcomes, big.bytes, big.events)
        );
        let failures = programs
            .iter()
            .zip(&outcomes)
            .filter_map(|(program, outcome)| {
                outcome
                    .as_ref()
                    .err()
                    .map(|reason| format!("{}: {reason}", program.name))
            });
        failed.extend(failures);
    }
    println!(
        "\nThe library\n\n{}",
        library::table(workspace, &big.folder)?
    );
    let analysed = match named {
        true => source,
        // What CARET's figures are known for.
        false => recording::trace_folder(&recording::analysed(workspace, &scratch)?)?,
    };
    let trace = BigTrace::original(&analysed)?;
    warm_page_cache(&trace.stream_files()?)?;
    println!(
        "\nAnalyse everything and write it down ({})\n\n{}",
        analysed.display(),
        analysis::contest(&program, &trace, &scratch, runs)?
    );
    println!(
        "\nHow the analysis grows with the trace\n\n{}",
        analysis::growth(&program, &analysed, &scratch, runs)?
    );
    print_tracing(workspace, &scratch, runs)?;
    if !failed.is_empty() {
        bail!("some programs failed.\n{}", failed.join("\n"));
    }
    Ok(())
}

fn print_tracing(workspace: &Workspace, scratch: &Path, runs: u32) -> Result<()> {
    let program = workspace.release_program()?;
    println!(
        "\nWhat recording costs the application, per event\n\n{}",
        tracing::contest(workspace, &program, scratch, runs)?
    );
    Ok(())
}

/// Reads all files once, so that the first program measured does not pay for the disk. Memory stays small: a
/// child's peak memory, as the kernel counts it, is never below what this process has when it starts it.
fn warm_page_cache(files: &[PathBuf]) -> Result<()> {
    for file in files {
        read_through(file).with_context(|| format!("{} could not be read", file.display()))?;
    }
    Ok(())
}

fn read_through(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    while file.read(&mut buffer)? > 0 {}
    Ok(())
}
