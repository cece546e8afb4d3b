//! What samples of call stacks cost: a thread that computes all the time, thirty calls deep, and the processor time of its recorder meanwhile,
//! with 1,000 samples per second and without.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::counted::counted;
use super::switches::{SECONDS, share};

/// Computes for so many milliseconds, and has no frame pointers.
const DEEP: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
static volatile double sum;
static long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000L + at.tv_nsec;
}
__attribute__((noinline)) static void deep(int depth, long until) {
  if (depth > 0) deep(depth - 1, until);
  else
    while (now() < until)
      for (int i = 1; i < 1000; i++) sum = sum * 0.5 + i;
  sum = sum + 1;
}
int main(int count, char **words) {
  void (*tracepoint)(const void *) = (void (*)(const void *))dlsym(RTLD_DEFAULT, "ros_trace_rcl_init");
  if (tracepoint) tracepoint(&sum);
  deep(30, now() + atol(words[count - 1]) * 1000000);
  return 0;
}
"#;

const HERTZ: &str = "1000";

pub(super) fn contest(rostrace: &Path, scratch: &Path) -> Result<String> {
    let folder = scratch.join("sampling");
    let _ = fs::remove_dir_all(&folder);
    let runtime = folder.join("runtime");
    fs::create_dir_all(&runtime)
        .with_context(|| format!("{} could not be made", runtime.display()))?;
    let source = folder.join("deep.c");
    fs::write(&source, DEEP)?;
    let program = folder.join("deep");
    let compiled = Command::new("cc")
        .args(["-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"])
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg("-ldl")
        .status()?;
    if !compiled.success() {
        bail!("the program could not be compiled");
    }
    let mut text = String::from(
        "| recorder | processor | samples per second | lost |\n|---|---:|---:|---:|\n",
    );
    for (name, options) in [
        ("without samples", &[][..]),
        ("with 1,000 per second", &["--sample", HERTZ]),
    ] {
        let output = folder.join(if options.is_empty() {
            "without"
        } else {
            "with"
        });
        let child = Command::new(rostrace)
            .args(["record", "--no-report", "--kernel=own"])
            .args(options)
            .arg("-o")
            .arg(&output)
            .arg("--")
            .arg(&program)
            .arg((SECONDS * 1000).to_string())
            .env("XDG_RUNTIME_DIR", &runtime)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("the recorder could not be started")?;
        let share = share(child)?;
        let samples = output.join("samples");
        let (sampled, lost) = match samples.exists() {
            true => {
                let counted = counted(rostrace, &samples)?;
                (counted.events / SECONDS, counted.lost)
            }
            false => (0, 0),
        };
        text.push_str(&format!(
            "| {name} | {:.2} % | {sampled} | {lost} |\n",
            100.0 * share
        ));
    }
    Ok(text)
}
