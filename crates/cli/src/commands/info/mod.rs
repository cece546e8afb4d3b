//! `rostrace info`: what is missing from a trace, then what is in it.

mod ros;
mod summary;
pub(crate) mod table;

use std::io::{BufWriter, Write};

pub(crate) use summary::Summary;

use crate::args::{InfoArguments, InfoFormat};
use crate::outcome::Outcome;
use crate::render::palette::Palette;
use crate::source;

pub(crate) fn info(arguments: &InfoArguments) -> anyhow::Result<Outcome> {
    let set = source::open(&arguments.input.traces)?;
    let Some(summary) = Summary::of(&set) else {
        return Ok(Outcome::Interrupted);
    };
    let outcome = Outcome::of(summary.damage());
    match print(&summary, arguments) {
        Err(error) if crate::outcome::is_closed_pipe(&error) => Ok(outcome),
        printed => printed.map(|()| outcome),
    }
}

fn print(summary: &Summary<'_>, arguments: &InfoArguments) -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        InfoFormat::Table => {
            table::write(
                summary,
                arguments.all_damage,
                &Palette::for_stdout(),
                &mut out,
            )?;
        }
        InfoFormat::Json => {
            serde_json::to_writer_pretty(&mut out, summary).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(())
}
