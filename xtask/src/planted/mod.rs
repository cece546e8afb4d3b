//! `cargo xtask planted`: programs that suffer a known cause of random size, and what `rostrace why` makes of them.
//!
//! The programs are in `xtask/planted`; `truth` reads what they log, `answer` what `why` says. `judge` compares both and knows nothing else: `stretch` is what
//! must be said of which time, and `claim` by which words. `run` is one case, and `function` judges which function makes an execution slow. Names, sizes and surroundings are decided by a seed alone, so that a case can be run again. The judge is judged as well: with
//! answers that are `made_up`: perfect, permuted, or always the same.

mod answer;
mod claim;
mod function;
mod judge;
mod made_up;
mod run;
mod stretch;
mod table;
mod truth;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::arguments::{Arguments, WrongUsage};
use crate::step::succeed;
use crate::torture::random::Random;
use crate::workspace::Workspace;
use run::{Bench, Outcome};
use table::Table;

pub(crate) const USAGE: &str = "\
cargo xtask planted [--cases N] [--seed N] [--only KIND] [--refused] [--functions] [--program FILE] [--list]
    Records programs that suffer a planted cause, asks `why`, and judges the answers by what the programs logged. As root it
    becomes an ordinary user for that. Fails if the cause is right in less than 95 % of the cases (90 % with --refused).
    --cases N        so many cases of all kinds together (200)
    --seed N         the first case has this seed, and with it the same names, sizes and surroundings
    --only KIND      only this kind, as --list shows it
    --refused        where the system refuses perf_event_open, as the usual seccomp profile of containers does
    --functions      instead of that, judge which function `why` names where a loop makes executions slow: of a program that is stripped or
                     not, with frame pointers and without. Fails below 95 %
    --program FILE   ask this rostrace, which has the tracer beside it, instead of building both
    --list           show the kinds";

const CASES: u32 = 200;
const RIGHT: f64 = 0.95;
const RIGHT_IF_REFUSED: f64 = 0.90;
/// In the tests: cases of each kind, and so many more where none of them was right.
const SMOKE_CASES: usize = 2;
const SMOKE_MORE: usize = 4;

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let cases = arguments.count("--cases")?.unwrap_or(CASES) as usize;
    let only = arguments.option("--only")?;
    let seed = arguments.option("--seed")?;
    let is_refused = arguments.flag("--refused");
    let is_of_functions = arguments.flag("--functions");
    let program = arguments.option("--program")?.map(PathBuf::from);
    let is_list = arguments.flag("--list");
    arguments.finish()?;
    let seed = match &seed {
        Some(text) => text
            .parse()
            .map_err(|_| WrongUsage(format!("--seed needs a number, not `{text}`.")))?,
        None => seed_of_now(),
    };
    let rostrace = match program {
        Some(program) => std::path::absolute(program)?,
        None => workspace.tested_program()?,
    };
    let ground = Ground::new(workspace, &rostrace, is_refused)?;
    if is_of_functions {
        let source = workspace.root.join("xtask/planted/loops.c");
        return function::judge(&ground.bench, &source, seed);
    }
    let mut kinds = ground.bench.kinds()?;
    if is_list {
        kinds.iter().for_each(|kind| println!("{kind}"));
        return Ok(());
    }
    if let Some(only) = only {
        if !kinds.contains(&only) {
            return Err(WrongUsage(format!(
                "nothing is called `{only}`; --list shows what there is."
            ))
            .into());
        }
        kinds = vec![only];
    }
    let mut table = Table::default();
    let mut order = Order::new(&kinds, seed);
    for _ in 0..cases {
        let (kind, seed) = order.next();
        ground.judge(&kind, seed, &mut table)?;
    }
    println!("\n{}", table.text());
    if let Some(reason) = table.distrust() {
        bail!("the judge itself is not to be trusted: {reason}.");
    }
    let all = table.all();
    let demanded = if is_refused { RIGHT_IF_REFUSED } else { RIGHT };
    if all.share_right() < demanded {
        bail!(
            "{} of {} answers are right; {:.0} % are demanded. What was not is in {}.",
            all.right,
            all.cases,
            100.0 * demanded,
            ground.kept.display()
        );
    }
    Ok(())
}

/// A part of the tests: a few cases of each kind. No kind may be one that is never understood, and the judge must be one that can be trusted.
/// `program` has the tracer beside it.
pub(crate) fn smoke(workspace: &Workspace, program: &Path) -> Result<()> {
    let ground = Ground::new(workspace, program, false)?;
    let kinds = ground.bench.kinds()?;
    let mut table = Table::default();
    let mut order = Order::new(&kinds, seed_of_now());
    for _ in 0..SMOKE_CASES * kinds.len() {
        let (kind, seed) = order.next();
        ground.judge(&kind, seed, &mut table)?;
    }
    let never = |table: &Table| -> Vec<String> {
        let rows = table.rows().filter(|(_, row)| row.right == 0);
        rows.map(|(kind, _)| kind.to_owned()).collect()
    };
    for kind in never(&table) {
        let mut order = Order::new(std::slice::from_ref(&kind), seed_of_now());
        for _ in 0..SMOKE_MORE {
            let (kind, seed) = order.next();
            ground.judge(&kind, seed, &mut table)?;
        }
    }
    println!("\n{}", table.text());
    if let Some(reason) = table.distrust() {
        bail!("the judge itself is not to be trusted: {reason}.");
    }
    if !table.has_switches() {
        println!("This system does not let context switches be recorded, so nothing is demanded.");
        return Ok(());
    }
    let judged = table.rows().count();
    if 3 * judged < 2 * kinds.len() {
        bail!("only {judged} of {} kinds could be judged.", kinds.len());
    }
    let never = never(&table);
    if !never.is_empty() {
        bail!("never understood: {}.", never.join(", "));
    }
    Ok(())
}

/// How often a case is tried that could not be judged.
const ATTEMPTS: u64 = 2;

fn seed_of_now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(1, |time| time.as_nanos() as u64)
}

/// Rounds over all kinds; the first case has the seed that was given.
#[derive(Debug)]
struct Order<'a> {
    kinds: &'a [String],
    random: Random,
    first_seed: Option<u64>,
    number: usize,
}

impl<'a> Order<'a> {
    fn new(kinds: &'a [String], seed: u64) -> Order<'a> {
        Order {
            kinds,
            random: Random::new(seed),
            first_seed: Some(seed),
            number: 0,
        }
    }

    fn next(&mut self) -> (String, u64) {
        let kind = self.kinds[self.number % self.kinds.len()].clone();
        self.number += 1;
        let seed = self.random.next() >> 16;
        (kind, self.first_seed.take().unwrap_or(seed))
    }
}

/// Where cases are run: a folder that an ordinary user can reach, with copies of what is run.
#[derive(Debug)]
struct Ground {
    bench: Bench,
    /// What was not right stays here.
    kept: PathBuf,
}

impl Ground {
    fn new(workspace: &Workspace, rostrace: &Path, is_refused: bool) -> Result<Ground> {
        let folder = std::env::temp_dir().join(format!("rostrace-planted-{}", std::process::id()));
        fs::create_dir(&folder)
            .with_context(|| format!("{} could not be made", folder.display()))?;
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o755))?;
        let kept = workspace.target_folder()?.join("planted");
        let _ = fs::remove_dir_all(&kept);
        let sources = workspace.root.join("xtask/planted");
        for (name, options, files) in [
            ("librclcpp.so", &["-shared", "-fPIC"][..], &["rclcpp.c"][..]),
            ("libtracetools.so", &["-shared", "-fPIC"], &["tracetools.c"]),
            (
                "planted",
                &["-pthread", "-L.", "-Wl,-rpath,$ORIGIN"],
                &[
                    "main.c",
                    "truth.c",
                    "ros.c",
                    "hog.c",
                    "inside.c",
                    "message.c",
                    "service.c",
                ],
            ),
        ] {
            let mut command = Command::new("cc");
            command
                .args(["-O1", "-Wall", "-Wextra", "-o", name])
                .args(options)
                .args(files.iter().map(|file| sources.join(file)))
                .current_dir(&folder);
            match name {
                "planted" => command.args(["-lrclcpp", "-ltracetools"]),
                _ => command.arg(format!("-Wl,-soname,{name}")),
            };
            succeed(&mut command)?;
        }
        let without_perf = match is_refused {
            true => {
                let wrapper = folder.join("without_perf");
                let source = workspace
                    .root
                    .join("crates/cli/tests/programs/without_perf.c");
                succeed(Command::new("cc").arg("-o").arg(&wrapper).arg(source))?;
                Some(wrapper)
            }
            false => None,
        };
        let libraries = ["librostrace_tracer.so", "librostrace_locks.so"]
            .map(|name| rostrace.with_file_name(name));
        for file in [rostrace, &libraries[0], &libraries[1]] {
            let name = file.file_name().context("a program has a name")?;
            fs::copy(file, folder.join(name))
                .with_context(|| format!("{} could not be copied", file.display()))?;
        }
        // SAFETY: takes nothing and cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        Ok(Ground {
            bench: Bench {
                rostrace: folder.join("rostrace"),
                planted: folder.join("planted"),
                without_perf,
                is_root,
                folder,
            },
            kept,
        })
    }

    /// A program may find no moment for what it is to plant, because of what else the machine does. What cannot be judged again and again is left
    /// out, which is said; [`smoke`] does not accept that of many kinds.
    fn judge(&self, kind: &str, seed: u64, table: &mut Table) -> Result<()> {
        let seeds = (0..ATTEMPTS).map(|attempt| seed.wrapping_add(attempt));
        for seed in seeds {
            match self.judge_once(kind, seed, table) {
                Err(error) => {
                    println!("{error:#}.");
                    table.leave_out(kind, &format!("{error:#}"));
                }
                Ok(()) => return Ok(()),
            }
        }
        Ok(())
    }

    fn judge_once(&self, kind: &str, seed: u64, table: &mut Table) -> Result<()> {
        let folder = self.bench.folder.join(format!("{kind}-{seed}"));
        let outcome = self.bench.perform(kind, seed, &folder);
        let is_refused = self.bench.without_perf.is_some();
        let complaints = table.complaints.len();
        match outcome {
            Ok(Outcome::Judged(case)) => table.add(kind, seed, is_refused, *case),
            Ok(Outcome::LeftOut(reason)) => table.leave_out(kind, &reason),
            Err(error) => {
                return Err(error.context(format!(
                    "{kind} with the seed {seed} could not be judged; what there is of it is in {}",
                    folder.display()
                )));
            }
        }
        if let Some(complaint) = table.complaints.get(complaints) {
            println!("{complaint}");
            fs::create_dir_all(&self.kept)?;
            let kept = self.kept.join(format!("{kind}-{seed}"));
            copy(&folder, &kept)?;
            fs::write(kept.join("complaint.txt"), complaint)?;
        }
        fs::remove_dir_all(&folder)?;
        Ok(())
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let has_case = fs::read_dir(&self.bench.folder)
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.path().is_dir());
        // A case that could not be judged is still there.
        if !has_case {
            let _ = fs::remove_dir_all(&self.bench.folder);
        }
    }
}

/// Files and folders; nothing else is in a case that matters.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
