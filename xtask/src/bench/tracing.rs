//! What recording costs the application: our tracer against LTTng-UST, same event, same contexts, same threads, in turn.
//!
//! `tracer/benches/cost.c` times single calls. Linked to our library or to one with a provider of LTTng it is the same program
//! otherwise; linked to one whose function is empty it shows what a call costs anyway. What was lost is read from both traces by
//! `rostrace info`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::step::succeed;
use crate::workspace::Workspace;

/// Threads, events per second of each, seconds.
const ALONE: [&str; 3] = ["1", "100000", "2"];
/// No threads: a tight loop, since a call that does nothing costs less than timing it.
const IDLE: [&str; 3] = ["0", "100000000", "1"];
const MANY: [&str; 3] = ["4", "500000", "10"];

/// Large enough that LTTng has a chance at the highest rate; ros2_tracing's own are 2 of 32 KiB.
const LTTNG_BUFFERS: [&str; 2] = ["--subbuf-size=4M", "--num-subbuf=8"];

/// What the program printed, in nanoseconds, and what the trace says.
#[derive(Debug, Clone, Default, PartialEq)]
struct Cost {
    events: u64,
    p50: f64,
    p999: f64,
    /// Of a tight loop only: per call with the loop, and an event of `rostrace.h` without it.
    plain: f64,
    user: f64,
    /// Of a tight loop only: what a call adds to work that waits for its results, that keeps the processor busy, that branches.
    beside_work: [f64; 3],
    recorded: Option<u64>,
    lost: u64,
}

struct Bench<'a> {
    scratch: PathBuf,
    rostrace: &'a Path,
    ours: PathBuf,
    lttng: PathBuf,
}

/// The table, or why there is none.
pub(super) fn contest(
    workspace: &Workspace,
    rostrace: &Path,
    scratch: &Path,
    runs: u32,
) -> Result<String> {
    let scratch = scratch.join("tracing");
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)?;
    succeed(&mut workspace.cargo(&["build", "--release", "--package=rostrace-tracer"]))?;
    let library = workspace
        .target_folder()?
        .join("release/librostrace_tracer.so");
    let benches = workspace.root.join("tracer/benches");
    let bench = Bench {
        ours: scratch.join("cost_rostrace"),
        lttng: scratch.join("cost_lttng"),
        rostrace,
        scratch,
    };
    let source = benches.join("cost.c");
    let compile = || {
        let mut command = Command::new("cc");
        command.args(["-O2", "-pthread", "-I"]).arg(&benches);
        command.arg("-I").arg(workspace.root.join("tracer/include"));
        command
    };
    let shared = |source: &Path, name: &str| -> Result<PathBuf> {
        let result = bench.scratch.join(name);
        succeed(
            compile()
                .args(["-shared", "-fPIC"])
                .arg(source)
                .args(["-llttng-ust", "-ldl", "-o"])
                .arg(&result),
        )?;
        Ok(result)
    };
    let link = |library: &Path, program: &Path| {
        let folder = library.parent().unwrap_or(library).display();
        let search = format!("-Wl,-rpath,{folder}");
        succeed(
            compile()
                .arg(&source)
                .arg(library)
                .arg(search)
                .arg("-o")
                .arg(program),
        )
    };
    let function = bench.scratch.join("empty.c");
    std::fs::write(
        &function,
        "void ros_trace_callback_start(const void *a, _Bool b) { (void)a, (void)b; }\n",
    )?;
    let empty = bench.scratch.join("cost_empty");
    link(&library, &bench.ours)?;
    link(
        &shared(&benches.join("lttng_provider.c"), "libprovider.so")?,
        &bench.lttng,
    )?;
    link(&shared(&function, "libempty.so")?, &empty)?;
    let daemon = SessionDaemon::ensure()?;
    let best = |measure: &dyn Fn() -> Result<Cost>| -> Result<Cost> {
        let mut best: Option<Cost> = None;
        for _ in 0..runs {
            let cost = measure()?;
            if best.as_ref().is_none_or(|best| cost.p50 < best.p50) {
                best = Some(cost);
            }
        }
        best.context("no run was asked for")
    };
    let mut rows = Vec::new();
    for (name, is_ours) in [("LTTng-UST", false), ("rostrace", true)] {
        let recorded = |rate: &[&str; 3]| match is_ours {
            true => bench.with_rostrace(rate),
            false => bench.with_lttng(rate),
        };
        let program = if is_ours { &bench.ours } else { &bench.lttng };
        let idle = best(&|| run(Command::new(program).args(IDLE)))?;
        let alone = best(&|| recorded(&ALONE))?;
        let many = recorded(&MANY)?;
        rows.push((name, idle, alone, many));
    }
    drop(daemon);
    let call = best(&|| run(Command::new(&empty).args(IDLE)))?;
    Ok(table(&rows, &call))
}

impl Bench<'_> {
    fn with_rostrace(&self, rate: &[&str; 3]) -> Result<Cost> {
        let output = self.scratch.join("rostrace");
        let _ = std::fs::remove_dir_all(&output);
        let cost = run(Command::new(&self.ours)
            .args(rate)
            .env("ROSTRACE_OUTPUT", &output))?;
        self.counted(cost, &output)
    }

    fn with_lttng(&self, rate: &[&str; 3]) -> Result<Cost> {
        const SESSION: &str = "rostrace-bench";
        let output = self.scratch.join("lttng");
        let _ = std::fs::remove_dir_all(&output);
        let folder = format!("--output={}", output.display());
        lttng(&["create", SESSION, &folder])?;
        let session = format!("--session={SESSION}");
        let prepared = (|| {
            let mut channel = vec!["enable-channel", "--userspace", &session, "ros2"];
            channel.extend(LTTNG_BUFFERS);
            lttng(&channel)?;
            lttng(&[
                "enable-event",
                "--userspace",
                &session,
                "--channel=ros2",
                "ros2:*",
            ])?;
            let contexts = ["-t", "vpid", "-t", "vtid", "-t", "procname"];
            let mut add = vec!["add-context", "--userspace", &session, "--channel=ros2"];
            add.extend(contexts);
            lttng(&add)?;
            lttng(&["start", SESSION])?;
            run(Command::new(&self.lttng).args(rate))
        })();
        lttng(&["stop", SESSION])?;
        lttng(&["destroy", SESSION])?;
        self.counted(prepared?, &output)
    }

    fn counted(&self, cost: Cost, trace: &Path) -> Result<Cost> {
        let output = Command::new(self.rostrace)
            .args(["info", "--format", "json"])
            .arg(trace)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = |name: &str| -> Result<u64> {
            let (_, after) = text
                .split_once(&format!("\"{name}\": "))
                .with_context(|| format!("`rostrace info` says nothing of {name}"))?;
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            Ok(digits.parse()?)
        };
        Ok(Cost {
            recorded: Some(number("events")?),
            lost: number("discarded_events")?,
            ..cost
        })
    }
}

fn run(command: &mut Command) -> Result<Cost> {
    let output = command
        .stdin(Stdio::null())
        .env_remove("LD_PRELOAD")
        .output()
        .context("the benchmark could not be started")?;
    if !output.status.success() {
        bail!("the benchmark ended with {}.", output.status);
    }
    parse(&String::from_utf8_lossy(&output.stdout)).context("the benchmark printed no result")
}

/// `events 200000 p50 31.2 … p99.9 80.1 …`
fn parse(text: &str) -> Option<Cost> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).copied()
    };
    let number = |name: &str| {
        after(name)
            .and_then(|word| word.parse().ok())
            .unwrap_or(0.0)
    };
    Some(Cost {
        events: after("events")?.parse().ok()?,
        p50: after("p50")?.parse().ok()?,
        p999: after("p99.9")?.parse().ok()?,
        plain: number("plain"),
        user: number("user"),
        beside_work: ["waiting", "busy", "branches"].map(number),
        ..Cost::default()
    })
}

fn table(rows: &[(&str, Cost, Cost, Cost)], call: &Cost) -> String {
    let mut text = String::from(
        "| tracer | p50 ns | p99.9 ns | p50, LTTng = 1 | not recording ns: without the loop, with it | added to work: that waits, busy, with branches | 4 threads, 2 M events/s, 10 s: events | lost | p50 ns | p99.9 ns |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let base = rows.first().map_or(0.0, |(_, _, alone, _)| alone.p50);
    for (name, idle, alone, many) in rows {
        let _ = writeln!(
            text,
            "| {name} | {:.1} | {:.1} | {:.2} | {:.2}, {:.2} | {} | {} | {} | {:.1} | {:.1} |",
            alone.p50,
            alone.p999,
            base / alone.p50.max(0.1),
            idle.p50.max(0.0),
            idle.plain,
            beside_work(idle),
            many.events,
            many.lost,
            many.p50,
            many.p999,
        );
    }
    let _ = writeln!(
        text,
        "| an empty function of a library | – | – | – | {:.2}, {:.2} | {} | – | – | – | – |",
        call.p50,
        call.plain,
        beside_work(call),
    );
    if let Some((_, idle, ..)) = rows.last() {
        let _ = writeln!(
            text,
            "| an event of `rostrace.h` | – | – | – | {:.2} | – | – | – | – | – |",
            idle.user.max(0.0)
        );
    }
    text
}

fn beside_work(cost: &Cost) -> String {
    let [waiting, busy, branches] = cost.beside_work;
    format!("{waiting:.2}, {busy:.2}, {branches:.2}")
}

fn lttng(arguments: &[&str]) -> Result<()> {
    let output = Command::new("lttng")
        .arg("--no-sessiond")
        .args(arguments)
        .output()
        .context("`lttng` could not be started")?;
    if !output.status.success() {
        bail!(
            "`lttng {}` failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

/// The one that runs, or one of ours that ends with the benchmark.
struct SessionDaemon(Option<Child>);

impl SessionDaemon {
    fn ensure() -> Result<SessionDaemon> {
        if lttng(&["list"]).is_ok() {
            return Ok(SessionDaemon(None));
        }
        let child = Command::new("lttng-sessiond")
            .arg("--no-kernel")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("`lttng-sessiond` could not be started")?;
        let daemon = SessionDaemon(Some(child));
        let begin = Instant::now();
        while lttng(&["list"]).is_err() {
            if begin.elapsed() > Duration::from_secs(10) {
                bail!("`lttng-sessiond` does not answer.");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(daemon)
    }
}

impl Drop for SessionDaemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_benchmark_prints_is_understood() {
        let line = "events 200000 p50 31.2 p90 40.0 p99 60.5 p99.9 80.1 max 9000 timing 12.0\n";
        let cost = parse(line).unwrap();
        assert_eq!((cost.events, cost.p50, cost.p999), (200_000, 31.2, 80.1));
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn the_first_row_is_the_base() {
        let cost = |p50| Cost {
            events: 20,
            p50,
            p999: 2.0 * p50,
            plain: p50 + 0.25,
            ..Cost::default()
        };
        let rows = [
            ("old", cost(5.0), cost(200.0), cost(210.0)),
            ("new", cost(1.0), cost(50.0), cost(51.0)),
        ];
        let text = table(&rows, &cost(0.9));
        assert!(text.contains("| old | 200.0 | 400.0 | 1.00 |"), "{text}");
        assert!(
            text.contains("| new | 50.0 | 100.0 | 4.00 | 1.00, 1.25 |"),
            "{text}"
        );
    }
}
