//! `rostrace architecture graph`: a picture of nodes and topics.

use std::io::Write;
use std::path::Path;

use rostrace_architecture::draw::{Picture, dot, mermaid, svg};

use super::arguments::{GraphArguments, GraphFormat};
use super::file;
use crate::outcome::{Outcome, wrong_usage};

pub(super) fn graph(arguments: &GraphArguments) -> anyhow::Result<Outcome> {
    let format = match (arguments.format, &arguments.output) {
        (Some(format), _) => format,
        (None, Some(output)) => format_of(output)?,
        (None, None) => GraphFormat::Dot,
    };
    if let Some(output) = &arguments.output {
        file::expect_free(output, arguments.force)?;
    }
    let architecture = file::open(&arguments.file)?.architecture;
    let picture = Picture::new(&architecture, arguments.clusters);
    let text = match format {
        GraphFormat::Svg => svg(&picture),
        GraphFormat::Dot => dot(&picture),
        GraphFormat::Mermaid => mermaid(&picture),
    };
    match &arguments.output {
        Some(output) => file::save(text.as_bytes(), output)?,
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(Outcome::Fine)
}

fn format_of(output: &Path) -> anyhow::Result<GraphFormat> {
    let extension = output.extension().unwrap_or_default().to_string_lossy();
    Ok(match extension.to_ascii_lowercase().as_str() {
        "svg" => GraphFormat::Svg,
        "dot" | "gv" => GraphFormat::Dot,
        "mmd" | "mermaid" => GraphFormat::Mermaid,
        _ => wrong_usage!(
            "{}: the name does not tell a format; end it in .svg, .dot or .mmd, or say --format",
            output.display()
        ),
    })
}
