//! What the demo shows where nothing can be recorded: a small recording of real processes that the source brings along.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::ensure;
use rostrace_ctf::{Conversion, Selection};

use crate::commands::dump::lines::Request;
use crate::commands::dump::text::{self, TextOptions};
use crate::commands::info;
use crate::outcome::Outcome;
use crate::render::palette::Palette;
use crate::source;

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pingpong");
const EVENTS: u64 = 8;

pub(super) fn show() -> anyhow::Result<Outcome> {
    let recording: PathBuf = Path::new(RECORDING).components().collect();
    ensure!(
        recording.is_dir(),
        "the recording of the demo is not on this machine (it was looked for at {}); run it from a copy of the source with \
         `cargo run --release -- demo`",
        recording.display()
    );
    let recording = std::fs::canonicalize(&recording).unwrap_or(recording);
    let palette = Palette::for_stdout();
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(
        out,
        "A recording of two ROS 2 processes: a timer in one publishes, the other answers.\n\n{}\n",
        palette.heading(&format!("$ rostrace info {}", recording.display()))
    )?;
    let set = source::open(std::slice::from_ref(&recording))?;
    let Some(summary) = info::Summary::of(&set) else {
        return Ok(Outcome::Interrupted);
    };
    info::table::write(&summary, false, &palette, &mut out)?;
    let command = format!("$ rostrace dump {} --limit {EVENTS}", recording.display());
    writeln!(out, "{}\n", palette.heading(&command))?;
    let request = Request {
        set: &set,
        conversion: Conversion::DoublePrecision,
        selection: &Selection::default(),
        limit: Some(EVENTS),
        progress: &mut |_| true,
    };
    text::dump(request, &TextOptions::default(), &mut out)?;
    writeln!(
        out,
        "\nNow try it with a trace of your own: `rostrace info FOLDER`, where FOLDER was recorded by LTTng, ros2_tracing or CARET."
    )?;
    out.flush()?;
    Ok(Outcome::of(summary.damage()))
}
