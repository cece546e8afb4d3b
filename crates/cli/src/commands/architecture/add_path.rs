//! `rostrace architecture add-path`: a named path along nodes.

use rostrace_architecture::NamedPath;
use rostrace_architecture::search::{EdgeFilter, SearchGraph, path_along};

use super::arguments::AddPathArguments;
use super::file;
use crate::outcome::Outcome;
use crate::render::diagnostic;

pub(super) fn add_path(arguments: &AddPathArguments) -> anyhow::Result<Outcome> {
    file::edit(&arguments.file, &arguments.edit, |architecture| {
        let filter = EdgeFilter {
            construction_order: 0,
            ..EdgeFilter::default()
        };
        let graph = SearchGraph::new(architecture, &filter);
        let names = arguments.nodes.iter();
        let names = names.map(|name| file::node_or_topic(architecture, "NODE", name));
        let names = names.collect::<anyhow::Result<Vec<&str>>>()?;
        let steps = path_along(architecture, &graph, &names)?;
        architecture.add_path(NamedPath::new(&arguments.name, steps))?;
        Ok(())
    })?;
    diagnostic::note(&format!(
        "{} leads from {} to {}; `rostrace paths TRACE --architecture FILE` measures it",
        arguments.name,
        arguments.nodes[0],
        arguments.nodes[arguments.nodes.len() - 1]
    ));
    Ok(Outcome::Fine)
}
