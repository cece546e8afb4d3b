//! The keys of a budget file, declared once: the reader, its messages and the reference page come from here.

use crate::statistics::Statistics;

/// What is measured of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    Duration,
    Period,
    Lateness,
    Load,
    Rate,
    Drops,
    Latency,
    ResponseTime,
    BestResponseTime,
}

/// What a budget is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubjectKind {
    Callback,
    Topic,
    Path,
}

impl SubjectKind {
    pub const EVERY: [SubjectKind; 3] =
        [SubjectKind::Callback, SubjectKind::Topic, SubjectKind::Path];

    pub fn name(self) -> &'static str {
        match self {
            SubjectKind::Callback => "callback",
            SubjectKind::Topic => "topic",
            SubjectKind::Path => "path",
        }
    }
}

/// Which values are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Duration,
    Rate,
    Share,
    CountOrShare,
}

impl ValueKind {
    /// As a message says what is expected.
    pub fn expected(self) -> &'static str {
        match self {
            ValueKind::Duration => "a time with its unit, such as 20ms",
            ValueKind::Rate => "a rate with its unit, such as 9.5Hz",
            ValueKind::Share => "a share, such as 30%",
            ValueKind::CountOrShare => "a number or a share, such as 0 or 1%",
        }
    }
}

/// Which statistic has to be within the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// No value is smaller.
    Min,
    Mean,
    P50,
    P90,
    P95,
    P99,
    P99_9,
    /// No value is larger.
    Max,
}

impl Bound {
    pub const EVERY: [Bound; 8] = [
        Bound::Min,
        Bound::Mean,
        Bound::P50,
        Bound::P90,
        Bound::P95,
        Bound::P99,
        Bound::P99_9,
        Bound::Max,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Bound::Min => "min",
            Bound::Mean => "mean",
            Bound::P50 => "p50",
            Bound::P90 => "p90",
            Bound::P95 => "p95",
            Bound::P99 => "p99",
            Bound::P99_9 => "p99.9",
            Bound::Max => "max",
        }
    }

    /// Of a percentile.
    pub(super) fn per_mille(self) -> Option<u16> {
        match self {
            Bound::P50 => Some(500),
            Bound::P90 => Some(900),
            Bound::P95 => Some(950),
            Bound::P99 => Some(990),
            Bound::P99_9 => Some(999),
            Bound::Min | Bound::Mean | Bound::Max => None,
        }
    }

    /// Its value.
    pub(super) fn of(self, statistics: &Statistics) -> f64 {
        match self {
            Bound::Min => statistics.min as f64,
            Bound::Mean => statistics.mean,
            Bound::P50 => statistics.p50 as f64,
            Bound::P90 => statistics.p90 as f64,
            Bound::P95 => statistics.p95 as f64,
            Bound::P99 => statistics.p99 as f64,
            Bound::P99_9 => statistics.p99_9 as f64,
            Bound::Max => statistics.max as f64,
        }
    }

    /// With fewer values it is simply the largest of them.
    pub fn least_values(self) -> usize {
        match self {
            Bound::P90 => 10,
            Bound::P95 => 20,
            Bound::P99 => 100,
            Bound::P99_9 => 1000,
            Bound::Min | Bound::Mean | Bound::P50 | Bound::Max => 1,
        }
    }
}

/// A measure as a key.
#[derive(Debug)]
pub struct MeasureKey {
    pub measure: Measure,
    pub name: &'static str,
    pub of: &'static [SubjectKind],
    pub values: ValueKind,
    pub bounds: &'static [Bound],
    pub about: &'static str,
}

const BETWEEN: &[Bound] = &[Bound::Min, Bound::Max];

pub const MEASURES: &[MeasureKey] = &[
    MeasureKey {
        measure: Measure::Duration,
        name: "duration",
        of: &[SubjectKind::Callback],
        values: ValueKind::Duration,
        bounds: &Bound::EVERY,
        about: "Start to end of an execution.",
    },
    MeasureKey {
        measure: Measure::Period,
        name: "period",
        of: &[SubjectKind::Callback, SubjectKind::Topic],
        values: ValueKind::Duration,
        bounds: &Bound::EVERY,
        about: "From one start to the next; of a topic from one message to the next, whoever publishes it.",
    },
    MeasureKey {
        measure: Measure::Lateness,
        name: "lateness",
        of: &[SubjectKind::Callback],
        values: ValueKind::Duration,
        bounds: &Bound::EVERY,
        about: "From when an execution should have begun (a timer was due, a message was published) to its start.",
    },
    MeasureKey {
        measure: Measure::Load,
        name: "load",
        of: &[SubjectKind::Callback],
        values: ValueKind::Share,
        bounds: &[Bound::Max],
        about: "Time in the callback, divided by the time from its first start to its last.",
    },
    MeasureKey {
        measure: Measure::Rate,
        name: "rate",
        of: &[SubjectKind::Callback, SubjectKind::Topic],
        values: ValueKind::Rate,
        bounds: BETWEEN,
        about: "Executions or messages per second between the first and the last. With `allowed`: in each second.",
    },
    MeasureKey {
        measure: Measure::Drops,
        name: "drops",
        of: &[SubjectKind::Topic],
        values: ValueKind::CountOrShare,
        bounds: &[Bound::Max],
        about: "Messages that a subscription did not receive although it got earlier and later ones, or that were pushed out of a full buffer; \
                for each pair of nodes.",
    },
    MeasureKey {
        measure: Measure::Latency,
        name: "latency",
        of: &[SubjectKind::Topic, SubjectKind::Path],
        values: ValueKind::Duration,
        bounds: &Bound::EVERY,
        about: "Of a topic from the publication to the start of the callback, for each pair of nodes; of a path from the first publication to the start \
                of the last callback.",
    },
    MeasureKey {
        measure: Measure::ResponseTime,
        name: "response_time",
        of: &[SubjectKind::Path],
        values: ValueKind::Duration,
        bounds: &Bound::EVERY,
        about: "Of a path that an architecture file names: from the oldest input of an output to that output (the worst case).",
    },
    MeasureKey {
        measure: Measure::BestResponseTime,
        name: "best_response_time",
        of: &[SubjectKind::Path],
        values: ValueKind::Duration,
        bounds: &Bound::EVERY,
        about: "The same from the youngest input (the best case).",
    },
];

impl Measure {
    pub fn key(self) -> &'static MeasureKey {
        MEASURES
            .iter()
            .find(|key| key.measure == self)
            .unwrap_or(&MEASURES[0])
    }

    pub fn name(self) -> &'static str {
        self.key().name
    }
}

/// A key that is no measure.
#[derive(Debug)]
pub struct OtherKey {
    pub name: &'static str,
    pub of: &'static [SubjectKind],
    pub value: &'static str,
    pub about: &'static str,
}

pub const OTHERS: &[OtherKey] = &[
    OtherKey {
        name: "callback",
        of: &[SubjectKind::Callback],
        value: "pattern",
        about: "Callbacks whose node, or whose name as `rostrace callbacks` prints it, fits.",
    },
    OtherKey {
        name: "trigger",
        of: &[SubjectKind::Callback],
        value: "pattern",
        about: "Of those, the ones for this topic or service, or `timer 100 ms`.",
    },
    OtherKey {
        name: "topic",
        of: &[SubjectKind::Topic],
        value: "pattern",
        about: "Topics whose name fits.",
    },
    OtherKey {
        name: "publisher",
        of: &[SubjectKind::Topic],
        value: "pattern",
        about: "For `latency` and `drops`: only messages of nodes that fit.",
    },
    OtherKey {
        name: "subscriber",
        of: &[SubjectKind::Topic],
        value: "pattern",
        about: "For `latency` and `drops`: only messages to nodes that fit.",
    },
    OtherKey {
        name: "path",
        of: &[SubjectKind::Path],
        value: "`{ from: pattern, to: pattern }`, or a name",
        about: "Paths that messages were seen to take from a node or topic to another; or a path that the file of `--architecture` names.",
    },
    OtherKey {
        name: "allowed",
        of: &SubjectKind::EVERY,
        value: "`{ ratio: share, run: number }`",
        about: "So many values may be beyond `min` or `max`, and so many of them in a row; without it, none.",
    },
    OtherKey {
        name: "optional",
        of: &SubjectKind::EVERY,
        value: "`true` or `false`",
        about: "If true, it is no failure that nothing fits, or that what fits did nothing.",
    },
];

/// All keys that a budget about this may have.
pub(super) fn known(kind: SubjectKind) -> impl Iterator<Item = &'static str> {
    let others = OTHERS.iter().filter(move |key| key.of.contains(&kind));
    let measures = MEASURES.iter().filter(move |key| key.of.contains(&kind));
    others
        .map(|key| key.name)
        .chain(measures.map(|key| key.name))
}

/// `docs/reference/budgets.md`.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Budget files\n\n<!-- Made from crates/analyze by `cargo xtask docs`. Do not edit by hand. -->\n\n\
         What `rostrace check` reads; [the guide](../guides/check.md) shows how to use it. A file has one key, `budgets`, with a list. Each budget is \
         about callbacks, topics or paths, and has at least one measure. In patterns `*` stands for any text, `?` for any character, `[ab]` for one of \
         these.\n",
    );
    for kind in SubjectKind::EVERY {
        page += &format!(
            "\n## `{}`\n\n| key | value | meaning |\n|---|---|---|\n",
            kind.name()
        );
        for key in OTHERS.iter().filter(|key| key.of.contains(&kind)) {
            page += &format!("| `{}` | {} | {} |\n", key.name, key.value, key.about);
        }
        for key in MEASURES.iter().filter(|key| key.of.contains(&kind)) {
            let bounds: Vec<&str> = key.bounds.iter().map(|it| it.name()).collect();
            let value = format!(
                "limits (`{}`): {}",
                bounds.join("`, `"),
                key.values.expected()
            );
            page += &format!("| `{}` | {value} | {} |\n", key.name, key.about);
        }
    }
    page += "\n## Limits\n\n`min` is the least that any value may be, `max` the most; the others are the most that this statistic may be. Percentiles \
             are nearest ranks. Times have a unit (`ns`, `us`, `ms`, `s`, `min`), rates `Hz` or `kHz`, shares `%`; 0 needs none.\n";
    page
}
