//! What is compared: each metric declared once, with its unit, its statistics and which way is worse.

use serde::Serialize;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Statistic {
        P50 = "p50",
        P95 = "p95",
        P99 = "p99",
        /// One sum divided by another: a rate, a share.
        Mean = "mean",
    }
}

impl Statistic {
    /// As in a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            Statistic::P50 => "median",
            Statistic::P95 => "p95",
            Statistic::P99 => "p99",
            Statistic::Mean => "",
        }
    }

    pub(super) fn per_mille(self) -> usize {
        match self {
            Statistic::P50 | Statistic::Mean => 500,
            Statistic::P95 => 950,
            Statistic::P99 => 990,
        }
    }

    /// With fewer values a percentile is one of a handful, and says nothing that could be compared.
    pub(super) fn least_values(self) -> usize {
        match self {
            Statistic::P50 | Statistic::Mean => 20,
            Statistic::P95 => 200,
            Statistic::P99 => 1000,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Nanoseconds,
    Hertz,
    /// A part of a whole, 1 for all of it.
    Share,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Metric {
        /// Of a path or a communication: first publication to last callback.
        Latency = "latency",
        /// Of a callback: start to end.
        Duration = "duration",
        /// Of a timer: from when it was due to the start of the callback.
        Lateness = "lateness",
        /// Of a callback: start to next start.
        Period = "period",
        /// Of a callback: time in it, divided by the time from its first start to its last.
        Load = "load",
        /// Of a topic: messages per second between the first one and the last one.
        Rate = "rate",
        /// Of a communication: messages that did not arrive, divided by all whose fate is known.
        Drops = "drops",
    }
}

impl Metric {
    pub fn unit(self) -> Unit {
        match self {
            Metric::Latency | Metric::Duration | Metric::Lateness | Metric::Period => {
                Unit::Nanoseconds
            }
            Metric::Load | Metric::Drops => Unit::Share,
            Metric::Rate => Unit::Hertz,
        }
    }

    pub fn statistics(self) -> &'static [Statistic] {
        match self.unit() {
            Unit::Nanoseconds => &[Statistic::P50, Statistic::P95, Statistic::P99],
            Unit::Hertz | Unit::Share => &[Statistic::Mean],
        }
    }

    /// Less is worse of a rate alone.
    pub fn more_is_worse(self) -> bool {
        self != Metric::Rate
    }
}
