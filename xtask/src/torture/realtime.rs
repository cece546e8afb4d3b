//! A control loop with real-time priority beside a bag on the same slow disk: the longest tracepoint, ours and LTTng's in turn.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result};

use super::bench::{Bench, LIMIT, Scene};
use super::build;
use super::case::{Place, User};
use super::disk::Mounted;
use super::judge::{Failure, Kind};
use super::run::Outcome;
use super::{process, trace};
use crate::bench::tracing::{SessionDaemon, lttng};

pub(super) const NAME: &str = "disk-realtime";
const MILLISECONDS: &str = "3000";
/// Longer than LTTng's longest by this is a failure, if it is longer than a turn of the loop at all: one run has little to say of microseconds.
const RATIO: u64 = 3;
const TURN: u64 = 1_000_000;

pub(super) fn perform(bench: &Bench, folder: PathBuf) -> Result<Outcome> {
    let with_lttng = build::realtime_with_lttng(&bench.root, &bench.folder.join("programs"));
    let theirs = match with_lttng {
        Some(program) => lttngs_worst(&program, folder.join("lttng")).ok(),
        None => None,
    };
    let scene = Scene::new(folder.clone(), User::Root)?;
    let place = Mounted::new(Place::Slow, &scene.folder)?;
    let output = place.folder.join("trace");
    let log = std::fs::File::create(scene.folder.join("recorder.log"))?;
    let mut child = scene
        .command(&bench.rostrace)
        .args(["record", "--no-report", "-o"])
        .arg(&output)
        .arg("--")
        .arg(bench.built.program("realtime"))
        .arg(place.folder.join("bag"))
        .arg(MILLISECONDS)
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("the recorder could not be started")?;
    let mut failures = Vec::new();
    if process::wait(&mut child, LIMIT * 3).is_none() {
        let text = scene.end(true);
        std::fs::write(scene.folder.join("hang.txt"), text)?;
        let _ = child.wait();
        failures.push(Failure::new(
            Kind::Hang,
            "the program or the recorder did not end",
        ));
    } else if let Some(recorded) = trace::read(&bench.rostrace, &output)? {
        failures = super::judge::account(
            &scene.report.emitted(),
            &recorded,
            super::way::Extent::Everything,
        );
    }
    let worst = scene.report.worst();
    if let Some(theirs) = theirs
        && worst > TURN
        && worst > RATIO * theirs
    {
        failures.push(Failure::new(
            Kind::Blocked,
            format!(
                "a tracepoint took {:.1} ms while a bag was written to the same disk, LTTng's longest {:.3} ms",
                worst as f64 / 1e6,
                theirs as f64 / 1e6
            ),
        ));
    }
    drop(place);
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
fn lttngs_worst(program: &std::path::Path, folder: PathBuf) -> Result<u64> {
    const SESSION: &str = "rostrace-torture";
    let scene = Scene::new(folder, User::Root)?;
    let place = Mounted::new(Place::Slow, &scene.folder)?;
    let daemon = SessionDaemon::ensure()?;
    let output = format!("--output={}", place.folder.join("lttng").display());
    lttng(&["create", SESSION, &output])?;
    let session = format!("--session={SESSION}");
    let measured = (|| {
        lttng(&["enable-event", "--userspace", &session, "ros2:*"])?;
        lttng(&["start", SESSION])?;
        let mut child = scene
            .command(program)
            .arg(place.folder.join("bag"))
            .arg(MILLISECONDS)
            .stdout(Stdio::null())
            .spawn()
            .context("the program with LTTng could not be started")?;
        process::wait(&mut child, LIMIT * 3).context("the program with LTTng did not end")?;
        Ok(scene.report.worst())
    })();
    let _ = lttng(&["destroy", SESSION]);
    drop(daemon);
    drop(place);
    measured
}
