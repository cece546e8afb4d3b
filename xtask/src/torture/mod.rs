//! `cargo xtask torture`: nasty programs, recorded in every way, judged one by one. Does the tracer harm them, or lose anything in silence?
//!
//! `case` is the table of programs (their sources are in `xtask/torture`), `way` the ways of recording. `run` performs one of both, `judge` compares
//! what the program says that it emitted (`report`) with what is in its trace (`trace`), and its output and end with those of the same
//! program without a tracer (`bench`). `disk`, `realtime` and `user` are what needs root. A run is chosen by its seed alone, so that a failure
//! can be run again.

/// An enumeration whose values are shown by the names beside them.
macro_rules! named {
    (
        #[$derive:meta]
        pub(super) enum $type:ident { $($(#[$about:meta])* $variant:ident = $name:literal,)+ }
    ) => {
        #[$derive]
        pub(super) enum $type { $($(#[$about])* $variant,)+ }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($type::$variant => $name),+ })
            }
        }

        #[cfg(test)]
        impl $type {
            pub(super) const ALL: &[$type] = &[$($type::$variant),+];
        }
    };
}

mod alone;
mod attach;
pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod case;
pub(crate) mod disk;
mod judge;
pub(crate) mod process;
pub(crate) mod random;
mod realtime;
mod report;
mod run;
mod table;
pub(crate) mod trace;
mod user;
mod way;

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::arguments::{Arguments, WrongUsage};
use crate::step::succeed;
use crate::workspace::Workspace;
use bench::Bench;
use case::{CASES, Case, Storage, User};
use judge::{Failure, FailureKind};
use random::Random;
use run::Outcome;
use table::Table;
use way::Way;

pub(crate) const USAGE: &str = "\
cargo xtask torture [--seconds N] [--only PATTERN] [--seed N] [--jobs N] [--program FILE] [--list]
    Records nasty programs in every way for a while (60 s), and judges each run: the program must do what it does without a
    tracer, and every event must be in the trace or counted there. Needs cc; as root also users, full and slow disks.
    What failed is kept in target/torture/runs, with a line that runs it again.
    --seconds N      stop after so long; with --seed and without it: after one run
    --only PATTERN   only these: PROGRAM/WAY as --list shows them, or a part of it
    --seed N         the first run has this seed, and with it the same arguments and moments
    --jobs N         so many runs at once (half of the processors)
    --program FILE   torture with this rostrace and the tracer beside it, instead of building both
    --list           show the programs and ways";

const SECONDS: u32 = 60;
/// Attacks and the slow disk take longer and come less often.
const ROUNDS_BETWEEN_SPECIALS: usize = 4;

/// What once crashed, hung, was lost in silence or let others in. The tests run all of these, however long it takes, and then others until
/// the time is over.
const ALWAYS: &[&str] = &[
    "ending-return/record",
    "flood/attach",
    "callbacks/observed",
    "callbacks/clocks",
    "signals-malloc/attach",
    "signals-altstack/record",
    "signals-jump/record",
    "signals-nested/program-killed",
    "stack/record",
    "limit-file-16k/attach",
    "memory-malloc/record",
    "memory-malloc/output",
    "memory-locked/record",
    "memory-locked/output",
    "seccomp-files/record",
    "asan/record",
    "large/limit",
    "large/record",
    "exec/record",
    "steady/limit-killed",
    "flight-names/flight-time",
    "disk-full/record",
];

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let seconds = arguments.count("--seconds")?;
    let only = arguments.option("--only")?.unwrap_or_default();
    let seed = arguments.option("--seed")?;
    let jobs = arguments.count("--jobs")?;
    let program = arguments.option("--program")?.map(PathBuf::from);
    let is_list = arguments.flag("--list");
    arguments.finish()?;
    let units = units(&only);
    if units.is_empty() {
        return Err(WrongUsage(format!(
            "nothing is called `{only}`; --list shows what there is."
        ))
        .into());
    }
    if is_list {
        for unit in &units {
            println!("{}", unit.name());
        }
        return Ok(());
    }
    let first_seed = match &seed {
        Some(text) => text
            .parse()
            .map_err(|_| WrongUsage(format!("--seed needs a number, not `{text}`.")))?,
        None => seed_of_now(),
    };
    let limit = match (seconds, &seed) {
        (None, Some(_)) => None,
        (seconds, _) => Some(Duration::from_secs(seconds.unwrap_or(SECONDS).into())),
    };
    let jobs = jobs.map_or_else(usual_jobs, |jobs| jobs as usize);
    let bench = prepare(workspace, program)?;
    torture_for(&bench, Order::new(units, first_seed), limit, jobs)
}

/// A part of the tests: what must always be run, and everything in some order for so long.
/// `program` has the tracer beside it.
pub(crate) fn smoke(workspace: &Workspace, program: PathBuf, seconds: u64) -> Result<()> {
    let bench = prepare(workspace, Some(program))?;
    let mut order = Order::new(units(""), seed_of_now());
    order.begin_with(
        ALWAYS
            .iter()
            .copied()
            .chain(user::ATTACKS.iter().map(|(name, _)| *name)),
    );
    let limit = Some(Duration::from_secs(seconds));
    torture_for(&bench, order, limit, usual_jobs())
}

fn seed_of_now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(1, |time| time.as_nanos() as u64)
}

fn usual_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().div_ceil(2))
}

fn torture_for(bench: &Bench, order: Order, limit: Option<Duration>, jobs: usize) -> Result<()> {
    let is_alone = alone::with_own_shared_memory();
    let table = torture(bench, order, limit, jobs, is_alone)?;
    println!("\n{}", table.text());
    println!("{:.0} s of processor time.", processor_seconds());
    match table.failed() {
        0 => Ok(()),
        count => bail!(
            "{count} runs failed; what they left is in {}.",
            bench.folder.join("runs").display()
        ),
    }
}

/// Something that can be run: a case of the table in one way, or one of the special ones.
#[derive(Debug, Clone, Copy)]
enum Planned {
    Case(&'static Case, Way),
    Attack(usize),
    RealTime,
}

impl Planned {
    fn name(self) -> String {
        match self {
            Planned::Case(case, way) => format!("{}/{way}", case.name),
            _ => self.group().to_owned(),
        }
    }

    /// The program, whatever the way.
    fn group(self) -> &'static str {
        match self {
            Planned::Case(case, _) => case.name,
            Planned::Attack(at) => user::ATTACKS.get(at).map_or("", |(name, _)| name),
            Planned::RealTime => realtime::NAME,
        }
    }
}

/// Everything that fits a pattern; something that is called exactly so wins.
fn units(only: &str) -> Vec<Planned> {
    let mut all: Vec<Planned> = Vec::new();
    for case in CASES {
        let mut ways = case.ways.to_vec();
        ways.sort_unstable();
        ways.dedup();
        all.extend(ways.into_iter().map(|way| Planned::Case(case, way)));
    }
    all.extend((0..user::ATTACKS.len()).map(Planned::Attack));
    all.push(Planned::RealTime);
    let exact: Vec<Planned> = all
        .iter()
        .copied()
        .filter(|unit| unit.name() == only || unit.group() == only)
        .collect();
    if !exact.is_empty() {
        return exact;
    }
    all.retain(|unit| unit.name().contains(only));
    all
}

fn prepare(workspace: &Workspace, program: Option<PathBuf>) -> Result<Bench> {
    let target = workspace.target_folder()?;
    let rostrace = match program {
        Some(program) => std::path::absolute(program)?,
        None => {
            succeed(&mut workspace.cargo(&["build", "--release", "--package=rostrace-tracer"]))?;
            workspace.release_program()?
        }
    };
    let library = rostrace.with_file_name("librostrace_tracer.so");
    for file in [&rostrace, &library] {
        if !file.is_file() {
            bail!("{} is not there.", file.display());
        }
    }
    let folder = target.join("torture");
    std::fs::create_dir_all(&folder)?;
    let lock = lock(&folder.join("lock"))?;
    for old in ["runs", "baseline"] {
        let _ = std::fs::remove_dir_all(folder.join(old));
    }
    let built = build::build(
        &workspace.root.join("xtask/torture"),
        &folder.join("programs"),
    )?;
    Ok(Bench {
        root: workspace.root.clone(),
        rostrace,
        library,
        built,
        folder,
        baselines: Mutex::new(HashMap::new()),
        _lock: lock,
    })
}

/// Held until the end, since runs of two tortures would remove each other's files.
fn lock(path: &Path) -> Result<File> {
    let file =
        File::create(path).with_context(|| format!("{} could not be made", path.display()))?;
    // SAFETY: the descriptor is that of a file that is open.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        bail!(
            "another torture is under way in {}.",
            path.parent().unwrap_or(path).display()
        );
    }
    Ok(file)
}

/// The order of runs: first what must be run, then rounds over all programs, each round in another order and each program in another way.
#[derive(Debug)]
struct Order {
    first: Vec<Planned>,
    units: Vec<Planned>,
    random: Random,
    round: usize,
    coming: Vec<(Planned, u64)>,
    first_seed: Option<u64>,
}

impl Order {
    fn new(units: Vec<Planned>, seed: u64) -> Order {
        Order {
            first: Vec::new(),
            units,
            random: Random::new(seed),
            round: 0,
            coming: Vec::new(),
            first_seed: Some(seed),
        }
    }

    /// What is called so is run before everything else, and even if there is no time left.
    fn begin_with(&mut self, names: impl Iterator<Item = &'static str>) {
        let named = |name| self.units.iter().copied().find(|unit| unit.name() == name);
        self.first = names.filter_map(named).collect();
        self.first.reverse();
    }

    fn next(&mut self, is_over: bool) -> Option<(Planned, u64)> {
        if let Some(unit) = self.first.pop() {
            return Some((unit, self.random.next() >> 16));
        }
        if is_over {
            return None;
        }
        if self.coming.is_empty() {
            self.fill();
        }
        let (unit, seed) = self.coming.pop()?;
        Some((unit, self.first_seed.take().unwrap_or(seed)))
    }

    fn fill(&mut self) {
        let mut groups: Vec<Vec<Planned>> = Vec::new();
        for unit in &self.units {
            match groups.last_mut() {
                Some(group)
                    if group
                        .first()
                        .is_some_and(|first| first.group() == unit.group()) =>
                {
                    group.push(*unit);
                }
                _ => groups.push(vec![*unit]),
            }
        }
        let are_all_special = groups.iter().all(|group| is_special(group));
        let with_specials = are_all_special || self.round.is_multiple_of(ROUNDS_BETWEEN_SPECIALS);
        self.round += 1;
        groups.retain(|group| with_specials || !is_special(group));
        self.random.shuffle(&mut groups);
        for group in groups {
            let seed = self.random.next() >> 16;
            self.coming
                .extend(self.random.of(&group).map(|unit| (*unit, seed)));
        }
    }
}

fn is_special(group: &[Planned]) -> bool {
    group.iter().all(|unit| match unit {
        Planned::Case(case, _) => case.surroundings.place == Storage::Slow,
        Planned::Attack(_) | Planned::RealTime => true,
    })
}

/// Without a limit: one run.
fn torture(
    bench: &Bench,
    order: Order,
    limit: Option<Duration>,
    jobs: usize,
    is_alone: bool,
) -> Result<Table> {
    let begin = Instant::now();
    let order = Mutex::new(order);
    let table = Mutex::new(Table::default());
    let runs = AtomicUsize::new(0);
    let work = || -> Result<()> {
        loop {
            let is_over = match limit {
                Some(limit) => begin.elapsed() >= limit,
                None => runs.load(Ordering::Relaxed) > 0,
            };
            let next = order.lock().ok().and_then(|mut order| order.next(is_over));
            let Some((unit, seed)) = next else {
                return Ok(());
            };
            runs.fetch_add(1, Ordering::Relaxed);
            let outcome = match reason_without(bench, unit) {
                Some(reason) => Outcome {
                    left_out: Some(reason),
                    ..Outcome::default()
                },
                // One run that nobody can judge is no reason to stop after hours of others.
                None => perform(bench, unit, seed).unwrap_or_else(|error| Outcome {
                    failures: vec![Failure::new(FailureKind::Unjudged, format!("{error:#}"))],
                    ..Outcome::default()
                }),
            };
            let way = match unit {
                Planned::Case(_, way) => way.to_string(),
                _ => String::new(),
            };
            if !outcome.failures.is_empty() {
                println!(
                    "FAILED {} --seed {seed}: {}",
                    unit.name(),
                    outcome.failures[0].sentence
                );
            }
            if let Ok(mut table) = table.lock() {
                if matches!(unit, Planned::RealTime) && outcome.worst_without == 0 {
                    table.leave_out(
                        "LTTng beside disk-realtime",
                        "it is not installed or does not record",
                    );
                }
                table.add(unit.group(), &way, seed, &outcome);
            }
        }
    };
    let jobs = if limit.is_none() { 1 } else { jobs };
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok(result) => result?,
                Err(_) => bail!("the judge itself panicked."),
            }
        }
        Ok(())
    })?;
    let mut table = table.into_inner().unwrap_or_default();
    if !trace::has_second_opinion() {
        table.leave_out(
            "babeltrace2",
            "it is not installed, so there was no second opinion",
        );
    }
    let left = if is_alone {
        alone::left_for_good(bench)?
    } else {
        Vec::new()
    };
    if !is_alone {
        table.leave_out(
            "memory that is left behind",
            "others may record at the same time, and only root can have a /dev/shm of its own",
        );
    } else if let Some(first) = left.first() {
        table.add_failure(format!(
            "{} files are left in /dev/shm, {} for one",
            left.len(),
            first.display()
        ));
    }
    Ok(table)
}

fn perform(bench: &Bench, unit: Planned, seed: u64) -> Result<Outcome> {
    let folder = bench
        .folder
        .join("runs")
        .join(format!("{}-{seed}", unit.group()));
    match unit {
        Planned::Case(case, way) => run::perform(bench, case, way, seed),
        Planned::RealTime => realtime::perform(bench, folder),
        Planned::Attack(at) => match user::ATTACKS.get(at) {
            Some((_, attack)) => attack(bench, folder),
            None => Ok(Outcome::default()),
        },
    }
}

/// Why this machine or this user cannot run something.
fn reason_without(bench: &Bench, unit: Planned) -> Option<String> {
    match unit {
        Planned::Attack(_) => user::reason_without(bench),
        Planned::RealTime => disk::reason_without(Storage::Slow).map(str::to_owned),
        Planned::Case(case, _) => {
            let place = disk::reason_without(case.surroundings.place).map(str::to_owned);
            let user = match case.surroundings.user {
                User::Nobody => user::reason_without(bench),
                User::Root if !user::is_root() => Some("needs root".to_owned()),
                _ => None,
            };
            let program = bench.built.reason_without(case.program).map(str::to_owned);
            place.or(user).or(program)
        }
    }
}

/// Of everything that was started.
fn processor_seconds() -> f64 {
    // SAFETY: zeroes are a valid value, which the call fills in.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut used);
        used
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(used.ru_utime) + seconds(used.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_and_every_kind_of_failure_has_a_name_of_its_own() {
        let ways: Vec<String> = Way::ALL.iter().map(Way::to_string).collect();
        let kinds: Vec<String> = FailureKind::ALL
            .iter()
            .map(FailureKind::to_string)
            .collect();
        for mut names in [ways, kinds] {
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }

    #[test]
    fn a_pattern_chooses_by_a_part_and_a_name_by_all_of_it() {
        assert_eq!(units("steady/record").len(), 1);
        assert!(units("steady").iter().all(|unit| unit.group() == "steady"));
        assert!(units("signals").len() > 20);
        assert!(units("no such thing").is_empty());
    }

    #[test]
    fn the_first_run_has_the_seed_that_was_asked_for() {
        let mut order = Order::new(units("churn/output"), 42);
        let (unit, seed) = order.next(false).unwrap();
        assert_eq!((unit.name().as_str(), seed), ("churn/output", 42));
        assert_ne!(order.next(false).unwrap().1, 42);
    }

    #[test]
    fn what_must_be_run_exists_and_is_run_although_the_time_is_over() {
        let mut order = Order::new(units(""), 1);
        order.begin_with(ALWAYS.iter().copied());
        for name in ALWAYS {
            assert_eq!(order.next(true).unwrap().0.name(), *name);
        }
        assert!(order.next(true).is_none());
        assert!(order.next(false).is_some());
    }

    #[test]
    fn a_round_has_every_program_once() {
        let mut order = Order::new(units(""), 1);
        order.fill();
        let mut names: Vec<&str> = order.coming.iter().map(|(unit, _)| unit.group()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(all, CASES.len() + user::ATTACKS.len() + 1);
    }
}
