//! What slow executions of a callback do that its usual ones do not, function by function.

use std::collections::HashMap;

use rostrace_model::entity::InstanceId;
use rostrace_symbols::Function;

use super::{Hot, Profile};
use crate::analysis::Analysis;

/// Slow are the slowest of so many, usual those that are not slower than the median.
const ONE_OF: usize = 10;

/// Means of slow and of usual executions; the rows and what no sample tells add up to the durations.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub slow: Executions,
    pub usual: Executions,
    /// By how much longer slow executions are in them, the largest first.
    pub rows: Vec<DifferenceRow>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Executions {
    pub count: usize,
    pub samples: usize,
    /// Nanoseconds, on average.
    pub duration: f64,
    /// Of these, what no sample tells: off the CPU, or in the kernel.
    pub unsampled: f64,
}

/// A function: nanoseconds in each execution on average, with what it called of libraries.
#[derive(Debug, Clone, PartialEq)]
pub struct DifferenceRow {
    pub function: Function,
    pub slow: f64,
    pub usual: f64,
}

impl DifferenceRow {
    pub fn difference(&self) -> f64 {
        self.slow - self.usual
    }
}

/// The slowest tenth of these executions, and those up to the median; nothing if there are too few to compare.
pub fn slow_and_usual(
    analysis: &Analysis<'_>,
    instances: &[InstanceId],
) -> Option<(Vec<InstanceId>, Vec<InstanceId>)> {
    let duration = |id: &InstanceId| {
        let row = analysis.instance(*id);
        row.end.map(|end| end.0 - row.start.0)
    };
    let mut ended: Vec<InstanceId> = (instances.iter().copied())
        .filter(|id| duration(id).is_some())
        .collect();
    if ended.len() < ONE_OF {
        return None;
    }
    ended.sort_by_key(|id| duration(id));
    let slow = ended.split_off(ended.len() - ended.len() / ONE_OF);
    ended.truncate((ended.len() + slow.len()).div_ceil(2));
    Some((slow, ended))
}

impl Difference {
    pub fn of(
        analysis: &Analysis<'_>,
        profile: &Profile,
        instances: &[InstanceId],
    ) -> Option<Difference> {
        let (slow, usual) = slow_and_usual(analysis, instances)?;
        let hot = |instances: &[InstanceId]| {
            let samples = instances.iter();
            Hot::of(
                profile,
                samples.flat_map(|id| profile.of_instance(analysis, *id)),
            )
        };
        let (hot_slow, hot_usual) = (hot(&slow), hot(&usual));
        let period = profile.period() as f64;
        let means = |hot: &Hot, count: usize| -> HashMap<Function, f64> {
            let rows = hot.functions.iter();
            rows.map(|it| {
                (
                    it.function.clone(),
                    it.samples as f64 * period / count as f64,
                )
            })
            .collect()
        };
        let of_slow = means(&hot_slow, slow.len());
        let of_usual = means(&hot_usual, usual.len());
        let functions: Vec<&Function> = of_slow
            .keys()
            .chain(of_usual.keys().filter(|it| !of_slow.contains_key(*it)))
            .collect();
        let mut rows: Vec<DifferenceRow> = (functions.into_iter())
            .map(|function| DifferenceRow {
                function: function.clone(),
                slow: of_slow.get(function).copied().unwrap_or(0.0),
                usual: of_usual.get(function).copied().unwrap_or(0.0),
            })
            .collect();
        rows.sort_by(|a, b| {
            let by_difference = b.difference().total_cmp(&a.difference());
            by_difference.then_with(|| a.function.name.cmp(&b.function.name))
        });
        let executions = |instances: &[InstanceId], hot: &Hot| {
            let durations = instances.iter().map(|id| {
                let row = analysis.instance(*id);
                row.end.map_or(0, |end| end.0 - row.start.0)
            });
            let count = instances.len();
            let duration = durations.sum::<i64>() as f64 / count as f64;
            Executions {
                count,
                samples: hot.samples,
                duration,
                unsampled: duration - hot.samples as f64 * period / count as f64,
            }
        };
        Some(Difference {
            slow: executions(&slow, &hot_slow),
            usual: executions(&usual, &hot_usual),
            rows,
        })
    }
}
