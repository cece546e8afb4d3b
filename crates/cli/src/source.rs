//! Where input comes from: the traces that were named, opened as one.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::bail;
use rostrace_analyze::Analysis;
use rostrace_analyze::profile::Profile;
use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Error, TraceSet, unpacked};
use rostrace_model::memory::Memory;
use rostrace_model::sampling::Sampling;
use rostrace_model::scheduling::Scheduling;
use rostrace_model::{Model, RecordedTwice};
use rostrace_record::orphan;

use crate::archive;
use crate::foreign;
use crate::interrupt;
use crate::new_file::folder_of;
use crate::outcome::{Interrupted, wrong_usage};
use crate::progress::Progress;
use crate::render::{diagnostic, time};
use crate::time_argument::Span;
use rostrace_base::units;

/// Opens all traces, and tells what their metadata has that we do not know. What counts events needs them once.
pub(crate) fn open(paths: &[PathBuf]) -> anyhow::Result<TraceSet> {
    let set = open_events(paths)?;
    expect_once(&set)?;
    Ok(set)
}

/// The same for what only shows or copies events.
pub(crate) fn open_events(paths: &[PathBuf]) -> anyhow::Result<TraceSet> {
    let set = open_all(paths)?;
    diagnostic::warnings(&set.warnings);
    Ok(set)
}

fn expect_once(set: &TraceSet) -> anyhow::Result<()> {
    let Some(twice) = RecordedTwice::find(set) else {
        return Ok(());
    };
    let (first, second) = (twice.first.display(), twice.second.display());
    let whose = match twice.pid {
        Some(pid) => format!(" of process {pid}"),
        None => String::new(),
    };
    wrong_usage!(
        "{first} and {second} were recorded at the same time and both have `{}`{whose}, so everything would count twice; give one of them",
        twice.event
    )
}

fn open_all(paths: &[PathBuf]) -> anyhow::Result<TraceSet> {
    archive::remove_abandoned();
    for path in paths {
        // An archive is not of this machine, or no longer: what it names in memory is somebody else's.
        if foreign::unpack(path)? {
            continue;
        }
        let completed = orphan::complete_below(path);
        if completed > 0 {
            diagnostic::note(&format!(
                "{}: {} and what recorded it were killed; the newest events were still in memory and are written now",
                path.display(),
                units::counted(completed, "process")
            ));
        }
    }
    let set = match TraceSet::open(paths) {
        Err(Error::OverlappingCuts {
            first,
            second,
            begin,
            end,
        }) => {
            let (first, second) = (first.display(), second.display());
            let (begin, end) = (time::date_and_time(begin), time::date_and_time(end));
            wrong_usage!(
                "{first} and {second} are parts of one recording and both have what happened between {begin} and {end}, which would count twice; give one of them, or cut them so that they do not overlap"
            )
        }
        opened => opened.map_err(foreign::explained)?,
    };
    if set.traces.is_empty() {
        let reasons = set.damage.iter().map(|damage| damage.message.as_str());
        match reasons.clone().next() {
            Some(first) => bail!(
                "none of the {} traces can be read; the first because of: {first}",
                reasons.count()
            ),
            None => bail!("there is no trace to read"),
        }
    }
    Ok(set)
}

/// Refuses to write over a file that is read, or beside it: every reader takes all files of that folder for streams.
pub(crate) fn expect_apart(set: &TraceSet, output: &Path) -> anyhow::Result<()> {
    let shown = output.display();
    let is_same = |file: &Path| match (file.canonicalize(), output.canonicalize()) {
        (Ok(file), Ok(output)) => file == output,
        _ => false, // There is no such file yet.
    };
    let folder = folder_of(output).canonicalize().ok();
    for trace in &set.traces {
        let archives = trace
            .folders
            .iter()
            .filter_map(|it| unpacked::archive_of(it));
        if trace.files().chain(archives).any(|file| is_same(&file)) {
            bail!("{shown}: this is a file of the trace, and would be lost; choose another name");
        }
        let mut folders = trace.folders.iter().filter_map(|it| it.canonicalize().ok());
        if folders.any(|it| Some(it) == folder) {
            bail!(
                "{shown}: in the folder of the trace's streams it would be taken for one of them; choose another folder with -o"
            );
        }
    }
    Ok(())
}

/// Reads all events of a set.
pub(crate) fn model(set: &TraceSet) -> Result<Model, Interrupted> {
    let bar = Progress::new("reading", set.bytes());
    let model = Model::load(set, &mut |bytes| {
        bar.done(bytes);
        !interrupt::requested()
    });
    match interrupt::requested() {
        true => Err(Interrupted),
        false => Ok(model),
    }
}

/// What metrics are computed from, with the kernel's scheduling and with allocations where the trace has them.
pub(crate) fn analysis<'m>(
    set: &TraceSet,
    model: &'m Model,
    window: RangeInclusive<Nanos>,
) -> Analysis<'m> {
    let mut analysis = Analysis::new(model, window);
    let mut goes_on = |_| !interrupt::requested();
    analysis.scheduling = Scheduling::load(set, model, &mut goes_on);
    analysis.memory = Memory::load(set, model, &mut goes_on);
    analysis
}

/// The samples of call stacks, if the trace has any, with the names of functions as far as the files are at hand.
pub(crate) fn profile(
    set: &TraceSet,
    analysis: &Analysis<'_>,
    symbols: &[PathBuf],
) -> Option<Profile> {
    let mut goes_on = |_| !interrupt::requested();
    let scheduling = analysis.scheduling.as_ref();
    let sampling = Sampling::load(set, analysis.model, scheduling, &mut goes_on)?;
    Some(Profile::new(sampling, symbols.to_vec()))
}

/// When the recording begins and ends: what `+1s` and `-1s` count from. Nothing for a trace without a clock.
pub(crate) fn span(set: &TraceSet) -> Option<Span> {
    let (begin, end) = set.span()?;
    Some(Span { begin, end })
}
