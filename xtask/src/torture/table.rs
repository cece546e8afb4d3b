//! The tally of all runs, as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::judge::Kind;
use super::run::Outcome;

#[derive(Debug, Default)]
struct Row {
    runs: u64,
    crashes: u64,
    hangs: u64,
    differences: u64,
    others: u64,
    worst: u64,
    worst_without: u64,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<String, Row>,
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
        let row = self.rows.entry(case.to_owned()).or_default();
        row.runs += 1;
        row.worst = row.worst.max(outcome.worst);
        row.worst_without = row.worst_without.max(outcome.worst_without);
        let mut kinds: Vec<Kind> = outcome
            .failures
            .iter()
            .map(|failure| failure.kind)
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            match kind {
                Kind::Crash => row.crashes += 1,
                Kind::Hang => row.hangs += 1,
                Kind::Accounting => row.differences += 1,
                _ => row.others += 1,
            }
        }
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
        let mut all = Row::default();
        let line = |text: &mut String, name: &str, row: &Row| {
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {} | {} | {:.1} | {:.1} |",
                row.runs,
                row.crashes,
                row.hangs,
                row.differences,
                row.others,
                row.worst as f64 / 1e3,
                row.worst_without as f64 / 1e3,
            );
        };
        for (name, row) in &self.rows {
            line(&mut text, name, row);
            all.runs += row.runs;
            all.crashes += row.crashes;
            all.hangs += row.hangs;
            all.differences += row.differences;
            all.others += row.others;
            all.worst = all.worst.max(row.worst);
            all.worst_without = all.worst_without.max(row.worst_without);
        }
        line(
            &mut text,
            &format!("all {} programs", self.rows.len()),
            &all,
        );
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
                Failure::new(Kind::Crash, "it died"),
                Failure::new(Kind::Accounting, "three are missing"),
                Failure::new(Kind::Accounting, "four too many"),
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
