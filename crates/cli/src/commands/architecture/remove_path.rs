//! `rostrace architecture remove-path`.

use super::arguments::RemovePathArguments;
use super::file;
use crate::outcome::Outcome;

pub(super) fn remove_path(arguments: &RemovePathArguments) -> anyhow::Result<Outcome> {
    file::edit(&arguments.file, &arguments.edit, |architecture| {
        architecture.remove_path(&arguments.name)?;
        Ok(())
    })?;
    Ok(Outcome::Fine)
}
