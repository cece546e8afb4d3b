//! `cargo xtask bench`: how fast we are, as ratios to other programs in the same minute on the same machine.
//!
//! A recording is repeated in time until it is big enough (`generate`, with `lttng_packet` for the layout and `walk` for what
//! needs decoding), the programs' answers are checked (`answer`), then the programs of a contest run on it in turn (`measure`) and the best of their runs become a
//! table (`table`). What our tracer does to programs is measured beside LTTng: what an event costs (`tracing`), the longest one in loops with
//! real-time priority (`worst`), what a real system notices (`idle_system`), what following context switches costs the recorder (`switches`), and samples of call stacks (`sampling`), what reading clocks costs instead (`clocks`), and what the library for locks costs them (`locks`). Absolute seconds mean little on a shared machine; ratios inside one table do.

mod analysis;
mod answer;
mod clocks;
mod contest;
mod counted;
mod generate;
mod idle_system;
mod library;
mod locks;
pub(crate) mod lttng;
mod lttng_packet;
mod measure;
pub(crate) mod realtime;
mod recording;
mod sampling;
mod size;
mod switches;
mod table;
mod tracing;
mod walk;
mod worst;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::arguments::{Arguments, WrongUsage};
use crate::packages;
use crate::workspace::Workspace;
use generate::BigTrace;
use size::Size;

pub(crate) const USAGE: &str = "\
cargo xtask bench [--size SIZE] [--trace DIR] [--runs N] [--tracing] [--only PART] [--seconds N] [--system COMMAND] [--program FILE]
    Repeats a recording in time until it has SIZE bytes, runs rostrace and other readers on it in turn and prints
    tables of their best times as ratios. The repeated trace is kept in the target folder's bench/.
    --size SIZE   500M (the default), 2G, …; `original` measures the recording as it is
    --trace DIR   an LTTng-UST recording, or one packed as .tar.zst (default: ../shared/traces/jazzy/load_1m.tar.zst, else testdata/pingpong)
    --runs N      runs of each program, of which the best counts (default: 5)
    --tracing     only what recording costs: our tracer against LTTng-UST
    --only PART   only a part of that: cost (of an event), disk (the longest tracepoint beside a bag on a slow disk, needs root),
                  attach (the longest one when a recording begins), switches (what context switches cost the recorder),
                  sampling (what samples of call stacks cost it), clocks (what reading CPU clocks costs instead), locks (what `--locks` costs locks that are free) or system
    --seconds N   how long each tracer runs beside the bag (default: 60)
    --system COMMAND  a system of ROS 2 that ends by itself, as a line for the shell: what an idle tracer costs it. Runs N pairs (default: 10)
    --program FILE  with --tracing or --only: measure this rostrace, which has the tracer beside it, instead of building both";

const DEFAULT_SIZE: &str = "500M";
const DEFAULT_RUNS: u32 = 5;

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let size: Size = arguments
        .option("--size")?
        .as_deref()
        .unwrap_or(DEFAULT_SIZE)
        .parse()?;
    let trace = arguments.option("--trace")?.map(PathBuf::from);
    let given_runs = arguments.count("--runs")?;
    let runs = given_runs.unwrap_or(DEFAULT_RUNS);
    let tracer = tracer_benchmarks(&mut arguments, given_runs)?;
    arguments.finish()?;
    packages::ensure(packages::FOR_BENCHMARKS)?;

    let scratch = workspace.target_folder()?.join("bench");
    std::fs::create_dir_all(&scratch)
        .with_context(|| format!("the folder {} could not be made", scratch.display()))?;
    if tracer.is_alone {
        return tracer.print(workspace, &scratch);
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
    tracer.print(workspace, &scratch)?;
    if !failed.is_empty() {
        bail!("some programs failed.\n{}", failed.join("\n"));
    }
    Ok(())
}

/// What is measured of the tracer.
#[derive(Debug)]
struct TracerBenchmarks {
    is_alone: bool,
    only: Option<String>,
    runs: Option<u32>,
    seconds: u32,
    system: Option<String>,
    program: Option<PathBuf>,
}

const COST: &str = "cost";
const DISK: &str = "disk";
const ATTACH: &str = "attach";
const SYSTEM: &str = "system";
const SWITCHES: &str = "switches";
const SAMPLING: &str = "sampling";
const CLOCKS: &str = "clocks";
const LOCKS: &str = "locks";

fn tracer_benchmarks(arguments: &mut Arguments, runs: Option<u32>) -> Result<TracerBenchmarks> {
    let only = arguments.option("--only")?;
    let system = arguments.option("--system")?;
    let program = arguments.option("--program")?.map(std::path::absolute);
    match only.as_deref() {
        None | Some(COST | DISK | ATTACH | SWITCHES | SAMPLING | CLOCKS | LOCKS) => {}
        Some(SYSTEM) if system.is_some() => {}
        Some(SYSTEM) => {
            return Err(WrongUsage("--only system needs --system COMMAND.".to_owned()).into());
        }
        Some(other) => {
            return Err(WrongUsage(format!(
                "--only is {COST}, {DISK}, {ATTACH}, {SWITCHES}, {SAMPLING}, {CLOCKS}, {LOCKS} or {SYSTEM}, not `{other}`."
            ))
            .into());
        }
    }
    Ok(TracerBenchmarks {
        is_alone: arguments.flag("--tracing") || only.is_some(),
        only,
        runs,
        seconds: arguments.count("--seconds")?.unwrap_or(worst::SECONDS),
        system,
        program: program.transpose()?,
    })
}

impl TracerBenchmarks {
    /// Runs all parts, also after one has failed.
    fn print(&self, workspace: &Workspace, scratch: &Path) -> Result<()> {
        let program = match &self.program {
            Some(program) => program.clone(),
            None => workspace.release_program()?,
        };
        let mut failed = Vec::new();
        let mut part = |name: &str, title: &str, measure: &dyn Fn() -> Result<String>| {
            if self.only.as_deref().is_some_and(|only| only != name) {
                return;
            }
            match measure() {
                Ok(text) => println!("\n{title}\n\n{text}"),
                Err(error) => {
                    println!("\n{title}\n\nfailed: {error:#}");
                    failed.push(format!("{name}: {error:#}"));
                }
            }
        };
        part(
            COST,
            "What recording costs the application, per event",
            &|| {
                let runs = self.runs.unwrap_or(DEFAULT_RUNS);
                tracing::contest(workspace, &program, scratch, runs)
            },
        );
        part(
            DISK,
            "The longest tracepoint of a 1 kHz loop beside a bag on a slow disk",
            &|| worst::Worst::new(workspace, &program, scratch)?.under_disk_load(self.seconds),
        );
        part(
            ATTACH,
            "The longest tracepoint of 64 threads when recordings begin",
            &|| worst::Worst::new(workspace, &program, scratch)?.when_attached(),
        );
        part(
            SWITCHES,
            "What 20,000 context switches per second cost the recorder",
            &|| switches::contest(&program, scratch),
        );
        part(
            SAMPLING,
            "What 1,000 samples of call stacks per second cost the recorder",
            &|| sampling::contest(&program, scratch),
        );
        part(
            CLOCKS,
            "What reading CPU clocks costs an application where context switches are refused",
            &|| clocks::contest(&program, scratch),
        );
        part(LOCKS, "What `--locks` costs locks that are free", &|| {
            locks::contest(workspace, scratch, self.runs.unwrap_or(DEFAULT_RUNS))
        });
        part(SYSTEM, "What an idle tracer costs a system", &|| {
            let Some(system) = &self.system else {
                return Ok("Left out: no --system was named.".to_owned());
            };
            let runs = self.runs.unwrap_or(idle_system::RUNS);
            idle_system::contest(&program, system, scratch, runs)
        });
        if !failed.is_empty() {
            bail!("these parts failed:\n{}", failed.join("\n"));
        }
        Ok(())
    }
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
