//! `rostrace architecture combine`: one named path of two.

use super::arguments::CombineArguments;
use super::file;
use crate::outcome::Outcome;
use crate::render::diagnostic;

pub(super) fn combine(arguments: &CombineArguments) -> anyhow::Result<Outcome> {
    file::edit(&arguments.file, &arguments.edit, |architecture| {
        let path =
            architecture.combine_paths(&arguments.left, &arguments.right, &arguments.name)?;
        architecture.add_path(path)?;
        Ok(())
    })?;
    diagnostic::note(&format!(
        "{} is {} and {} in one",
        arguments.name, arguments.left, arguments.right
    ));
    Ok(Outcome::Fine)
}
