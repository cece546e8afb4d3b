//! The tally of all runs, as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::judge::FailureKind;
use super::run::Outcome;

#[derive(Debug, Default)]
struct ProgramRow {
    /// Runs, crashes, hangs, differences of accounts, other failures.
    counts: [u64; 5],
    worst: u64,
    worst_without: u64,
}

impl ProgramRow {
    fn add(&mut self, other: &ProgramRow) {
        for (mine, more) in self.counts.iter_mut().zip(other.counts) {
            *mine += more;
        }
        self.worst = self.worst.max(other.worst);
        self.worst_without = self.worst_without.max(other.worst_without);
    }

    fn line(&self, name: &str) -> String {
        let counts = self.counts.map(|count| count.to_string()).join(" | ");
        let micros = [self.worst, self.worst_without].map(|nanos| nanos as f64 / 1e3);
        format!(
            "| {name} | {counts} | {:.1} | {:.1} |\n",
            micros[0], micros[1]
        )
    }
}

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<String, ProgramRow>,
    /// What failed, with the line that runs it again.
    failures: Vec<String>,
    left_out: BTreeMap<String, String>,
}

impl Table {
    pub(super) fn add(&mut self, case: &str, way: &str, seed: u64, outcome: &Outcome) {
        if let Some(reason) = &outcome.left_out {
            self.leave_out(case, reason);
            return;
        }
        let has = |is_it: fn(FailureKind) -> bool| {
            let kinds = outcome.failures.iter().map(|failure| failure.kind);
            kinds
                .filter(|kind| is_it(*kind))
                .collect::<BTreeSet<_>>()
                .len() as u64
        };
        let row = ProgramRow {
            counts: [
                1,
                has(|kind| kind == FailureKind::Crash),
                has(|kind| kind == FailureKind::Hang),
                has(|kind| kind == FailureKind::Accounting),
                has(|kind| {
                    !matches!(
                        kind,
                        FailureKind::Crash | FailureKind::Hang | FailureKind::Accounting
                    )
                }),
            ],
            worst: outcome.worst,
            worst_without: outcome.worst_without,
        };
        self.rows.entry(case.to_owned()).or_default().add(&row);
        if outcome.failures.is_empty() {
            return;
        }
        let unit = if way.is_empty() {
            case.to_owned()
        } else {
            format!("{case}/{way}")
        };
        let mut text = format!("cargo xtask torture --only {unit} --seed {seed}");
        for failure in &outcome.failures {
            let _ = write!(text, "\n    {}: {}", failure.kind, failure.sentence);
        }
        self.failures.push(text);
    }

    pub(super) fn leave_out(&mut self, what: &str, reason: &str) {
        self.left_out.insert(what.to_owned(), reason.to_owned());
    }

    pub(super) fn add_failure(&mut self, sentence: String) {
        self.failures.push(sentence);
    }

    pub(super) fn failed(&self) -> usize {
        self.failures.len()
    }

    /// The table, the failures, what was left out, and one line for all.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "| program | runs | crashes | hangs | accounting | other failures | longest tracepoint µs | without tracer µs |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        let mut all = ProgramRow::default();
        for (name, row) in &self.rows {
            text += &row.line(name);
            all.add(row);
        }
        text += &all.line(&format!("all {} programs", self.rows.len()));
        for failure in &self.failures {
            let _ = write!(text, "\nFAILED: {failure}\n");
        }
        if !self.left_out.is_empty() {
            text.push('\n');
        }
        for (what, reason) in &self.left_out {
            let _ = writeln!(text, "LEFT OUT: {what}: {reason}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::Failure;
    use super::*;

    #[test]
    fn a_failure_is_counted_once_for_each_kind_and_can_be_run_again() {
        let outcome = Outcome {
            failures: vec![
                Failure::new(FailureKind::Crash, "it died"),
                Failure::new(FailureKind::Accounting, "three are missing"),
                Failure::new(FailureKind::Accounting, "four too many"),
            ],
            worst: 2_500,
            ..Outcome::default()
        };
        let mut table = Table::default();
        table.add("steady", "record", 7, &outcome);
        table.add("steady", "idle", 8, &Outcome::default());
        table.leave_out("tsan", "does not start");
        let text = table.text();
        assert!(
            text.contains("| steady | 2 | 1 | 0 | 1 | 0 | 2.5 | 0.0 |"),
            "{text}"
        );
        assert!(
            text.contains("cargo xtask torture --only steady/record --seed 7\n    crash: it died"),
            "{text}"
        );
        assert!(text.contains("LEFT OUT: tsan: does not start"), "{text}");
        assert_eq!(table.failed(), 1);
    }
}
