//! A timeline as a file, in the format of a program that people already like.

use std::path::Path;

use rostrace_ctf::Damage;
use rostrace_report::timeline::{self, Format, Written};

use super::arguments::{TimelineArguments, TimelineFormat};
use crate::capabilities;
use crate::interrupt::{self, Interruptible};
use crate::new_file::{self, NewFile};
use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::{damage, diagnostic};
use crate::source;
use crate::view::View;
use rostrace_base::units;

pub(super) fn write(arguments: &TimelineArguments, output: &Path) -> anyhow::Result<Outcome> {
    // Said before the trace is read, which can take a while.
    new_file::expect_place(output)?;
    let format = match arguments.format {
        Some(TimelineFormat::Perfetto) => Format::Perfetto,
        Some(TimelineFormat::Chrome) => Format::Chrome,
        Some(TimelineFormat::Firefox) => Format::Firefox,
        None => Format::of_file_name(&output.to_string_lossy()).unwrap_or(Format::Perfetto),
    };
    let packed = timeline::is_packed(&output.to_string_lossy());
    let Recorded { set, model, .. } = Recorded::read_apart(&arguments.input.traces, output)?;
    let view = View::new(&set, &model, &arguments.filter)?;
    diagnostic::notes(&view.notes());
    diagnostic::notes(view.nothing_left().as_slice());
    if let Some(lack) = capabilities::CALLBACKS.lack(&model.kinds) {
        diagnostic::note(lack);
    }
    let analysis = source::analysis(&set, &model, view.window().clone());
    let all_damage = || set.damage.iter().chain(&model.damage);
    let damage: Vec<Damage> = all_damage().cloned().collect();
    let mut written = Written::default();
    let file = NewFile::write(output.to_owned(), |file| {
        let mut file = Interruptible(file);
        written = match packed {
            true => format.write_packed(&analysis, view.selection(), &damage, &mut file)?,
            false => format.write(&analysis, view.selection(), &damage, &mut file)?,
        };
        Ok(())
    });
    if interrupt::requested() {
        return Ok(Outcome::Interrupted);
    }
    file?.publish()?;
    diagnostic::note(&summary(output, format, &written));
    if let Some(headline) = damage::headline(all_damage()) {
        diagnostic::note(&headline);
    }
    Ok(Outcome::of(all_damage()))
}

/// What is in the file, and where to look at it.
fn summary(output: &Path, format: Format, written: &Written) -> String {
    let viewer = match format {
        Format::Perfetto => "https://ui.perfetto.dev",
        Format::Chrome => "https://ui.perfetto.dev or chrome://tracing",
        Format::Firefox => "https://profiler.firefox.com",
    };
    let mut parts = vec![
        units::counted(written.executions, "callback execution"),
        units::counted(written.messages, "message"),
    ];
    for (number, noun) in [
        (written.drops, "drop"),
        (written.user_events, "event of the application"),
        (written.switches, "CPU switch"),
    ] {
        if number > 0 {
            parts.push(match (number, noun) {
                (2.., "event of the application") => {
                    format!("{} events of the application", units::count(number))
                }
                (2.., "CPU switch") => format!("{} CPU switches", units::count(number)),
                _ => units::counted(number, noun),
            });
        }
    }
    format!(
        "{}: {}, {}; open it in {viewer}",
        output.display(),
        parts.join(", "),
        units::bytes(written.bytes),
    )
}
