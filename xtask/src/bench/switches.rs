//! What recording context switches costs: a process whose two threads wake each other 20,000 times per second, and the processor time of its
//! recorder meanwhile, with and without them.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::counted::counted;

/// Two threads on one CPU: each message to the other one is a switch, ten there and back in a millisecond.
const PING_PONG: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int there[2], back[2];
static void pin(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  sched_setaffinity(0, sizeof set, &set);
}
static void *answer(void *unused) {
  char byte;
  pin();
  while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {}
  return unused;
}
int main(int count, char **words) {
  pthread_t thread;
  struct timespec next;
  char byte = 0;
  void (*tracepoint)(const void *) = (void (*)(const void *))dlsym(RTLD_DEFAULT, "ros_trace_rcl_init");
  if (tracepoint) tracepoint(&thread);
  pin();
  if (pipe(there) || pipe(back) || pthread_create(&thread, 0, answer, 0)) return 1;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (long left = atol(words[count - 1]); left > 0; left--) {
    for (int times = 0; times < 10; times++)
      if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return 1;
    next.tv_nsec += 1000000;
    if (next.tv_nsec >= 1000000000) next.tv_nsec -= 1000000000, next.tv_sec++;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, 0);
  }
  return 0;
}
"#;

/// How long the program runs.
pub(super) const SECONDS: u64 = 10;

pub(super) fn contest(rostrace: &Path, scratch: &Path) -> Result<String> {
    let folder = scratch.join("switches");
    let _ = fs::remove_dir_all(&folder);
    let runtime = folder.join("runtime");
    fs::create_dir_all(&runtime)
        .with_context(|| format!("{} could not be made", runtime.display()))?;
    let source = folder.join("ping_pong.c");
    fs::write(&source, PING_PONG)?;
    let program = folder.join("ping_pong");
    let compiled = Command::new("cc")
        .args(["-O2", "-pthread"])
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg("-ldl")
        .status()?;
    if !compiled.success() {
        bail!("the program could not be compiled");
    }
    let mut text =
        String::from("| recorder | processor | events per second | lost |\n|---|---:|---:|---:|\n");
    for (name, option) in [
        ("without context switches", Some("--no-switches")),
        ("with those of recorded threads", Some("--kernel=own")),
        ("with those of the machine, where allowed", None),
    ] {
        let output = folder.join(option.unwrap_or("machine"));
        let child = Command::new(rostrace)
            .args(["record", "--no-report"])
            .args(option)
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
        let counted = counted(rostrace, &output)?;
        text.push_str(&format!(
            "| {name} | {:.2} % | {} | {} |\n",
            100.0 * share,
            counted.events / SECONDS,
            counted.lost
        ));
    }
    Ok(text)
}

/// The part of a processor that the recorder has while its command runs: not what it needs to begin, and to read everything at the end.
pub(super) fn share(mut recorder: Child) -> Result<f64> {
    let pid = recorder.id();
    std::thread::sleep(Duration::from_secs(1));
    let (begin, before) = (Instant::now(), processor(pid)?);
    std::thread::sleep(Duration::from_secs(SECONDS - 3));
    let share = (processor(pid)? - before) / begin.elapsed().as_secs_f64();
    let status = recorder.wait()?;
    if !matches!(status.code(), Some(0 | 3)) {
        bail!("the recorder ended with {status}");
    }
    Ok(share)
}

/// Seconds that all threads of a process were on a processor, to the nanosecond.
fn processor(pid: u32) -> Result<f64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(thread?.path().join("schedstat"))?;
        let nanos = text.split_whitespace().next().unwrap_or_default();
        sum += nanos
            .parse::<u64>()
            .context("schedstat begins with a number")?;
    }
    Ok(sum as f64 / 1e9)
}
