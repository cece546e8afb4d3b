//! Tiny traces as LTTng would write them: events by name, with whatever fields the test gives them.
//!
//! A recording has a current host, process, thread, processor and time; an event happens there, and each one takes a
//! microsecond. So a test says only what matters to it. `ros` adds a word for everything that ROS 2 tells.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::{ByteOrder, Clock, Origin, Uuid};
use rostrace_ctf::value::Value;
use rostrace_ctf::writer::{EventRecord, Others, PacketEnd, PacketStart};
use rostrace_model::Model;

use super::ros::Flavour;
use crate::lttng::{Alignment, Context, Element, Field, HeaderForm, Kind, LttngSchema};
use crate::trace_writer::{TraceOptions, TraceWriter};

/// What the clock's zero means, in nanoseconds since 1970.
pub const EPOCH: i64 = 1_700_000_000_000_000_000;

/// How long each event takes.
pub const STEP: u64 = 1_000;

/// A value of a field, and thereby the field's type.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    Pointer(u64),
    Unsigned(u64),
    Signed(i64),
    Flag(bool),
    Text(String),
    Gid(Vec<u8>),
    Pointers(Vec<u64>),
    Real(f64),
    Numbers(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Vec<String>),
}

/// One event of a recording.
#[derive(Debug, Clone)]
pub struct MadeUpEvent {
    pub host: usize,
    pub tracer: Tracer,
    pub cpu: u32,
    pub time: u64,
    pub pid: i64,
    pub tid: i64,
    pub procname: String,
    pub name: String,
    pub fields: Vec<(String, Payload)>,
}

/// Who records an event. The kernel's events are a trace of their own, and have no context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracer {
    UserSpace,
    Kernel,
}

/// Where and when events are lost.
#[derive(Debug, Clone, Copy)]
struct Window {
    host: usize,
    tracer: Tracer,
    cpu: u32,
    from: u64,
    to: u64,
}

/// A trace that is being made up, of one or several hosts.
#[derive(Debug, Clone)]
pub struct Recording {
    pub flavour: Flavour,
    pub events: Vec<MadeUpEvent>,
    hosts: Vec<String>,
    windows: Vec<Window>,
    /// What the flight recorder has kept of a processor begins here.
    forgotten: BTreeMap<u32, u64>,
    attached: bool,
    /// What the environment of the traces of user space says beside the host and the tracer.
    environment: Vec<(String, String)>,
    /// Times per second of the traces' clock.
    pub frequency: u64,
    /// The files of streams are named in reverse.
    pub reversed: bool,
    host: usize,
    cpu: u32,
    now: u64,
    pid: i64,
    tid: i64,
    procname: String,
    /// Whether initialisation is reported by CARET; and if it is reported late, what it says of its time.
    pub caret: bool,
    pub happened: Option<u64>,
}

impl Recording {
    pub fn new(flavour: Flavour, host: &str) -> Recording {
        Recording {
            flavour,
            events: Vec::new(),
            hosts: vec![host.to_owned()],
            windows: Vec::new(),
            forgotten: BTreeMap::new(),
            attached: false,
            environment: Vec::new(),
            frequency: 1_000_000_000,
            reversed: false,
            host: 0,
            cpu: 0,
            now: 1_000_000,
            pid: 1,
            tid: 1,
            procname: "app".to_owned(),
            caret: false,
            happened: None,
        }
    }

    pub fn jazzy() -> Recording {
        Recording::new(Flavour::Jazzy, "robot")
    }

    /// From here on things happen on another machine.
    pub fn host(&mut self, name: &str) -> &mut Recording {
        self.host = match self.hosts.iter().position(|host| host == name) {
            Some(host) => host,
            None => {
                self.hosts.push(name.to_owned());
                self.hosts.len() - 1
            }
        };
        self
    }

    /// From here on things happen on the main thread of a process.
    pub fn process(&mut self, pid: i64, name: &str) -> &mut Recording {
        (self.pid, self.tid) = (pid, pid);
        self.procname = name.to_owned();
        self
    }

    pub fn thread(&mut self, tid: i64) -> &mut Recording {
        self.tid = tid;
        self
    }

    /// From here on on another processor, hence in another stream.
    pub fn cpu(&mut self, cpu: u32) -> &mut Recording {
        self.cpu = cpu;
        self
    }

    pub fn at(&mut self, time: u64) -> &mut Recording {
        self.now = time;
        self
    }

    pub fn wait(&mut self, time: u64) -> &mut Recording {
        self.now += time;
        self
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    pub fn event(&mut self, name: &str, fields: &[(&str, Payload)]) -> &mut Recording {
        self.record(Tracer::UserSpace, name, fields)
    }

    /// An event of the kernel on the current processor.
    pub fn kernel_event(&mut self, name: &str, fields: &[(&str, Payload)]) -> &mut Recording {
        self.record(Tracer::Kernel, name, fields)
    }

    fn record(&mut self, tracer: Tracer, name: &str, fields: &[(&str, Payload)]) -> &mut Recording {
        self.events.push(MadeUpEvent {
            host: self.host,
            tracer,
            cpu: self.cpu,
            time: self.now,
            pid: self.pid,
            tid: self.tid,
            procname: self.procname.clone(),
            name: name.to_owned(),
            fields: (fields.iter())
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        });
        self.now += STEP;
        self
    }

    /// Nothing between these times is recorded on any processor of the current host, and the tracer counts it.
    pub fn lose(&mut self, from: u64, to: u64) -> &mut Recording {
        self.lose_of(Tracer::UserSpace, from, to)
    }

    /// Nothing that the kernel does between these times on the current processor is recorded, and the tracer counts it.
    pub fn lose_of_kernel(&mut self, from: u64, to: u64) -> &mut Recording {
        self.lose_of(Tracer::Kernel, from, to)
    }

    fn lose_of(&mut self, tracer: Tracer, from: u64, to: u64) -> &mut Recording {
        let (host, cpu) = (self.host, self.cpu);
        self.events.retain(|event| {
            (event.host, event.tracer) != (host, tracer)
                || tracer == Tracer::Kernel && event.cpu != cpu
                || !(from..to).contains(&event.time)
        });
        self.windows.push(Window {
            host,
            tracer,
            cpu,
            from,
            to,
        });
        self
    }

    /// Our own tracer was attached: what happens on processor 0 is reported from memory.
    pub fn attach(&mut self) -> &mut Recording {
        self.attached = true;
        self
    }

    /// What the environment of the traces says of how they were recorded.
    pub fn say(&mut self, key: &str, value: &str) -> &mut Recording {
        self.environment.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Our own flight recorder has deleted what happened on the current processor before a time.
    pub fn forget(&mut self, until: u64) -> &mut Recording {
        let cpu = self.cpu;
        self.events
            .retain(|event| event.cpu != cpu || event.time >= until);
        self.forgotten.insert(cpu, until);
        self
    }

    /// One event is discarded, and the tracer counts it.
    pub fn discard(&mut self, index: usize) {
        let event = self.events.remove(index);
        self.windows.push(Window {
            host: event.host,
            tracer: event.tracer,
            cpu: event.cpu,
            from: event.time,
            to: event.time + 1,
        });
    }

    pub fn load(&self) -> Model {
        super::model_of(&self.open())
    }

    pub fn open(&self) -> TraceSet {
        let folder = tempfile::tempdir().unwrap();
        self.save(folder.path());
        // The files stay mapped.
        TraceSet::open(&[folder.path()]).unwrap()
    }

    /// Writes the traces of all hosts into a folder.
    pub fn save(&self, folder: &Path) {
        for host in 0..self.hosts.len() {
            let ust = folder.join(format!("host{host}"));
            self.write(host, Tracer::UserSpace, &ust);
            let is_kernel = |event: &MadeUpEvent| event.tracer == Tracer::Kernel;
            if self.events.iter().any(is_kernel) {
                let kernel = folder.join(format!("host{host}_kernel"));
                self.write(host, Tracer::Kernel, &kernel);
            }
        }
    }

    fn write(&self, host: usize, tracer: Tracer, folder: &Path) {
        let mut events: Vec<&MadeUpEvent> = (self.events.iter())
            .filter(|event| (event.host, event.tracer) == (host, tracer))
            .collect();
        events.sort_by_key(|event| event.time);
        // An event of another shape is another class, also under the same name.
        let mut classes: Vec<(&str, Vec<Field>)> = Vec::new();
        let mut class_of = Vec::new();
        for event in &events {
            let class = (
                event.name.as_str(),
                event.fields.iter().map(field).collect(),
            );
            let known = classes.iter().position(|other| *other == class);
            class_of.push(known.unwrap_or_else(|| {
                classes.push(class);
                classes.len() - 1
            }));
        }
        let (uuid, name, contexts): (_, _, &[Context]) = match tracer {
            Tracer::UserSpace => (
                host as u8 + 1,
                if self.forgotten.is_empty() && !self.attached {
                    "lttng-ust"
                } else {
                    "rostrace"
                },
                &[Context::Vpid, Context::Vtid, Context::Procname],
            ),
            Tracer::Kernel => (host as u8 + 101, "lttng-modules", &[]),
        };
        let mut schema = LttngSchema::new(
            Uuid([uuid; 16]),
            ByteOrder::Little,
            Alignment::Packed,
            self.clock(),
        )
        .environment_text("hostname", &self.hosts[host])
        .environment_text("tracer_name", name)
        .environment_integer("tracer_major", 2)
        .environment_integer("tracer_minor", 13)
        .stream(HeaderForm::Large, contexts);
        for (key, value) in self
            .environment
            .iter()
            .filter(|_| tracer == Tracer::UserSpace)
        {
            schema = schema.environment_text(key, value);
        }
        if tracer == Tracer::Kernel {
            schema = schema.environment_text("domain", "kernel");
        }
        for (name, fields) in &classes {
            schema = schema.event(name, 13, fields);
        }
        let schema = Arc::new(schema.build());
        let writer = TraceWriter::create(folder, schema, TraceOptions::default());
        let mut cpus: BTreeMap<u32, Vec<(usize, &MadeUpEvent)>> = BTreeMap::new();
        for (class, event) in class_of.into_iter().zip(events) {
            cpus.entry(event.cpu).or_default().push((class, event));
        }
        let windows = || {
            (self.windows.iter())
                .filter(move |window| (window.host, window.tracer) == (host, tracer))
        };
        for window in windows() {
            cpus.entry(window.cpu).or_default();
        }
        for (cpu, events) in cpus {
            let number = if self.reversed { 99 - cpu } else { cpu };
            let mut stream = writer.stream(&format!("ros2_{number:02}"), 0, cpu.into());
            let context = [("cpu_id", Value::Unsigned(cpu.into()))];
            let mut windows: Vec<(u64, u64)> = windows()
                .filter(|window| window.cpu == cpu)
                .map(|window| (window.from, window.to))
                .collect();
            windows.sort_unstable();
            let forgotten = self.forgotten.get(&cpu);
            let (mut sequence, mut discarded, mut begin) = match forgotten {
                Some(until) => (17, 0, *until),
                None => (0, 0, 0),
            };
            let mut rest = events.as_slice();
            let mut packet = |until: u64, events: &[(usize, &MadeUpEvent)], discarded: u64| {
                let start = PacketStart {
                    begin: self.cycles(begin),
                    sequence,
                    context: Others::Named(&context),
                    ..PacketStart::default()
                };
                stream.begin_packet(start);
                for (class, event) in events {
                    let values = event.fields.iter().flat_map(|(_, value)| values(value));
                    let context = Value::Struct(vec![
                        Value::Signed(event.pid),
                        Value::Signed(event.tid),
                        Value::text(&event.procname),
                    ]);
                    let record = EventRecord {
                        event: *class,
                        time: self.cycles(event.time),
                        common_context: (tracer == Tracer::UserSpace).then_some(&context),
                        payload: Some(&Value::Struct(values.collect())),
                        ..EventRecord::default()
                    };
                    stream.event(&record);
                }
                let end = PacketEnd {
                    end: self.cycles(until),
                    discarded,
                };
                stream.close_packet(end);
                sequence += 1;
                begin = until;
            };
            for (from, to) in windows {
                let (before, after) =
                    rest.split_at(rest.partition_point(|(_, event)| event.time < from));
                packet(from, before, discarded);
                discarded += 1;
                packet(to, &[], discarded);
                rest = after;
            }
            packet(1_000_000_000_000, rest, discarded);
            stream.finish();
        }
    }

    fn cycles(&self, time: u64) -> u64 {
        (u128::from(time) * u128::from(self.frequency) / 1_000_000_000) as u64
    }

    fn clock(&self) -> Clock {
        Clock {
            frequency: self.frequency,
            offset_seconds: EPOCH / 1_000_000_000,
            origin: Origin::UnixEpoch,
            ..Clock::implicit("monotonic")
        }
    }
}

fn field((name, value): &(String, Payload)) -> Field {
    match value {
        Payload::Pointer(_) => Field::address(name),
        Payload::Unsigned(_) => Field::unsigned(name, 64),
        Payload::Signed(_) => Field::signed(name, 64),
        Payload::Flag(_) => Field::signed(name, 32),
        Payload::Text(_) => Field::string(name),
        Payload::Gid(bytes) => {
            Field::new(name, Kind::Array(bytes.len() as u64, Element::unsigned(8)))
        }
        Payload::Real(_) => Field::one(name, Element::Double),
        Payload::Numbers(_) => Field::new(name, Kind::Sequence(Element::signed(64))),
        Payload::Reals(_) => Field::new(name, Kind::Sequence(Element::Double)),
        Payload::Texts(_) => Field::new(name, Kind::Sequence(Element::String)),
        Payload::Pointers(_) => Field::new(name, Kind::Sequence(Element::address())),
    }
}

/// The members that a field has in the stream: sequences have their length before them.
fn values(payload: &Payload) -> Vec<Value> {
    let list = |numbers: Vec<u64>| Value::Array(numbers.into_iter().map(Value::Unsigned).collect());
    match payload {
        Payload::Pointer(number) | Payload::Unsigned(number) => vec![Value::Unsigned(*number)],
        Payload::Signed(number) => vec![Value::Signed(*number)],
        Payload::Flag(flag) => vec![Value::Signed((*flag).into())],
        Payload::Text(text) => vec![Value::text(text)],
        Payload::Gid(bytes) => vec![list(bytes.iter().map(|byte| (*byte).into()).collect())],
        Payload::Real(number) => vec![Value::Float(*number)],
        Payload::Numbers(list) => sequence(list, |number| Value::Signed(*number)),
        Payload::Reals(list) => sequence(list, |number| Value::Float(*number)),
        Payload::Texts(list) => sequence(list, |text| Value::text(text)),
        Payload::Pointers(numbers) => {
            vec![Value::Unsigned(numbers.len() as u64), list(numbers.clone())]
        }
    }
}

fn sequence<T>(list: &[T], value: impl Fn(&T) -> Value) -> Vec<Value> {
    let length = Value::Unsigned(list.len() as u64);
    vec![length, Value::Array(list.iter().map(value).collect())]
}
