//! Named, timed steps: what runs, how long it took, and one sentence when it fails.

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Runs steps one after the other. The first that fails ends the run: its error is returned.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<(String, Duration)>,
}

impl Steps {
    pub(crate) fn run<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n==> {name}");
        let start = Instant::now();
        let result = step();
        let took = start.elapsed();
        match result {
            Ok(value) => {
                println!("<== {name}: ok in {}", seconds(took));
                self.done.push((name.to_owned(), took));
                Ok(value)
            }
            Err(error) => Err(error.context(format!(
                "the step \"{name}\" failed after {}; nothing after it was run",
                seconds(took)
            ))),
        }
    }

    /// The closing lines: every step with its time.
    pub(crate) fn summary(&self) -> String {
        let width = self
            .done
            .iter()
            .map(|(name, _)| name.len())
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        for (name, took) in &self.done {
            let _ = writeln!(text, "  {name:width$}  {:>8}", seconds(*took));
        }
        let total = self.done.iter().map(|(_, took)| *took).sum();
        let _ = write!(text, "  {:width$}  {:>8}", "all", seconds(total));
        text
    }
}

/// Runs a command with our own output and fails unless it ends with status 0.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let line = command_line(command);
    println!("    {line}");
    let status = command
        .status()
        .with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}.");
    }
    Ok(())
}

/// The command as a person would type it.
pub(crate) fn command_line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program
        .file_name()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned();
    command
        .get_args()
        .fold(name, |line, word| line + " " + &word.to_string_lossy())
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_says_its_name_and_its_reason() {
        let mut steps = Steps::default();
        steps.run("first", || Ok(())).unwrap();
        let error = steps
            .run("second", || -> Result<()> { bail!("it rained.") })
            .unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.starts_with("the step \"second\" failed after 0.0 s"),
            "{text}"
        );
        assert!(text.ends_with(": it rained."), "{text}");
        assert_eq!(steps.summary().lines().count(), 2);
    }

    #[test]
    fn a_command_that_fails_is_shown_as_typed() {
        let error = succeed(Command::new("/bin/sh").args(["-c", "exit 7"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sh -c exit 7` ended with exit status: 7."
        );
    }
}
