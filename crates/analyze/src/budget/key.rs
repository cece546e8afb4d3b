//! The keys of a budget file, declared once: the reader, its messages and the reference page come from here.

use crate::statistics::Statistics;

named! {
    /// What a budget is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SubjectKind {
        Callback = "callback",
        Topic = "topic",
        Path = "path",
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

named! {
    /// Which statistic has to be within the limit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Bound {
        /// No value is smaller.
        Min = "min",
        Mean = "mean",
        P50 = "p50",
        P90 = "p90",
        P95 = "p95",
        P99 = "p99",
        P99_9 = "p99.9",
        /// No value is larger.
        Max = "max",
    }
}

impl Bound {
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
        let value = match self {
            Bound::Min => statistics.min,
            Bound::Mean => return statistics.mean,
            Bound::P50 => statistics.p50,
            Bound::P90 => statistics.p90,
            Bound::P95 => statistics.p95,
            Bound::P99 => statistics.p99,
            Bound::P99_9 => statistics.p99_9,
            Bound::Max => statistics.max,
        };
        value as f64
    }

    /// With fewer values it is simply the largest of them.
    pub fn least_values(self) -> usize {
        match self.per_mille() {
            None | Some(500) => 1,
            Some(per_mille) => 1000 / usize::from(1000 - per_mille),
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

/// What is measured, each with its key: whom it is of, the values and the bounds that a limit may have, and what it means.
macro_rules! measures {
    ($($measure:ident $name:literal of $($kind:ident)|+, $values:ident, $bounds:expr, $about:literal;)+) => {
        /// What is measured of a subject.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Measure { $($measure,)+ }

        pub const MEASURES: &[MeasureKey] = &[$(MeasureKey {
            measure: Measure::$measure,
            name: $name,
            of: &[$(SubjectKind::$kind),+],
            values: ValueKind::$values,
            bounds: &$bounds,
            about: $about,
        },)+];
    };
}

measures! {
    Duration "duration" of Callback, Duration, Bound::EVERY, "Start to end of an execution.";
    Period "period" of Callback | Topic, Duration, Bound::EVERY, "From one start to the next; of a topic from one message to the next, whoever publishes it.";
    Lateness "lateness" of Callback, Duration, Bound::EVERY, "From when an execution should have begun (a timer was due, a message was published) to its start.";
    Load "load" of Callback, Share, [Bound::Max], "Time in the callback, divided by the time from its first start to its last.";
    Rate "rate" of Callback | Topic, Rate, [Bound::Min, Bound::Max], "Executions or messages per second between the first and the last. With `allowed`: in each second.";
    Drops "drops" of Topic, CountOrShare, [Bound::Max], "Messages that a subscription did not receive although it got earlier and later ones, or that were pushed out of a full buffer; for each pair of nodes.";
    Latency "latency" of Topic | Path, Duration, Bound::EVERY, "Of a topic from the publication to the start of the callback, for each pair of nodes; of a path from the first publication to the start of the last callback.";
    ResponseTime "response_time" of Path, Duration, Bound::EVERY, "Of a path that an architecture file names: from the oldest input of an output to that output (the worst case).";
    BestResponseTime "best_response_time" of Path, Duration, Bound::EVERY, "The same from the youngest input (the best case).";
}

impl Measure {
    pub fn key(self) -> &'static MeasureKey {
        &MEASURES[self as usize]
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

macro_rules! other_keys {
    ($($name:literal of $($kind:ident)|+, $value:literal, $about:literal;)+) => {
        pub const OTHERS: &[OtherKey] = &[$(OtherKey {
            name: $name,
            of: &[$(SubjectKind::$kind),+],
            value: $value,
            about: $about,
        },)+];
    };
}

other_keys! {
    "callback" of Callback, "pattern", "Callbacks whose node, or whose name as `rostrace callbacks` prints it, fits.";
    "trigger" of Callback, "pattern", "Of those, the ones for this topic or service, or `timer 100 ms`.";
    "topic" of Topic, "pattern", "Topics whose name fits.";
    "publisher" of Topic, "pattern", "For `latency` and `drops`: only messages of nodes that fit.";
    "subscriber" of Topic, "pattern", "For `latency` and `drops`: only messages to nodes that fit.";
    "path" of Path, "`{ from: pattern, to: pattern }`, or a name", "Paths that messages were seen to take from a node or topic to another; or a path that the file of `--architecture` names.";
    "allowed" of Callback | Topic | Path, "`{ ratio: share, run: number }`", "How many values may lie beyond `min` or `max`: a share of all (`ratio`), and how many in a row (`run`). Without it, none.";
    "optional" of Callback | Topic | Path, "`true` or `false`", "If true, it is no failure that nothing fits, or that what fits did nothing.";
}

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
