//! A [`Summary`] for people: damage first, then the recording as a whole, then its processes, events and streams.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use rostrace_ctf::schema::Nanos;

use super::Summary;
use super::ros::Ros;
use super::summary::ClockRow;
use crate::render::damage;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table};
use crate::render::time;
use rostrace_base::units;

/// Streams beyond these are only counted: a trace can have one for each thread.
const MOST_STREAMS: usize = 16;
const MOST_UNKNOWN: usize = 10;

pub(crate) fn write(
    summary: &Summary<'_>,
    all_damage: bool,
    palette: &Palette,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let rows: Vec<_> = summary.damage().collect();
    out.write_all(damage::chapter(&rows, all_damage, palette).as_bytes())?;
    let mut chapter =
        |title: &str, table: &Table| writeln!(out, "{}\n{table}", palette.heading(title));
    chapter("Recording", &recording(summary))?;
    if summary.traces.len() > 1 {
        chapter("Traces", &traces(summary))?;
    }
    if summary.ros.is_there() {
        chapter("ROS 2", &ros(&summary.ros))?;
        chapter("What it tells", &capabilities(&summary.ros))?;
        if !summary.ros.limits.is_empty() {
            chapter("What cannot be known", &limits(&summary.ros))?;
        }
    }
    if !summary.ros.unknown_events.is_empty() {
        chapter("Events that rostrace does not know", &unknown(&summary.ros))?;
    }
    if !summary.processes.is_empty() {
        chapter("Processes", &processes(summary))?;
    }
    if !summary.event_names.is_empty() {
        chapter("Events", &events(summary))?;
    }
    chapter("Streams", &streams(summary))?;
    let more = summary.stream_list.len().saturating_sub(MOST_STREAMS);
    if more > 0 {
        let more = format!("  and {more} more; --format json lists them");
        writeln!(out, "{}", palette.dim(&more))?;
    }
    Ok(())
}

fn recording(summary: &Summary<'_>) -> Table {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let traces = &summary.traces;
    let mut row = |title: &str, values: BTreeSet<String>| {
        if !values.is_empty() {
            table.row([
                title.to_owned(),
                values.into_iter().collect::<Vec<_>>().join(", "),
            ]);
        }
    };
    let hosts = traces.iter().filter_map(|trace| trace.host.clone());
    row("host", hosts.collect());
    row(
        "tracer",
        traces
            .iter()
            .filter_map(|trace| trace.tracer.clone())
            .collect(),
    );
    let clocks = traces.iter().filter_map(|trace| trace.clock.as_ref());
    row("clock", clocks.map(clock).collect());
    let mut line = |title: &str, value: String| row(title, BTreeSet::from([value]));
    if let Some((begin, end)) = summary.begin_ns.zip(summary.end_ns) {
        line("begin", time::date_and_time(Nanos(begin)));
        line("end", time::date_and_time(Nanos(end)));
    }
    if let Some(duration) = summary.duration_ns {
        line("duration", units::duration(duration));
    }
    for pause in &summary.pauses {
        let begin = time::date_and_time(Nanos(pause.begin_ns));
        let length = units::duration(pause.duration_ns);
        line(
            "pause",
            format!("from {begin}, {length} in which nothing was recorded"),
        );
    }
    let mut events = units::count(summary.events);
    if let Some(recorded) = summary.recorded_ns.filter(|&recorded| recorded > 0) {
        let rate = summary.events as f64 * 1e9 / recorded as f64;
        events.push_str(&format!(" ({})", units::rate(rate)));
    }
    line("events", events);
    line(
        "size",
        format!(
            "{} in {} of {}",
            units::bytes(summary.bytes),
            units::counted(summary.streams as u64, "stream"),
            units::counted(traces.len() as u64, "trace")
        ),
    );
    table
}

fn ros(ros: &Ros) -> Table {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let named = |names: &[String], why: &str| {
        if names.is_empty() {
            format!("not known: {why}")
        } else {
            names.join(", ")
        }
    };
    table.row([
        "distribution",
        &named(&ros.distributions, "no event tells it"),
    ]);
    table.row([
        "middleware",
        &named(
            &ros.rmw_implementations,
            "rostrace and CARET record it, ros2_tracing alone does not",
        ),
    ]);
    if let Some(entities) = &ros.entities {
        let split = |all: u64, built_in: u64| match built_in {
            0 => Vec::new(),
            _ => vec![
                format!("{} of the application", units::count(all - built_in)),
                format!("{} built in", units::count(built_in)),
            ],
        };
        for (title, number, split, parts) in [
            (
                "nodes",
                entities.nodes,
                split(entities.nodes, entities.built_in_nodes),
                Vec::new(),
            ),
            (
                "topics",
                entities.topics,
                split(entities.topics, entities.built_in_topics),
                vec![
                    units::counted(entities.publishers, "publisher"),
                    units::counted(entities.subscriptions, "subscription"),
                ],
            ),
            (
                "callbacks",
                entities.callbacks,
                split(entities.callbacks, entities.built_in_callbacks),
                vec![
                    units::counted(entities.timers, "timer"),
                    units::counted(entities.services, "service"),
                    units::counted(entities.clients, "client"),
                ],
            ),
            (
                "executors",
                entities.executors,
                Vec::new(),
                vec![match entities.callback_groups {
                    Some(count) => units::counted(count, "callback group"),
                    None => "callback groups not known".to_owned(),
                }],
            ),
        ] {
            let mut value = units::count(number);
            let said = [split.join(", "), parts.join(", ")];
            let said: Vec<String> = said.into_iter().filter(|it| !it.is_empty()).collect();
            if !said.is_empty() && number > 0 {
                value.push_str(&format!(" ({})", said.join("; ")));
            }
            table.row([title, &value]);
        }
    }
    table
}

fn capabilities(ros: &Ros) -> Table {
    let mut table = Table::new(&[
        ("tracepoints", Align::Left),
        ("events", Align::Right),
        ("tell", Align::Left),
    ]);
    for row in ros.capabilities.iter().filter(|row| row.events > 0) {
        table.row([row.name, &units::count(row.events), row.allows]);
    }
    table
}

fn limits(ros: &Ros) -> Table {
    let mut table = Table::new(&[("", Align::Left)]);
    for limit in &ros.limits {
        table.row([limit]);
    }
    table
}

fn unknown(ros: &Ros) -> Table {
    let mut table = Table::new(&[("name", Align::Left), ("events", Align::Right)]);
    for event in ros.unknown_events.iter().take(MOST_UNKNOWN) {
        table.row([&event.name, &units::count(event.events)]);
    }
    let more = ros.unknown_events.len().saturating_sub(MOST_UNKNOWN);
    if more > 0 {
        table.row([format!("and {more} more; --format json lists them")]);
    }
    table
}

/// `monotonic, 1 GHz, zero is 1794710000.123456789 s after 1970`
fn clock(clock: &ClockRow) -> String {
    let offset = i128::from(clock.offset_s) * 1_000_000_000
        + i128::from(clock.offset_cycles) * 1_000_000_000 / i128::from(clock.frequency_hz.max(1));
    let sign = if offset < 0 { "-" } else { "" };
    let offset = offset.unsigned_abs();
    let origin = match clock.origin.as_str() {
        "unix-epoch" => "1970".to_owned(),
        "unknown" => "its origin (not declared; 1970 by LTTng's convention)".to_owned(),
        custom => format!("its origin ({custom})"),
    };
    format!(
        "{}, {}, zero is {sign}{}.{:09} s after {origin}",
        clock.name,
        units::frequency(clock.frequency_hz),
        offset / 1_000_000_000,
        offset % 1_000_000_000
    )
}

fn traces(summary: &Summary<'_>) -> Table {
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("domain", Align::Left),
        ("tracer", Align::Left),
        ("clock", Align::Left),
        ("folders", Align::Right),
        ("streams", Align::Right),
    ]);
    for trace in &summary.traces {
        table.row([
            trace.name.clone(),
            trace.domain.clone().unwrap_or_default(),
            trace.tracer.clone().unwrap_or_default(),
            trace
                .clock
                .as_ref()
                .map(|clock| clock.name.clone())
                .unwrap_or_default(),
            units::count(trace.paths.len() as u64),
            units::count(trace.streams as u64),
        ]);
    }
    table
}

fn processes(summary: &Summary<'_>) -> Table {
    let mut table = Table::new(&[
        ("vpid", Align::Right),
        ("name", Align::Left),
        ("host", Align::Left),
        ("events", Align::Right),
        ("first event", Align::Left),
        ("last event", Align::Left),
    ])
    .dispensable(&["host", "last event"]);
    for process in &summary.processes {
        table.row([
            process.vpid.to_string(),
            process.name.clone(),
            process.host.clone().unwrap_or_default(),
            units::count(process.events),
            moment(process.begin_ns),
            moment(process.end_ns),
        ]);
    }
    table
}

fn events(summary: &Summary<'_>) -> Table {
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("events", Align::Right),
        ("rate", Align::Right),
        ("bytes", Align::Right),
    ]);
    for event in &summary.event_names {
        table.row([
            event.name.clone(),
            units::count(event.events),
            event.rate_hz.map(units::rate).unwrap_or_default(),
            units::bytes(event.bytes),
        ]);
    }
    table
}

fn streams(summary: &Summary<'_>) -> Table {
    let mut table = Table::new(&[
        ("file", Align::Left),
        ("trace", Align::Left),
        ("cpu", Align::Right),
        ("packets", Align::Right),
        ("bytes", Align::Right),
        ("events", Align::Right),
        ("first event", Align::Left),
        ("last event", Align::Left),
    ])
    .dispensable(&["trace", "packets", "last event", "first event"]);
    for stream in summary.stream_list.iter().take(MOST_STREAMS) {
        let file = Path::new(&stream.path).file_name().unwrap_or_default();
        table.row([
            file.to_string_lossy().into_owned(),
            stream.trace.clone(),
            stream.cpu_id.map(|cpu| cpu.to_string()).unwrap_or_default(),
            units::count(stream.packets),
            units::bytes(stream.bytes),
            units::count(stream.events),
            moment(stream.begin_ns),
            moment(stream.end_ns),
        ]);
    }
    table
}

fn moment(nanos: Option<i64>) -> String {
    nanos
        .map(|nanos| time::time_of_day(Nanos(nanos)))
        .unwrap_or_default()
}
