//! `rostrace architecture rename`: a new name in every place that the old one stands in.

use super::arguments::{RenameArguments, Renamed};
use super::file;
use crate::outcome::Outcome;
use crate::render::diagnostic;

pub(super) fn rename(arguments: &RenameArguments) -> anyhow::Result<Outcome> {
    let (mut old, new) = (arguments.old.clone(), &arguments.new);
    file::edit(&arguments.file, &arguments.edit, |architecture| {
        match arguments.kind {
            Renamed::Node => old = file::node(architecture, "OLD", &old)?.to_owned(),
            Renamed::Topic => old = file::topic(architecture, "OLD", &old)?.to_owned(),
            Renamed::Callback | Renamed::Executor | Renamed::Path => {}
        }
        match arguments.kind {
            Renamed::Node => architecture.rename_node(&old, new)?,
            Renamed::Topic => architecture.rename_topic(&old, new)?,
            Renamed::Callback => architecture.rename_callback(&old, new)?,
            Renamed::Executor => architecture.rename_executor(&old, new)?,
            Renamed::Path => architecture.rename_path(&old, new)?,
        }
        Ok(())
    })?;
    diagnostic::note(&format!("{old} is called {new} now"));
    Ok(Outcome::Fine)
}
