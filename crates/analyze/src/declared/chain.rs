//! The latency of each part of a path: its nodes, its communications, and the whole.

use rostrace_architecture::{Architecture, NamedPath};

use crate::declared::Style;
use crate::declared::metrics;
use crate::declared::paths::{Ends, PathError};
use crate::declared::records::Records;
use crate::declared::tables::Indexed;

/// One part of a path, or the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainPart {
    /// Of the node or the topic.
    pub name: String,
    pub kind: PartKind,
    /// Nothing if no message was seen at both of its ends.
    pub latency: Option<Spread>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    Node,
    Communication,
    Whole,
}

/// Durations in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub count: usize,
    pub min: i64,
    pub mean: f64,
    pub max: i64,
}

impl Spread {
    /// Of the rows of a table that have both ends: last column minus first.
    pub fn of(records: &Records) -> Option<Spread> {
        let latencies = metrics::latency(records);
        let latencies = || latencies.iter().map(|(_, latency)| *latency);
        let (min, max, count) = (latencies().min()?, latencies().max()?, latencies().count());
        let sum: i128 = latencies().map(i128::from).sum();
        Some(Spread {
            count,
            min,
            mean: sum as f64 / count as f64,
            max,
        })
    }
}

impl Indexed<'_> {
    /// The parts of a path in their order, each with the latencies of all messages that passed it, whether or not they were
    /// lost later; last the whole path, with those that came to its end.
    pub fn chain_latency(
        &self,
        architecture: &Architecture,
        path: &NamedPath,
        ends: Ends,
    ) -> Result<Vec<ChainPart>, PathError> {
        let mut parts = Vec::new();
        for (name, kind, records) in self.parts(architecture, path, ends)? {
            let latency = records.as_ref().and_then(Spread::of);
            parts.push(ChainPart {
                name,
                kind,
                latency,
            });
        }
        let whole = self.path(architecture, path, ends)?;
        if self.style == Style::Caret {
            // CARET takes the callbacks at the ends from the rows of the path, in which one execution may stand several times.
            let last = whole.columns.len().saturating_sub(1);
            if let Some(first) = parts
                .first_mut()
                .filter(|_| ends.first_callback && last > 0)
            {
                first.latency = Spread::of(&whole.select(&[0, 1]));
            }
            if let Some(end) = parts.last_mut().filter(|_| ends.last_callback && last > 0) {
                end.latency = Spread::of(&whole.select(&[last - 1, last]));
            }
        }
        parts.push(ChainPart {
            name: path.name.clone(),
            kind: PartKind::Whole,
            latency: Spread::of(&whole),
        });
        Ok(parts)
    }
}
