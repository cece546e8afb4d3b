//! `rostrace man`: manual pages, made from the declaration of the command line.

use anyhow::Context;
use clap::CommandFactory;

use crate::args::{Arguments, ManArguments};
use crate::outcome::Outcome;

pub(crate) fn man(arguments: &ManArguments) -> anyhow::Result<Outcome> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make this folder", folder.display()))?;
    clap_mangen::generate_to(Arguments::command(), folder)
        .with_context(|| format!("{}: cannot write manual pages here", folder.display()))?;
    Ok(Outcome::Fine)
}
