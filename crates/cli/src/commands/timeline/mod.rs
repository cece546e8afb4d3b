//! `rostrace timeline`: what ran when, to look at.

mod arguments;
mod open;

use anyhow::bail;

use crate::outcome::Outcome;

pub(crate) use arguments::TimelineArguments;

pub(crate) fn timeline(arguments: &TimelineArguments) -> anyhow::Result<Outcome> {
    if !arguments.open {
        bail!("say what to do with the timeline: --open shows it in a browser");
    }
    open::open(arguments)
}
