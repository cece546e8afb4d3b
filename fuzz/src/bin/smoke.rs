//! Runs every target on its seeds, on past failures and on mutations of both, for a bounded time.
//!
//! Each target runs in a child with limited memory. The child notes the number of each iteration before it begins; so
//! whatever ends it (a panic, an abort, a stack overflow, too much memory, an endless loop), the parent can
//! make the fatal input again, keep it and say how to repeat it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use rostrace_fuzz::mutate;
use rostrace_fuzz::targets::{self, TARGETS, Target};

const USAGE: &str = "\
smoke [--seconds=30] [--run=0]    all targets; another run number makes other inputs
smoke --replay=TARGET FILE        one input, in this process
smoke --write-seeds=TARGET        the seeds, to corpus/TARGET
Run it in the folder fuzz/.";

/// Address space of a child, in KiB.
const MEMORY_LIMIT: u64 = 2 << 20;
/// Linux counts processor time in these, on every architecture that we know.
const TICKS_PER_SECOND: u64 = 100;
/// An input that computes longer than this is a failure.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// So is one that goes on for so long without computing: it waits for something that never comes.
const WAIT_LIMIT: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let number =
        |name: &str, default: u64| value(name).map_or(Some(default), |text| text.parse().ok());
    let (Some(seconds), Some(run)) = (number("--seconds=", 30), number("--run=", 0)) else {
        return wrong_usage("a number is not a number");
    };
    let named = |name: &str| value(name).map(|target| targets::find(target).ok_or(target));
    let outcome = match (
        named("--child="),
        named("--replay="),
        named("--write-seeds="),
    ) {
        (Some(Err(name)), ..) | (_, Some(Err(name)), _) | (.., Some(Err(name))) => {
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            return wrong_usage(&format!(
                "there is no target `{name}`, only: {}",
                names.join(", ")
            ));
        }
        (Some(Ok(target)), ..) => child(target, run, Duration::from_millis(seconds)),
        (_, Some(Ok(target)), _) => match words.last() {
            Some(file) if !file.starts_with("--") => {
                fs::read(file).map(|input| (target.run)(&input))
            }
            _ => return wrong_usage("--replay needs a file"),
        },
        (.., Some(Ok(target))) => write_seeds(target),
        _ if words
            .iter()
            .all(|word| word.starts_with("--seconds=") || word.starts_with("--run=")) =>
        {
            return all_targets(run, Duration::from_secs(seconds));
        }
        _ => return wrong_usage("this is not understood"),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("smoke: {error}");
            ExitCode::FAILURE
        }
    }
}

fn wrong_usage(reason: &str) -> ExitCode {
    eprintln!("smoke: {reason}.\n\n{USAGE}");
    ExitCode::from(2)
}

fn all_targets(run: u64, time: Duration) -> ExitCode {
    let mut failed = false;
    for target in TARGETS {
        match one_target(target, run, time / TARGETS.len() as u32) {
            Ok(iterations) => println!("fuzz {}: {iterations} inputs, ok", target.name),
            Err(sentence) => {
                eprintln!("fuzz {}: {sentence}", target.name);
                failed = true;
            }
        }
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Runs a target in a child and returns how many inputs it took; or a sentence about the fatal one.
fn one_target(target: &Target, run: u64, time: Duration) -> Result<u64, String> {
    let artifacts = Path::new("artifacts").join(target.name);
    fs::create_dir_all(&artifacts).map_err(|error| format!("{}: {error}", artifacts.display()))?;
    let notes = artifacts.join("iteration");
    let ended = match File::create(&notes).and_then(|_| watched_child(target, run, time, &notes)) {
        Ok(ended) => ended,
        Err(error) => return Err(format!("could not be run: {error}")),
    };
    let iteration = noted_iteration(&notes);
    let _ = fs::remove_file(&notes);
    let how = match ended {
        Ended::By(status) if status.success() => return Ok(iteration + 1),
        Ended::By(status) => status.to_string(),
        Ended::Hanging => format!(
            "it computed for more than {} s, or waited for {} s",
            TIME_LIMIT.as_secs(),
            WAIT_LIMIT.as_secs()
        ),
    };
    let input = mutate::input(
        &beginnings(target).map_err(|error| error.to_string())?,
        target.dictionary,
        run,
        iteration,
    );
    let file = artifacts.join(format!("run-{run}-{iteration}"));
    fs::write(&file, &input).map_err(|error| format!("{}: {error}", file.display()))?;
    Err(format!(
        "input {iteration} of run {run} failed ({how}). It is kept in fuzz/{0}. To repeat: \
         (cd fuzz && cargo run --release --bin smoke -- --replay={1} {0})",
        file.display(),
        target.name
    ))
}

enum Ended {
    By(ExitStatus),
    Hanging,
}

fn watched_child(target: &Target, run: u64, time: Duration, notes: &Path) -> io::Result<Ended> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", "ulimit -v \"$0\" && exec \"$@\""])
        .arg(MEMORY_LIMIT.to_string())
        .arg(std::env::current_exe()?)
        .args([format!("--child={}", target.name), format!("--run={run}")])
        .arg(format!("--seconds={}", time.as_millis()))
        .spawn()?;
    let mut iteration = noted_iteration(notes);
    let mut begin = (Instant::now(), Duration::ZERO);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::By(status));
        }
        let now = noted_iteration(notes);
        let computed = computed(&child);
        if now != iteration {
            iteration = now;
            begin = (Instant::now(), computed);
        } else if computed.saturating_sub(begin.1) > TIME_LIMIT || begin.0.elapsed() > WAIT_LIMIT {
            return end(&mut child).map(|()| Ended::Hanging);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The processor time of a child so far. On a busy machine it is much less than what has passed.
fn computed(child: &Child) -> Duration {
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // Behind the name, which is in parentheses, the 12th and 13th field: ticks of the process and of the kernel for it.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

fn noted_iteration(notes: &Path) -> u64 {
    let bytes = fs::read(notes).unwrap_or_default();
    bytes
        .first_chunk()
        .map_or(0, |number| u64::from_le_bytes(*number))
}

/// The work itself. (In a child, `--seconds` counts milliseconds.)
fn child(target: &Target, run: u64, time: Duration) -> io::Result<()> {
    let notes = File::options()
        .write(true)
        .open(Path::new("artifacts").join(target.name).join("iteration"))?;
    let beginnings = beginnings(target)?;
    let start = Instant::now();
    let mut iteration = 0;
    // All seeds and past failures are tried, however long they take.
    while iteration < beginnings.len() as u64 || start.elapsed() < time {
        notes.write_all_at(&u64::to_le_bytes(iteration), 0)?;
        (target.run)(&mutate::input(
            &beginnings,
            target.dictionary,
            run,
            iteration,
        ));
        iteration += 1;
    }
    Ok(())
}

/// Seeds, then the inputs that failed in the past, by name.
fn beginnings(target: &Target) -> io::Result<Vec<Vec<u8>>> {
    let mut inputs = (target.seeds)(Path::new("../testdata"))?;
    let regressions = Path::new("regressions").join(target.name);
    if regressions.is_dir() {
        let files = fs::read_dir(regressions)?.map(|entry| Ok(entry?.path()));
        let mut files = files.collect::<io::Result<Vec<PathBuf>>>()?;
        files.sort();
        for file in files {
            inputs.push(fs::read(file)?);
        }
    }
    Ok(inputs)
}

fn write_seeds(target: &Target) -> io::Result<()> {
    let folder = Path::new("corpus").join(target.name);
    fs::create_dir_all(&folder)?;
    for (number, seed) in (target.seeds)(Path::new("../testdata"))?.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:04}")), seed)?;
    }
    Ok(())
}
