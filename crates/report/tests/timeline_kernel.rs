//! Other people's recordings of kernels: CPUs on a timeline add up with a plain count of the events.
//!
//! They are not part of the repository; see `crate::recordings`.

use std::collections::BTreeMap;

use rostrace_analyze::Selection;
use rostrace_ctf::value::Value;
use rostrace_ctf::{Conversion, Cursor, EventView, Raw, TraceSet};
use rostrace_report::timeline::Format;

use crate::timeline::decoded::decode;
use crate::timeline::profile::read;
use crate::timeline::{ALWAYS, Loaded, write};

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

#[derive(Default)]
struct Counted {
    /// From each switch to the next one on the same CPU; the last ones until the last thing that the scheduler says.
    times: Times,
    /// By CPU and time: who stopped, and the kernel's number for why.
    stops: BTreeMap<(u64, i64), (i64, i64)>,
}

fn counted(set: &TraceSet) -> Counted {
    let mut counted = Counted::default();
    let mut on_cpu: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
    let mut end = 0;
    let mut cursor = Cursor::new(set, Conversion::Exact);
    while let Some(event) = cursor.next() {
        let (Some(time), Some(name)) = (event.nanos(), event.class().name.as_deref()) else {
            continue;
        };
        let others = [
            "sched_migrate_task",
            "sched_process_fork",
            "sched_process_exit",
        ];
        if name == "sched_switch" || name.starts_with("sched_wak") || others.contains(&name) {
            end = time.0;
        }
        if name != "sched_switch" {
            continue;
        }
        let number = |name: &str| match event.read(event.layout().leaf(name).unwrap()) {
            Raw::Number(number) => number as i64,
            other => panic!("{name}: {other:?}"),
        };
        let cpu = cpu(&event);
        let stop = (number("prev_tid"), number("prev_state"));
        counted.stops.insert((cpu, time.0), stop);
        let next = (number("next_tid"), time.0);
        if let Some((tid, since)) = on_cpu.insert(cpu, next) {
            *counted.times.entry((cpu, tid)).or_insert(0) += time.0 - since;
        }
    }
    for (cpu, (tid, since)) in on_cpu {
        *counted.times.entry((cpu, tid)).or_insert(0) += end - since;
    }
    let worth = |(_, tid): &(u64, i64), time: &mut i64| *tid != 0 && *time > 0;
    counted.times.retain(worth);
    counted
}

/// What Perfetto is told: 0 it could have gone on, 1 and 2 it sleeps, 16 it is no more.
fn written_state(prev_state: i64) -> i64 {
    match prev_state & 0xff {
        0 => 0,
        state if state & 1 != 0 => 1,
        state if state & 2 != 0 => 2,
        // In none of these recordings was a thread parked.
        64 | 128 => 16,
        other => panic!("{other}"),
    }
}

#[test]
fn running_times_in_a_file_are_the_times_between_switches() {
    for name in [
        "../ctf-suite/1/succeed/lttng-tracefile-rotation/kernel",
        "../ctf-suite/2/succeed/lttng-tracefile-rotation/kernel",
        "public/trace-compass/many-threads",
        "public/trace-compass/flipping-endianness",
        // Its kernel has the tracepoints, and recorded nothing.
        "public/trace-compass/context-switches",
    ] {
        let Some(folder) = crate::recordings::find(name) else {
            continue;
        };
        let loaded = Loaded::of(TraceSet::open(&[folder]).unwrap());
        let counted = counted(&loaded.set);
        let (analysis, damage) = (loaded.analysis(ALWAYS), loaded.damage());
        let selection = Selection::default();
        let (bytes, _) = write(Format::Perfetto, &analysis, &selection, &damage);
        let mut found = Times::new();
        let mut last: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
        for switch in &decode(&bytes).switches {
            let next = (switch.next.0, switch.at);
            let Some((tid, since)) = last.insert(switch.cpu, next) else {
                continue;
            };
            assert_eq!(tid, switch.previous.0, "{name}");
            assert!(since <= switch.at, "{name}");
            *found.entry((switch.cpu, tid)).or_insert(0) += switch.at - since;
            // The last one of a CPU may be the end of the recording.
            let stop = counted.stops.get(&(switch.cpu, switch.at));
            if let Some((stopped, state)) = stop.filter(|_| tid != 0) {
                assert_eq!(tid, *stopped, "{name}");
                assert_eq!(switch.state, written_state(*state), "{name}: {switch:?}");
            }
        }
        for (cpu, (tid, _)) in last {
            assert_eq!(tid, 0, "{name}: CPU {cpu} is given to somebody for ever");
        }
        found.retain(|(_, tid), time| *tid != 0 && *time > 0);
        assert_eq!(found, counted.times, "{name}");

        let (bytes, _) = write(Format::Firefox, &analysis, &selection, &damage);
        let mut rows = Times::new();
        for marker in read(&bytes).markers {
            if marker.category == "cpu" {
                let cpu = marker.name.strip_prefix("CPU ").unwrap().parse().unwrap();
                let tid = marker.fields["tid"].parse().unwrap();
                *rows.entry((cpu, tid)).or_insert(0) += marker.end.unwrap() - marker.begin;
            }
        }
        assert_eq!(rows, counted.times, "{name}");
        eprintln!(
            "{name}: {} switches, {} ns on CPUs",
            counted.stops.len(),
            counted.times.values().sum::<i64>()
        );
    }
}
