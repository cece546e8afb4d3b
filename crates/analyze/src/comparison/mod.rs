//! Two recordings, or two groups of them, side by side: what got slower or faster beyond the noise, what appeared, disappeared or was renamed.
//!
//! `identity` says which thing is which, `subject` lists what is measured of both, `bootstrap` draws samples again to see how much chance could
//! have done, `verdict` judges each statistic against a margin, and `multiplicity` corrects for the number of comparisons. docs/guides/compare.md tells
//! people the same.

mod autocorrelation;
mod bootstrap;
mod effect;
mod identity;
mod metric;
mod multiplicity;
mod random;
pub(crate) mod student;
mod subject;
mod verdict;

use serde::Serialize;

use crate::measured::Measured;
use bootstrap::Pool;
use subject::Job;

pub use identity::{Change, Structural, ThingKind};
pub use metric::{Metric, Statistic, Unit};
pub use verdict::{Difference, Verdict};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Options {
    /// A difference matters if it is larger than this share of the base value …
    pub threshold: f64,
    /// … and than this many nanoseconds …
    #[serde(rename = "floor_ns")]
    pub floor: i64,
    /// … or, of shares, than this part of the whole.
    pub share_floor: f64,
    /// Of differences that are reported, so large a share may be chance.
    pub level: f64,
    /// How often samples are drawn again.
    pub resamples: usize,
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threshold: 0.05,
            floor: 50_000,
            share_floor: 0.01,
            level: 0.05,
            resamples: 500,
            seed: 1,
        }
    }
}

/// How many values one side has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Side {
    pub values: usize,
    /// Those that touch a time in which events were lost.
    pub damaged: u64,
}

/// One metric of one thing on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedMetric {
    pub kind: ThingKind,
    /// As people say it, on the new side.
    pub name: String,
    /// If it was called otherwise in the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_name: Option<String>,
    pub metric: Metric,
    pub unit: Unit,
    pub base: Side,
    pub new: Side,
    /// How much more often the new value of a pair is the larger one than the smaller one, from −1 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cliffs_delta: Option<f64>,
    /// Of the statistics that there are enough values for.
    pub differences: Vec<Difference>,
    pub verdict: Verdict,
}

impl ComparedMetric {
    /// The statistic that the verdict is about: of those with this verdict the one that differs most, compared with its margin.
    pub fn main(&self) -> Option<&Difference> {
        let decisive = self
            .differences
            .iter()
            .filter(|it| it.verdict == self.verdict);
        let size = |it: &&Difference| it.difference.abs() / it.margin.max(f64::MIN_POSITIVE);
        decisive.max_by(|a, b| size(a).total_cmp(&size(b)))
    }

    pub fn is_damaged(&self) -> bool {
        self.base.damaged > 0 || self.new.damaged > 0
    }

    fn weight(&self) -> f64 {
        self.main().map_or(0.0, |it| {
            it.difference.abs() / it.margin.max(f64::MIN_POSITIVE)
        })
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub options: Options,
    /// Worse first, then better, then what could not be decided, then what is the same; what differs most comes first.
    pub rows: Vec<ComparedMetric>,
    pub changes: Vec<Structural>,
}

impl Comparison {
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &ComparedMetric> {
        self.rows.iter().filter(move |row| row.verdict == verdict)
    }

    pub fn count(&self, verdict: Verdict) -> usize {
        self.with(verdict).count()
    }
}

/// Compares groups of recordings; a group may have one.
pub fn compare(base: &[Measured], new: &[Measured], options: &Options) -> Comparison {
    let (jobs, changes) = subject::jobs(base, new);
    let mut rows = compute(&jobs, options);
    let probabilities: Vec<f64> = rows
        .iter()
        .flat_map(|row| row.differences.iter().map(|it| it.p))
        .collect();
    let mut adjusted = multiplicity::adjusted(&probabilities).into_iter();
    for row in &mut rows {
        for difference in &mut row.differences {
            difference.decide(row.metric, adjusted.next().unwrap_or(1.0), options);
        }
        row.verdict = verdict_of(&row.differences);
    }
    rows.sort_by(|a, b| {
        (a.verdict.cmp(&b.verdict))
            .then(b.weight().total_cmp(&a.weight()))
            .then_with(|| (a.kind, &a.name, a.metric).cmp(&(b.kind, &b.name, b.metric)))
    });
    Comparison {
        options: *options,
        rows,
        changes,
    }
}

/// Slower in one statistic is slower, whatever the others say.
fn verdict_of(differences: &[Difference]) -> Verdict {
    let has = |verdict| differences.iter().any(|it| it.verdict == verdict);
    let all_same = differences.iter().all(|it| it.verdict == Verdict::Same);
    match () {
        () if has(Verdict::Worse) => Verdict::Worse,
        () if has(Verdict::Better) => Verdict::Better,
        () if all_same && !differences.is_empty() => Verdict::Same,
        () => Verdict::Undecided,
    }
}

/// On all processors; what is drawn for a row depends on its name alone, so the result does not depend on how many these are.
fn compute(jobs: &[Job], options: &Options) -> Vec<ComparedMetric> {
    rostrace_base::parallel::on_all_processors(jobs, |job| row(job, options))
}

fn row(job: &Job, options: &Options) -> ComparedMetric {
    let values = (job.base.len(), job.new.len());
    let (base, new) = (Pool::new(&job.base), Pool::new(&job.new));
    let name = format!("{} {}", job.name, job.metric.name());
    let sorted = base.sorted().zip(new.sorted());
    let differences = match values {
        (0, _) | (_, 0) => Vec::new(),
        _ => verdict::differences(job.metric, &base, &new, values, options, &name),
    };
    ComparedMetric {
        kind: job.kind,
        name: job.name.clone(),
        base_name: job.base_name.clone(),
        metric: job.metric,
        unit: job.metric.unit(),
        base: Side {
            values: values.0,
            damaged: job.damaged.0,
        },
        new: Side {
            values: values.1,
            damaged: job.damaged.1,
        },
        cliffs_delta: sorted.and_then(|(base, new)| effect::cliffs_delta(base, new)),
        differences,
        verdict: Verdict::Undecided,
    }
}
