//! `rostrace demo`: a small application of five processes, recorded live through the same sessions as `record`, then explained.
//!
//! `application` starts the processes, `process` says what each of them is, `executor` is as much of a client library as they
//! need, and speaks through the tracer's own functions as rclcpp would.

mod application;
mod bundled;
mod executor;
mod process;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use rostrace_record::{Launch, Plan, Recording, RuntimeFolder, Session, Switches};

use super::record::arguments::DemoArguments;
use super::record::verify;
use super::record::watch::{self, Ending, Watch};
use super::record::{look, read, shown};
use super::{callbacks, latency, report, why};
use crate::args::{LookFormat, ModelFilterArguments, TraceArguments};
use crate::columns::ListArguments;
use crate::interrupt;
use crate::name;
use crate::outcome::Outcome;
use crate::render::diagnostic;
use crate::render::palette::Palette;
use crate::source;
use rostrace_base::units;

pub(crate) use application::application;
pub(crate) use process::process;

/// The ends of the path that is shown.
const FROM: &str = "/lidar";
const TO: &str = "/actuator";

#[derive(Debug, Args)]
pub(crate) struct ApplicationArguments {
    #[arg(long)]
    pub(crate) folder: PathBuf,
    #[arg(long)]
    pub(crate) seconds: f64,
}

#[derive(Debug, Args)]
pub(crate) struct ProcessArguments {
    #[arg(long)]
    pub(crate) folder: PathBuf,
    #[arg(long)]
    pub(crate) seconds: f64,
    pub(crate) role: String,
}

pub(crate) fn demo(arguments: &DemoArguments) -> anyhow::Result<Outcome> {
    match record(arguments) {
        Ok(ending) => explain(&ending, !arguments.no_report),
        // Somebody's folder is no reason to show something else.
        Err(error) if arguments.output.is_some() => Err(error),
        Err(error) => {
            interrupt::catch();
            diagnostic::note(&format!(
                "nothing can be recorded here ({error:#}); this is what a recording of the source tells"
            ));
            bundled::show()
        }
    }
}

fn record(arguments: &DemoArguments) -> anyhow::Result<Ending> {
    let output = match &arguments.output {
        Some(output) => std::path::absolute(output)?,
        None => tempfile::Builder::new()
            .prefix("rostrace-demo-")
            .tempdir()?
            .keep()
            .join("trace"),
    };
    let sockets = tempfile::Builder::new()
        .prefix("rostrace-demo-")
        .tempdir()?;
    let seconds = arguments.seconds.to_string();
    let folder = sockets.path().as_os_str();
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut command = vec![program.into_os_string(), "demo-application".into()];
    command.extend(["--folder".into(), folder.to_owned()]);
    command.extend(["--seconds".into(), seconds.into()]);
    let session = Session::create(&RuntimeFolder::of_user()?, &command)?;
    let signals = watch::signals()?;
    let plan = Plan {
        switches: Switches::Auto,
        ..Plan::to(output)
    };
    let ending = Recording::start(&session, &plan).map_err(anyhow::Error::from);
    let ending = ending.and_then(|mut recording| {
        println!(
            "Five processes run for {} s and are recorded: lidar and imu → filter → fusion → planner → actuator.\n",
            arguments.seconds
        );
        // They have the tracer in them, and speak as Jazzy does whatever is installed here.
        let launch = Launch::new(&command, &session, None)
            .with_variable("LD_PRELOAD", None)
            .with_variable("AMENT_PREFIX_PATH", None)
            .with_variable("ROS_DISTRO", Some("jazzy".into()));
        let running = recording.launch(&launch)?;
        Watch::new(recording, Some(running), signals, None).until_the_end()
    });
    session.close();
    let ending = ending?;
    anyhow::ensure!(
        ending.summary.processes > 0,
        "no process of the demo was recorded"
    );
    Ok(ending)
}

fn explain(ending: &Ending, with_report: bool) -> anyhow::Result<Outcome> {
    interrupt::catch();
    let summary = &ending.summary;
    let folder = shown(&summary.output);
    let arguments = look(&summary.output);
    let Some(reading) = read(&arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let verified = verify::verify(&reading.recorded, summary);
    heading(&format!("$ rostrace callbacks {folder}"), "")?;
    let view = reading.view()?;
    let analysis = source::analysis(&reading.recorded.set, view.model, view.window().clone());
    let mut outcome = callbacks::print(&reading, &view, &analysis)?;
    let ends = format!("{folder} --from {FROM} --to {TO}");
    for (verb, remark) in [
        (
            "latency",
            "how long from the lidar to the actuator, and where the time goes",
        ),
        ("why", "the slowest of them"),
    ] {
        if outcome == Outcome::Interrupted {
            return Ok(outcome);
        }
        println!();
        heading(&format!("$ rostrace {verb} {ends}"), remark)?;
        outcome = match verb {
            "latency" => latency::latency(&latency_arguments(&summary.output)?)?,
            _ => why::why(&why_arguments(&summary.output)?)?,
        };
    }
    let page = with_report
        .then(|| report::of_recording(&summary.output, &reading.recorded.set, &view, &analysis))
        .flatten();
    let page = page.map_or(String::new(), |page| {
        format!("\n Look at it: {}", shown(&page))
    });
    println!(
        "\n {}, {}, lost: {}. The trace is kept in {folder}{page}\n Now with your own: rostrace record -- ros2 launch …",
        units::counted(summary.processes, "process"),
        units::counted(verified.events, "event"),
        units::count(verified.lost)
    );
    Ok(verified.outcome)
}

fn heading(command: &str, remark: &str) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    let remark = match remark {
        "" => String::new(),
        remark => palette.dim(&format!("   # {remark}")),
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}{remark}\n", palette.heading(command))?;
    Ok(())
}

fn input(folder: &Path) -> TraceArguments {
    TraceArguments {
        traces: vec![folder.to_owned()],
    }
}

fn latency_arguments(folder: &Path) -> anyhow::Result<latency::LatencyArguments> {
    Ok(latency::LatencyArguments {
        input: input(folder),
        from: vec![name::pattern(FROM)?],
        to: vec![name::pattern(TO)?],
        filter: ModelFilterArguments::default(),
        architecture: None,
        include: Default::default(),
        list: ListArguments {
            limit: Some(1),
            ..ListArguments::default()
        },
        format: LookFormat::Table,
        all: false,
    })
}

fn why_arguments(folder: &Path) -> anyhow::Result<why::WhyArguments> {
    Ok(why::WhyArguments {
        input: input(folder),
        architecture: None,
        paths: Vec::new(),
        callback: None,
        from: vec![name::pattern(FROM)?],
        to: vec![name::pattern(TO)?],
        filter: ModelFilterArguments::default(),
        at: None,
        rank: 1,
        all: false,
        limit: None,
        parts: false,
        symbols: Vec::new(),
        format: why::WhyFormat::Table,
    })
}
