//! `rostrace compare`: what got slower or faster between two recordings, or two groups of them, beyond the noise.

mod arguments;
mod line;

use std::collections::{BTreeSet, HashMap};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rostrace_analyze::comparison::{
    ComparedMetric, Comparison, Options, Verdict, compare as compare_sides,
};
use rostrace_analyze::list::COMPARE;
use rostrace_analyze::measured::Measured;
use rostrace_report::comparison::{Recorded as Side, change_sentence, page, sentence};
use serde_json::json;

use crate::args::LookFormat;
use crate::columns::Layout;
use crate::listing;
use crate::new_file::NewFile;
use crate::outcome::{self, Outcome};
use crate::recorded::Recorded;
use crate::render::diagnostic;
use crate::render::palette::Palette;
use rostrace_base::text::visible;
use rostrace_base::units;

pub(crate) use arguments::{CompareArguments, HELP};
use line::Line;

pub(crate) fn compare(arguments: &CompareArguments) -> anyhow::Result<Outcome> {
    let layout = Layout::of(&COMPARE, &arguments.list, arguments.format)?;
    let [base, new] = arguments.sides();
    let (base, new) = (read(base, arguments)?, read(new, arguments)?);
    // A pattern may fit on one side alone: that is news, not a slip.
    if let (false, false, Some(error)) = (base.is_known, new.is_known, base.unknown.or(new.unknown))
    {
        return Err(error);
    }
    for hint in base.hints.intersection(&new.hints) {
        diagnostic::note(hint);
    }
    let options = Options {
        threshold: arguments.threshold.0,
        floor: arguments.floor.0,
        ..Options::default()
    };
    let comparison = compare_sides(&base.measured, &new.measured, &options);
    if let Some(file) = &arguments.output {
        let html = page(&comparison, &base.side, &new.side);
        NewFile::write(file.clone(), |mut out| out.write_all(html.as_bytes()))?.publish()?;
    }
    let mut left_out = None;
    let sides = (&base.side, &new.side);
    let printed = print(&comparison, sides, &layout, arguments.format);
    outcome::unless_closed(printed.map(|it| left_out = it))?;
    diagnostic::notes(left_out.as_slice());
    if arguments.format != LookFormat::Table {
        for line in damage_lines(&base.side, &new.side) {
            diagnostic::note(&line);
        }
    }
    let worse = comparison.count(Verdict::Worse);
    Ok(match () {
        () if arguments.fail_on_regression && worse > 0 => Outcome::Broken,
        () if base.lost || new.lost => Outcome::LostData,
        () => Outcome::Fine,
    })
}

/// So many things of each kind are shown, unless another number is asked for.
const MOST_THINGS: usize = 20;

/// What to say of lines that were left out.
fn print(
    comparison: &Comparison,
    (base, new): (&Side, &Side),
    layout: &Layout,
    format: LookFormat,
) -> anyhow::Result<Option<String>> {
    let is_list = layout.is_sorted() || layout.chosen().is_some();
    let mut out = BufWriter::new(std::io::stdout().lock());
    let whole = match format {
        LookFormat::Table => !is_list,
        LookFormat::Json => !is_list && layout.limit.is_none(),
        LookFormat::Csv => false,
    };
    if whole {
        match format {
            LookFormat::Json => write_json(&mut out, comparison, base, new)?,
            _ => {
                let limit = layout.limit.unwrap_or(MOST_THINGS);
                write_table(&mut out, comparison, base, new, limit)?;
            }
        }
        out.flush()?;
        return Ok(None);
    }
    let mut lines = line::all(comparison);
    layout.sort(&mut lines, Line::cells);
    let left_out = listing::limit(layout, &mut lines);
    let cells = lines.iter().map(Line::cells);
    match format {
        LookFormat::Table => {
            let palette = Palette::for_stdout();
            for line in damage_lines(base, new) {
                writeln!(out, "{}", palette.alarm(&visible(&line)))?;
            }
            let table = listing::table_of(layout, &lines, Line::cells, Line::shown);
            write!(out, "{table}")?;
            writeln!(out, "{}", summary(comparison))?;
        }
        LookFormat::Json => listing::write_chosen_json(&mut out, layout, cells)?,
        LookFormat::Csv => listing::write_csv(&mut out, layout, cells)?,
    }
    out.flush()?;
    Ok(left_out)
}

/// One side, measured.
struct Group {
    measured: Vec<Measured>,
    side: Side,
    hints: BTreeSet<String>,
    /// Whether a recording has all names that the filters have, and one that another lacks.
    is_known: bool,
    unknown: Option<anyhow::Error>,
    lost: bool,
}

/// One recording after the other, so that only what is measured is kept.
fn read(paths: &[PathBuf], arguments: &CompareArguments) -> anyhow::Result<Group> {
    let mut group = Group {
        measured: Vec::new(),
        side: Side::default(),
        hints: BTreeSet::new(),
        is_known: false,
        unknown: None,
        lost: false,
    };
    for path in paths {
        let recorded = Recorded::read(std::slice::from_ref(path))?;
        let selected = recorded.selected(&arguments.filter)?;
        group.measured.push(selected.measured(arguments.all));
        group.hints.extend(selected.nothing_left);
        match selected.unknown {
            Some(error) => group.unknown = Some(error),
            None => group.is_known = true,
        }
        group.side.recordings.push(recorded.name.clone());
        if let Some(headline) = recorded.headline() {
            let name = short(path);
            let line = match paths.len() {
                1 => headline,
                _ => format!("{name}: {headline}"),
            };
            group.side.damage.push(line);
        }
        group.lost |= recorded.outcome() == Outcome::LostData;
    }
    Ok(group)
}

fn short(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn damage_lines(base: &Side, new: &Side) -> Vec<String> {
    let of = |name: &str, side: &Side| -> Vec<String> {
        let lines = side.damage.iter();
        lines.map(|line| format!("{name}: {line}")).collect()
    };
    [of("base", base), of("new", new)].concat()
}

fn write_table(
    out: &mut impl Write,
    comparison: &Comparison,
    base: &Side,
    new: &Side,
    limit: usize,
) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    for line in damage_lines(base, new) {
        writeln!(out, "{}", palette.alarm(&visible(&line)))?;
    }
    for (verdict, title) in [(Verdict::Worse, "Worse"), (Verdict::Better, "Better")] {
        let number = comparison.count(verdict);
        if number == 0 {
            continue;
        }
        let title = format!("{title} ({})", units::count(number as u64));
        let title = match verdict {
            Verdict::Worse => palette.alarm(&title),
            _ => palette.heading(&title),
        };
        writeln!(out, "{title}")?;
        let things = by_thing(comparison, verdict);
        for (name, rows) in things.iter().take(limit) {
            writeln!(out, "  {}", visible(name))?;
            for row in rows {
                writeln!(out, "    {}", visible(&sentence(row).unwrap_or_default()))?;
            }
        }
        if things.len() > limit {
            let more = units::counted((things.len() - limit) as u64, "more thing");
            let remark = format!("  and {more}; --limit {} shows all", things.len());
            writeln!(out, "{}", palette.dim(&remark))?;
        }
    }
    if !comparison.changes.is_empty() {
        let number = units::count(comparison.changes.len() as u64);
        writeln!(
            out,
            "{}",
            palette.heading(&format!("Other things ({number})"))
        )?;
        for change in comparison.changes.iter().take(limit) {
            writeln!(out, "  {}", visible(&change_sentence(change)))?;
        }
        if comparison.changes.len() > limit {
            let more = units::counted((comparison.changes.len() - limit) as u64, "more thing");
            let remark = format!(
                "  and {more}; --limit {} shows all",
                comparison.changes.len()
            );
            writeln!(out, "{}", palette.dim(&remark))?;
        }
        if !base.damage.is_empty() || !new.damage.is_empty() {
            let remark = "  What seems to be missing may be missing from the recording alone: events were lost";
            writeln!(out, "{}", palette.dim(remark))?;
        }
    }
    writeln!(out, "{}", summary(comparison))?;
    Ok(())
}

/// Each thing with what there is to say of it, in the order of the worst of that.
fn by_thing(comparison: &Comparison, verdict: Verdict) -> Vec<(&str, Vec<&ComparedMetric>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut things: Vec<(&str, Vec<&ComparedMetric>)> = Vec::new();
    for row in comparison.with(verdict) {
        let place = *places.entry(&row.name).or_insert_with(|| {
            things.push((&row.name, Vec::new()));
            things.len() - 1
        });
        things[place].1.push(row);
    }
    things
}

/// `412 metrics of 96 things compared: 3 worse, 1 better, 380 the same, 28 undecided (too few values, or they vary too much)`
fn summary(comparison: &Comparison) -> String {
    let things: BTreeSet<_> = comparison
        .rows
        .iter()
        .map(|it| (it.kind, &it.name))
        .collect();
    if comparison.rows.is_empty() {
        return "Nothing that both sides have can be compared".to_owned();
    }
    let count = |verdict| units::count(comparison.count(verdict) as u64);
    let why = match comparison.count(Verdict::Undecided) {
        0 => "",
        _ => " (too few values, or they vary too much)",
    };
    format!(
        "{} of {} compared: {} worse, {} better, {} the same, {} undecided{why}",
        units::counted(comparison.rows.len() as u64, "metric"),
        units::counted(things.len() as u64, "thing"),
        count(Verdict::Worse),
        count(Verdict::Better),
        count(Verdict::Same),
        count(Verdict::Undecided),
    )
}

fn write_json(
    out: &mut impl Write,
    comparison: &Comparison,
    base: &Side,
    new: &Side,
) -> anyhow::Result<()> {
    let side = |side: &Side| json!({ "recordings": side.recordings, "damage": side.damage });
    let all = json!({
        "base": side(base),
        "new": side(new),
        "options": comparison.options,
        "rows": comparison.rows,
        "changes": comparison.changes,
    });
    serde_json::to_writer_pretty(&mut *out, &all).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}
