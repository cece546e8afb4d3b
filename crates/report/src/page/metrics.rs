//! Values of several metrics of one thing, over time and as distributions.

use std::collections::BTreeMap;

use serde::Serialize;

use super::columns::{ColumnReference, Columns};
use super::distribution::Distribution;
use super::series::{Allowance, Series};

/// By the names of the metrics.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Metrics {
    series: BTreeMap<&'static str, Option<Series>>,
    spread: BTreeMap<&'static str, Option<Distribution>>,
}

impl Metrics {
    /// What is drawn small in a table.
    pub(crate) fn chart(&self, metric: &str) -> Option<ColumnReference> {
        Some(self.series.get(metric)?.as_ref()?.v)
    }
}

/// Writes metrics, with what all series of a part share.
#[derive(Debug)]
pub(crate) struct MetricsWriter<'c> {
    pub(crate) allowance: Allowance,
    pub(crate) columns: &'c mut Columns,
    pub(crate) metrics: Metrics,
}

impl MetricsWriter<'_> {
    /// Without a distribution.
    pub(crate) fn series(&mut self, metric: &'static str, points: &[(i64, i64)]) {
        let series = self.allowance.series(self.columns, points);
        self.metrics.series.insert(metric, series);
    }

    pub(crate) fn durations(&mut self, metric: &'static str, points: &[(i64, i64)]) {
        self.series(metric, points);
        let spread = Distribution::of(self.columns, values(points));
        self.metrics.spread.insert(metric, spread);
    }

    pub(crate) fn counts(&mut self, metric: &'static str, points: &[(i64, i64)]) {
        self.series(metric, points);
        let spread = Distribution::of_counts(self.columns, values(points));
        self.metrics.spread.insert(metric, spread);
    }
}

fn values(points: &[(i64, i64)]) -> Vec<i64> {
    points.iter().map(|point| point.1).collect()
}
