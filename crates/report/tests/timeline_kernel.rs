//! Other people's recordings of kernels: CPUs on a timeline add up with a plain count of the events.
//!
//! They are not part of the repository; see `support::recordings`.

#![allow(clippy::unwrap_used)]

#[path = "support/recordings.rs"]
#[allow(dead_code, unreachable_pub)]
mod recordings;
mod timeline;

use std::collections::BTreeMap;

use rostrace_ctf::value::Value;
use rostrace_ctf::{Conversion, Cursor, EventView, Raw, TraceSet};
use rostrace_report::timeline::Format;
use timeline::decoded::decode;
use timeline::profile::read;
use timeline::{ALWAYS, Loaded, write};

/// By CPU and thread.
type Times = BTreeMap<(u64, i64), i64>;

fn cpu(event: &EventView<'_>) -> u64 {
    let trace = event.trace();
    let class = &trace.schema.streams[event.stream().class];
    let members = &class.packet_context.as_ref().unwrap().members;
    let place = members.iter().position(|it| &*it.name == "cpu_id").unwrap();
    match trace
        .packet_context(event.packet())
        .unwrap()
        .members()
        .unwrap()[place]
    {
        Value::Unsigned(number) => number,
        ref other => panic!("{other:?}"),
    }
}

/// From each switch to the next one on the same CPU; the last ones until the last thing that the scheduler says.
fn counted(set: &TraceSet) -> (u64, Times) {
    let mut times = Times::new();
    let mut on_cpu: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
    let (mut switches, mut end) = (0, 0);
    let mut cursor = Cursor::new(set, Conversion::Exact);
    while let Some(event) = cursor.next() {
        let (Some(time), Some(name)) = (event.nanos(), event.class().name.as_deref()) else {
            continue;
        };
        if [
            "sched_switch",
            "sched_migrate_task",
            "sched_process_fork",
            "sched_process_exit",
        ]
        .contains(&name)
            || name.starts_with("sched_wak")
        {
            end = time.0;
        }
        if name != "sched_switch" {
            continue;
        }
        let Raw::Number(next) = event.read(event.layout().leaf("next_tid").unwrap()) else {
            panic!("next_tid");
        };
        switches += 1;
        let cpu = cpu(&event);
        if let Some((tid, since)) = on_cpu.insert(cpu, (next as i64, time.0)) {
            *times.entry((cpu, tid)).or_insert(0) += time.0 - since;
        }
    }
    for (cpu, (tid, since)) in on_cpu {
        *times.entry((cpu, tid)).or_insert(0) += end - since;
    }
    times.retain(|(_, tid), time| *tid != 0 && *time > 0);
    (switches, times)
}

#[test]
fn running_times_in_a_file_are_the_times_between_switches() {
    for (name, is_complete) in [
        (
            "../ctf-suite/1/succeed/lttng-tracefile-rotation/kernel",
            false,
        ),
        (
            "../ctf-suite/2/succeed/lttng-tracefile-rotation/kernel",
            false,
        ),
        ("public/trace-compass/many-threads", true),
        ("public/trace-compass/flipping-endianness", true),
        ("public/trace-compass/context-switches", true),
    ] {
        let Some(folder) = recordings::find(name) else {
            continue;
        };
        let loaded = Loaded::of(TraceSet::open(&[folder]).unwrap());
        let (switches, expected) = counted(&loaded.set);
        let (analysis, selection) = (loaded.analysis(ALWAYS), loaded.everything());
        let (bytes, _) = write(Format::Perfetto, &analysis, &selection);
        let decoded = decode(&bytes);
        let mut found = Times::new();
        let mut last: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
        for switch in &decoded.switches {
            let next = (switch.next.0, switch.at);
            if let Some((tid, since)) = last.insert(switch.cpu, next) {
                assert_eq!(tid, switch.previous.0, "{name}");
                assert!(since <= switch.at, "{name}");
                *found.entry((switch.cpu, tid)).or_insert(0) += switch.at - since;
            }
        }
        for (cpu, (tid, _)) in last {
            assert_eq!(tid, 0, "{name}: CPU {cpu} is given to somebody for ever");
        }
        found.retain(|(_, tid), time| *tid != 0 && *time > 0);
        let (bytes, _) = write(Format::Firefox, &analysis, &selection);
        let mut rows = Times::new();
        for marker in read(&bytes)
            .markers
            .iter()
            .filter(|it| it.category == "cpu")
        {
            let cpu = marker.name.strip_prefix("CPU ").unwrap().parse().unwrap();
            let tid = marker.fields["tid"].parse().unwrap();
            *rows.entry((cpu, tid)).or_insert(0) += marker.end.unwrap() - marker.begin;
        }
        assert_eq!(rows, found, "{name}");
        let sum = |times: &Times| times.values().sum::<i64>();
        eprintln!(
            "{name}: {switches} switches, {} of {} ns on {} threads",
            sum(&found),
            sum(&expected),
            expected.len()
        );
        if is_complete {
            assert_eq!(found, expected, "{name}");
        } else {
            // Where events were lost nobody knows who ran.
            assert!(sum(&found) > 0);
            for (key, time) in found {
                assert!(time <= expected[&key], "{name}: {key:?}");
            }
        }
    }
}
