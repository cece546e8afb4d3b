//! `rostrace status`: the sessions of this user, and the processes in them.

use std::collections::BTreeMap;
use std::io::Write;

use rostrace_analyze::blind_spot;
use rostrace_analyze::list::STATUS;
use rostrace_analyze::table::Cell;
use rostrace_ctf::schema::Nanos;
use rostrace_record::{ProcessState, ProcessView, RuntimeFolder, Session, SessionState};
use serde::Serialize;

use super::record::arguments::StatusArguments;
use super::record::failure::of_stranger;
use crate::args::InfoFormat;
use crate::columns::Layout;
use crate::listing;
use crate::outcome::Outcome;
use crate::render::palette::Palette;
use crate::render::{diagnostic, time};
use rostrace_base::text::visible;
use rostrace_base::units;

/// One session, as `--format json` shows it. Its field names are a contract.
#[derive(Debug, Serialize)]
struct SessionRow {
    session: String,
    command: Vec<String>,
    control: String,
    started_ns: i64,
    /// `idle`, `recording`, `flight`
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Whether the command that the session was made for is still looked after.
    has_owner: bool,
    /// Whether some rostrace looks after what is recorded.
    has_recorder: bool,
    processes: Vec<ProcessRow>,
    /// Processes that cannot be recorded because their tracer is of another version.
    #[serde(skip_serializing_if = "is_zero")]
    of_other_versions: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Serialize)]
struct ProcessRow {
    #[serde(skip)]
    session: String,
    pid: u32,
    name: String,
    /// `idle`, `recording`, `failed`
    state: &'static str,
    events: u64,
    lost: u64,
    bytes: u64,
    threads: u64,
    /// Events of initialisation that later recordings will have, too.
    remembered: u64,
    /// Functions that are interposed and were called: `on`, or why not.
    hooks: BTreeMap<&'static str, &'static str>,
    /// System error of the last failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl ProcessRow {
    /// In the order of the columns.
    fn cells(&self) -> Vec<Cell<'_>> {
        vec![
            self.session.as_str().into(),
            i64::from(self.pid).into(),
            self.name.as_str().into(),
            self.state.into(),
            self.events.into(),
            self.lost.into(),
            self.bytes.into(),
            self.threads.into(),
            self.remembered.into(),
            self.error.as_deref().into(),
        ]
    }
}

pub(crate) fn status(arguments: &StatusArguments) -> anyhow::Result<Outcome> {
    let layout = Layout::of(&STATUS, &arguments.list, arguments.format.into())?;
    let sessions = match &arguments.control {
        Some(control) => {
            let session = Session::open(control)?;
            session.forget_dead();
            vec![session]
        }
        None => Session::all(&RuntimeFolder::of_user()?)?,
    };
    if arguments.control.is_none() {
        for (id, error) in Session::of_other_versions(&RuntimeFolder::of_user()?) {
            diagnostic::note(&format!("session {id} is not shown: {error}"));
        }
    }
    for session in &sessions {
        if let Some(stranger) = session.incompatible_tracers() {
            let sentence = of_stranger(&stranger);
            diagnostic::note(&format!("session {}: {sentence}", session.id));
        }
    }
    for session in &sessions {
        for view in session.processes() {
            if let Some(sentence) = hidden_calls(&view) {
                diagnostic::note(&sentence);
            }
        }
    }
    let mut rows: Vec<SessionRow> = sessions.iter().map(row).collect();
    let mut notes = Vec::new();
    for SessionRow { processes, .. } in &mut rows {
        layout.sort(processes, ProcessRow::cells);
        notes.extend(listing::limit(&layout, processes));
    }
    let mut out = std::io::stdout().lock();
    match arguments.format {
        InfoFormat::Json => {
            let processes = rows.iter().flat_map(|row| &row.processes);
            listing::write_json(&mut out, &layout, processes.map(ProcessRow::cells), || {
                &rows
            })?;
        }
        InfoFormat::Table if rows.is_empty() => {
            diagnostic::note(
                "nothing runs under the tracer; `rostrace run -- COMMAND…` starts something",
            );
        }
        InfoFormat::Table => {
            for row in &rows {
                write_session(&mut out, &layout, row)?;
            }
        }
    }
    out.flush()?;
    drop(out);
    diagnostic::notes(&notes);
    Ok(Outcome::Fine)
}

/// What recordings of a process will not have, because calls go past the tracer.
pub(crate) fn hidden_calls(view: &ProcessView) -> Option<String> {
    let hooks = rostrace_tracer::hooks::names().zip(view.hooks);
    let bypassed = hooks.filter(|(_, state)| *state == BYPASSED);
    let subjects = blind_spot::subjects(bypassed.map(|(name, _)| name))?;
    let pid = view.identity.pid;
    Some(format!(
        "{subjects} of process {pid} are not all seen: a library was linked so that its calls cannot be observed"
    ))
}

/// What the memory of a process says of a hook that is gone past.
const BYPASSED: u8 = 5;

fn row(session: &Session) -> SessionRow {
    let (state, output) = match session.state() {
        SessionState::Idle => ("idle", None),
        SessionState::Recording { output, is_flight } => {
            let state = if is_flight { "flight" } else { "recording" };
            (state, Some(output.display().to_string()))
        }
    };
    SessionRow {
        session: session.id.clone(),
        command: session.command().to_vec(),
        control: session.control_path().display().to_string(),
        started_ns: session.started_ns(),
        state,
        output,
        has_owner: session.has_owner(),
        has_recorder: session.has_recorder(),
        processes: session
            .processes()
            .iter()
            .map(|it| process(session, it))
            .collect(),
        of_other_versions: session
            .incompatible_tracers()
            .map_or(0, |stranger| stranger.count),
    }
}

fn process(session: &Session, view: &ProcessView) -> ProcessRow {
    let name = &view.identity.name;
    let end = name
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(name.len());
    // One that has failed goes on with what it can.
    let is_recording = view.state != ProcessState::Idle;
    let of_recording = |counter: u64| if is_recording { counter } else { 0 };
    ProcessRow {
        session: session.id.clone(),
        pid: view.identity.pid,
        name: String::from_utf8_lossy(&name[..end]).into_owned(),
        state: match view.state {
            ProcessState::Idle => "idle",
            ProcessState::Recording => "recording",
            ProcessState::Failed => "failed",
        },
        events: of_recording(view.events),
        lost: of_recording(view.discarded),
        bytes: of_recording(view.bytes),
        threads: of_recording(view.threads),
        remembered: view.remembered,
        hooks: rostrace_tracer::hooks::names()
            .zip(view.hooks)
            .filter_map(|(name, state)| Some((name, hook(state)?)))
            .collect(),
        error: (view.errno != 0)
            .then(|| std::io::Error::from_raw_os_error(view.errno.cast_signed()).to_string()),
    }
}

/// None for one that was never called.
fn hook(state: u8) -> Option<&'static str> {
    Some(match state {
        0 => return None,
        1 => "on",
        2 => "no original was found",
        3 => "of an unknown version",
        4 => "needless: this version of ROS 2 has a tracepoint",
        BYPASSED => "not seen: its library was linked so that calls cannot be observed",
        _ => "off",
    })
}

fn write_session(out: &mut impl Write, layout: &Layout, row: &SessionRow) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    let title = format!("session {}: {}", row.session, row.command.join(" "));
    writeln!(out, "{}", palette.heading(&visible(&title)))?;
    let mut remark = match (&row.output, row.started_ns) {
        (Some(output), _) => format!("{} into {output}", row.state),
        (None, 0) => row.state.to_owned(),
        (None, at) => format!("{}, started at {}", row.state, time::time_of_day(Nanos(at))),
    };
    if row.output.is_some() && !row.has_recorder {
        remark += "; its recorder is gone, `rostrace stop` ends it";
    }
    writeln!(out, " {}", visible(&remark))?;
    let table = listing::table_of(
        layout,
        &row.processes,
        ProcessRow::cells,
        |process, column| (column == "bytes").then(|| units::bytes(process.bytes)),
    );
    if row.processes.is_empty() && layout.limit != Some(0) {
        writeln!(out, " no process has called a tracepoint yet")?;
    } else {
        write!(out, "{table}")?;
    }
    writeln!(out)?;
    Ok(())
}
