//! Tables with CARET's columns, one file per object of an architecture file, so that notebooks made for CARET go on working.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::response_time::{Case, ResponseTimes};
use rostrace_analyze::declared::stacked_bar::stacked;
use rostrace_analyze::declared::tables::{Indexed, Link};
use rostrace_analyze::declared::{Style, metrics};
use rostrace_analyze::table::{Cell, Sink};
use rostrace_architecture::communication::communications;
use rostrace_architecture::node_path::{Limits, node_paths};
use rostrace_architecture::{Architecture, CallbackKind, Endpoint, NamedPath, Node};
use rostrace_ctf::schema::Nanos;
use sha2::{Digest, Sha256};

use super::parallel;
use super::schema::Schema;
use crate::commands::export::ExportFormat;
use crate::interrupt;
use crate::new_file::NewFile;
use crate::render::diagnostic;
use crate::view::View;
use rostrace_base::units;

/// Longer names are cut: file systems do not take more.
const LONGEST_STEM: usize = 220;

/// No limit in time.
const EVER: RangeInclusive<Nanos> = Nanos(i64::MIN)..=Nanos(i64::MAX);

/// Writes the tables of all objects that are in the view; the files are complete, but not yet in their places. They have the names
/// that they have without a filter. Rows count if they begin in the range of time.
pub(crate) fn write(
    architecture: &Architecture,
    view: &View<'_>,
    format: ExportFormat,
    folder: &Path,
) -> anyhow::Result<Vec<NewFile>> {
    let indexed = Indexed::new(view.model, Style::Caret);
    if indexed.left_out() > 0 {
        diagnostic::note(&format!(
            "{} ran without CARET's library; tables with CARET's columns leave out what ran there, as CARET does",
            units::counted(indexed.left_out() as u64, "process")
        ));
    }
    // Long pieces first, so that no processor waits for the other at the end.
    let paths = architecture.paths.iter();
    let paths = paths
        .filter(|path| view.has_named_path(path))
        .map(Piece::Path);
    let pieces: Vec<Piece<'_>> = paths.chain([Piece::Communications, Piece::Nodes]).collect();
    let files = parallel::all(&pieces, |piece, failed| {
        let mut writer = Writer {
            view,
            format,
            folder,
            failed,
            files: Vec::new(),
            numbers: HashMap::new(),
        };
        match piece {
            Piece::Nodes => writer.nodes(&indexed, architecture)?,
            Piece::Communications => writer.communications(&indexed, architecture)?,
            Piece::Path(path) => writer.path(&indexed, architecture, path)?,
        }
        Ok(writer.files)
    })?;
    let files: Vec<NewFile> = files.into_iter().flatten().collect();
    if files.is_empty() {
        let sentence = view
            .filter()
            .nothing_fits("object of the architecture file");
        diagnostic::notes(sentence.as_slice());
    }
    Ok(files)
}

/// What can be written by itself: the names of its files are like no others.
enum Piece<'a> {
    Nodes,
    Communications,
    Path(&'a NamedPath),
}

struct Writer<'f> {
    view: &'f View<'f>,
    format: ExportFormat,
    folder: &'f Path,
    /// Another piece could not be written: there is no need to go on.
    failed: &'f AtomicBool,
    files: Vec<NewFile>,
    /// How many objects of a name there were.
    numbers: HashMap<String, usize>,
}

impl Writer<'_> {
    fn nodes(&mut self, indexed: &Indexed<'_>, architecture: &Architecture) -> anyhow::Result<()> {
        let mut nodes: Vec<&Node> = architecture.nodes.iter().collect();
        nodes.sort_by_key(|node| &node.name);
        for node in nodes {
            self.callbacks(indexed, node)?;
            self.endpoints(indexed, node)?;
            self.timers(indexed, node)?;
            self.variable_passings(indexed, node)?;
            self.node_paths(indexed, node)?;
        }
        Ok(())
    }

    fn callbacks(&mut self, indexed: &Indexed<'_>, node: &Node) -> anyhow::Result<()> {
        for callback in node
            .callbacks
            .iter()
            .filter(|callback| !callback.is_service())
        {
            let topic = match &callback.kind {
                CallbackKind::Subscription { topic } => Some(topic.as_str()),
                _ => None,
            };
            if !self.view.has_named(&[&node.name], topic.as_slice()) {
                continue;
            }
            let records = self.limited(indexed.callback(node, callback));
            let stem = format!("callbacks__{}", plain(&callback.name));
            self.table(&stem, &records)?;
            self.metrics(&stem, &records, true)?;
        }
        Ok(())
    }

    fn endpoints(&mut self, indexed: &Indexed<'_>, node: &Node) -> anyhow::Result<()> {
        for publisher in in_order(node.publishers.iter().map(|it| it.endpoint())) {
            let stem = self.numbered(&format!(
                "pub__{}__{}",
                plain(&node.name),
                plain(&publisher.topic)
            ));
            if !self.view.has_named(&[&node.name], &[&publisher.topic]) {
                continue;
            }
            let records = self.limited(indexed.publisher(node, &publisher));
            self.table(&stem, &records)?;
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
            if !self.view.has_named(&[&node.name], &[&endpoint.topic]) {
                continue;
            }
            let records = self.limited(indexed.subscription(node, &endpoint, &callback));
            self.table(&stem, &records)?;
            self.metrics(&stem, &records, false)?;
        }
        Ok(())
    }

    fn timers(&mut self, indexed: &Indexed<'_>, node: &Node) -> anyhow::Result<()> {
        let mut timers: BTreeMap<&str, _> = BTreeMap::new();
        for callback in &node.callbacks {
            if let CallbackKind::Timer { period_ns } = callback.kind {
                timers.insert(&callback.name, (callback, period_ns));
            }
        }
        for (callback, period) in timers.into_values() {
            let stem = self.numbered(&format!("timer__{}__{period}", plain(&node.name)));
            if !self.view.has_named(&[&node.name], &[]) {
                continue;
            }
            let firings = indexed.caret_firings(node, callback);
            let records = self.limited(indexed.timer(node, callback, &firings));
            self.table(&stem, &records)?;
        }
        Ok(())
    }

    fn variable_passings(&mut self, indexed: &Indexed<'_>, node: &Node) -> anyhow::Result<()> {
        for (writer, reader) in node.passings() {
            let stem = format!(
                "varpass__{}__{}__{}",
                plain(&node.name),
                plain(writer),
                plain(reader)
            );
            let stem = self.numbered(&stem);
            if !self.view.has_named(&[&node.name], &[]) {
                continue;
            }
            if let (Some(writer), Some(reader)) = (node.callback(writer), node.callback(reader)) {
                let records = self.limited(indexed.variable_passing(node, writer, reader));
                self.table(&stem, &records)?;
            }
        }
        Ok(())
    }

    fn node_paths(&mut self, indexed: &Indexed<'_>, node: &Node) -> anyhow::Result<()> {
        let topic =
            |end: &Option<Endpoint>| end.as_ref().map_or("-".to_owned(), |end| plain(&end.topic));
        for path in &node_paths(node, Limits::default()).paths {
            let (input, output) = (topic(&path.subscription), topic(&path.publisher));
            let stem = self.numbered(&format!(
                "nodepath__{}__{input}__{output}",
                plain(&node.name)
            ));
            let ends = path.subscription.iter().chain(&path.publisher);
            let topics: Vec<&str> = ends.map(|end| end.topic.as_str()).collect();
            if !self.view.has_named(&[&node.name], &topics) {
                continue;
            }
            let records = indexed.node_path(node, path).unwrap_or_default();
            let records = self.limited(records);
            self.table(&stem, &records)?;
        }
        Ok(())
    }

    fn communications(
        &mut self,
        indexed: &Indexed<'_>,
        architecture: &Architecture,
    ) -> anyhow::Result<()> {
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
                .view
                .has_named(&nodes.map(String::as_str), &[it.topic()])
            {
                continue;
            }
            let records = self.limited(indexed.communication(&link));
            self.table(&stem, &records)?;
            if indexed.has_takes() {
                let takes = self.limited(indexed.communication_to_take(&link));
                self.table(&format!("{stem}__take"), &takes)?;
            }
            self.metrics(&stem, &records, true)?;
        }
        Ok(())
    }

    fn path(
        &mut self,
        indexed: &Indexed<'_>,
        architecture: &Architecture,
        path: &NamedPath,
    ) -> anyhow::Result<()> {
        let name = plain(&path.name);
        let suffixes = ["", "__first", "__last", "__first_last"];
        let variants = indexed.path_with_every_end(architecture, path);
        for ((ends, suffix), records) in Ends::EVERY.iter().zip(suffixes).zip(variants) {
            let records = self.limited(records.unwrap_or_default());
            self.table(&format!("path__{name}{suffix}"), &records)?;
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
                self.table(
                    &format!("stacked__{stem}"),
                    &stacked(&records, case, Style::Caret),
                )?;
            }
        }
        Ok(())
    }

    fn metrics(&mut self, stem: &str, records: &Records, latency: bool) -> anyhow::Result<()> {
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
    ) -> anyhow::Result<()> {
        let mut records = Records::new([first, second]);
        records
            .rows
            .extend(rows.iter().map(|(a, b)| vec![Some(*a), Some(*b)]));
        self.table(stem, &records)
    }

    /// The name with the number of its object among those of the same name.
    fn numbered(&mut self, name: &str) -> String {
        let number = self.numbers.entry(name.to_owned()).or_insert(0);
        *number += 1;
        format!("{name}__{}", *number - 1)
    }

    /// The rows that begin in the window.
    fn limited(&self, mut records: Records) -> Records {
        let window = self.view.window();
        if *window != EVER {
            let counts = |begin: i64| window.contains(&Nanos(begin));
            records
                .rows
                .retain(|row| row.first().copied().flatten().is_some_and(counts));
        }
        records
    }

    fn table(&mut self, stem: &str, records: &Records) -> anyhow::Result<()> {
        let name = format!("{}.{}", short(stem), self.format.extension());
        let schema = Schema::of_records(records);
        let file = NewFile::write(self.folder.join(name), |file| {
            let rows = |take: Sink<'_>| {
                let mut cells = Vec::new();
                for row in &records.rows {
                    if self.failed.load(Ordering::Relaxed) || interrupt::requested() {
                        return Err(io::Error::other("stopped"));
                    }
                    cells.clear();
                    cells.extend(row.iter().map(|cell| Cell::from(*cell)));
                    take(&cells)?;
                }
                Ok(())
            };
            self.format.write(&schema, &rows, file)
        })?;
        self.files.push(file);
        Ok(())
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

fn short(stem: &str) -> String {
    if stem.len() <= LONGEST_STEM {
        return stem.to_owned();
    }
    let digest = Sha256::digest(stem.as_bytes());
    let hexadecimal: String = digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "{}~{hexadecimal}~{}",
        &stem[..160],
        &stem[stem.len() - 46..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_parts_of_file_names() {
        assert_eq!(plain("/a/b c"), "a.b_c");
        assert_eq!(plain("talker"), "talker");
    }

    #[test]
    fn a_long_name_keeps_its_ends_and_stays_unique() {
        let long = format!("comm__{}", "x".repeat(400));
        let other = format!("{}y", &long[..long.len() - 1]);
        assert_eq!(short(&long).len(), 160 + 1 + 12 + 1 + 46);
        assert_ne!(short(&long), short(&other));
    }
}
