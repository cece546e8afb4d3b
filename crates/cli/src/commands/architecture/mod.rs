//! `rostrace architecture VERB`: the application's structure as a file.
//!
//! One file for each verb.

mod add_path;
mod arguments;
mod check;
mod combine;
mod create;
mod diff;
pub(crate) mod file;
mod graph;
mod paths;
mod remove_path;
mod rename;
mod set_context;

pub(crate) use arguments::ArchitectureArguments;
use arguments::ArchitectureVerb;

use crate::outcome::Outcome;

pub(crate) fn architecture(arguments: &ArchitectureArguments) -> anyhow::Result<Outcome> {
    match &arguments.verb {
        ArchitectureVerb::Create(arguments) => create::create(arguments),
        ArchitectureVerb::Check(arguments) => check::check(arguments),
        ArchitectureVerb::Diff(arguments) => diff::diff(arguments),
        ArchitectureVerb::Paths(arguments) => paths::paths(arguments),
        ArchitectureVerb::AddPath(arguments) => add_path::add_path(arguments),
        ArchitectureVerb::RemovePath(arguments) => remove_path::remove_path(arguments),
        ArchitectureVerb::Rename(arguments) => rename::rename(arguments),
        ArchitectureVerb::SetContext(arguments) => set_context::set_context(arguments),
        ArchitectureVerb::Combine(arguments) => combine::combine(arguments),
        ArchitectureVerb::Graph(arguments) => graph::graph(arguments),
    }
}
