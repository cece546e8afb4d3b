//! Columns: fields of many events, class by class.
//!
//! A [`Scan`] says which events and which of their fields are wanted. Packets are decoded in parallel; each thread walks
//! through a packet once, notes where the wanted events are, and then fills column after column from those
//! places. What was not asked for is stepped over, never decoded. Batches are handed out with their buffers, which are
//! used again for the next batch.
//!
//! Batches of one thread come in the order of their streams; between threads there is no order. Every row has its time.

mod column;
mod gather;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

pub use column::{Column, Lists};

use gather::Rows;

use crate::cursor;
use crate::damage::{Damage, DamageRows};
use crate::layout::{Layout, Leaf};
use crate::packet::Packet;
use crate::parallel::{self, Task};
use crate::schema::{Cycles, EventClass};
use crate::selection::{Selection, StreamSelection};
use crate::stream::Stream;
use crate::time::{Conversion, TimeBase};
use crate::trace::{StreamId, Trace, TraceSet};
use crate::walk::Walker;

/// Which fields of an event class are wanted.
#[derive(Debug, Clone, Default)]
pub enum Fields {
    /// Every field of the contexts and the payload.
    #[default]
    All,
    /// Fields by name, looked up in the payload first, then in the contexts. A class that has none of a name yields
    /// an absent column.
    Named(Vec<String>),
}

/// A question to a trace.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    pub selection: Selection,
    pub fields: Fields,
    /// 0: as many as there are processors.
    pub threads: usize,
}

/// Some events of one class of one stream.
#[derive(Debug)]
pub struct Batch<'b, 'a> {
    pub stream: StreamId,
    pub trace: &'a Trace,
    /// Index of the event class in its stream class.
    pub event_class: usize,
    /// Nanoseconds since the clock's origin; 0 for streams without a clock.
    pub times: &'b [i64],
    columns: &'b [Option<Column<'a>>],
    leaves: &'b [Option<usize>],
}

/// Rows that a batch should have before it is handed out: enough to make the hand-over free, few enough to stay in
/// the processor's cache.
const ROWS: usize = 4096;

/// Bytes of packets whose places are noted before the columns are filled from them: more make the loops longer, fewer
/// keep the bytes in the cache.
const FILL_BYTES: u64 = 128 << 10;

impl Scan {
    /// Runs the scan. `state` makes a state for each thread, `take` is called with it for every batch. Returns the states
    /// and what was found wrong. `progress` hears of the bytes done and says whether to go on.
    pub fn run<'a, S: Send>(
        &self,
        set: &'a TraceSet,
        progress: &(dyn Fn(u64) -> bool + Sync),
        state: impl Fn() -> S + Sync,
        take: impl Fn(&mut S, &Batch<'_, 'a>) + Sync,
    ) -> (Vec<S>, Vec<Damage>) {
        let tasks = parallel::tasks(set);
        let bytes_done = AtomicU64::new(0);
        let range = self.selection.range();
        let range = range.start.0..range.end.0;
        let workers = parallel::run(
            &tasks,
            parallel::threads(self.threads, tasks.len()),
            || Worker {
                set,
                scan: self,
                range: range.clone(),
                tables: Tables::default(),
                damage: DamageRows::default(),
                state: state(),
            },
            |worker, task| {
                worker.task(task, &take);
                progress(bytes_done.fetch_add(task.bytes, Ordering::Relaxed) + task.bytes)
            },
        );
        let mut states = Vec::new();
        let mut damage = DamageRows::default();
        for worker in workers {
            states.push(worker.state);
            damage.append(worker.damage);
        }
        let mut damage = damage.into_rows();
        damage.sort_by(|a, b| (&a.path, a.offset).cmp(&(&b.path, b.offset)));
        (states, damage)
    }

    /// The leaves that answer the question for one class.
    fn leaves(&self, layout: &Layout) -> Vec<Option<usize>> {
        match &self.fields {
            Fields::All => (0..layout.leaves.len()).map(Some).collect(),
            Fields::Named(names) => names.iter().map(|name| layout.leaf(name)).collect(),
        }
    }
}

impl<'b, 'a> Batch<'b, 'a> {
    pub fn len(&self) -> usize {
        self.times.len()
    }

    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub fn class(&self) -> &'a EventClass {
        let stream = self.trace.streams[self.stream.stream].class;
        &self.trace.schema.streams[stream].events[self.event_class]
    }

    /// The columns in the order of the question; absent where the class has no such field.
    pub fn columns(&self) -> &'b [Option<Column<'a>>] {
        self.columns
    }

    /// The leaf that a column was filled from.
    pub fn leaf(&self, column: usize) -> Option<&'a Leaf> {
        let stream = self.trace.streams[self.stream.stream].class;
        let layout = &self.trace.layouts(stream)[self.event_class];
        layout.leaves.get((*self.leaves.get(column)?)?)
    }
}

/// One thread's part of a scan.
struct Worker<'a, 's, S> {
    set: &'a TraceSet,
    scan: &'s Scan,
    range: Range<i64>,
    tables: Tables<'a>,
    damage: DamageRows,
    state: S,
}

/// The tables of the stream that is being read, one per event class.
#[derive(Default)]
struct Tables<'a> {
    stream: Option<StreamId>,
    classes: Vec<Table<'a>>,
}

/// Rows of one event class: places first, columns when there are enough of them.
struct Table<'a> {
    wanted: bool,
    layout: &'a Layout,
    leaves: Vec<Option<usize>>,
    times: Vec<i64>,
    /// Anchors of the rows that are not in the columns yet, `stride` for each, in bits from the file's start.
    anchors: Vec<u64>,
    stride: usize,
    /// Whether some column must be decoded field by field while the walker stands at the event.
    nested: bool,
    columns: Vec<Option<Column<'a>>>,
}

/// A stream on its way through a scan.
struct Lane<'a> {
    id: StreamId,
    trace: &'a Trace,
    stream: &'a Stream,
    selection: StreamSelection<'a>,
    time: TimeBase<'a>,
    walker: Walker<'a>,
}

impl<'a, S> Worker<'a, '_, S> {
    fn task(&mut self, task: &Task, take: &impl Fn(&mut S, &Batch<'_, 'a>)) {
        let (trace, stream) = (self.set.trace_of(task.stream), self.set.stream(task.stream));
        self.tables.prepare(self.scan, trace, task.stream);
        let mut lane = Lane {
            id: task.stream,
            trace,
            stream,
            selection: self.scan.selection.of_stream(trace, stream),
            time: trace.time_base(stream, Conversion::Exact),
            walker: trace.decoder.walker(stream.class),
        };
        let mut noted = 0;
        let mut file = None;
        for number in task.packets.clone() {
            let packet = &stream.packets[number];
            if !lane.reaches_into(&self.range, number) {
                continue;
            }
            // Places are noted relative to the file, so that the rows of several packets are filled at once.
            if noted >= FILL_BYTES || file.is_some_and(|file| file != packet.file) {
                self.fill(&lane, file, take);
                noted = 0;
            }
            file = Some(packet.file);
            noted += packet.size;
            self.walk(&mut lane, packet);
        }
        self.fill(&lane, file, take);
        for (event_class, table) in self.tables.classes.iter_mut().enumerate() {
            table.hand_out(lane.id, trace, event_class, &mut self.state, take);
        }
    }

    /// Notes the places of all wanted events of a packet.
    fn walk(&mut self, lane: &mut Lane<'a>, packet: &Packet) {
        let trace = lane.trace;
        let data = trace.data(packet);
        let wanted = lane.selection.wants_packet(&trace.decoder, data);
        if !wanted && !lane.stream.sequential {
            return;
        }
        let Ok(head) = trace.decoder.enter(&mut lane.walker, packet, data) else {
            return;
        };
        let base = packet.offset * 8;
        let range = self.range.clone();
        let endless = range.end == i64::MAX;
        loop {
            match lane.walker.next_event() {
                Ok(Some(event)) if wanted => {
                    let nanos = lane.time.nanos(event.time).0;
                    let table = &mut self.tables.classes[event.class as usize];
                    if table.wanted
                        && nanos >= range.start
                        && (nanos < range.end || endless)
                        && lane.selection.wants_event(&event, &lane.walker)
                    {
                        table.note(nanos, &lane.walker, event.body, base);
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(trouble) => {
                    let row =
                        cursor::undecodable(trace, lane.stream, packet, &lane.walker, &trouble);
                    self.damage.extend(row);
                }
            }
        }
        trace.decoder.leave(&mut lane.walker, &head);
    }

    /// Fills the columns from the places noted in one file, and hands out what is large enough.
    fn fill(&mut self, lane: &Lane<'a>, file: Option<u32>, take: &impl Fn(&mut S, &Batch<'_, 'a>)) {
        let Some(file) = file else { return };
        let data = lane.trace.file_data(file);
        for (event_class, table) in self.tables.classes.iter_mut().enumerate() {
            table.fill(data);
            if table.times.len() >= ROWS {
                table.hand_out(lane.id, lane.trace, event_class, &mut self.state, take);
            }
        }
    }
}

impl Lane<'_> {
    /// Whether a packet can have events in a range of time: they lie between its begin and that of the next one.
    fn reaches_into(&self, range: &Range<i64>, number: usize) -> bool {
        if self.stream.sequential || !self.time.has_clock() {
            return true;
        }
        let begin_of = |packet: &Packet| self.time.nanos(Cycles(packet.begin)).0;
        let packets = &self.stream.packets;
        let begins_in_time = range.end == i64::MAX || begin_of(&packets[number]) < range.end;
        let ends_in_time = packets
            .get(number + 1)
            .is_none_or(|next| begin_of(next) >= range.start);
        begins_in_time && ends_in_time
    }
}

impl<'a> Tables<'a> {
    fn prepare(&mut self, scan: &Scan, trace: &'a Trace, stream: StreamId) {
        if self.stream == Some(stream) {
            return;
        }
        self.stream = Some(stream);
        let class = trace.streams[stream.stream].class;
        let selection: StreamSelection<'_> = scan
            .selection
            .of_stream(trace, &trace.streams[stream.stream]);
        self.classes = trace
            .layouts(class)
            .iter()
            .enumerate()
            .map(|(number, layout)| {
                Table::new(layout, scan.leaves(layout), selection.wants_class(number))
            })
            .collect();
    }
}

impl<'a> Table<'a> {
    fn new(layout: &'a Layout, leaves: Vec<Option<usize>>, wanted: bool) -> Table<'a> {
        let columns: Vec<_> = leaves
            .iter()
            .map(|leaf| leaf.map(|leaf| Column::new(&layout.leaves[leaf])))
            .collect();
        let nested = columns
            .iter()
            .flatten()
            .any(|column| matches!(column, Column::Values(_)));
        Table {
            wanted,
            layout,
            leaves,
            times: Vec::new(),
            anchors: Vec::new(),
            stride: layout.anchors(),
            nested,
            columns,
        }
    }

    #[inline]
    fn note(&mut self, nanos: i64, walker: &Walker<'_>, body: u64, base: u64) {
        self.times.push(nanos);
        match walker.anchors() {
            [anchor] => self.anchors.push(base + anchor),
            anchors => self
                .anchors
                .extend(anchors.iter().map(|anchor| base + anchor)),
        }
        if self.nested {
            self.note_values(walker, body);
        }
    }

    #[cold]
    fn note_values(&mut self, walker: &Walker<'_>, body: u64) {
        let mut registers = walker.registers().clone();
        let scopes = self
            .layout
            .values(walker.content(), body, &mut registers)
            .unwrap_or_default();
        for (column, leaf) in self.columns.iter_mut().zip(&self.leaves) {
            if let (Some(Column::Values(values)), Some(leaf)) = (column, leaf) {
                values.push(column::value_of(self.layout, *leaf, &scopes));
            }
        }
    }

    /// Fills the columns from the places that were noted in this file.
    fn fill(&mut self, data: &'a [u8]) {
        if self.anchors.is_empty() {
            return;
        }
        let rows = Rows::new(data, &self.anchors, self.stride);
        for (column, leaf) in self.columns.iter_mut().zip(&self.leaves) {
            if let (Some(column), Some(leaf)) = (column, leaf) {
                column.fill(&self.layout.leaves[*leaf], rows);
            }
        }
        self.anchors.clear();
    }

    fn hand_out<S>(
        &mut self,
        stream: StreamId,
        trace: &'a Trace,
        event_class: usize,
        state: &mut S,
        take: &impl Fn(&mut S, &Batch<'_, 'a>),
    ) {
        if self.times.is_empty() {
            return;
        }
        let batch = Batch {
            stream,
            trace,
            event_class,
            times: &self.times,
            columns: &self.columns,
            leaves: &self.leaves,
        };
        take(state, &batch);
        self.times.clear();
        self.columns.iter_mut().flatten().for_each(Column::clear);
    }
}
