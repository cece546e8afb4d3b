//! `rostrace check`: whether a recording keeps its budgets, and `--init`, which writes budgets from good runs.

mod arguments;
mod row;

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, bail};
use rostrace_analyze::budget::{self, Budget, Judgement, Recording, Verdict};
use rostrace_analyze::list::CHECK;
use rostrace_architecture::Architecture;
use rostrace_ctf::input_file;
use rostrace_ctf::schema::Nanos;
use rostrace_report::budget::{annotation, junit};

use crate::args::LookFormat;
use crate::columns::Layout;
use crate::commands::architecture::file;
use crate::listing;
use crate::new_file::NewFile;
use crate::outcome::{self, Outcome, wrong_usage};
use crate::recorded::Recorded;
use crate::render::diagnostic;
use crate::render::palette::Palette;
use crate::source;
use rostrace_base::units;

pub(crate) use arguments::{CheckArguments, HELP};
use row::JudgementRow;

pub(crate) fn check(arguments: &CheckArguments) -> anyhow::Result<Outcome> {
    if arguments.init {
        return init(arguments);
    }
    let (budget_file, traces) = match arguments.inputs.split_first() {
        Some((file, traces)) if !traces.is_empty() => (file, traces),
        _ => {
            wrong_usage!(
                "a budget file and a trace are needed; --init makes a budget file of good runs"
            )
        }
    };
    let layout = Layout::of(&CHECK, &arguments.list, arguments.format)?;
    let budgets = read(budget_file)?;
    let architecture = architecture(arguments)?;
    let recorded = Recorded::read(traces)?;
    let selected = recorded.selected(&arguments.filter)?.expect_known()?;
    diagnostic::notes(selected.nothing_left.as_slice());
    // Budgets name what they are about; what is built in may be among it.
    let measured = selected.measured(true);
    let recording = Recording {
        analysis: &selected.analysis,
        measured: &measured,
        architecture: architecture.as_ref(),
    };
    let mut judgements = budget::check(&budgets, &recording);
    // What is broken comes first; otherwise the order of the file.
    judgements.sort_by_key(|it| !it.verdict.is_failure());
    let headline = recorded.headline();
    let shown = budget_file.display().to_string();
    if let Some(target) = &arguments.junit {
        let damage: Vec<String> = headline.iter().cloned().collect();
        let xml = junit(&judgements, &shown, &recorded.name, &damage);
        NewFile::write(target.clone(), |mut out| out.write_all(xml.as_bytes()))?.publish()?;
    }
    let begin = source::span(&recorded.set).map_or(Nanos(0), |span| span.begin);
    let mut left_out = None;
    let printed = print(&judgements, headline.as_deref(), begin, &layout, arguments);
    outcome::unless_closed(printed.map(|it| left_out = it))?;
    diagnostic::notes(left_out.as_slice());
    if let (Some(headline), false) = (&headline, arguments.format == LookFormat::Table) {
        diagnostic::note(headline);
    }
    if arguments.github || is_on_github() {
        let lines = judgements.iter().filter_map(|it| annotation(it, &shown));
        // Commands are heeded on either stream; results on the other one stay what they are.
        lines.for_each(|line| diagnostic::line(&line));
    }
    let is_broken = judgements.iter().any(|it| it.verdict.is_failure());
    Ok(match is_broken {
        true => Outcome::Broken,
        false => recorded.outcome(),
    })
}

/// What to say of limits that were left out.
fn print(
    judgements: &[Judgement],
    headline: Option<&str>,
    begin: Nanos,
    layout: &Layout,
    arguments: &CheckArguments,
) -> anyhow::Result<Option<String>> {
    let is_table = arguments.format == LookFormat::Table;
    // People want to know what is not in order.
    let is_wanted = |it: &&Judgement| {
        !is_table || arguments.all || it.verdict != Verdict::Kept || it.damaged > 0
    };
    let wanted = judgements.iter().filter(is_wanted);
    let mut rows: Vec<JudgementRow<'_>> = wanted.map(JudgementRow::of).collect();
    layout.sort(&mut rows, JudgementRow::cells);
    let left_out = listing::limit(layout, &mut rows);
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        LookFormat::Table => {
            if let Some(headline) = headline {
                writeln!(out, "{}", Palette::for_stdout().alarm(headline))?;
            }
            if !rows.is_empty() {
                let shown = |row: &JudgementRow<'_>, column: &str| row.shown(column, begin);
                let table = listing::table_of(layout, &rows, JudgementRow::cells, shown);
                write!(out, "{table}")?;
            }
            write_summary(&mut out, judgements)?;
        }
        LookFormat::Json => listing::write_json(
            &mut out,
            layout,
            rows.iter().map(JudgementRow::cells),
            || rows.iter().map(|row| row.json(&CHECK)).collect::<Vec<_>>(),
        )?,
        LookFormat::Csv => {
            listing::write_csv(&mut out, layout, rows.iter().map(JudgementRow::cells))?
        }
    }
    out.flush()?;
    Ok(left_out)
}

fn is_on_github() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

fn read(path: &Path) -> anyhow::Result<Vec<Budget>> {
    let shown = path.display();
    if path.is_dir() {
        wrong_usage!("{shown}: this is a folder; the budget file comes first, then the trace");
    }
    let bytes = input_file::read(path, input_file::LARGEST_TEXT)
        .with_context(|| format!("{shown}: cannot be read"))?;
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("{shown}: not UTF-8; a budget file is text");
    };
    budget::read(&text).map_err(|problems| {
        for problem in &problems {
            diagnostic::note(&format!("{shown}: {problem}"));
        }
        let number = units::counted(problems.len() as u64, "problem");
        anyhow::anyhow!("{shown}: not a budget file; {number} to mend, and nothing was checked")
    })
}

fn architecture(arguments: &CheckArguments) -> anyhow::Result<Option<Architecture>> {
    let file = arguments.architecture.as_ref();
    file.map(|path| Ok(file::open(path)?.architecture))
        .transpose()
}

fn init(arguments: &CheckArguments) -> anyhow::Result<Outcome> {
    let mut recorded = Vec::new();
    for run in &arguments.inputs {
        recorded.push(Recorded::read(std::slice::from_ref(run))?);
    }
    let mut analyses = Vec::new();
    for run in &recorded {
        let selected = run.selected(&arguments.filter)?.expect_known()?;
        diagnostic::notes(selected.nothing_left.as_slice());
        let measured = selected.measured(false);
        analyses.push((selected.analysis, measured));
    }
    let runs = analyses.iter().map(|(analysis, measured)| Recording {
        analysis,
        measured,
        architecture: None,
    });
    let runs: Vec<Recording<'_>> = runs.collect();
    let names: Vec<String> = arguments.inputs.iter().map(|it| folder_name(it)).collect();
    let made = budget::init::generate(&runs, arguments.margin.0, &names.join(", "));
    match &arguments.output {
        Some(target) => {
            let shown = target.display();
            if target.exists() {
                bail!(
                    "{shown}: exists already, and somebody may have edited it; remove it, or choose another name"
                );
            }
            NewFile::write(target.clone(), |mut out| {
                out.write_all(made.text.as_bytes())
            })?
            .publish()?;
            diagnostic::note(&format!("{shown}: {}", summary(&made, runs.len())));
        }
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(made.text.as_bytes())?;
            out.flush()?;
            diagnostic::note(&summary(&made, runs.len()));
        }
    }
    if runs.len() == 1 {
        diagnostic::note(
            "one run does not show what varies from run to run; `rostrace check --init RUN1 RUN2 …` of five runs does",
        );
    }
    for run in &recorded {
        if let Some(headline) = run.headline() {
            diagnostic::note(&format!(
                "{}: {headline}; a run to measure others by should be complete",
                run.name
            ));
        }
    }
    let outcomes = recorded.iter().map(Recorded::outcome);
    Ok(outcomes
        .into_iter()
        .find(|it| *it != Outcome::Fine)
        .unwrap_or(Outcome::Fine))
}

fn summary(made: &budget::init::Generated, runs: usize) -> String {
    let runs = units::counted(runs as u64, "run");
    let mut text = format!(
        "{} from {runs}",
        units::counted(made.limits as u64, "limit")
    );
    if made.too_noisy > 0 {
        let statistics = units::counted(made.too_noisy as u64, "statistic");
        text += &format!("; {statistics} left out, because noise would break any useful limit");
    }
    text
}

/// A file that is kept in git should not tell where somebody keeps recordings.
fn folder_name(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = real.file_name().unwrap_or(real.as_os_str());
    name.to_string_lossy().into_owned()
}

fn write_summary(out: &mut impl Write, judgements: &[Judgement]) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    let failed = judgements
        .iter()
        .filter(|it| it.verdict.is_failure())
        .count();
    let kept = judgements
        .iter()
        .filter(|it| it.verdict == Verdict::Kept)
        .count();
    let skipped = judgements.len() - failed - kept;
    let mut summary = format!(
        "{} checked: {failed} broken, {kept} kept",
        units::counted(judgements.len() as u64, "limit")
    );
    if skipped > 0 {
        summary += &format!(", {skipped} skipped");
    }
    match failed {
        0 => writeln!(out, "{summary}")?,
        _ => writeln!(out, "{}", palette.alarm(&summary))?,
    }
    Ok(())
}
