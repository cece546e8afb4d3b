//! `rostrace man`: manual pages, made from the declaration of the command line.

use anyhow::Context;

use crate::args::ManArguments;
use crate::help;
use crate::outcome::Outcome;
use crate::render::diagnostic;

pub(crate) fn man(arguments: &ManArguments) -> anyhow::Result<Outcome> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make this folder", folder.display()))?;
    clap_mangen::generate_to(help::command(), folder)
        .with_context(|| format!("{}: cannot write manual pages here", folder.display()))?;
    diagnostic::note(&format!(
        "{}: a page for each verb; `man rostrace` finds them if this is a folder of MANPATH",
        folder.display()
    ));
    Ok(Outcome::Fine)
}
