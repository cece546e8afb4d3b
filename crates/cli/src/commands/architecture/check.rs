//! `rostrace architecture check`: errors, warnings and notes, each with its place in the file.

use std::io::{BufWriter, Write};

use rostrace_architecture::{
    Architecture, Change, Difference, Problem, Refused, Severity, Subject, check as check_whole,
    diff as differences, from_trace, read,
};
use serde::Serialize;

use super::arguments::{CheckArguments, ListFormat};
use super::file;
use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::table::{Align, Table};

#[derive(Serialize)]
struct ProblemRow<'p> {
    severity: &'static str,
    line: Option<usize>,
    column: Option<usize>,
    message: &'p str,
}

pub(super) fn check(arguments: &CheckArguments) -> anyhow::Result<Outcome> {
    let (mut problems, summary) = match read(&file::text(&arguments.file)?) {
        Err(Refused {
            errors,
            warnings,
            others,
        }) => ([errors, warnings, others].concat(), None),
        Ok(reading) => {
            let findings = check_whole(&reading.architecture);
            let problem = |finding: rostrace_architecture::Finding| Problem {
                severity: finding.severity,
                position: reading.positions.get(&finding.element).copied(),
                message: finding.message,
            };
            let found = findings.into_iter().map(problem);
            let mut problems: Vec<Problem> =
                reading.warnings.iter().cloned().chain(found).collect();
            if !arguments.traces.is_empty() {
                let model = Recorded::read(&arguments.traces)?.model;
                problems.extend(misfits(&reading.architecture, &from_trace(&model)));
            }
            let it = &reading.architecture;
            let summary = format!(
                "{}: {}, {}, {}, {}",
                arguments.file.display(),
                counted(it.nodes.len(), "node"),
                counted(it.topics().len(), "topic"),
                counted(it.executors.len(), "executor"),
                counted(it.paths.len(), "named path")
            );
            (problems, Some(summary))
        }
    };
    problems.sort_by_key(|problem| (problem.severity, problem.position));
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        ListFormat::Json => {
            let rows: Vec<ProblemRow<'_>> = (problems.iter())
                .map(|problem| ProblemRow {
                    severity: problem.severity.word(),
                    line: problem.position.map(|it| it.line),
                    column: problem.position.map(|it| it.column),
                    message: &problem.message,
                })
                .collect();
            serde_json::to_writer_pretty(&mut out, &rows).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        ListFormat::Table => {
            if !problems.is_empty() {
                write!(out, "{}", table(&problems))?;
            }
            if let Some(summary) = summary {
                let verdict = if problems.is_empty() {
                    "; nothing to complain about"
                } else {
                    ""
                };
                writeln!(out, "{summary}{verdict}")?;
            }
        }
    }
    out.flush()?;
    Ok(
        match problems
            .iter()
            .all(|problem| problem.severity == Severity::Note)
        {
            true => Outcome::Fine,
            false => Outcome::Refused,
        },
    )
}

/// What the file and the recording disagree about. What the recording lacks may just not have been running.
fn misfits(file: &Architecture, recorded: &Architecture) -> Vec<Problem> {
    // Said by hand, so no recording has it; names of executors and groups are only numbers.
    let of_structure = |difference: &Difference| {
        matches!(
            difference.subject,
            Subject::Node | Subject::Publisher | Subject::Subscription | Subject::Callback
        ) && !matches!(difference.change, Change::Changed(_))
    };
    let problem = |difference: Difference| {
        let place = if difference.node.is_empty() {
            String::new()
        } else {
            format!(" of {}", difference.node)
        };
        let what = format!("{} {}{place}", difference.subject.word(), difference.name);
        let (severity, message) = match difference.change {
            Change::Added => (
                Severity::Warning,
                format!("{what} is recorded, but not in the file"),
            ),
            _ => (
                Severity::Warning,
                format!("{what} is in the file, but was not recorded"),
            ),
        };
        Problem {
            severity,
            position: None,
            message,
        }
    };
    differences(file, recorded)
        .into_iter()
        .filter(of_structure)
        .map(problem)
        .collect()
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

fn table(problems: &[Problem]) -> Table {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    for problem in problems {
        table.row([problem.severity.word(), &problem.to_string()]);
    }
    table
}
