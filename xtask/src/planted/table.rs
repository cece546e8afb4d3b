//! The tally of all cases, by kind.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::claim::{How, Switches};
use super::judge::{Verdict, judge};
use super::made_up;
use super::run::Case;
use super::truth::Truth;

#[derive(Debug, Default, Clone)]
pub(super) struct KindRow {
    pub(super) cases: usize,
    pub(super) right: usize,
    half: usize,
    closed: usize,
    pub(super) wrong: usize,
    /// Largest part is a closed box.
    largest_closed: usize,
    /// It is called one.
    called_closed: usize,
    error: i64,
}

impl KindRow {
    fn add(&mut self, other: &KindRow) {
        self.cases += other.cases;
        self.right += other.right;
        self.half += other.half;
        self.closed += other.closed;
        self.wrong += other.wrong;
        self.largest_closed += other.largest_closed;
        self.called_closed += other.called_closed;
        self.error = self.error.max(other.error);
    }

    pub(super) fn share_right(&self) -> f64 {
        self.right as f64 / self.cases.max(1) as f64
    }

    fn line(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {:.3} |\n",
            self.cases,
            self.right,
            self.half,
            self.closed,
            self.wrong,
            self.largest_closed,
            self.error as f64 / 1e6
        )
    }
}

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<String, KindRow>,
    /// What was not right, with the line that runs it again.
    pub(super) complaints: Vec<String>,
    left_out: BTreeMap<String, String>,
    truths: Vec<(Truth, How)>,
}

impl Table {
    pub(super) fn add(&mut self, kind: &str, seed: u64, is_refused: bool, case: Case) {
        let verdict = case.judgement.verdict;
        let is = |it: Verdict| usize::from(verdict == it);
        let row = KindRow {
            cases: 1,
            right: is(Verdict::Right),
            half: is(Verdict::Half),
            closed: is(Verdict::Closed),
            wrong: is(Verdict::Wrong),
            largest_closed: usize::from(case.is_largest_closed),
            called_closed: usize::from(case.is_largest_called_closed),
            error: case.judgement.error,
        };
        self.rows.entry(kind.to_owned()).or_default().add(&row);
        if verdict != Verdict::Right {
            let refused = if is_refused { " --refused" } else { "" };
            let mut text = format!(
                "{verdict:?}: cargo xtask planted --only {kind} --seed {seed} --cases 1{refused}: {}",
                case.judgement.sentence
            );
            let mut longest: Vec<_> = case.answer.parts.iter().collect();
            longest.sort_by_key(|part| std::cmp::Reverse(part.duration));
            for part in longest.iter().take(3) {
                let _ = write!(
                    text,
                    "\n    {:.3} ms {} {} {}",
                    part.duration as f64 / 1e6,
                    part.cause,
                    part.callback,
                    part.relation
                );
            }
            self.complaints.push(text);
        }
        self.truths.push((case.truth, case.how));
    }

    pub(super) fn leave_out(&mut self, kind: &str, reason: &str) {
        self.left_out.insert(kind.to_owned(), reason.to_owned());
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, &KindRow)> {
        self.rows.iter().map(|(kind, row)| (kind.as_str(), row))
    }

    /// Whether context switches were recorded in any case.
    pub(super) fn has_switches(&self) -> bool {
        self.truths
            .iter()
            .any(|(_, how)| how.switches == Switches::Recorded)
    }

    pub(super) fn all(&self) -> KindRow {
        let mut all = KindRow::default();
        for row in self.rows.values() {
            all.add(row);
        }
        all
    }

    /// The judge, judged with the truths of these cases: why it cannot be trusted, if it cannot.
    pub(super) fn distrust(&self) -> Option<String> {
        let right = |answer: &dyn Fn(usize, &Truth) -> super::answer::Answer| {
            let cases = self.truths.iter().enumerate();
            cases
                .filter(|(at, (truth, how))| {
                    judge(truth, &answer(*at, truth), *how).verdict == Verdict::Right
                })
                .count()
        };
        let count = self.truths.len();
        let perfect = right(&|_, truth| made_up::perfect(truth));
        if perfect != count {
            return Some(format!(
                "a perfect answer is right in {perfect} of {count} cases only"
            ));
        }
        if self.rows.len() < 6 || count < 12 {
            return None;
        }
        let permuted = right(&|at, truth| {
            let (other, _) = &self.truths[(at + 1) % count];
            made_up::moved(&made_up::perfect(other), truth)
        });
        if permuted * 4 > count {
            return Some(format!(
                "the answers to other questions are right in {permuted} of {count} cases"
            ));
        }
        for cause in [
            "blocked",
            "execution",
            "other_callback",
            "preempted",
            "lost",
        ] {
            let always = right(&|_, truth| made_up::always(truth, cause));
            if always * 4 > count {
                return Some(format!(
                    "who always says `{cause}` is right in {always} of {count} cases"
                ));
            }
        }
        None
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "| planted | cases | right | half | closed box | wrong | largest part closed | worst error of size ms |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        for (kind, row) in &self.rows {
            text += &row.line(kind);
        }
        let all = self.all();
        text += &all.line(&format!("all {} kinds", self.rows.len()));
        let share = |count: usize| 100.0 * count as f64 / all.cases.max(1) as f64;
        let _ = writeln!(
            text,
            "\n{:.1} % right, {:.1} % half, {:.1} % closed boxes, {:.1} % wrong; the largest part is a closed box in {:.1} %, \
             and is called `execution`, `middleware or executor` or `timer lateness` in {:.1} %.",
            share(all.right),
            share(all.half),
            share(all.closed),
            share(all.wrong),
            share(all.largest_closed),
            share(all.called_closed)
        );
        let recorded = (self.truths.iter())
            .filter(|(_, how)| how.switches == Switches::Recorded)
            .count();
        let _ = writeln!(
            text,
            "Context switches were recorded in {recorded} of {} cases.",
            all.cases
        );
        for (kind, reason) in &self.left_out {
            let _ = writeln!(text, "LEFT OUT: {kind}: {reason}");
        }
        text
    }
}
