//! What recording costs the application: our tracer against LTTng-UST, same event, same contexts, same threads, in turn.
//!
//! `tracer/benches/cost.c` times single calls. Linked to our library or to one with a provider of LTTng it is the same program
//! otherwise; linked to one whose function is empty it shows what a call costs anyway. Calls that do nothing are timed from a shared
//! library, as rcl, rclcpp, rmw and components make them, and from a program, which lies far away from all libraries; and for a tracer
//! that is idle, idle before LTTng's, or recording something else. End to end is a program with work to do, from its start until its trace
//! is complete. What was lost is read from both traces by `rostrace info`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::counted::counted;
use super::lttng::{Session, SessionDaemon};
use crate::step::{command_line, succeed};
use crate::workspace::Workspace;

/// How the tracer is called in the table.
const OURS: &str = "rostrace";
/// Threads, events per second of each, seconds.
const ALONE: [&str; 3] = ["1", "100000", "2"];
/// No threads: a tight loop, since a call that does nothing costs less than timing it.
const IDLE: [&str; 3] = ["0", "100000000", "1"];
const MANY: [&str; 3] = ["4", "500000", "10"];
/// One thread with a microsecond of work for each event.
const WHOLE: [&str; 3] = ["application", "1000000", "2"];

/// What the program printed, in nanoseconds, and what the trace says.
#[derive(Debug, Clone, Default, PartialEq)]
struct Cost {
    events: u64,
    p50: f64,
    /// The mean of the middle 80 %, which is finer than the steps of the clock.
    middle: f64,
    p999: f64,
    /// Of a tight loop only: per call with the loop; without it, a tracepoint of our header and an event of `rostrace.h`.
    plain: f64,
    header: f64,
    user: f64,
    /// Of a tight loop only: what a call adds to work that waits for its results, that keeps the processor busy, that branches.
    beside_work: [f64; 3],
    lost: u64,
    /// Seconds from the start of the program until its trace was complete, and what all processors did meanwhile.
    wall: f64,
    processors: f64,
}

impl Cost {
    /// What the best of several runs has least of. Of a tight loop it is with the loop: without it, a run whose empty loop was slow would
    /// look good.
    fn rank(&self) -> f64 {
        if self.plain > 0.0 {
            self.plain
        } else if self.middle > 0.0 {
            self.middle
        } else {
            self.wall
        }
    }
}

/// A tracepoint that is not recorded.
#[derive(Debug)]
struct Idle {
    from_library: Cost,
    from_program: Cost,
}

/// The same calls, made by a program itself and by a library of it.
#[derive(Debug)]
struct Callers {
    program: PathBuf,
    library: PathBuf,
}

struct Bench<'a> {
    scratch: PathBuf,
    rostrace: &'a Path,
    ours: Callers,
    lttng: Callers,
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
    let compile = |sources: &[&Path], result: &str, options: &[&str]| -> Result<PathBuf> {
        let result = scratch.join(result);
        let folder = |library: &Path| library.parent().unwrap_or(library).display().to_string();
        let found = sources
            .iter()
            .filter(|it| it.extension().is_some_and(|it| it == "so"));
        succeed(
            Command::new("cc")
                // So that no loop is slower for where it happens to lie.
                .args(["-falign-functions=64", "-falign-loops=64"])
                .args(["-O2", "-pthread", "-I"])
                .arg(&benches)
                .arg("-I")
                .arg(workspace.root.join("tracer/include"))
                .args(options)
                .args(sources)
                .args(found.map(|library| format!("-Wl,-rpath,{}", folder(library))))
                .args(["-llttng-ust", "-ldl", "-o"])
                .arg(&result),
        )?;
        Ok(result)
    };
    let written = |name: &str, text: &str| -> Result<PathBuf> {
        let file = scratch.join(name);
        std::fs::write(&file, text)?;
        Ok(file)
    };
    let main = written(
        "main.c",
        "int cost(int, char **);\nint main(int count, char **words) { return cost(count, words); }\n",
    )?;
    let empty = written(
        "empty.c",
        "void ros_trace_callback_start(const void *a, _Bool b) { (void)a, (void)b; }\n",
    )?;
    let shared = ["-shared", "-fPIC"];
    let cost = benches.join("cost.c");
    let callers = |name: &str, library: &Path| -> Result<Callers> {
        let program = compile(&[&cost, library], &format!("cost_{name}"), &[])?;
        let caller = compile(
            &[&cost, library],
            &format!("libcost_{name}.so"),
            &["-shared", "-fPIC", "-Dmain=cost"],
        )?;
        let library = compile(&[&main, &caller, library], &format!("calls_{name}"), &[])?;
        Ok(Callers { program, library })
    };
    let provider = compile(
        &[&benches.join("lttng_provider.c")],
        "libprovider.so",
        &shared,
    )?;
    let bench = Bench {
        ours: callers("rostrace", &library)?,
        lttng: callers("lttng", &provider)?,
        rostrace,
        scratch: scratch.clone(),
    };
    let empty = callers("empty", &compile(&[&empty], "libempty.so", &shared)?)?;
    let daemon = SessionDaemon::ensure()?;
    let best = |measure: &dyn Fn() -> Result<Cost>| -> Result<Cost> {
        let mut best: Option<Cost> = None;
        for _ in 0..runs {
            let cost = measure()?;
            if best.as_ref().is_none_or(|best| cost.rank() < best.rank()) {
                best = Some(cost);
            }
        }
        best.context("no run was asked for")
    };
    let idle = |callers: &Callers, command: &dyn Fn(&Path) -> Command| -> Result<Idle> {
        Ok(Idle {
            from_library: best(&|| run(command(&callers.library).args(IDLE)))?,
            from_program: best(&|| run(command(&callers.program).args(IDLE)))?,
        })
    };
    let plain = |program: &Path| Command::new(program);
    let mut rows = Vec::new();
    let mut idles = Vec::new();
    let untraced = || timed(|| run(Command::new(&empty.program).args(WHOLE)));
    let mut wholes = vec![("an empty function", best(&untraced)?)];
    for (name, is_ours) in [("LTTng-UST", false), (OURS, true)] {
        let recorded = |rate: &[&str; 3]| match is_ours {
            true => bench.with_rostrace(rate),
            false => bench.with_lttng(rate),
        };
        let callers = if is_ours { &bench.ours } else { &bench.lttng };
        idles.push((name, idle(callers, &plain)?));
        let alone = best(&|| recorded(&ALONE))?;
        let many = recorded(&MANY)?;
        wholes.push((name, best(&|| recorded(&WHOLE))?));
        rows.push((name, alone, many));
    }
    let before_lttng = |program: &Path| {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", &library);
        command
    };
    idles.push((
        "rostrace before LTTng-UST",
        idle(&bench.lttng, &before_lttng)?,
    ));
    drop(daemon);
    let other = |program: &Path| bench.with_other_events(program);
    idles.push((
        "rostrace, while other events are recorded",
        idle(&bench.ours, &other)?,
    ));
    idles.push(("an empty function of a library", idle(&empty, &plain)?));
    Ok(table(&rows, &idles) + &whole_table(&wholes))
}

impl Bench<'_> {
    /// Records, but not the event that is timed.
    fn with_other_events(&self, program: &Path) -> Command {
        let output = self.scratch.join("other");
        let _ = std::fs::remove_dir_all(&output);
        let mut command = Command::new(self.rostrace);
        command
            .args([
                "record",
                "--events",
                "ros2:callback_end",
                "--no-report",
                "-o",
            ])
            .arg(&output)
            .arg("--")
            .arg(program);
        command
    }

    fn with_rostrace(&self, rate: &[&str; 3]) -> Result<Cost> {
        let output = self.scratch.join("rostrace");
        let _ = std::fs::remove_dir_all(&output);
        let cost = timed(|| {
            run(Command::new(&self.ours.program)
                .args(rate)
                .env("ROSTRACE_OUTPUT", &output))
        })?;
        self.counted(cost, &output)
    }

    fn with_lttng(&self, rate: &[&str; 3]) -> Result<Cost> {
        let output = self.scratch.join("lttng");
        let _ = std::fs::remove_dir_all(&output);
        let session = Session::start("rostrace-bench", &output)?;
        let cost = timed(|| {
            let cost = run(Command::new(&self.lttng.program).args(rate));
            session.finish()?;
            cost
        })?;
        self.counted(cost, &output)
    }

    fn counted(&self, cost: Cost, trace: &Path) -> Result<Cost> {
        let counted = counted(self.rostrace, trace)?;
        Ok(Cost {
            lost: counted.lost,
            ..cost
        })
    }
}

/// With what it took as a whole.
fn timed(work: impl FnOnce() -> Result<Cost>) -> Result<Cost> {
    let (begin, before) = (Instant::now(), processors()?);
    let cost = work()?;
    Ok(Cost {
        wall: begin.elapsed().as_secs_f64(),
        processors: processors()? - before,
        ..cost
    })
}

/// Seconds that all processors of this machine were not idle: LTTng writes in processes of its own.
fn processors() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/stat")?;
    busy_ticks(&text)
        // SAFETY: a question without arguments in memory.
        .map(|ticks| ticks as f64 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64)
        .context("/proc/stat does not tell what processors did")
}

/// `cpu  user nice system idle iowait irq softirq …`
fn busy_ticks(stat: &str) -> Option<u64> {
    let all = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = all
        .split_whitespace()
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    let busy = [0, 1, 2, 5, 6];
    busy.iter().map(|at| ticks.get(*at)).sum()
}

fn run(command: &mut Command) -> Result<Cost> {
    if command.get_envs().all(|(name, _)| name != "LD_PRELOAD") {
        command.env_remove("LD_PRELOAD");
    }
    let line = command_line(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        bail!(
            "`{line}` ended with {} and said: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    parse(&String::from_utf8_lossy(&output.stdout))
        .with_context(|| format!("`{line}` printed no result"))
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
        middle: number("middle"),
        p999: after("p99.9")?.parse().ok()?,
        plain: number("plain"),
        header: number("header"),
        user: number("user"),
        beside_work: ["waiting", "busy", "branches"].map(number),
        ..Cost::default()
    })
}

/// Recording, alone and in many threads, and what is idle.
fn table(rows: &[(&str, Cost, Cost)], idles: &[(&str, Idle)]) -> String {
    let mut text = String::from(
        "| tracer | p50 ns | mean of the middle 80 % | p99.9 ns | LTTng = 1: p50, mean | 4 threads, 2 M events/s, 10 s: events | lost | p50 ns | p99.9 ns |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let base = |of: fn(&Cost) -> f64| rows.first().map_or(0.0, |(_, alone, _)| of(alone));
    for (name, alone, many) in rows {
        let _ = writeln!(
            text,
            "| {name} | {:.1} | {:.1} | {:.1} | {:.2}, {:.2} | {} | {} | {:.1} | {:.1} |",
            alone.p50,
            alone.middle,
            alone.p999,
            base(|it| it.p50) / alone.p50.max(0.1),
            base(|it| it.middle) / alone.middle.max(0.1),
            many.events,
            many.lost,
            many.p50,
            many.p999,
        );
    }
    text.push_str(
        "\n| not recording, ns | from a library: without the loop, with it | from a program | added to work: that waits, busy, with branches |\n\
         |---|---:|---:|---:|\n",
    );
    for (name, idle) in idles {
        let (near, far) = (&idle.from_library, &idle.from_program);
        let _ = writeln!(
            text,
            "| {name} | {:.2}, {:.2} | {:.2}, {:.2} | {} |",
            near.p50,
            near.plain,
            far.p50,
            far.plain,
            beside_work(near),
        );
    }
    if let Some((_, idle)) = idles.iter().find(|(name, _)| *name == OURS) {
        let (near, far) = (&idle.from_library, &idle.from_program);
        for (name, near, far) in [
            (
                "rostrace, compiled with its own header",
                near.header,
                far.header,
            ),
            ("an event of `rostrace.h`", near.user, far.user),
        ] {
            let _ = writeln!(
                text,
                "| {name} | {:.2} | {:.2} | – |",
                near.max(0.0),
                far.max(0.0),
            );
        }
    }
    text
}

/// What it all took, and what that is for each event beyond the first row's.
fn whole_table(rows: &[(&str, Cost)]) -> String {
    let mut text = String::from(
        "\n| end to end, until the trace is complete | events | lost | wall s | processors s | added per event: wall ns | processors ns |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    let base = rows
        .first()
        .map(|(_, cost)| cost.clone())
        .unwrap_or_default();
    for (name, cost) in rows {
        let added = |mine: f64, base: f64| (mine - base) * 1e9 / cost.events.max(1) as f64;
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {:.2} | {:.2} | {:.0} | {:.0} |",
            cost.events,
            cost.lost,
            cost.wall,
            cost.processors,
            added(cost.wall, base.wall),
            added(cost.processors, base.processors),
        );
    }
    text
}

fn beside_work(cost: &Cost) -> String {
    let [waiting, busy, branches] = cost.beside_work;
    format!("{waiting:.2}, {busy:.2}, {branches:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_benchmark_prints_is_understood() {
        let line = "events 200000 p50 31.2 middle 33.3 p90 40.0 p99 60.5 p99.9 80.1 max 9000 timing 12.0\n";
        let cost = parse(line).unwrap();
        assert_eq!((cost.events, cost.p50, cost.p999), (200_000, 31.2, 80.1));
        assert_eq!(cost.middle, 33.3);
        assert_eq!(parse("nothing"), None);
    }

    #[test]
    fn processors_are_busy_unless_they_are_idle_or_wait_for_a_disk() {
        let stat = "cpu  100 20 30 9000 400 5 6 700 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(busy_ticks(stat), Some(161));
        assert_eq!(busy_ticks("cpu  100 20\n"), None);
    }

    #[test]
    fn what_is_added_is_beyond_the_first_row() {
        let cost = |wall, processors| Cost {
            events: 1_000_000,
            wall,
            processors,
            ..Cost::default()
        };
        let text = whole_table(&[("none", cost(2.0, 2.0)), ("some", cost(2.1, 2.25))]);
        assert!(
            text.contains("| some | 1000000 | 0 | 2.10 | 2.25 | 100 | 250 |"),
            "{text}"
        );
    }

    #[test]
    fn the_first_row_is_the_base() {
        let cost = |p50| Cost {
            events: 20,
            p50,
            middle: p50 + 1.0,
            p999: 2.0 * p50,
            plain: p50 + 0.25,
            ..Cost::default()
        };
        let idle = |near, far| Idle {
            from_library: cost(near),
            from_program: cost(far),
        };
        let rows = [
            ("old", cost(200.0), cost(210.0)),
            ("new", cost(50.0), cost(51.0)),
        ];
        let text = table(&rows, &[("old", idle(5.0, 6.0)), ("new", idle(1.0, 2.0))]);
        assert!(
            text.contains("| old | 200.0 | 201.0 | 400.0 | 1.00, 1.00 |"),
            "{text}"
        );
        assert!(
            text.contains("| new | 50.0 | 51.0 | 100.0 | 4.00, 3.94 |"),
            "{text}"
        );
        assert!(text.contains("| new | 1.00, 1.25 | 2.00, 2.25 |"), "{text}");
    }
}
