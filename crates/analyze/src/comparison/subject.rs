//! What is compared with what: things that both sides have, with the values of each of their metrics, and the things that only one has.

use std::collections::{BTreeMap, BTreeSet};

use super::bootstrap::Sample;
use super::identity::{Change, Renames, Structural, ThingKind, callback_key, renamed};
use super::metric::Metric;
use rostrace_model::describe::{CallbackKind, names::UNKNOWN_NODE};

use crate::flow_path::{Hop, Origin};
use crate::measured::{
    Measured, MeasuredCallback, MeasuredCommunication, MeasuredPath, MeasuredTopic, Series,
};

/// What was seen less often may be missing by chance.
const OFTEN: usize = 10;

/// One metric of one thing, on both sides.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) kind: ThingKind,
    pub(super) name: String,
    pub(super) base_name: Option<String>,
    pub(super) metric: Metric,
    pub(super) base: Sample,
    pub(super) new: Sample,
    pub(super) damaged: (u64, u64),
}

/// One thing in each recording of a group that has it.
type Found<'m, T> = Vec<&'m T>;

pub(super) fn jobs(base: &[Measured], new: &[Measured]) -> (Vec<Job>, Vec<Structural>) {
    let mut changes = Vec::new();
    let renames = Renames::find(base, new, &mut changes);
    let mut work = Work {
        jobs: Vec::new(),
        changes,
        gone: Gone::default(),
    };
    work.processes(base, new);
    work.nodes(base, new, &renames);
    work.topics(base, new, &renames);
    work.callbacks(base, new, &renames);
    work.communications(base, new, &renames);
    work.paths(base, new, &renames);
    work.changes
        .sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    (work.jobs, work.changes)
}

/// Nodes and topics that one side does not have: nobody needs to hear that their callbacks are missing too.
#[derive(Debug, Default)]
struct Gone {
    nodes: BTreeSet<String>,
    topics: BTreeSet<String>,
}

#[derive(Debug)]
struct Work {
    jobs: Vec<Job>,
    changes: Vec<Structural>,
    gone: Gone,
}

impl Work {
    fn change(&mut self, kind: ThingKind, name: &str, change: Change) {
        self.changes.push(Structural {
            kind,
            name: name.to_owned(),
            change,
        });
    }

    fn processes(&mut self, base: &[Measured], new: &[Measured]) {
        let numbers = |side: &[Measured]| {
            let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
            for process in side.iter().flat_map(|it| &it.processes) {
                let number = numbers.entry(process.name.clone()).or_default();
                *number = (*number).max(process.number);
            }
            numbers
        };
        let (base, new) = (numbers(base), numbers(new));
        let names: BTreeSet<&String> = base.keys().chain(new.keys()).collect();
        for name in names {
            match (base.get(name), new.get(name)) {
                (Some(_), None) => self.change(ThingKind::Process, name, Change::Disappeared),
                (None, Some(_)) => self.change(ThingKind::Process, name, Change::Appeared),
                (Some(base), Some(new)) if base != new => {
                    let (base, new) = (*base, *new);
                    self.change(ThingKind::Process, name, Change::Number { base, new });
                }
                _ => {}
            }
        }
    }

    fn nodes(&mut self, base: &[Measured], new: &[Measured], renames: &Renames) {
        let old = base.iter().flat_map(|it| &it.nodes);
        let old: BTreeSet<&str> = old.map(|node| renames.node(&node.name)).collect();
        let young = new.iter().flat_map(|it| &it.nodes);
        let young: BTreeSet<&str> = young.map(|node| node.name.as_str()).collect();
        for name in old.symmetric_difference(&young) {
            self.change(ThingKind::Node, name, side(old.contains(name)));
            self.gone.nodes.insert((*name).to_owned());
        }
    }

    fn topics(&mut self, base: &[Measured], new: &[Measured], renames: &Renames) {
        let renamed = |it: &MeasuredTopic| renames.topic(&it.name).to_owned();
        let old = gather(base, |it| &it.topics, renamed);
        let young = gather(new, |it| &it.topics, |it| it.name.clone());
        for (name, pair) in joined(&old, &young) {
            match pair {
                (Some(base), Some(new)) => self.topic(base, new),
                (base, new) => {
                    self.gone.topics.insert(name.clone());
                    let topic = base.or(new).and_then(|found| found.first());
                    let ends = topic.map(|topic| (&topic.publishers, &topic.subscribers));
                    let is_of_node = ends.is_some_and(|(publishers, subscribers)| {
                        let mut nodes = publishers.iter().chain(subscribers);
                        nodes.all(|node| self.gone.nodes.contains(node))
                    });
                    if !is_of_node {
                        self.change(ThingKind::Topic, name, side(base.is_some()));
                    }
                }
            }
        }
    }

    fn topic(&mut self, base: &Found<'_, MeasuredTopic>, new: &Found<'_, MeasuredTopic>) {
        let messages = |it: &MeasuredTopic| {
            let pairs = it.instants.windows(2);
            pairs
                .map(|pair| (1e9, pair[1].0.saturating_sub(pair[0].0) as f64))
                .collect()
        };
        let damaged = |it: &MeasuredTopic| it.intervals.damaged;
        let what = (ThingKind::Topic, Metric::Rate);
        let names = (base[0].name.as_str(), new[0].name.as_str());
        self.ratios(what, names, (base, new), messages, damaged);
    }

    fn callbacks(&mut self, base: &[Measured], new: &[Measured], renames: &Renames) {
        let renamed_key = |it: &MeasuredCallback| callback_key(Some(renames), it);
        let old = gather(base, |it| &it.callbacks, renamed_key);
        let young = gather(new, |it| &it.callbacks, |it| callback_key(None, it));
        let old = by_function(old, &young);
        let mut lonely: (Vec<&MeasuredCallback>, Vec<&MeasuredCallback>) = Default::default();
        let mut pairs = Vec::new();
        for (_, pair) in joined(&old, &young) {
            match pair {
                (Some(base), Some(new)) => pairs.push((base, new)),
                (Some(base), None) => lonely.0.push(base[0]),
                (None, Some(new)) => lonely.1.push(new[0]),
                (None, None) => {}
            }
        }
        for (base, new) in pairs {
            self.callback(base, new);
        }
        // The same function of the same node, called for something else.
        let is_gone = |gone: &Gone, callback: &MeasuredCallback| {
            let node = renames.node(&callback.node);
            // Who it belongs to is in one of the recordings alone.
            node == UNKNOWN_NODE || gone.nodes.contains(node) || gone.nodes.contains(&callback.node)
        };
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for callback in &lonely.0 {
            let fits = |other: &&MeasuredCallback| {
                other.node == renames.node(&callback.node)
                    && other.kind == callback.kind
                    && other.symbol.is_some()
                    && other.symbol == callback.symbol
            };
            let rivals = lonely.0.iter().filter(|it| {
                it.node == callback.node && it.kind == callback.kind && it.symbol == callback.symbol
            });
            let mut candidates = lonely.1.iter().enumerate().filter(|(_, it)| fits(it));
            let only = candidates.next().filter(|_| candidates.next().is_none());
            match only.filter(|_| rivals.count() == 1) {
                Some((place, other)) => {
                    taken.insert(place);
                    let because = "the same function of the same node".to_owned();
                    let change = renamed(ThingKind::Callback, &callback.name, &other.name, because);
                    self.changes.push(change);
                    let base = of_one(base, |it| &it.callbacks, |it| it.name == callback.name);
                    let new = of_one(new, |it| &it.callbacks, |it| it.name == other.name);
                    self.callback(&base, &new);
                }
                None if !is_gone(&self.gone, callback) => {
                    self.change(ThingKind::Callback, &callback.name, Change::Disappeared);
                }
                None => {}
            }
        }
        for (place, callback) in lonely.1.iter().enumerate() {
            if !taken.contains(&place) && !is_gone(&self.gone, callback) {
                self.change(ThingKind::Callback, &callback.name, Change::Appeared);
            }
        }
    }

    fn callback(&mut self, base: &Found<'_, MeasuredCallback>, new: &Found<'_, MeasuredCallback>) {
        let names = (base[0].name.as_str(), new[0].name.as_str());
        let runs = |found: &Found<'_, MeasuredCallback>| -> u64 {
            found.iter().map(|it| it.executions).sum()
        };
        let (before, after) = (runs(base), runs(new));
        match (before, after) {
            (executions, 0) if executions >= OFTEN as u64 => {
                self.change(
                    ThingKind::Callback,
                    names.1,
                    Change::FellSilent { executions },
                );
            }
            (0, executions) if executions >= OFTEN as u64 => {
                self.change(ThingKind::Callback, names.1, Change::Awoke { executions });
            }
            _ => {}
        }
        type Part = fn(&MeasuredCallback) -> &Series;
        let parts: [(Metric, Part); 3] = [
            (Metric::Duration, |it| &it.duration),
            (Metric::Period, |it| &it.period),
            (Metric::Lateness, |it| &it.lateness),
        ];
        for (metric, part) in parts {
            // That of a subscription is the latency of its messages, which has a row of its own.
            if metric != Metric::Lateness || base[0].kind == CallbackKind::Timer {
                self.series((ThingKind::Callback, metric), names, (base, new), part);
            }
        }
        let cycles = |it: &MeasuredCallback| {
            let cycles = it.cycles.iter();
            cycles
                .map(|(busy, all)| (*busy as f64, *all as f64))
                .collect()
        };
        let what = (ThingKind::Callback, Metric::Load);
        self.ratios(what, names, (base, new), cycles, |it| it.damaged);
    }

    fn communications(&mut self, base: &[Measured], new: &[Measured], renames: &Renames) {
        let key = |renames: Option<&Renames>, it: &MeasuredCommunication| {
            let node = |name| renames.map_or(name, |it| it.node(name)).to_owned();
            let topic = renames.map_or(it.topic.as_str(), |renames| renames.topic(&it.topic));
            (
                node(it.publisher.as_str()),
                topic.to_owned(),
                node(&it.subscriber),
            )
        };
        let old = gather(base, |it| &it.communications, |it| key(Some(renames), it));
        let young = gather(new, |it| &it.communications, |it| key(None, it));
        for ((publisher, topic, subscriber), pair) in joined(&old, &young) {
            match pair {
                (Some(base), Some(new)) => {
                    let names = (base[0].name(), new[0].name());
                    let names = (names.0.as_str(), names.1.as_str());
                    let [latency, drops] = [Metric::Latency, Metric::Drops]
                        .map(|metric| (ThingKind::Communication, metric));
                    self.series(latency, names, (base, new), |it| &it.latency);
                    let dropped = |it: &MeasuredCommunication| {
                        let dropped = it.drops.numbers();
                        dropped.map(|it| (it as f64, 1.0)).collect()
                    };
                    self.ratios(drops, names, (base, new), dropped, |it| it.latency.damaged);
                }
                (base, new) => {
                    let found = base.or(new).map_or(&[][..], Vec::as_slice);
                    let messages: usize = found.iter().map(|it| it.drops.len()).sum();
                    let is_gone = self.gone.topics.contains(topic)
                        || self.gone.nodes.contains(publisher)
                        || self.gone.nodes.contains(subscriber);
                    if messages >= OFTEN && !is_gone {
                        let change = side(base.is_some());
                        self.change(ThingKind::Communication, &found[0].name(), change);
                    }
                }
            }
        }
    }

    fn paths(&mut self, base: &[Measured], new: &[Measured], renames: &Renames) {
        type Key = Vec<(String, String, String, String)>;
        let key = |renames: Option<&Renames>, path: &MeasuredPath| -> Key {
            let node = |name: &str| renames.map_or(name, |it| it.node(name)).to_owned();
            let topic = |name: &str| renames.map_or(name, |it| it.topic(name)).to_owned();
            // The callback is named after node and topic; only what is behind these tells two of them apart.
            let rest = |hop: &Hop| match hop.callback.split_once('←') {
                Some(_) => String::new(),
                None => hop.callback.clone(),
            };
            let origin = match &path.origin {
                Origin::Callback { name, node: owner } => {
                    (node(owner), name.replace(owner.as_str(), ""))
                }
                Origin::Outside => (String::new(), String::new()),
            };
            let first = (origin.0, origin.1, String::new(), String::new());
            let hops = path.hops.iter().map(|hop| {
                let (from, to) = (node(&hop.publishing_node), node(&hop.node));
                (from, topic(&hop.topic), to, rest(hop))
            });
            std::iter::once(first).chain(hops).collect()
        };
        let old = gather(base, |it| &it.paths, |it| key(Some(renames), it));
        let young = gather(new, |it| &it.paths, |it| key(None, it));
        for (hops, pair) in joined(&old, &young) {
            match pair {
                (Some(base), Some(new)) => {
                    let names = (base[0].name.as_str(), new[0].name.as_str());
                    let what = (ThingKind::Path, Metric::Latency);
                    self.series(what, names, (base, new), |it| &it.latency);
                }
                (base, new) => {
                    let found = base.or(new).map_or(&[][..], Vec::as_slice);
                    let flows: usize = found.iter().map(|it| it.latency.len()).sum();
                    let is_gone = hops.iter().any(|(from, topic, to, _)| {
                        self.gone.nodes.contains(from)
                            || self.gone.topics.contains(topic)
                            || self.gone.nodes.contains(to)
                    });
                    if flows >= OFTEN && !is_gone {
                        self.change(ThingKind::Path, &found[0].name, side(base.is_some()));
                    }
                }
            }
        }
    }

    fn series<T>(
        &mut self,
        what: (ThingKind, Metric),
        names: (&str, &str),
        both: (&Found<'_, T>, &Found<'_, T>),
        part: fn(&T) -> &Series,
    ) {
        let sample = |found: &Found<'_, T>| {
            let recordings = found.iter().map(|it| part(it).numbers().collect());
            Sample::Values(recordings.collect())
        };
        self.job(what, names, both, sample, |it| part(it).damaged);
    }

    /// Of sums that are divided by each other: numerators and denominators.
    fn ratios<T>(
        &mut self,
        what: (ThingKind, Metric),
        names: (&str, &str),
        both: (&Found<'_, T>, &Found<'_, T>),
        parts: impl Fn(&T) -> Vec<(f64, f64)>,
        damaged: impl Fn(&T) -> u64,
    ) {
        let sample = |found: &Found<'_, T>| {
            let recordings = found.iter().map(|it| parts(it));
            Sample::Ratios(recordings.collect())
        };
        self.job(what, names, both, sample, damaged);
    }

    fn job<T>(
        &mut self,
        (kind, metric): (ThingKind, Metric),
        (base_name, name): (&str, &str),
        (base, new): (&Found<'_, T>, &Found<'_, T>),
        sample: impl Fn(&Found<'_, T>) -> Sample,
        damaged: impl Fn(&T) -> u64,
    ) {
        let of_side = |found: &Found<'_, T>| found.iter().map(|it| damaged(it)).sum();
        let damaged = (of_side(base), of_side(new));
        let (base, new) = (sample(base), sample(new));
        if base.len() > 0 || new.len() > 0 {
            self.jobs.push(Job {
                kind,
                name: name.to_owned(),
                base_name: (base_name != name).then(|| base_name.to_owned()),
                metric,
                base,
                new,
                damaged,
            });
        }
    }
}

fn side(in_base: bool) -> Change {
    match in_base {
        true => Change::Disappeared,
        false => Change::Appeared,
    }
}

/// The things of a group of recordings, by what they are known by.
fn gather<'m, T, K: Ord>(
    recordings: &'m [Measured],
    list: impl Fn(&'m Measured) -> &'m Vec<T>,
    key: impl Fn(&T) -> K,
) -> BTreeMap<K, Found<'m, T>> {
    let mut found: BTreeMap<K, Found<'m, T>> = BTreeMap::new();
    for thing in recordings.iter().flat_map(list) {
        found.entry(key(thing)).or_default().push(thing);
    }
    found
}

fn of_one<'m, T>(
    recordings: &'m [Measured],
    list: impl Fn(&'m Measured) -> &'m Vec<T>,
    is_it: impl Fn(&T) -> bool,
) -> Found<'m, T> {
    let things = recordings.iter().flat_map(list);
    things.filter(|thing| is_it(thing)).collect()
}

type Pair<'f, 'm, T> = (Option<&'f Found<'m, T>>, Option<&'f Found<'m, T>>);

fn joined<'f, 'm, T, K: Ord>(
    base: &'f BTreeMap<K, Found<'m, T>>,
    new: &'f BTreeMap<K, Found<'m, T>>,
) -> Vec<(&'f K, Pair<'f, 'm, T>)> {
    let keys: BTreeSet<&K> = base.keys().chain(new.keys()).collect();
    let pairs = keys
        .into_iter()
        .map(|key| (key, (base.get(key), new.get(key))));
    pairs.collect()
}

type Callbacks<'m> = BTreeMap<super::identity::CallbackKey, Found<'m, MeasuredCallback>>;

/// Several callbacks of one trigger in a node are told apart by the order of their creation, which may differ from run to run. Where
/// their functions differ, these say which is which.
fn by_function<'m>(base: Callbacks<'m>, new: &Callbacks<'m>) -> Callbacks<'m> {
    type Home = (String, &'static str, String);
    let mut symbols: BTreeMap<Home, BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for ((node, kind, trigger, ordinal), found) in new {
        if let Some(symbol) = &found[0].symbol {
            let home = (node.clone(), *kind, trigger.clone());
            let of_home = symbols.entry(home).or_default();
            of_home.entry(symbol).or_default().push(*ordinal);
        }
    }
    let mut used: BTreeMap<(Home, String), usize> = BTreeMap::new();
    let mut result = Callbacks::new();
    let mut rest = Vec::new();
    for (key, found) in base {
        let home = (key.0.clone(), key.1, key.2.clone());
        let ordinals = (symbols.get(&home).filter(|of_home| of_home.len() > 1))
            .zip(found[0].symbol.as_deref())
            .and_then(|(of_home, symbol)| of_home.get(symbol));
        let place = used
            .entry((home, found[0].symbol.clone().unwrap_or_default()))
            .or_default();
        let ordinal = ordinals.and_then(|ordinals| ordinals.get(*place).copied());
        *place += 1;
        match ordinal {
            Some(ordinal) => {
                result.insert((key.0, key.1, key.2, ordinal), found);
            }
            None => rest.push((key, found)),
        }
    }
    for (mut key, found) in rest {
        while result.contains_key(&key) {
            key.3 += 1;
        }
        result.insert(key, found);
    }
    result
}
