//! The tables of CARET's objects, with CARET's columns, in CARET's order, one for each callback, publisher, subscription, timer, variable
//! passing, node path, communication and path of an architecture file, and what CARET computes from them.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::response_time::{Case, ResponseTimes};
use rostrace_analyze::declared::stacked_bar::stacked;
use rostrace_analyze::declared::tables::{Indexed, Link};
use rostrace_analyze::declared::{Style, metrics};
use rostrace_architecture::communication::communications;
use rostrace_architecture::node_path::node_paths;
use rostrace_architecture::{Architecture, CallbackKind, Endpoint, NamedPath, Node};
use rostrace_base::time::Nanos;

/// No limit in time.
const EVER: RangeInclusive<Nanos> = Nanos(i64::MIN)..=Nanos(i64::MAX);

/// Which objects and rows are wanted. Tables have the names that they have when everything is.
pub trait Wanted: Sync {
    /// Something that has to do with all these nodes and topics.
    fn has_named(&self, nodes: &[&str], topics: &[&str]) -> bool;
    fn has_named_path(&self, path: &NamedPath) -> bool;
    /// Rows count if they begin in it.
    fn window(&self) -> &RangeInclusive<Nanos>;
}

/// What can be computed by itself: the names of its tables are like no others.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    Nodes,
    Communications,
    Path(&'a NamedPath),
}

impl<'a> Part<'a> {
    /// All of them, long ones first, so that no processor waits for another at the end.
    pub fn all(architecture: &'a Architecture, wanted: &dyn Wanted) -> Vec<Part<'a>> {
        let paths = architecture.paths.iter();
        let paths = paths.filter(|path| wanted.has_named_path(path));
        let paths = paths.map(Part::Path);
        paths.chain([Part::Communications, Part::Nodes]).collect()
    }

    /// Gives each table with its name to `take`, until that fails.
    pub fn tables<E>(
        self,
        indexed: &Indexed<'_>,
        architecture: &Architecture,
        wanted: &dyn Wanted,
        take: &mut dyn FnMut(&str, &Records) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut writer = TableWriter {
            indexed,
            wanted,
            take,
            numbers: HashMap::new(),
        };
        match self {
            Part::Nodes => writer.nodes(architecture),
            Part::Communications => writer.communications(architecture),
            Part::Path(path) => writer.path(architecture, path),
        }
    }
}

struct TableWriter<'f, E> {
    indexed: &'f Indexed<'f>,
    wanted: &'f dyn Wanted,
    take: &'f mut dyn FnMut(&str, &Records) -> Result<(), E>,
    /// How many objects of a name there were.
    numbers: HashMap<String, usize>,
}

impl<E> TableWriter<'_, E> {
    fn nodes(&mut self, architecture: &Architecture) -> Result<(), E> {
        let mut nodes: Vec<&Node> = architecture.nodes.iter().collect();
        nodes.sort_by_key(|node| &node.name);
        for node in nodes {
            self.callbacks(node)?;
            self.endpoints(node)?;
            self.timers(node)?;
            self.variable_passings(node)?;
            self.node_paths(node)?;
        }
        Ok(())
    }

    fn callbacks(&mut self, node: &Node) -> Result<(), E> {
        for callback in node
            .callbacks
            .iter()
            .filter(|callback| !callback.is_service())
        {
            let topic = match &callback.kind {
                CallbackKind::Subscription { topic } => Some(topic.as_str()),
                _ => None,
            };
            if !self.wanted.has_named(&[&node.name], topic.as_slice()) {
                continue;
            }
            let records = self.limited(self.indexed.callback(node, callback));
            let stem = format!("callbacks__{}", plain(&callback.name));
            (self.take)(&stem, &records)?;
            self.metrics(&stem, &records, true)?;
        }
        Ok(())
    }

    fn endpoints(&mut self, node: &Node) -> Result<(), E> {
        for publisher in in_order(node.publishers.iter().map(|it| it.endpoint())) {
            let stem = self.numbered(&format!(
                "pub__{}__{}",
                plain(&node.name),
                plain(&publisher.topic)
            ));
            if !self.wanted.has_named(&[&node.name], &[&publisher.topic]) {
                continue;
            }
            let records = self.limited(self.indexed.publisher(node, &publisher));
            (self.take)(&stem, &records)?;
            self.metrics(&stem, &records, false)?;
        }
        for endpoint in in_order(node.subscriptions.iter().map(|it| it.endpoint())) {
            let Some(callback) = node
                .subscription(&endpoint)
                .and_then(|it| it.callback.clone())
            else {
                continue;
            };
            let stem = self.numbered(&format!(
                "sub__{}__{}",
                plain(&node.name),
                plain(&endpoint.topic)
            ));
            if !self.wanted.has_named(&[&node.name], &[&endpoint.topic]) {
                continue;
            }
            let records = self.limited(self.indexed.subscription(node, &endpoint, &callback));
            (self.take)(&stem, &records)?;
            self.metrics(&stem, &records, false)?;
        }
        Ok(())
    }

    fn timers(&mut self, node: &Node) -> Result<(), E> {
        let mut timers: BTreeMap<&str, _> = BTreeMap::new();
        for callback in &node.callbacks {
            if let CallbackKind::Timer { period_ns } = callback.kind {
                timers.insert(&callback.name, (callback, period_ns));
            }
        }
        for (callback, period) in timers.into_values() {
            let stem = self.numbered(&format!("timer__{}__{period}", plain(&node.name)));
            if !self.wanted.has_named(&[&node.name], &[]) {
                continue;
            }
            let firings = self.indexed.caret_firings(node, callback);
            let records = self.limited(self.indexed.timer(node, callback, &firings));
            (self.take)(&stem, &records)?;
        }
        Ok(())
    }

    fn variable_passings(&mut self, node: &Node) -> Result<(), E> {
        for (writer, reader) in node.passings() {
            let stem = format!(
                "varpass__{}__{}__{}",
                plain(&node.name),
                plain(writer),
                plain(reader)
            );
            let stem = self.numbered(&stem);
            if !self.wanted.has_named(&[&node.name], &[]) {
                continue;
            }
            if let (Some(writer), Some(reader)) = (node.callback(writer), node.callback(reader)) {
                let records = self.limited(self.indexed.variable_passing(node, writer, reader));
                (self.take)(&stem, &records)?;
            }
        }
        Ok(())
    }

    fn node_paths(&mut self, node: &Node) -> Result<(), E> {
        let topic =
            |end: &Option<Endpoint>| end.as_ref().map_or("-".to_owned(), |end| plain(&end.topic));
        for path in &node_paths(node).paths {
            let (input, output) = (topic(&path.subscription), topic(&path.publisher));
            let stem = self.numbered(&format!(
                "nodepath__{}__{input}__{output}",
                plain(&node.name)
            ));
            let ends = path.subscription.iter().chain(&path.publisher);
            let topics: Vec<&str> = ends.map(|end| end.topic.as_str()).collect();
            if !self.wanted.has_named(&[&node.name], &topics) {
                continue;
            }
            let records = self.indexed.node_path(node, path).unwrap_or_default();
            let records = self.limited(records);
            (self.take)(&stem, &records)?;
        }
        Ok(())
    }

    fn communications(&mut self, architecture: &Architecture) -> Result<(), E> {
        for it in communications(architecture) {
            let Some(callback) = it.subscription.callback.clone() else {
                continue;
            };
            let link = Link {
                publishing_node: it.publishing_node,
                publisher: it.publisher.endpoint(),
                subscribing_node: it.subscribing_node,
                subscription: it.subscription.endpoint(),
                callback,
            };
            let stem = self.numbered(&format!(
                "comm__{}__{}__{}",
                plain(&it.publishing_node.name),
                plain(it.topic()),
                plain(&it.subscribing_node.name)
            ));
            let nodes = [&it.publishing_node.name, &it.subscribing_node.name];
            if !self
                .wanted
                .has_named(&nodes.map(String::as_str), &[it.topic()])
            {
                continue;
            }
            let records = self.limited(self.indexed.communication(&link));
            (self.take)(&stem, &records)?;
            if self.indexed.has_takes() {
                let takes = self.limited(self.indexed.communication_to_take(&link));
                (self.take)(&format!("{stem}__take"), &takes)?;
            }
            self.metrics(&stem, &records, true)?;
        }
        Ok(())
    }

    fn path(&mut self, architecture: &Architecture, path: &NamedPath) -> Result<(), E> {
        let name = plain(&path.name);
        let suffixes = ["", "__first", "__last", "__first_last"];
        let variants = self.indexed.path_with_every_end(architecture, path);
        for ((ends, suffix), records) in Ends::EVERY.iter().zip(suffixes).zip(variants) {
            let records = self.limited(records.unwrap_or_default());
            (self.take)(&format!("path__{name}{suffix}"), &records)?;
            if ends.first_callback != ends.last_callback {
                continue;
            }
            let times = ResponseTimes::of(&records, Style::Caret);
            for case in Case::EVERY {
                let stem = format!("{name}{suffix}__{}", case.name());
                let column = records.columns.first().cloned().unwrap_or_default();
                self.pairs(
                    &format!("response__{stem}"),
                    &column,
                    "response_time",
                    &times.case(case),
                )?;
                (self.take)(
                    &format!("stacked__{stem}"),
                    &stacked(&records, case, Style::Caret),
                )?;
            }
        }
        Ok(())
    }

    fn metrics(&mut self, stem: &str, records: &Records, latency: bool) -> Result<(), E> {
        let column = records.columns.first().cloned().unwrap_or_default();
        if latency {
            let rows = metrics::latency(records);
            self.pairs(&format!("{stem}__latency"), &column, "latency", &rows)?;
        }
        self.pairs(
            &format!("{stem}__period"),
            &column,
            "period",
            &metrics::period(records),
        )?;
        self.pairs(
            &format!("{stem}__frequency"),
            &column,
            "frequency",
            &metrics::frequency(records),
        )
    }

    fn pairs(
        &mut self,
        stem: &str,
        first: &str,
        second: &str,
        rows: &[(i64, i64)],
    ) -> Result<(), E> {
        let mut records = Records::new([first, second]);
        records
            .rows
            .extend(rows.iter().map(|(a, b)| vec![Some(*a), Some(*b)]));
        (self.take)(stem, &records)
    }

    /// The name with the number of its object among those of the same name.
    fn numbered(&mut self, name: &str) -> String {
        let number = self.numbers.entry(name.to_owned()).or_insert(0);
        *number += 1;
        format!("{name}__{}", *number - 1)
    }

    /// The rows that begin in the window.
    fn limited(&self, mut records: Records) -> Records {
        let window = self.wanted.window();
        if *window != EVER {
            let counts = |begin: i64| window.contains(&Nanos(begin));
            records
                .rows
                .retain(|row| row.first().copied().flatten().is_some_and(counts));
        }
        records
    }
}

/// Endpoints in the order of their construction, topic by topic.
fn in_order(endpoints: impl Iterator<Item = Endpoint>) -> Vec<Endpoint> {
    let mut endpoints: Vec<Endpoint> = endpoints.collect();
    endpoints
        .sort_by(|a, b| (&a.topic, a.construction_order).cmp(&(&b.topic, b.construction_order)));
    endpoints
}

/// A name as part of a file's name.
fn plain(name: &str) -> String {
    let name = name.strip_prefix('/').unwrap_or(name);
    name.chars()
        .map(|c| match c {
            '/' => '.',
            c if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') => c,
            _ => '_',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_parts_of_file_names() {
        assert_eq!(plain("/a/b c"), "a.b_c");
        assert_eq!(plain("talker"), "talker");
    }
}
