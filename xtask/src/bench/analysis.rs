//! The whole analysis against reading alone: every table of every callback, communication, node and ten paths, the report and a timeline, from
//! the CTF folder to files, and how time and memory grow with the trace. Every run writes new files.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rostrace_analyze::Analysis;
use rostrace_analyze::flow_path::{Ends, FlowPath, FlowPaths};
use rostrace_architecture::search::{EdgeFilter, SearchGraph, path_along};
use rostrace_architecture::{NamedPath, from_trace_with_flows, write};
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::describe::built_in;

use super::generate::{self, BigTrace};
use super::measure::{self, Program};
use super::table;

const PATHS: usize = 10;

/// The size of the smallest trace in the table of growth, about.
const FEWEST_EVENTS: u64 = 500_000;

/// How many times the recording is repeated for the others.
const REPETITIONS: [u64; 3] = [1, 4, 12];

/// The table of the contest on one recording.
pub(super) fn contest(ours: &Path, trace: &BigTrace, scratch: &Path, runs: u32) -> Result<String> {
    let architecture = scratch.join("ten_paths.yaml");
    let named = write_architecture(&trace.folder, &architecture)?;
    let tables = scratch.join("tables");
    let caret = scratch.join("caret");
    let page = scratch.join("report.html");
    let timeline = scratch.join("trace.perfetto-trace");
    let input = trace.folder.as_os_str();
    let words = ["-o".as_ref(), "dummy".as_ref(), input].map(OsStr::to_owned);
    let reading = Program::new("babeltrace2 -o dummy", "babeltrace2", words.to_vec());
    let declared = [
        "--caret-columns".as_ref(),
        "--architecture".as_ref(),
        architecture.as_os_str(),
    ];
    let programs = [
        reading,
        writing(
            "rostrace export, all tables",
            ours,
            "export",
            input,
            &[],
            &tables,
        ),
        writing(
            "rostrace export, CARET's columns, paths with response times",
            ours,
            "export",
            input,
            &declared,
            &caret,
        ),
        writing("rostrace report", ours, "report", input, &[], &page),
        writing(
            "rostrace timeline, for Perfetto",
            ours,
            "timeline",
            input,
            &[],
            &timeline,
        ),
    ];
    let log = scratch.join("stderr.txt");
    let outcomes = measure::interleaved(&programs, vec![None; programs.len()], runs, &log)?;
    let mut text = table::render(&programs, &outcomes, trace.bytes, trace.events);
    let files = |folder: &Path| -> Result<(usize, u64)> {
        let mut bytes = 0;
        let mut number = 0;
        for entry in fs::read_dir(folder)? {
            bytes += entry?.metadata()?.len();
            number += 1;
        }
        Ok((number, bytes))
    };
    for folder in [&tables, &caret] {
        let (number, bytes) = files(folder)?;
        let _ = writeln!(
            text,
            "\n{}: {number} files, {:.1} MB written.",
            folder
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            bytes as f64 / 1e6
        );
    }
    let _ = writeln!(
        text,
        "\nThe report has {:.1} MB, the timeline {:.1} MB.",
        fs::metadata(&page)?.len() as f64 / 1e6,
        fs::metadata(&timeline)?.len() as f64 / 1e6
    );
    let _ = writeln!(text, "\nNamed paths: {named}.");
    Ok(text)
}

/// Our program with one command, which writes a file or a folder.
fn writing(
    name: &'static str,
    ours: &Path,
    command: &str,
    input: &OsStr,
    options: &[&OsStr],
    output: &Path,
) -> Program {
    let mut arguments = vec![command.into(), input.to_owned()];
    arguments.extend(options.iter().map(OsString::from));
    arguments.extend(["-o".into(), output.into()]);
    Program {
        output: Some(output.to_owned()),
        ..Program::new(name, ours, arguments)
    }
}

/// An architecture of the trace with ten of its longest observed paths; parts of them where there are fewer. Says how many it has.
fn write_architecture(trace: &Path, file: &Path) -> Result<usize> {
    let set = TraceSet::open(&[trace])?;
    let model = Model::load(&set, &mut |_| true);
    let mut architecture = from_trace_with_flows(&model);
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    let ends = Ends {
        from: None,
        to: None,
    };
    let mut paths: Vec<FlowPath> = FlowPaths::of(&analysis).paths(&ends);
    paths.retain(|path| !path.hops.iter().any(|hop| built_in::topic(&hop.topic)));
    paths.sort_by_key(|path| std::cmp::Reverse((path.hops.len(), path.flows.len())));
    // Whole paths first, then those without their first hop, and so on.
    let longest = paths.first().map_or(0, |path| path.hops.len());
    'all: for skipped in 0..longest {
        for (number, path) in paths.iter().enumerate() {
            if architecture.paths.len() == PATHS {
                break 'all;
            }
            let Some(hops) = path.hops.get(skipped..).filter(|hops| !hops.is_empty()) else {
                continue;
            };
            let mut along = vec![hops[0].publishing_node.as_str()];
            for hop in hops {
                along.extend([hop.topic.as_str(), hop.node.as_str()]);
            }
            let name = format!("path_{number}_{skipped}");
            let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
            let Ok(steps) = path_along(&architecture, &graph, &along) else {
                continue;
            };
            drop(graph);
            let _ = architecture.add_path(NamedPath::new(name, steps));
        }
    }
    fs::write(file, write(&architecture))
        .with_context(|| format!("{} could not be written", file.display()))?;
    Ok(architecture.paths.len())
}

/// What `rostrace info` says of a trace. Counted in another process: a child's peak memory is never below what this one has when it
/// starts it.
struct Extent {
    events: u64,
    begin: i64,
    end: i64,
}

impl Extent {
    fn of(ours: &Path, trace: &Path) -> Result<Extent> {
        let arguments = [
            OsStr::new("info"),
            OsStr::new("--format=json"),
            trace.as_os_str(),
        ];
        let shown = run(ours, &arguments)?;
        let number = |key: &str| -> Result<i64> {
            let member = format!("\"{key}\":");
            let value = shown
                .lines()
                .find_map(|line| line.trim().strip_prefix(&member));
            let value = value.and_then(|value| value.trim().trim_end_matches(',').parse().ok());
            value.with_context(|| {
                format!("rostrace info does not tell {key} of {}", trace.display())
            })
        };
        Ok(Extent {
            events: number("events")?.try_into()?,
            begin: number("begin_ns")?,
            end: number("end_ns")?,
        })
    }
}

/// Standard output of our program.
fn run(ours: &Path, arguments: &[&OsStr]) -> Result<String> {
    let output = Command::new(ours).args(arguments).output();
    let output = output.with_context(|| format!("{} could not be started", ours.display()))?;
    // 3: the recording itself has lost data.
    ensure!(
        matches!(output.status.code(), Some(0 | 3)),
        "{arguments:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The beginning of the recording, as long as it takes to have the fewest events; nothing if it has not so many.
fn beginning(
    ours: &Path,
    source: &Path,
    extent: &Extent,
    scratch: &Path,
) -> Result<Option<BigTrace>> {
    if extent.events <= FEWEST_EVENTS {
        return Ok(None);
    }
    let share = FEWEST_EVENTS as f64 / extent.events as f64;
    let until = extent.begin + ((extent.end - extent.begin) as f64 * share) as i64;
    let folder = scratch.join("beginning");
    let until = OsString::from(until.to_string());
    let options = ["cut", "--force", "--until"].map(OsStr::new);
    let mut arguments = options.to_vec();
    arguments.extend([
        &until,
        OsStr::new("-o"),
        folder.as_os_str(),
        source.as_os_str(),
    ]);
    run(ours, &arguments)?;
    Ok(Some(BigTrace {
        events: Some(Extent::of(ours, &folder)?.events),
        ..BigTrace::original(&folder)?
    }))
}

/// Time and memory of the whole analysis on the beginning of the recording, on the recording and on it repeated in time.
pub(super) fn growth(ours: &Path, source: &Path, scratch: &Path, runs: u32) -> Result<String> {
    let original = BigTrace::original(source)?;
    let mut text = String::from(
        "| M events | MB | wall s | CPU s | CPU ns per event | peak MB | bytes of memory per event |\n|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let log = scratch.join("stderr.txt");
    let mut traces: Vec<BigTrace> = Vec::new();
    let extent = Extent::of(ours, source)?;
    traces.extend(beginning(ours, source, &extent, scratch)?);
    for repetitions in REPETITIONS {
        traces.push(match repetitions {
            1 => BigTrace {
                events: Some(extent.events),
                ..BigTrace::original(source)?
            },
            more => generate::cached(source, original.bytes * more, scratch)?,
        });
    }
    for trace in traces {
        let (folder, output) = (trace.folder.as_os_str(), scratch.join("tables"));
        let program = writing("rostrace export", ours, "export", folder, &[], &output);
        super::warm_page_cache(&trace.stream_files()?)?;
        let outcomes = measure::interleaved(&[program], vec![None], runs.min(3), &log)?;
        let (Some(Ok(measured)), Some(events)) = (outcomes.first(), trace.events) else {
            let _ = writeln!(
                text,
                "| – | {:.0} | failed | – | – | – | – |",
                trace.bytes as f64 / 1e6
            );
            continue;
        };
        let _ = writeln!(
            text,
            "| {:.2} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} | {:.0} |",
            events as f64 / 1e6,
            trace.bytes as f64 / 1e6,
            measured.wall.as_secs_f64(),
            measured.cpu.as_secs_f64(),
            measured.cpu.as_nanos() as f64 / events as f64,
            measured.peak as f64 / 1e6,
            measured.peak as f64 / events as f64,
        );
    }
    Ok(text)
}
