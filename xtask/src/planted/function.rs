//! The function that makes an execution slow: a program that computes long in one of several, built in all the ways that matter to whoever looks
//! for its name, and what `why` says of each slow execution.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::run::{Bench, NOBODY, finished};
use crate::step::succeed;

/// How the program is built.
const BUILDS: [(&str, &[&str]); 3] = [
    ("without frame pointers", &["-fomit-frame-pointer"]),
    ("with frame pointers", &["-fno-omit-frame-pointer"]),
    (
        "with frame pointers, without tables",
        &[
            "-fno-omit-frame-pointer",
            "-fno-asynchronous-unwind-tables",
            "-fno-unwind-tables",
        ],
    ),
];
/// A third of them are slow.
const EXECUTIONS: &str = "120";
const RIGHT: f64 = 0.95;

/// What is known when names are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Unstripped,
    /// The program is stripped, and what was stripped from it is in a folder of its own.
    Apart,
    /// Nobody has them: a place in the right function is all that can be said.
    Nowhere,
}

impl Names {
    const ALL: [Names; 3] = [Names::Unstripped, Names::Apart, Names::Nowhere];

    fn title(self) -> &'static str {
        match self {
            Names::Unstripped => "not stripped",
            Names::Apart => "stripped, names in a file of their own",
            Names::Nowhere => "stripped, no names: the place",
        }
    }
}

/// Prints how often the function is the right one, and fails where that is in less than 95 % of the slow executions.
pub(super) fn judge(bench: &Bench, source: &Path, seed: u64) -> Result<()> {
    let mut table =
        String::from("| built | names | slow executions | right |\n|---|---|---:|---:|\n");
    let mut failed = Vec::new();
    for (number, (build, options)) in BUILDS.iter().enumerate() {
        for is_stripped in [false, true] {
            let folder = bench.folder.join(format!("loops-{number}-{is_stripped}"));
            let case = Case::new(bench, source, options, is_stripped, &folder)?;
            let slow = case.record(seed.wrapping_add(number as u64))?;
            let ways = Names::ALL.into_iter();
            for names in ways.filter(|it| (*it != Names::Unstripped) == is_stripped) {
                let mut wrong = Vec::new();
                for (at, function) in &slow {
                    let named = case.named(at, names)?;
                    if !case.is_right(&named, function, names) {
                        wrong.push(format!("{named} in place of {function}"));
                    }
                }
                let right = slow.len() - wrong.len();
                let _ = writeln!(
                    table,
                    "| {build} | {} | {} | {right} |",
                    names.title(),
                    slow.len()
                );
                if slow.is_empty() || (right as f64) < RIGHT * slow.len() as f64 {
                    failed.push(format!("{build}, {}: {}", names.title(), wrong.join(", ")));
                }
            }
            fs::remove_dir_all(&folder)?;
        }
    }
    println!("{table}");
    if !failed.is_empty() {
        bail!("functions were not named:\n{}", failed.join("\n"));
    }
    Ok(())
}

struct Case<'b> {
    bench: &'b Bench,
    folder: &'b Path,
    /// Name, address and size of functions.
    functions: Vec<(String, u64, u64)>,
}

impl<'b> Case<'b> {
    fn new(
        bench: &'b Bench,
        source: &Path,
        options: &[&str],
        is_stripped: bool,
        folder: &'b Path,
    ) -> Result<Case<'b>> {
        for it in [folder.to_owned(), folder.join("runtime")] {
            fs::create_dir_all(&it)?;
            fs::set_permissions(&it, PermissionsExt::from_mode(0o700))?;
            if bench.is_root {
                chown(&it, Some(NOBODY), Some(NOBODY))?;
            }
        }
        let program = folder.join("loops");
        let library = format!("-L{}", bench.folder.display());
        let found = format!("-Wl,--build-id,-rpath,{}", bench.folder.display());
        succeed(
            Command::new("cc")
                .args(["-O2", "-Wall", "-Wextra"])
                .args(options)
                .arg("-o")
                .arg(&program)
                .arg(source)
                .args([&library, "-ltracetools", &found]),
        )?;
        let output = Command::new("nm").arg("-S").arg(&program).output()?;
        let text = String::from_utf8(output.stdout)?;
        let functions = text.lines().filter_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [address, size, _, name] = words[..] else {
                return None;
            };
            let number = |word| u64::from_str_radix(word, 16).ok();
            Some((name.to_owned(), number(address)?, number(size)?))
        });
        let functions = functions.collect();
        if is_stripped {
            let apart = folder.join("symbols");
            fs::create_dir(&apart)?;
            succeed(
                Command::new("objcopy")
                    .arg("--only-keep-debug")
                    .args([&program, &apart.join("loops.debug")]),
            )?;
            succeed(Command::new("strip").arg(&program))?;
            fs::set_permissions(&apart, PermissionsExt::from_mode(0o755))?;
        }
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755))?;
        Ok(Case {
            bench,
            folder,
            functions,
        })
    }

    /// Records it, and returns when its slow executions began, and in which function they were slow.
    fn record(&self, seed: u64) -> Result<Vec<(String, String)>> {
        let mut record = self.bench.command(self.folder, &self.bench.rostrace);
        record
            .args(["record", "--no-report", "--sample", "-o", "trace", "--"])
            .args(["./loops", &seed.to_string(), EXECUTIONS, "log"]);
        finished(&mut record, self.folder, "record", &[0])?;
        let log = fs::read_to_string(self.folder.join("log"))?;
        let slow = log.lines().map(|line| {
            let words = line.strip_prefix("slow ").and_then(|it| it.split_once(' '));
            let (at, function) = words.context("a line of the log is not understood")?;
            Ok((at.to_owned(), function.to_owned()))
        });
        slow.collect()
    }

    /// The function with most samples in the execution at an instant.
    fn named(&self, at: &str, names: Names) -> Result<String> {
        let mut why = self.bench.command(self.folder, &self.bench.rostrace);
        why.args(["why", "trace", "--format", "json"])
            .args(["--callback", "/loops*", "--at", at]);
        if names == Names::Apart {
            why.args(["--symbols", "symbols"]);
        }
        let said = finished(&mut why, self.folder, "why", &[0])?;
        let answer: Value = serde_json::from_str(&said)?;
        let mut sums: Vec<(i64, &str)> = Vec::new();
        let parts = answer["parts"].as_array().into_iter().flatten();
        // What it waited for before it began has functions as well.
        let own = parts.filter(|part| part["cause"] == "execution");
        for function in own.flat_map(|part| part["functions"].as_array().into_iter().flatten()) {
            let name = function["name"].as_str().unwrap_or_default();
            let samples = function["samples"].as_i64().unwrap_or_default();
            match sums.iter_mut().find(|(_, it)| *it == name) {
                Some((sum, _)) => *sum += samples,
                None => sums.push((samples, name)),
            }
        }
        let most = sums.into_iter().max();
        Ok(most.map_or_else(|| "nothing".to_owned(), |(_, name)| name.to_owned()))
    }

    fn is_right(&self, named: &str, function: &str, names: Names) -> bool {
        if names != Names::Nowhere {
            return named == function;
        }
        let place = named.strip_prefix("loops+0x");
        let place = place.and_then(|it| u64::from_str_radix(it, 16).ok());
        let known = self.functions.iter().find(|(name, ..)| name == function);
        place
            .zip(known)
            .is_some_and(|(place, (_, address, size))| (*address..address + size).contains(&place))
    }
}
