//! `rostrace timeline`: what happened when, in a page that is served here, or as a file for programs that draw it.

mod arguments;
mod enter_key;
mod file;
mod open;
mod redirect_page;

use crate::outcome::Outcome;

pub(crate) use arguments::{HELP, TimelineArguments};

pub(crate) fn timeline(arguments: &TimelineArguments) -> anyhow::Result<Outcome> {
    match &arguments.output {
        Some(output) => file::write(arguments, output),
        None => open::open(arguments),
    }
}
