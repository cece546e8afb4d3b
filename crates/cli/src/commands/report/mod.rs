//! `rostrace report`: a trace as one HTML file.

mod arguments;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use glob::Pattern;
use rostrace_analyze::clocks::UnsynchronisedHosts;
use rostrace_analyze::flow_path::{FlowPath, FlowPaths};
use rostrace_analyze::{Analysis, Selection};
use rostrace_architecture::Architecture;
use rostrace_ctf::TraceSet;
use rostrace_report::page::{Options, Page};

use crate::capabilities;
use crate::commands::architecture::file;
use crate::desktop;
use crate::interrupt::{self, Interruptible};
use crate::name;
use crate::new_file::{self, NewFile};
use crate::outcome::{Outcome, wrong_usage};
use crate::recorded::Recorded;
use crate::render::{damage, diagnostic};
use crate::source;
use crate::view::View;
use rostrace_base::units;

pub(crate) use arguments::{HELP, ReportArguments};

pub(crate) fn report(arguments: &ReportArguments) -> anyhow::Result<Outcome> {
    let Some(outcome) = write(arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let shown = arguments.output.display();
    match std::fs::metadata(&arguments.output) {
        Ok(file) if file.is_file() => {
            diagnostic::note(&format!("{shown}: {}", units::bytes(file.len())));
        }
        // A pipe or a device has no size.
        _ => diagnostic::note(&format!("{shown}: written")),
    }
    if arguments.open {
        show(&arguments.output);
    }
    Ok(outcome)
}

/// In the browser of the desktop; a note where there is none, since the file is what counts.
fn show(file: &Path) {
    let absolute = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    if !desktop::exists() || !desktop::open(&absolute) {
        diagnostic::note(&format!(
            "there is no desktop here that could open it; open {} in a browser",
            absolute.display()
        ));
    }
}

/// Fails for a pattern that no path has.
fn expect_paths(
    patterns: &[Pattern],
    analysis: &Analysis<'_>,
    architecture: Option<&Architecture>,
) -> anyhow::Result<()> {
    let observed = (!patterns.is_empty()).then(|| FlowPaths::observed(analysis));
    let observed = observed.iter().flatten().map(FlowPath::title);
    let declared = architecture.iter().flat_map(|it| &it.paths);
    let titles: Vec<String> = observed.chain(declared.map(|it| it.name.clone())).collect();
    for pattern in patterns {
        let alone = Selection {
            paths: vec![pattern.clone()],
            ..Selection::default()
        };
        if !titles.iter().any(|title| alone.fits_path(&[title])) {
            let names = titles.iter().map(String::as_str);
            let otherwise = "`rostrace latency` lists the observed ones";
            let instead = name::similar_or(pattern.as_str(), names, otherwise);
            wrong_usage!("--path: no path is named `{pattern}`; {instead}");
        }
    }
    Ok(())
}

/// Nothing if it was interrupted.
fn write(arguments: &ReportArguments) -> anyhow::Result<Option<Outcome>> {
    let architecture = match &arguments.architecture {
        Some(path) => Some(file::open(path)?.architecture),
        None => None,
    };
    // Said before the trace is read, which can take a while.
    new_file::expect_place(&arguments.output)?;
    let Recorded { set, model, .. } =
        Recorded::read_apart(&arguments.input.traces, &arguments.output)?;
    let view = View::new(&set, &model, &arguments.filter)?;
    let mut analysis = source::analysis(&set, &model, view.window().clone());
    analysis.selection = Selection {
        paths: arguments.paths.clone(),
        ..view.selection().clone()
    };
    let written = write_page(arguments, architecture.as_ref(), &set, &view, &analysis)?;
    Ok(written.then(|| Outcome::of(set.damage.iter().chain(&model.damage))))
}

/// The page of a trace that was read and analysed. False if it was interrupted.
fn write_page(
    arguments: &ReportArguments,
    architecture: Option<&Architecture>,
    set: &TraceSet,
    view: &View<'_>,
    analysis: &Analysis<'_>,
) -> anyhow::Result<bool> {
    let model = view.model;
    expect_paths(&arguments.paths, analysis, architecture)?;
    let mut titles = damage::titles(set.damage.iter().chain(&model.damage));
    titles.extend(UnsynchronisedHosts::of(model).map(|it| (it.sentence(), false)));
    let options = Options {
        title: arguments
            .title
            .clone()
            .unwrap_or_else(|| title(&arguments.input.traces)),
        sources: arguments
            .input
            .traces
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
        damage: titles,
        architecture,
        is_stopped: Some(interrupt::requested),
    };
    // Before there is a file that a second Ctrl-C could leave behind.
    let Some(page) = Page::new(analysis, &options) else {
        return Ok(false);
    };
    let file = NewFile::write(arguments.output.clone(), |file| {
        let mut out = BufWriter::new(Interruptible(file));
        page.write(&mut out)?;
        out.flush()
    });
    if interrupt::requested() {
        return Ok(false);
    }
    file?.publish()?;
    diagnostic::notes(&view.notes());
    diagnostic::notes(view.nothing_left().as_slice());
    if let Some(lack) = capabilities::CALLBACKS.lack(&model.kinds) {
        diagnostic::note(lack);
    }
    Ok(true)
}

/// The report of a recording that was just made and read, beside its data; a note if that cannot be, since the recording is what counts.
pub(crate) fn of_recording(
    folder: &Path,
    set: &TraceSet,
    view: &View<'_>,
    analysis: &Analysis<'_>,
) -> Option<PathBuf> {
    let output = folder.join("report.html");
    let arguments = ReportArguments::of_recording(folder, output.clone());
    let written = new_file::expect_place(&output)
        .and_then(|()| write_page(&arguments, None, set, view, analysis));
    match written {
        Ok(true) => Some(output),
        Ok(false) => None,
        Err(error) => {
            diagnostic::note(&format!("there is no report: {error:#}"));
            None
        }
    }
}

/// The name of the folder that the first trace is in.
fn title(traces: &[PathBuf]) -> String {
    let absolute = traces.first().and_then(|path| path.canonicalize().ok());
    let name = absolute.as_deref().and_then(Path::file_name);
    name.map_or("rostrace".to_owned(), |name| {
        name.to_string_lossy().into_owned()
    })
}
