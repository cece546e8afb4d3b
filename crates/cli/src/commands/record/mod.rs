//! `rostrace record`: starts a command under the tracer, or finds processes that already run under it, records, verifies what
//! was written, and shows the callbacks.

pub(crate) mod arguments;
mod death;
pub(crate) mod failure;
mod live_line;
pub(crate) mod outcome_of_command;
pub(crate) mod verify;
pub(crate) mod watch;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use rostrace_analyze::list;
use rostrace_record::{
    Filters, Launch, Plan, Recording, RuntimeFolder, Session, Settings, Summary, SwitchScope,
    TracerLibrary, filters, limit, unattached,
};
use rostrace_tracepoints::Kind;

use crate::args::{LookArguments, LookFormat, ModelFilterArguments, TraceArguments};
use crate::columns::ListArguments;
use crate::commands::{callbacks, report};
use crate::interrupt;
use crate::listing::Reading;
use crate::outcome::{Interrupted, Outcome};
use crate::render::diagnostic;
use crate::source;
use arguments::{FlightSignal, KernelPart, RecordArguments, SessionArguments, WhatArguments};
use rostrace_base::units;
use verify::Verified;
use watch::{Ending, Watch};

/// Fewer open files than this are few for a process of ROS 2 that is recorded.
const FEW_FILES: u64 = 512;

pub(crate) fn record(arguments: &RecordArguments) -> anyhow::Result<Outcome> {
    if arguments.attach {
        attach(arguments)
    } else {
        start(arguments)
    }
}

fn start(arguments: &RecordArguments) -> anyhow::Result<Outcome> {
    let plan = plan(arguments)?;
    if let Some(files) = limit(libc::RLIMIT_NOFILE)
        && files.current < FEW_FILES
    {
        diagnostic::note(&format!(
            "processes may have only {} files open at once; `ulimit -n {}` allows more",
            files.current,
            files.highest.min(65_536)
        ));
    }
    let library = library()?;
    let session = match &arguments.session.control {
        Some(control) => Session::create_at(control, &arguments.command)?,
        None => Session::create(&RuntimeFolder::of_user()?, &arguments.command)?,
    };
    let ending = record_command(&session, &plan, arguments, &library);
    session.close();
    let ending = ending?;
    death::tell(&ending);
    if ending.summary.processes == 0 {
        failure::tell(&ending.summary);
        let _ = std::fs::remove_dir(&ending.summary.output);
        match arguments.command.first() {
            Some(command) if !failure::is_any(&ending.summary) => {
                bail!("nothing was recorded: {}", unattached::reason(command))
            }
            _ => bail!("nothing was recorded"),
        }
    }
    conclude(&ending, arguments)
}

fn record_command(
    session: &Session,
    plan: &Plan,
    arguments: &RecordArguments,
    library: &TracerLibrary,
) -> anyhow::Result<Ending> {
    let locks = arguments.locks.then(|| library.locks()).transpose()?;
    let signals = watch::signals()?;
    let mut recording = Recording::start(session, plan)?;
    let output = recording.output().to_owned();
    let launch = Launch::new(&arguments.command, session, Some(library))
        .with_locks(locks)
        .with_lttng(arguments.lttng);
    let running = match recording.launch(&launch) {
        Ok(running) => running,
        Err(error) => {
            drop(recording);
            let _ = std::fs::remove_dir(output);
            return Err(error.into());
        }
    };
    Watch::new(recording, Some(running), signals, duration(arguments)).until_the_end()
}

fn attach(arguments: &RecordArguments) -> anyhow::Result<Outcome> {
    let plan = plan(arguments)?;
    let session = find(&arguments.session)?;
    let signals = watch::signals()?;
    let recording = Recording::start(&session, &plan)?;
    let ending = Watch::new(recording, None, signals, duration(arguments)).until_the_end()?;
    death::tell(&ending);
    if ending.summary.processes == 0 {
        failure::tell(&ending.summary);
        let _ = std::fs::remove_dir(&ending.summary.output);
        bail!(
            "nothing was recorded: no process of session {} did anything meanwhile",
            session.id
        );
    }
    conclude(&ending, arguments)
}

/// The tracer library of this program.
pub(crate) fn library() -> Result<TracerLibrary, rostrace_record::Error> {
    let library = TracerLibrary::find(option_env!("ROSTRACE_BUILT_LIBRARIES").map(Path::new))?;
    library.check()?;
    Ok(library)
}

/// The session that is meant.
pub(crate) fn find(arguments: &SessionArguments) -> anyhow::Result<Session> {
    Ok(match &arguments.control {
        Some(control) => Session::open(control)?,
        None => Session::find(&RuntimeFolder::of_user()?, arguments.session.as_deref())?,
    })
}

fn duration(arguments: &RecordArguments) -> Option<Duration> {
    let nanos = arguments.duration?.0;
    Some(Duration::from_nanos(nanos.unsigned_abs()))
}

fn plan(arguments: &RecordArguments) -> anyhow::Result<Plan> {
    let (room, usual) = (&arguments.room, Settings::default());
    Ok(Plan {
        events: arguments.what.events.clone(),
        light: arguments.what.light,
        settings: Settings {
            memory_bytes: room.buffer.map_or(usual.memory_bytes, |size| size.0),
            process_bytes: room.limit.map_or(0, |size| size.0),
            keep_free: room.keep_free.0,
            flight: arguments.flight.map(|flight| flight.0),
            flight_signal: arguments.flight_signal.map_or(0, FlightSignal::number),
            filters: chosen(&arguments.what)?,
        },
        pids: arguments.pids.clone(),
        switches: arguments.switches(),
        kernel: KernelPart::choice(&arguments.kernel),
        locks: arguments.locks,
        sample_hertz: arguments.sample,
        duration: duration(arguments),
        // Who names a control file wants it to be reached by others.
        is_for_all_users: arguments.session.control.is_some(),
        ..Plan::to(new_folder(arguments.output.as_deref())?)
    })
}

/// Options say which nodes and topics; without them CARET's variables do. Processes can only be ignored by a variable.
fn chosen(what: &WhatArguments) -> anyhow::Result<Filters> {
    let chosen = filters(
        &what.select_nodes,
        &what.ignore_nodes,
        &what.select_topics,
        &what.ignore_topics,
    )?;
    let by_options = chosen != Filters::default();
    let environment = |name: &str| std::env::var(name).ok();
    let file = match &what.caret_filter {
        Some(path) => rostrace_caret::filter_file::read(path, environment)?,
        None => BTreeMap::new(),
    };
    let variable = |name: &str| {
        let value = file.get(name).cloned().or_else(|| environment(name));
        value.filter(|_| !by_options || name == "CARET_IGNORE_PROCESSES")
    };
    let (filters, variables) = rostrace_caret::filter::from_environment(variable)?;
    if !variables.is_empty() {
        diagnostic::note(&format!("filtered as {} says", variables.join(", ")));
    } else if let Some(path) = &what.caret_filter {
        diagnostic::note(&format!("{} sets no filter", path.display()));
    }
    if by_options {
        return Ok(Filters {
            ignore_processes: filters.ignore_processes,
            ..chosen
        });
    }
    Ok(filters)
}

/// The folder that was asked for, or one with the date and time; absolute.
pub(crate) fn new_folder(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(asked) = asked {
        return Ok(std::path::absolute(asked)?);
    }
    let name = jiff::Zoned::now()
        .strftime("rostrace-%Y%m%d-%H%M%S")
        .to_string();
    let here = std::path::absolute(".")?;
    let mut folder = here.join(&name);
    let mut number = 1;
    while folder.exists() {
        number += 1;
        folder = here.join(format!("{name}-{number}"));
    }
    Ok(folder)
}

/// Verifies, shows the callbacks, and says where the trace and its report are.
fn conclude(ending: &Ending, asked: &RecordArguments) -> anyhow::Result<Outcome> {
    interrupt::catch();
    let summary = &ending.summary;
    let look = look(&summary.output);
    let reading = read(&look)?;
    let verified = (reading.as_ref()).map(|it| verify::verify(&it.recorded, summary));
    failure::tell(summary);
    for (pid, name) in &summary.unfinished {
        diagnostic::note(&format!(
            "process {pid} ({name}) did not complete its files; what it wrote can be read"
        ));
    }
    tell_refusal(summary);
    tell_missing_kernel_events(summary, asked);
    for number in &summary.unexpected_hooks {
        let name = rostrace_tracer::hooks::names().nth(*number).unwrap_or("?");
        diagnostic::note(&format!(
            "{name} is of a version that the tracer does not know: what it would tell was not recorded"
        ));
    }
    let (Some(reading), Some(verified)) = (reading, verified) else {
        println!("\n {}", shown(&summary.output));
        return Ok(Outcome::Interrupted);
    };
    let is_any = |kind: Kind| reading.recorded.model.count(kind) > 0;
    if asked.attach && asked.locks && !is_any(Kind::LockWaitBegin) {
        diagnostic::note(
            "no thread was seen waiting for a lock: only those of processes that were started with `rostrace run --locks` can be seen",
        );
    }
    let view = reading.view()?;
    let analysis = source::analysis(&reading.recorded.set, view.model, view.window().clone());
    let listed = callbacks::print(&reading, &view, &analysis)?;
    let page = (!asked.no_report)
        .then(|| report::of_recording(&summary.output, &reading.recorded.set, &view, &analysis))
        .flatten();
    tell(summary, &verified, ending.duration, page.as_deref())?;
    Ok(match (listed, verified.outcome) {
        (_, Outcome::LostData) | (Outcome::LostData, _) => Outcome::LostData,
        // What a process had to say that could not record is counted nowhere.
        _ if failure::is_any(summary) => Outcome::LostData,
        _ => Outcome::Fine,
    })
}

/// What was written, read back once for everything that is said of it; nothing if Ctrl-C stopped it.
pub(crate) fn read(arguments: &LookArguments) -> anyhow::Result<Option<Reading<'_>>> {
    let lost = |it: &PathBuf| format!("what was written to {} cannot be read", it.display());
    match Reading::of(&list::CALLBACKS, arguments) {
        Ok(reading) => Ok(Some(reading)),
        Err(error) if error.is::<Interrupted>() => Ok(None),
        Err(error) => {
            Err(error.context(arguments.input.traces.iter().map(lost).collect::<String>()))
        }
    }
}

/// The arguments of a verb that lists everything of one folder.
pub(crate) fn look(folder: &Path) -> LookArguments {
    LookArguments {
        list: ListArguments::default(),
        input: TraceArguments {
            traces: vec![folder.to_owned()],
        },
        filter: ModelFilterArguments::default(),
        format: LookFormat::Table,
        all: false,
    }
}

/// Where the system does not allow it, clocks tell less, and everything else is there.
pub(crate) fn tell_refusal(summary: &Summary) {
    if let Some((pid, refusal)) = &summary.without_switches {
        let of = pid.map_or(String::new(), |pid| format!(" of process {pid}"));
        let instead = match summary.read_clocks {
            true => "; instead, the CPU clocks of threads were read when callbacks began and ended",
            false => "",
        };
        let fix = refusal.fix.as_ref();
        let fix = fix.map_or(String::new(), |fix| {
            format!("; to have context switches: {fix}")
        });
        diagnostic::note(&format!(
            "context switches{of} were not recorded: {}{instead}{fix}",
            refusal.reason
        ));
    }
    if let Some((pid, refusal)) = &summary.without_samples {
        let of = pid.map_or(String::new(), |pid| format!(" of process {pid}"));
        let fix = refusal.fix.as_ref();
        let fix = fix.map_or(String::new(), |fix| format!("; to have them: {fix}"));
        diagnostic::note(&format!(
            "no samples{of} were taken: {}{fix}",
            refusal.reason
        ));
    }
}

/// What was asked for of the kernel, and is not there.
fn tell_missing_kernel_events(summary: &Summary, arguments: &RecordArguments) {
    let is_wanted = KernelPart::choice(&arguments.kernel).is_more();
    if let Some(refusal) = summary.without_tracepoints.as_ref().filter(|_| is_wanted) {
        let fix = refusal.fix.as_ref();
        let fix = fix.map_or(String::new(), |fix| format!("; to have it: {fix}"));
        diagnostic::note(&format!(
            "not everything of --kernel was recorded: {}{fix}",
            refusal.reason
        ));
    }
}

/// Whose context switches there are, and what would give more.
fn scope(summary: &Summary) -> Option<&'static str> {
    match (summary.switch_scope?, &summary.without_tracepoints) {
        (SwitchScope::Machine, _) => {
            Some("context switches: of all threads of the machine, and who woke them")
        }
        (SwitchScope::Recorded, Some(_)) => Some(
            "context switches: of recorded threads; `rostrace doctor` says how to have those of all, and who woke them",
        ),
        (SwitchScope::Recorded, None) => None,
    }
}

/// `3 processes, 12,345 events and 678 context switches, 90 samples in 5.012 s, 1.2 MiB, lost: 0`, and where. Without context switches it may be
/// `and the CPU time of 678 executions`.
fn tell(
    summary: &Summary,
    verified: &Verified,
    duration: Duration,
    page: Option<&Path>,
) -> anyhow::Result<()> {
    let folder = shown(&summary.output);
    let mut out = std::io::stdout().lock();
    if let Some(scope) = scope(summary).filter(|_| verified.switches > 0) {
        write!(out, "\n {scope}")?;
    }
    writeln!(
        out,
        "\n {}, {}{}{} in {}, {}, lost: {}\n {folder}",
        units::counted(summary.processes, "process"),
        units::counted(verified.events, "event"),
        match (verified.switches, verified.measured) {
            (0, 0) => String::new(),
            (0, measured) => format!(
                " and the CPU time of {}",
                units::counted(measured, "execution")
            ),
            (switches, _) => format!(" and {}", units::counted(switches, "context switch")),
        },
        match summary.samples {
            0 => String::new(),
            samples => format!(", {}", units::counted(samples, "sample")),
        },
        units::duration(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)),
        units::bytes(verified.bytes),
        units::count(verified.lost),
    )?;
    if let Some(page) = page {
        writeln!(out, " {}", shown(page))?;
    }
    out.flush()?;
    Ok(())
}

/// Relative to where we are, if it is below.
pub(crate) fn shown(folder: &Path) -> String {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    let relative = here
        .ok()
        .and_then(|here| Some(folder.strip_prefix(here).ok()?.to_owned()));
    relative
        .unwrap_or_else(|| folder.to_owned())
        .display()
        .to_string()
}
