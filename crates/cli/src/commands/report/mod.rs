//! `rostrace report`: a trace as one HTML file.

mod arguments;

use std::io::{BufWriter, Write};
use std::path::Path;

use glob::Pattern;
use rostrace_report::page::{self, Options, Selection};

use crate::commands::architecture::file;
use crate::commands::export::new_file::NewFile;
use crate::outcome::Outcome;
use crate::render::{diagnostic, units};
use crate::source;
use crate::window::Limits;

pub(crate) use arguments::ReportArguments;

pub(crate) fn report(arguments: &ReportArguments) -> anyhow::Result<Outcome> {
    let architecture = match &arguments.architecture {
        Some(path) => Some(file::open(path)?.architecture),
        None => None,
    };
    let set = source::open(&arguments.input)?;
    let Some(model) = source::model(&set) else {
        return Ok(Outcome::Interrupted);
    };
    let limits = Limits {
        from: arguments.from,
        to: arguments.to,
        skip_start: arguments.skip_start,
        skip_end: arguments.skip_end,
    };
    let window = limits.window(&set, &model)?;
    let analysis = source::analysis(&set, &model, window);
    let node = |name: &str| fits(&arguments.nodes, name);
    let topic = |name: &str| fits(&arguments.topics, name);
    let path = |name: &str| {
        let mut patterns = arguments.paths.iter();
        patterns.any(|it| it.matches(name) || name.contains(it.as_str()))
    };
    let process = |pid: &i64| arguments.pids.contains(pid);
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
        selection: Selection {
            node: (!arguments.nodes.is_empty()).then_some(&node),
            topic: (!arguments.topics.is_empty()).then_some(&topic),
            process: (!arguments.pids.is_empty()).then_some(&process),
            path: (!arguments.paths.is_empty()).then_some(&path),
        },
        architecture: architecture.as_ref(),
    };
    let new = NewFile::write(arguments.output.clone(), |file| {
        let mut out = BufWriter::new(file);
        page::write(&analysis, &options, &mut out)?;
        out.flush()
    })?;
    new.publish()?;
    let size = std::fs::metadata(&arguments.output)?.len();
    diagnostic::note(&format!(
        "{}: {}",
        arguments.output.display(),
        units::bytes(size)
    ));
    Ok(Outcome::of(set.damage.iter().chain(&model.damage)))
}

fn fits(patterns: &[Pattern], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(name))
}

/// The name of the folder that the first trace is in.
fn title(traces: &[std::path::PathBuf]) -> String {
    let absolute = traces.first().and_then(|path| path.canonicalize().ok());
    let name = absolute.as_deref().and_then(Path::file_name);
    name.map_or("rostrace".to_owned(), |name| {
        name.to_string_lossy().into_owned()
    })
}
