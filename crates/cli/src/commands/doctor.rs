//! `rostrace doctor`: what can be recorded here, what cannot, and the line that mends it.

use std::io::Write;

use rostrace_analyze::blind_spot;
use rostrace_record::doctor::{self, Check, Verdict, can_record, checks};
use rostrace_record::{RuntimeFolder, Session};
use serde::Serialize;

use super::record::arguments::DoctorArguments;
use super::record::library;
use super::status;
use crate::args::InfoFormat;
use crate::outcome::Outcome;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table};

/// As `--format json` shows it. Its field names are a contract.
#[derive(Debug, Serialize)]
struct DoctorAnswer<'a> {
    can_record: bool,
    checks: &'a [Check],
}

pub(crate) fn doctor(arguments: &DoctorArguments) -> anyhow::Result<Outcome> {
    let mut checks = checks(&library());
    checks.extend(hidden_calls());
    let can_record = can_record(&checks);
    let mut out = std::io::stdout().lock();
    match arguments.format {
        InfoFormat::Json => {
            let answer = DoctorAnswer {
                can_record,
                checks: &checks,
            };
            serde_json::to_writer_pretty(&mut out, &answer).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        InfoFormat::Table => write_table(&mut out, &checks, can_record)?,
    }
    out.flush()?;
    Ok(match can_record {
        true => Outcome::Fine,
        false => Outcome::Refused,
    })
}

/// What recordings will not have because calls go past the tracer, in what is installed and in what runs.
fn hidden_calls() -> Vec<Check> {
    let functions: Vec<_> = rostrace_tracer::hooks::called_within().collect();
    let subjects = |functions: &[&str]| blind_spot::subjects(functions.iter().copied());
    let mut checks = doctor::hidden_calls(&functions, &subjects);
    let sessions = RuntimeFolder::of_user().and_then(|runtime| Session::all(&runtime));
    for session in sessions.unwrap_or_default() {
        let sentences = session.processes();
        let sentences = sentences.iter().filter_map(status::hidden_calls);
        checks.extend(sentences.map(|it| doctor::process(Verdict::Warning, it)));
    }
    checks
}

fn write_table(out: &mut impl Write, checks: &[Check], can_record: bool) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left)]);
    for check in checks {
        let verdict = match check.verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Missing => "missing",
            Verdict::Broken => "BROKEN",
        };
        let name = format!("{} · {}", check.group, check.name);
        table.row([verdict, name.as_str(), check.found.as_str()]);
        if let Some(fix) = &check.fix {
            table.row(["", "", &format!("→ {fix}")]);
        }
    }
    write!(out, "{table}")?;
    let verdict = match can_record {
        true => palette.heading("Processes can be recorded here: rostrace record -- COMMAND…"),
        false => palette.alarm("Nothing can be recorded here as long as something is BROKEN."),
    };
    writeln!(out, "\n {verdict}")?;
    Ok(())
}
