//! `rostrace completions`: a script for a shell, made from the declaration of the command line.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Arguments, CompletionsArguments};
use crate::outcome::Outcome;

pub(crate) fn completions(arguments: &CompletionsArguments) -> anyhow::Result<Outcome> {
    // Into memory first: the generator panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "rostrace",
        &mut script,
    );
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&script)?;
    stdout.flush()?;
    Ok(Outcome::Fine)
}
