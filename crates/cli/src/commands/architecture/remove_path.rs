//! `rostrace architecture remove-path`.

use super::arguments::RemovePathArguments;
use super::file;
use crate::outcome::Outcome;
use crate::render::diagnostic;

pub(super) fn remove_path(arguments: &RemovePathArguments) -> anyhow::Result<Outcome> {
    file::edit(&arguments.file, &arguments.edit, |architecture| {
        architecture.remove_path(&arguments.name)?;
        Ok(())
    })?;
    diagnostic::note(&format!("{} is removed", arguments.name));
    Ok(Outcome::Fine)
}
