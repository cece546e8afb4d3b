//! Everything that was named on the command line, read as one: traces are found, grouped, and their streams put in order.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Trace;
use super::opening::{self, StreamBytes};
use super::recording::{Recording, TraceFolder};
use crate::damage::{Damage, DamageKind, DamageRows};
use crate::error::Error;
use crate::metadata::{self, Warning};
use crate::schema::{Clock, Identity, Nanos, Origin, Schema, Uuid};
use crate::trace::folder::{self, Folder, Unreadable};
use crate::trace::input_file::{self, LARGEST_METADATA};
use crate::trace::stream::Stream;

/// Several traces, read as one.
#[derive(Debug, Default)]
pub struct TraceSet {
    pub traces: Vec<Trace>,
    /// What was found wrong so far. Reading events can find more.
    pub damage: Vec<Damage>,
    /// When data is gone by rows of damage that stand for many, by name of the trace: from the first to the last of these much may be whole.
    pub summed_losses: BTreeMap<String, Vec<(Nanos, Nanos)>>,
    /// What it was put together from, by begin; without those that have no times.
    pub recordings: Vec<Recording>,
    /// Unknown attributes and the like in the metadata.
    pub warnings: Vec<String>,
}

/// A stream of a set, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId {
    pub trace: usize,
    pub stream: usize,
}

impl TraceSet {
    /// Opens all traces at or below the given folders. A trace that cannot be read is damage, unless it is the only
    /// one.
    pub fn open(paths: &[impl AsRef<Path>]) -> Result<TraceSet, Error> {
        let mut folders = Vec::new();
        let mut unreadable = Vec::new();
        for path in paths {
            let findings = folder::find(path.as_ref())?;
            folders.extend(findings.folders);
            unreadable.extend(findings.unreadable);
        }
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        folders.dedup_by(|a, b| a.path == b.path);
        let mut set = TraceSet::default();
        let mut damage = DamageRows::default();
        let mut groups = Groups::default();
        let alone = folders.len() == 1;
        for folder in folders {
            match set.read_metadata(&folder, &mut damage) {
                Ok(schema) => groups.add(folder, schema),
                Err(error) if alone => return Err(error),
                Err(error) => damage.push(Damage::new(
                    DamageKind::UnreadableTrace,
                    &folder.below.display().to_string(),
                    &folder.path.join("metadata"),
                    error.to_string(),
                )),
            }
        }
        for group in groups.groups {
            let trace = opening::open(
                group.schema,
                group.folders,
                group.metadata_path,
                &mut damage,
                &mut unreadable,
            );
            set.traces.push(trace);
        }
        set.tell_unreadable(unreadable, &mut damage)?;
        set.expect_cuts_apart()?;
        set.complete(damage);
        Ok(set)
    }

    /// A trace without a folder: its schema, and stream files in memory.
    pub fn in_memory(schema: Arc<Schema>, files: Vec<StreamBytes>) -> TraceSet {
        let mut damage = DamageRows::default();
        let trace = opening::in_memory(schema, files, &mut damage);
        let mut set = TraceSet {
            traces: vec![trace],
            ..TraceSet::default()
        };
        set.complete(damage);
        set
    }

    fn complete(&mut self, mut damage: DamageRows) {
        self.rank_streams();
        self.compare_clocks(&mut damage);
        self.recordings = self.find_recordings();
        (self.damage, self.summed_losses) = damage.into_rows_and_windows();
    }

    fn read_metadata(
        &mut self,
        folder: &Folder,
        damage: &mut DamageRows,
    ) -> Result<Arc<Schema>, Error> {
        let path = folder.path.join("metadata");
        let bytes = input_file::read(&path, LARGEST_METADATA).map_err(|source| {
            let path = path.clone();
            Error::Unreadable { path, source }
        })?;
        let metadata = metadata::read(&bytes).map_err(|source| Error::Metadata {
            path: path.clone(),
            source,
        })?;
        for warning in metadata.warnings {
            let Warning { line, column, .. } = warning;
            let (path, message) = (path.display(), warning.message);
            (self.warnings).push(format!("{path}: line {line}, column {column}: {message}"));
        }
        if let Some(message) = metadata.cut_short {
            let name = folder.below.display().to_string();
            damage.push(Damage::new(DamageKind::MetadataCut, &name, &path, message));
        }
        Ok(Arc::new(metadata.schema))
    }

    /// What cannot be read is damage, unless there is nothing else.
    fn tell_unreadable(
        &self,
        unreadable: Vec<Unreadable>,
        damage: &mut DamageRows,
    ) -> Result<(), Error> {
        let nothing_read = self.traces.iter().all(|trace| trace.files.is_empty());
        for it in unreadable {
            if nothing_read {
                return Err(it.into());
            }
            let is_in = |trace: &&Trace| {
                let mut folders = trace.folders.iter();
                folders.any(|folder| it.path.starts_with(folder))
            };
            let name = (self.traces.iter())
                .find(is_in)
                .map_or("", |trace| &trace.name);
            let message = format!("cannot be read: {}", it.source);
            damage.push(Damage::new(
                DamageKind::UnreadableFile,
                name,
                &it.path,
                message,
            ));
        }
        Ok(())
    }

    /// All streams of all traces.
    pub fn streams(&self) -> impl Iterator<Item = StreamId> + '_ {
        self.traces.iter().enumerate().flat_map(|(trace, streams)| {
            (0..streams.streams.len()).map(move |stream| StreamId { trace, stream })
        })
    }

    pub fn stream(&self, id: StreamId) -> &Stream {
        &self.traces[id.trace].streams[id.stream]
    }

    pub fn trace_of(&self, id: StreamId) -> &Trace {
        &self.traces[id.trace]
    }

    /// Bytes in all packets.
    pub fn bytes(&self) -> u64 {
        let packets = self.streams().flat_map(|id| &self.stream(id).packets);
        packets.map(|packet| packet.size).sum()
    }

    /// Who comes first at equal times: trace UUID (a trace with one before one without), trace name, ids of stream
    /// class and stream.
    fn rank_streams(&mut self) {
        let mut ids: Vec<StreamId> = self.streams().collect();
        let key = |id: &StreamId| {
            let trace = &self.traces[id.trace];
            let stream = &trace.streams[id.stream];
            let uuid = trace.schema.uuid;
            let class_id = trace.schema.streams[stream.class].id;
            (
                uuid.is_none(),
                uuid,
                trace.name.clone(),
                class_id,
                stream.id,
            )
        };
        ids.sort_by_cached_key(key);
        let mut ranks = Vec::with_capacity(ids.len());
        for (place, id) in ids.iter().enumerate() {
            let same = place > 0 && key(&ids[place - 1]) == key(id);
            let rank = if same { ranks[place - 1] } else { place as u32 };
            ranks.push(rank);
        }
        for (id, rank) in ids.into_iter().zip(ranks) {
            self.traces[id.trace].streams[id.stream].rank = rank;
        }
    }

    fn compare_clocks(&self, damage: &mut DamageRows) {
        let mut clocks = self.traces.iter().flat_map(|trace| {
            let streams = trace.streams.iter();
            streams.map(move |stream| (trace, trace.clock_of(stream)))
        });
        let Some((first_trace, first)) = clocks.next() else {
            return;
        };
        let odd = clocks.find(|(_, clock)| !comparable(first, *clock));
        if let Some((trace, _)) = odd {
            let message = format!(
                "the clocks of `{}` and `{}` have no common origin: the order of events between them is arbitrary",
                first_trace.name, trace.name
            );
            let (kind, path) = (DamageKind::IncomparableClocks, &trace.metadata_path);
            damage.push(Damage::new(kind, &trace.name, path, message));
        }
    }
}

/// Two clocks can be compared if both count from 1970, or if they are the same clock.
fn comparable(a: Option<&Clock>, b: Option<&Clock>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => match (&a.origin, &b.origin) {
            (Origin::UnixEpoch, Origin::UnixEpoch) => true,
            (Origin::Custom(a), Origin::Custom(b)) => a == b,
            (Origin::Unknown, Origin::Unknown) => {
                a.uuid == b.uuid && a.identity.uid == b.identity.uid
            }
            _ => false,
        },
        _ => false,
    }
}

/// Folders that are one trace, with the metadata that serves for all.
struct Group {
    folders: Vec<(Folder, TraceFolder)>,
    schema: Arc<Schema>,
    metadata_path: PathBuf,
}

#[derive(PartialEq, Eq, Hash)]
enum GroupKey {
    Uuid(Uuid),
    Identity(Identity),
}

/// All groups, in the order of their first folders.
#[derive(Default)]
struct Groups {
    groups: Vec<Group>,
    places: HashMap<GroupKey, usize>,
}

impl Groups {
    fn add(&mut self, folder: Folder, schema: Arc<Schema>) {
        let key = match (schema.uuid, &schema.identity) {
            (_, identity) if identity.uid.is_some() => Some(GroupKey::Identity(identity.clone())),
            (Some(uuid), _) => Some(GroupKey::Uuid(uuid)),
            _ => None,
        };
        let metadata_path = folder.path.join("metadata");
        let part = TraceFolder::new(&folder.path, &folder.below, &schema);
        let next = self.groups.len();
        let place = key.map_or(next, |key| *self.places.entry(key).or_insert(next));
        match self.groups.get_mut(place) {
            Some(group) => {
                if schema.declarations() > group.schema.declarations() {
                    group.schema = schema;
                    group.metadata_path = metadata_path;
                }
                group.folders.push((folder, part));
            }
            None => self.groups.push(Group {
                folders: vec![(folder, part)],
                schema,
                metadata_path,
            }),
        }
    }
}
