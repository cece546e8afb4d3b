//! What the page tells of the values of a metric, and the columns of the tables that must say the same.

/// The key in the page, and what follows the metric in the name of the column.
pub const STATISTICS: &[(&str, &str)] = &[
    ("min", "min_ns"),
    ("mean", "mean_ns"),
    ("p50", "p50_ns"),
    ("p90", "p90_ns"),
    ("p95", "p95_ns"),
    ("p99", "p99_ns"),
    ("p99_9", "p99_9_ns"),
    ("max", "max_ns"),
    ("deviation", "standard_deviation_ns"),
];
