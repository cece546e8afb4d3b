//! A control loop with real-time priority beside a bag on the same slow disk: the longest tracepoint, ours and LTTng's in turn, whether one of
//! ours waited for anything, and whether every event is accounted for. `cargo xtask bench` runs the same loop for longer.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::bench::Bench;
use super::build::RealTime;
use super::case::Storage;
use super::judge::{Failure, FailureKind};
use super::run::Outcome;
use super::{build, trace};
use crate::bench::realtime::{Ending, Loops, Setting, Tracer};

pub(super) const NAME: &str = "disk-realtime";
const SETTING: Setting = Setting {
    milliseconds: 3000,
    threads: 1,
    rate: 1000,
    windows: 0,
};
/// A tracepoint that waited this long, a whole turn of the loop, is a failure. How long it *took* is no sign on a machine that others use: a
/// hypervisor takes its time from any code.
const TURN: u64 = 1_000_000;

pub(super) fn perform(bench: &Bench, folder: PathBuf) -> Result<Outcome> {
    let loops = Loops::new(folder.clone(), Storage::Slow)?;
    // Its own copies: others run with those in the bench's folder meanwhile.
    let programs = build::realtime(&bench.root, &folder.join("programs"))?;
    let theirs = match programs.lttng.is_some() {
        true => lttngs_worst(&bench.rostrace, &programs, folder.join("lttng")).ok(),
        false => None,
    };
    let mut failures = Vec::new();
    match loops.run(Tracer::Rostrace, &bench.rostrace, &programs, &SETTING)? {
        Ending::Hung => failures.push(Failure::new(
            FailureKind::Hang,
            "the program or the recorder did not end",
        )),
        Ending::Ended => {
            if let Some(recorded) = trace::read(&bench.rostrace, &loops.traces())? {
                failures = super::judge::account(
                    &loops.scene.report.emitted(),
                    &recorded,
                    super::way::Extent::Everything,
                );
            }
        }
    }
    let worst = loops.scene.report.worst();
    let waited = loops.slow().into_iter().filter(|it| it.waits > 0);
    if let Some(longest) = waited.map(|it| it.nanos).max()
        && longest > TURN
    {
        failures.push(Failure::new(
            FailureKind::Blocked,
            format!(
                "a tracepoint waited for {:.1} ms while a bag was written to the same disk, LTTng's longest {:.3} ms",
                longest as f64 / 1e6,
                theirs.unwrap_or(0) as f64 / 1e6
            ),
        ));
    }
    drop(loops);
    if failures.is_empty() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    Ok(Outcome {
        failures,
        worst,
        worst_without: theirs.unwrap_or(0),
        left_out: None,
        line: format!(
            "realtime; LTTng's longest: {} ns",
            theirs.map_or("?".to_owned(), |it| it.to_string())
        ),
    })
}

/// The same program with LTTng, on a slow disk of its own.
fn lttngs_worst(rostrace: &Path, programs: &RealTime, folder: PathBuf) -> Result<u64> {
    let loops = Loops::new(folder, Storage::Slow)?;
    loops.run(Tracer::Lttng, rostrace, programs, &SETTING)?;
    Ok(loops.scene.report.worst())
}
