//! Which thing of one recording is which thing of another: by name, and by fingerprint where a name has changed.
//!
//! A renamed node still has the same functions, timers and topics; a remapped topic still has the same nodes at its ends. A guess is made only where
//! two things that have no partner resemble each other more than anybody else, and it always comes with its reason.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::measured::{Measured, MeasuredCallback, NodeFingerprint};

/// So much of what two things consist of has to be the same.
const ALIKE: f64 = 0.5;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ThingKind {
        Process = "process",
        Node = "node",
        Topic = "topic",
        Callback = "callback",
        Communication = "communication",
        Path = "path",
    }
}

/// What became of a thing between the two sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum Change {
    Appeared,
    Disappeared,
    /// A guess.
    Renamed {
        to: String,
        because: String,
    },
    /// It is there, but did nothing any more.
    FellSilent {
        executions: u64,
    },
    /// It was there before, but did nothing.
    Awoke {
        executions: u64,
    },
    /// More or fewer of one name.
    Number {
        base: usize,
        new: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Structural {
    pub kind: ThingKind,
    pub name: String,
    #[serde(flatten)]
    pub change: Change,
}

/// What the names of the base are called on the new side.
#[derive(Debug, Default)]
pub(super) struct Renames {
    pub(super) nodes: BTreeMap<String, String>,
    pub(super) topics: BTreeMap<String, String>,
}

impl Renames {
    pub(super) fn node<'a>(&'a self, name: &'a str) -> &'a str {
        self.nodes.get(name).map_or(name, String::as_str)
    }

    pub(super) fn topic<'a>(&'a self, name: &'a str) -> &'a str {
        self.topics.get(name).map_or(name, String::as_str)
    }

    /// Nodes, then topics, whose ends may be nodes that were renamed.
    pub(super) fn find(
        base: &[Measured],
        new: &[Measured],
        changes: &mut Vec<Structural>,
    ) -> Renames {
        let mut renames = Renames::default();
        let (old, young) = apart(fingerprints(base), fingerprints(new));
        let similarity = |a: &NodeFingerprint, b: &NodeFingerprint| resemblance(a, b);
        for (one, other, because) in partners(&old, &young, similarity) {
            renames.nodes.insert(one.to_owned(), other.to_owned());
            changes.push(renamed(ThingKind::Node, one, other, because));
        }
        let (old, young) = apart(topics(base), topics(new));
        let similarity = |a: &Ends, b: &Ends| {
            let of = |names: &BTreeSet<String>| -> BTreeSet<String> {
                names.iter().map(|it| renames.node(it).to_owned()).collect()
            };
            let (publishers, subscribers) = (of(&a.publishers), of(&a.subscribers));
            let shared = publishers.intersection(&b.publishers).count()
                + subscribers.intersection(&b.subscribers).count();
            let all =
                publishers.union(&b.publishers).count() + subscribers.union(&b.subscribers).count();
            // A topic with one end known is anybody's.
            let both = !publishers.is_empty() && !subscribers.is_empty();
            let because = format!(
                "published by {} and received by {}",
                list(&b.publishers),
                list(&b.subscribers)
            );
            (
                if both {
                    shared as f64 / all.max(1) as f64
                } else {
                    0.0
                },
                because,
            )
        };
        let mut found = BTreeMap::new();
        for (one, other, because) in partners(&old, &young, similarity) {
            found.insert(one.to_owned(), other.to_owned());
            changes.push(renamed(ThingKind::Topic, one, other, because));
        }
        renames.topics = found;
        renames
    }
}

pub(super) fn renamed(kind: ThingKind, name: &str, to: &str, because: String) -> Structural {
    Structural {
        kind,
        name: name.to_owned(),
        change: Change::Renamed {
            to: to.to_owned(),
            because,
        },
    }
}

fn list(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().map(String::as_str).take(3).collect();
    let more = names.len() - shown.len();
    match more {
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

type Fingerprints = BTreeMap<String, NodeFingerprint>;

fn fingerprints(recordings: &[Measured]) -> Fingerprints {
    let mut fingerprints = Fingerprints::new();
    for node in recordings.iter().flat_map(|it| &it.nodes) {
        let fingerprint = fingerprints.entry(node.name.clone()).or_default();
        fingerprint.name.clone_from(&node.name);
        fingerprint.traits.extend(node.traits.iter().cloned());
        fingerprint.symbols.extend(node.symbols.iter().cloned());
    }
    fingerprints
}

#[derive(Debug, Default)]
struct Ends {
    publishers: BTreeSet<String>,
    subscribers: BTreeSet<String>,
}

fn topics(recordings: &[Measured]) -> BTreeMap<String, Ends> {
    let mut topics: BTreeMap<String, Ends> = BTreeMap::new();
    for topic in recordings.iter().flat_map(|it| &it.topics) {
        let ends = topics.entry(topic.name.clone()).or_default();
        ends.publishers.extend(topic.publishers.iter().cloned());
        ends.subscribers.extend(topic.subscribers.iter().cloned());
    }
    topics
}

/// Those of each side that the other one does not have.
fn apart<T>(
    mut base: BTreeMap<String, T>,
    mut new: BTreeMap<String, T>,
) -> (BTreeMap<String, T>, BTreeMap<String, T>) {
    let both: Vec<String> = base
        .keys()
        .filter(|name| new.contains_key(*name))
        .cloned()
        .collect();
    for name in both {
        base.remove(&name);
        new.remove(&name);
    }
    (base, new)
}

/// Pairs that resemble each other more than either resembles anybody else. Two equally good partners are none.
fn partners<'a, T>(
    base: &'a BTreeMap<String, T>,
    new: &'a BTreeMap<String, T>,
    similarity: impl Fn(&T, &T) -> (f64, String),
) -> Vec<(&'a str, &'a str, String)> {
    // A system of which everything has another name is another system.
    const MOST: usize = 500;
    if base.len() > MOST || new.len() > MOST {
        return Vec::new();
    }
    let mut pairs: Vec<(f64, &str, &str, String)> = Vec::new();
    for (one, of_one) in base {
        for (other, of_other) in new {
            let (alike, because) = similarity(of_one, of_other);
            if alike >= ALIKE {
                pairs.push((alike, one, other, because));
            }
        }
    }
    let is_best = |pair: &(f64, &str, &str, String)| {
        pairs.iter().all(|rival| {
            let touches = rival.1 == pair.1 || rival.2 == pair.2;
            let is_same = rival.1 == pair.1 && rival.2 == pair.2;
            !touches || is_same || rival.0 < pair.0
        })
    };
    let best = pairs.iter().filter(|pair| is_best(pair));
    best.map(|(_, one, other, because)| (*one, *other, because.clone()))
        .collect()
}

fn resemblance(a: &NodeFingerprint, b: &NodeFingerprint) -> (f64, String) {
    let shared: Vec<&str> = a
        .traits
        .intersection(&b.traits)
        .map(String::as_str)
        .collect();
    let functions = a.symbols.intersection(&b.symbols).count();
    let all = a.traits.union(&b.traits).count() + a.symbols.union(&b.symbols).count();
    let mut because: Vec<String> = Vec::new();
    if functions > 0 {
        let noun = if functions == 1 {
            "function"
        } else {
            "functions"
        };
        because.push(format!("{functions} equal callback {noun}"));
    }
    because.extend(shared.iter().take(3).map(|it| (*it).to_owned()));
    if shared.len() > 3 {
        because.push(format!("{} more in common", shared.len() - 3));
    }
    let alike = (shared.len() + functions) as f64 / all.max(1) as f64;
    (alike, because.join(", "))
}

/// Callbacks of one side under the names of the new side, and which of one trigger is which: equal functions first, then by
/// number.
pub(super) type CallbackKey = (String, &'static str, String, usize);

pub(super) fn callback_key(renames: Option<&Renames>, callback: &MeasuredCallback) -> CallbackKey {
    let (node, trigger) = match renames {
        Some(renames) => (
            renames.node(&callback.node),
            renames.topic(&callback.trigger),
        ),
        None => (callback.node.as_str(), callback.trigger.as_str()),
    };
    (
        node.to_owned(),
        callback.kind.name(),
        trigger.to_owned(),
        callback.ordinal,
    )
}
