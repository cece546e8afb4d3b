//! What reading the CPU clocks of threads costs an application, where context switches are refused: executions of an empty callback on one
//! thread, at a rate at which each is measured and at one far beyond the budget, with and without.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::counted::counted;

/// Prints how long an execution takes, in the median: a mean would have in it what other programs do. And how many there were per second.
const EXECUTIONS: &str = r#"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
// Weak: they are in the library that is preloaded.
#pragma weak ros_trace_rcl_init
#pragma weak ros_trace_callback_start
#pragma weak ros_trace_callback_end
void ros_trace_rcl_init(const void *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_callback_end(const void *);
static long now(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return at.tv_sec * 1000000000L + at.tv_nsec;
}
static int order(const void *a, const void *b) {
  long first = *(const long *)a, second = *(const long *)b;
  return (first > second) - (first < second);
}
int main(int count, char **words) {
  static char callback;
  long pause = 1000000000L / atol(words[count - 2]), executions = atol(words[count - 1]);
  long *spent = malloc(executions * sizeof *spent);
  ros_trace_rcl_init(&callback);
  long next = now(CLOCK_MONOTONIC), begin = next;
  for (long each = 0; each < executions; each++) {
    long from = now(CLOCK_MONOTONIC);
    ros_trace_callback_start(&callback, false);
    ros_trace_callback_end(&callback);
    spent[each] = now(CLOCK_MONOTONIC) - from;
    for (next += pause; now(CLOCK_MONOTONIC) < next;) {}
  }
  double rate = executions * 1e9 / (now(CLOCK_MONOTONIC) - begin);
  qsort(spent, executions, sizeof *spent, order);
  printf("%.1f %.0f\n", (double)spent[executions / 2], rate);
  return count != 3;
}
"#;

/// Executions per second, and how many.
const RATES: [(&str, &str); 2] = [("1000", "5000"), ("50000", "250000")];

pub(super) fn contest(rostrace: &Path, scratch: &Path) -> Result<String> {
    let folder = scratch.join("clocks");
    let _ = fs::remove_dir_all(&folder);
    let runtime = folder.join("runtime");
    fs::create_dir_all(&runtime)
        .with_context(|| format!("{} could not be made", runtime.display()))?;
    let source = folder.join("executions.c");
    fs::write(&source, EXECUTIONS)?;
    let program = folder.join("executions");
    let compiled = Command::new("cc")
        .arg("-O2")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status()?;
    if !compiled.success() {
        bail!("the program could not be compiled");
    }
    let mut text = String::from(
        "| executions per second | switches | ns per execution (median) | events | lost |\n|---:|---|---:|---:|---:|\n",
    );
    for (rate, executions) in RATES {
        for how in ["off", "clocks"] {
            let output = folder.join(format!("{how}-{rate}"));
            let recorder = Command::new(rostrace)
                .args(["record", "--no-report", "--switches", how, "-o"])
                .arg(&output)
                .arg("--")
                .args([program.as_os_str(), rate.as_ref(), executions.as_ref()])
                .env("XDG_RUNTIME_DIR", &runtime)
                .stdin(Stdio::null())
                .output()
                .context("the recorder could not be started")?;
            let said = String::from_utf8_lossy(&recorder.stdout);
            let (nanos, per_second) = measured(&said)
                .with_context(|| format!("`rostrace record` ended with {}", recorder.status))?;
            let counted = counted(rostrace, &output)?;
            text.push_str(&format!(
                "| {per_second:.0} | {how} | {nanos:.0} | {} | {} |\n",
                counted.events, counted.lost
            ));
        }
    }
    Ok(text)
}

/// The line of the program: it is the first one.
fn measured(said: &str) -> Option<(f64, f64)> {
    let (nanos, per_second) = said.lines().next()?.split_once(' ')?;
    Some((nanos.parse().ok()?, per_second.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_program_is_understood() {
        assert_eq!(measured("1203.4 1000\n 1 process"), Some((1203.4, 1000.0)));
        assert_eq!(measured("something else"), None);
    }
}
