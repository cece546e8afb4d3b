//! What a tracer that records nothing costs a real system: its processor time under `rostrace run` and without it, in turn, and how sure that is.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

use super::measure;

/// Pairs of runs, unless told.
pub(super) const RUNS: u32 = 10;

/// Quantiles of Student's distribution that leave 2.5 % above them, for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
const STUDENT_OF_MANY: f64 = 1.96;

/// Runs a line of the shell again and again. It has to end by itself, and its processor time is that of everything that it waits for.
pub(super) fn contest(rostrace: &Path, line: &str, scratch: &Path, runs: u32) -> Result<String> {
    let folder = scratch.join("system");
    let runtime = folder.join("runtime");
    fs::create_dir_all(&runtime)
        .with_context(|| format!("{} could not be made", runtime.display()))?;
    let system = |is_traced: bool| -> Command {
        let mut command = match is_traced {
            true => Command::new(rostrace),
            false => Command::new("sh"),
        };
        if is_traced {
            command.args(["run", "--", "sh"]);
        }
        command
            .args(["-c", line])
            .env("XDG_RUNTIME_DIR", &runtime)
            .env_remove("LD_PRELOAD");
        command
    };
    let log = folder.join("log");
    let mut usual: Option<ExitStatus> = None;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for pair in 0..runs {
        // Whatever changes slowly meanwhile falls on both alike.
        let first = pair % 2 == 1;
        for is_traced in [first, !first] {
            let (seconds, status) = once(system(is_traced), &log)?;
            if *usual.get_or_insert(status) != status {
                bail!(
                    "`{line}` ended with {status} {}, and otherwise before; it said: {}",
                    if is_traced { "under rostrace" } else { "alone" },
                    last_line(&log)
                );
            }
            match is_traced {
                true => with.push(seconds),
                false => without.push(seconds),
            }
        }
    }
    Ok(table(&without, &with))
}

/// Seconds of all processors.
fn once(mut command: Command, log: &Path) -> Result<(f64, ExitStatus)> {
    let file = File::create(log)?;
    let child = command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
        .context("the system could not be started")?;
    let (status, usage) = measure::wait(child.id()).context("waiting for the system")?;
    let cpu = measure::duration(usage.ru_utime) + measure::duration(usage.ru_stime);
    if status.code().is_none_or(|code| code >= 126) {
        bail!(
            "the system ended with {status}; it said: {}",
            last_line(log)
        );
    }
    Ok((cpu.as_secs_f64(), status))
}

fn last_line(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines().last().unwrap_or("nothing").to_owned()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Of a sample.
fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len().max(2) - 1) as f64).sqrt()
}

/// The mean and how far from it the true one may be, with 95 %.
fn interval(values: &[f64]) -> (f64, f64) {
    let freedom = values.len().saturating_sub(1);
    if freedom == 0 {
        return (mean(values), f64::INFINITY);
    }
    let quantile = STUDENT.get(freedom - 1).unwrap_or(&STUDENT_OF_MANY);
    let error = deviation(values) / (values.len() as f64).sqrt();
    (mean(values), quantile * error)
}

fn table(without: &[f64], with: &[f64]) -> String {
    let mut text = String::from(
        "| | runs | processors s, mean | standard deviation |\n|---|---:|---:|---:|\n",
    );
    for (name, all) in [("alone", without), ("under `rostrace run`", with)] {
        let _ = writeln!(
            text,
            "| {name} | {} | {:.3} | {:.3} |",
            all.len(),
            mean(all),
            deviation(all)
        );
    }
    let base = mean(without).max(1e-9);
    let pairs = without.iter().zip(with);
    let added: Vec<f64> = pairs
        .map(|(without, with)| (with - without) / base * 100.0)
        .collect();
    let (added, around) = interval(&added);
    let _ = writeln!(
        text,
        "\nAn idle tracer adds {added:+.2} % (95 % interval: {:+.2} to {:+.2} %, from {} pairs).",
        added - around,
        added + around,
        without.len().min(with.len())
    );
    text
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_interval_is_wide_for_few_runs_and_narrow_for_equal_ones() {
        let (mean, around) = interval(&[1.0, 2.0, 3.0]);
        assert!((mean - 2.0).abs() < 1e-9);
        // 4.303 times the error of the mean, 1 / √3.
        assert!((around - 2.4843).abs() < 1e-3, "{around}");
        assert_eq!(interval(&[5.0; 40]), (5.0, 0.0));
        assert_eq!(interval(&[1.0]), (1.0, f64::INFINITY));
    }

    #[test]
    fn what_is_added_is_the_mean_of_the_pairs() {
        let text = table(&[10.0, 10.0, 10.0], &[10.1, 10.1, 10.1]);
        assert!(
            text.contains("adds +1.00 % (95 % interval: +1.00 to +1.00 %, from 3 pairs)"),
            "{text}"
        );
    }

    /// In the place of `rostrace`: starts what it should run, as it is.
    fn runner(test: &str) -> (PathBuf, PathBuf) {
        let folder = std::env::temp_dir().join(format!("rostrace-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("runner");
        fs::write(&program, "#!/bin/sh\nshift 2\nexec \"$@\"\n").unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        (folder, program)
    }

    #[test]
    fn both_run_as_often_as_asked() {
        let (folder, program) = runner("both-run");
        let line = format!("echo x >> {}", folder.join("been").display());
        let text = contest(&program, &line, &folder, 3).unwrap();
        let been = fs::read_to_string(folder.join("been")).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(been.lines().count(), 6);
        assert!(text.contains("from 3 pairs"), "{text}");
    }

    #[test]
    fn a_system_that_ends_otherwise_is_no_measurement() {
        let (folder, program) = runner("ends-otherwise");
        let been = folder.join("been");
        let line = format!("test -e {0} && exit 4; touch {0}", been.display());
        let error = contest(&program, &line, &folder, 2).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        assert!(error.to_string().contains("exit status: 4"), "{error:#}");
    }
}
