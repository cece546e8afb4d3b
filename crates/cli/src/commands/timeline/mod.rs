//! `rostrace timeline`: what happened when, for programs that draw it.

mod arguments;
mod file;

use crate::outcome::Outcome;

pub(crate) use arguments::{HELP, TimelineArguments};

pub(crate) fn timeline(arguments: &TimelineArguments) -> anyhow::Result<Outcome> {
    match &arguments.output {
        Some(output) => file::write(arguments, output),
        None => {
            anyhow::bail!("nothing was asked for: -o FILE says where the timeline is to be written")
        }
    }
}
