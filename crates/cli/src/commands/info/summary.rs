//! What is in a trace, as one object. Its JSON is a contract: names here are names there.

use std::collections::BTreeMap;
use std::path::Path;

use rostrace_ctf::schema::{Clock, EnvironmentValue, Nanos, Origin, Schema};
use rostrace_ctf::{Damage, DamageKind, ProcessSurvey, Stretch, Survey, Trace, TraceSet};
use serde::Serialize;

use super::ros::Ros;
use crate::interrupt;
use crate::progress::Progress;

#[derive(Debug, Serialize)]
pub(crate) struct Summary<'a> {
    pub(crate) events: u64,
    /// As far as the tracer counted them.
    pub(crate) discarded_events: u64,
    pub(crate) lost_packets: u64,
    /// Of packets.
    pub(crate) bytes: u64,
    /// Times are null for traces without a clock.
    pub(crate) begin_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
    pub(crate) duration_ns: Option<u64>,
    /// When nothing was recorded, between two recordings.
    pub(crate) pauses: Vec<PauseRow>,
    /// The duration without pauses.
    #[serde(skip)]
    pub(crate) recorded_ns: Option<u64>,
    pub(crate) damage: Vec<DamageRow>,
    pub(crate) ros: Ros,
    pub(crate) traces: Vec<TraceRow>,
    pub(crate) streams: usize,
    pub(crate) stream_list: Vec<StreamRow>,
    pub(crate) processes: Vec<ProcessRow>,
    /// Most frequent first.
    pub(crate) event_names: Vec<NameRow>,
    #[serde(skip)]
    rows: Vec<&'a Damage>,
    #[serde(skip)]
    found: Vec<Damage>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DamageRow {
    kind: &'static str,
    trace: String,
    path: String,
    offset: Option<u64>,
    begin_ns: Option<i64>,
    end_ns: Option<i64>,
    count: Option<u64>,
    message: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct PauseRow {
    pub(crate) begin_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) duration_ns: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct TraceRow {
    pub(crate) name: String,
    pub(crate) paths: Vec<String>,
    pub(crate) uuid: Option<String>,
    pub(crate) host: Option<String>,
    /// `kernel` or `ust`, in traces of LTTng.
    pub(crate) domain: Option<String>,
    pub(crate) tracer: Option<String>,
    pub(crate) clock: Option<ClockRow>,
    pub(crate) streams: usize,
}

#[derive(Debug, Serialize, PartialEq, Eq)]
pub(crate) struct ClockRow {
    pub(crate) name: String,
    pub(crate) frequency_hz: u64,
    pub(crate) offset_s: i64,
    pub(crate) offset_cycles: u64,
    /// `unix-epoch`, `unknown`, or a name of the producer's.
    pub(crate) origin: String,
    uuid: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct StreamRow {
    pub(crate) trace: String,
    pub(crate) class: u64,
    pub(crate) id: u64,
    pub(crate) cpu_id: Option<u64>,
    pub(crate) path: String,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) begin_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ProcessRow {
    pub(crate) host: Option<String>,
    pub(crate) vpid: i64,
    pub(crate) name: String,
    pub(crate) events: u64,
    pub(crate) begin_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct NameRow {
    pub(crate) name: String,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// Over the time that was recorded.
    pub(crate) rate_hz: Option<f64>,
}

impl<'a> Summary<'a> {
    /// Decodes every event; nothing if Ctrl-C stopped it.
    pub(crate) fn of(set: &'a TraceSet) -> Option<Summary<'a>> {
        let progress = Progress::new("reading", set.bytes());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let survey = Survey::take(set, threads, &|bytes| {
            progress.done(bytes);
            !interrupt::requested()
        });
        drop(progress);
        (!interrupt::requested()).then(|| Summary::new(set, survey))
    }

    fn new(set: &'a TraceSet, survey: Survey) -> Summary<'a> {
        let span = survey.begin.zip(survey.end);
        let length = |(begin, end): (Nanos, Nanos)| end.0.saturating_sub(begin.0).max(0) as u64;
        let duration_ns = span.map(length);
        let pauses: Vec<PauseRow> = set.pauses().into_iter().map(PauseRow::of).collect();
        let paused: u64 = pauses.iter().map(|pause| pause.duration_ns).sum();
        let recorded_ns = duration_ns.map(|duration| duration.saturating_sub(paused));
        let damage = || set.damage.iter().chain(&survey.damage);
        let lost = |kind: DamageKind| {
            let rows = damage().filter(|row| row.kind == kind);
            rows.filter_map(|row| row.count).sum()
        };
        Summary {
            events: survey.events,
            discarded_events: lost(DamageKind::DiscardedEvents),
            lost_packets: lost(DamageKind::LostPackets),
            bytes: set.bytes(),
            begin_ns: plain(survey.begin),
            end_ns: plain(survey.end),
            duration_ns,
            pauses,
            recorded_ns,
            damage: damage().map(DamageRow::of).collect(),
            ros: Ros::of(set, &survey),
            traces: set.traces.iter().map(TraceRow::of).collect(),
            streams: set.streams().count(),
            stream_list: stream_rows(set, &survey),
            processes: process_rows(set, &survey.processes),
            event_names: name_rows(set, &survey, recorded_ns),
            rows: set.damage.iter().collect(),
            found: survey.damage,
        }
    }

    /// All damage: what opening the trace found, then what reading it found.
    pub(crate) fn damage(&self) -> impl Iterator<Item = &Damage> {
        self.rows.iter().copied().chain(&self.found)
    }
}

fn plain(nanos: Option<Nanos>) -> Option<i64> {
    nanos.map(|nanos| nanos.0)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

impl PauseRow {
    fn of((begin, end): Stretch) -> PauseRow {
        PauseRow {
            begin_ns: begin.0,
            end_ns: end.0,
            duration_ns: end.0.saturating_sub(begin.0).unsigned_abs(),
        }
    }
}

impl DamageRow {
    fn of(damage: &Damage) -> DamageRow {
        DamageRow {
            kind: damage.kind.name(),
            trace: damage.trace.clone(),
            path: shown(&damage.path),
            offset: damage.offset,
            begin_ns: plain(damage.begin),
            end_ns: plain(damage.end),
            count: damage.count,
            message: damage.message.clone(),
        }
    }
}

impl TraceRow {
    fn of(trace: &Trace) -> TraceRow {
        let schema = &trace.schema;
        let text = |name: &str| schema.environment_text(name).map(str::to_owned);
        TraceRow {
            name: trace.name.clone(),
            paths: trace.folders.iter().map(|folder| shown(folder)).collect(),
            uuid: schema.uuid.map(|uuid| uuid.to_string()),
            host: text("hostname"),
            domain: text("domain"),
            tracer: tracer(schema),
            clock: schema.clocks.first().map(ClockRow::of),
            streams: trace.streams.len(),
        }
    }
}

/// `lttng-ust 2.13.7`
fn tracer(schema: &Schema) -> Option<String> {
    let name = schema.environment_text("tracer_name")?;
    let part = |name: &str| {
        let mut environment = schema.environment.iter();
        environment.find_map(|(n, value)| match value {
            EnvironmentValue::Integer(number) if n == name => Some(number.to_string()),
            EnvironmentValue::Text(text) if n == name => Some(text.clone()),
            _ => None,
        })
    };
    let patch = part("tracer_patchlevel").or_else(|| part("tracer_patch"));
    let version: Vec<String> = [part("tracer_major"), part("tracer_minor"), patch]
        .into_iter()
        .map_while(|part| part)
        .collect();
    Some(
        format!("{name} {}", version.join("."))
            .trim_end()
            .to_owned(),
    )
}

impl ClockRow {
    fn of(clock: &Clock) -> ClockRow {
        ClockRow {
            name: clock
                .identity
                .name
                .clone()
                .unwrap_or_else(|| clock.id.clone()),
            frequency_hz: clock.frequency,
            offset_s: clock.offset_seconds,
            offset_cycles: clock.offset_cycles,
            origin: match &clock.origin {
                Origin::UnixEpoch => "unix-epoch".to_owned(),
                Origin::Unknown => "unknown".to_owned(),
                Origin::Custom(identity) => {
                    let parts = [&identity.namespace, &identity.name, &identity.uid];
                    let parts: Vec<&str> =
                        parts.into_iter().flatten().map(String::as_str).collect();
                    parts.join("/")
                }
            },
            uuid: clock.uuid.map(|uuid| uuid.to_string()),
        }
    }
}

fn stream_rows(set: &TraceSet, survey: &Survey) -> Vec<StreamRow> {
    let rows = survey.streams.iter().map(|row| {
        let (trace, stream) = (set.trace_of(row.stream), set.stream(row.stream));
        let class = &trace.schema.streams[stream.class];
        let cpu_id = stream.packets.first().and_then(|packet| {
            let members = &class.packet_context.as_ref()?.members;
            let place = members
                .iter()
                .position(|member| &*member.name == "cpu_id")?;
            let context = trace.packet_context(packet)?;
            context.members()?.get(place)?.as_unsigned()
        });
        StreamRow {
            trace: trace.name.clone(),
            class: class.id,
            id: stream.id,
            cpu_id,
            path: shown(trace.path_of(stream)),
            packets: row.packets,
            bytes: row.bytes,
            events: row.events,
            begin_ns: plain(row.first),
            end_ns: plain(row.last),
        }
    });
    rows.collect()
}

/// One row for each process, also if several traces of one host saw it. The clock's UUID tells one boot from another.
fn process_rows(set: &TraceSet, processes: &[ProcessSurvey]) -> Vec<ProcessRow> {
    let mut rows: Vec<ProcessRow> = Vec::new();
    let mut known = BTreeMap::new();
    for process in processes {
        let schema = &set.traces[process.trace].schema;
        let host = schema.environment_text("hostname");
        let boot = schema.clocks.first().and_then(|clock| clock.uuid);
        let place = *known
            .entry((host, boot, process.vpid, &process.name))
            .or_insert_with(|| {
                rows.push(ProcessRow {
                    host: host.map(str::to_owned),
                    vpid: process.vpid,
                    name: process.name.clone(),
                    events: 0,
                    begin_ns: None,
                    end_ns: None,
                });
                rows.len() - 1
            });
        let row = &mut rows[place];
        row.events += process.events;
        row.begin_ns = row.begin_ns.into_iter().chain(plain(process.first)).min();
        row.end_ns = row.end_ns.max(plain(process.last));
    }
    rows
}

/// One row for each name, whatever the traces and stream classes that declare it.
fn name_rows(set: &TraceSet, survey: &Survey, duration_ns: Option<u64>) -> Vec<NameRow> {
    let mut names: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for class in survey.classes.iter().filter(|class| class.events > 0) {
        let stream = &set.traces[class.trace].schema.streams[class.stream_class];
        let name = stream.events[class.event_class].name.as_deref();
        let (events, bits) = names.entry(name.unwrap_or_default()).or_default();
        *events += class.events;
        *bits += class.bits;
    }
    let rate = |events: u64| {
        let duration = duration_ns.filter(|&duration| duration > 0)?;
        Some(events as f64 * 1e9 / duration as f64)
    };
    let mut rows: Vec<NameRow> = names
        .into_iter()
        .map(|(name, (events, bits))| NameRow {
            name: name.to_owned(),
            events,
            bytes: bits.div_ceil(8),
            rate_hz: rate(events),
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.events));
    rows
}
