//! How the columns that summarise many values are explained, wherever they are.

pub(super) const MIN: &str = "the least of them";
pub(super) const MEAN: &str = "their mean";
pub(super) const P50: &str = "their median: half of them are at most this";
pub(super) const P90: &str = "their 90th percentile: nine of ten are at most this";
pub(super) const P99: &str = "their 99th percentile: all but one of a hundred are at most this";
