//! Other people's recordings of kernels and of memory: what is found adds up with a plain count of the events.
//!
//! They are not part of the repository; see `rostrace_testkit::recordings`.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Conversion, Cursor, Raw, TraceSet};
use rostrace_model::entity::HostId;
use rostrace_model::memory::Memory;
use rostrace_model::scheduling::{Cpu, Scheduling, State};

use rostrace_testkit::recordings;

/// What a plain loop over the events says of the switches.
#[derive(Default)]
struct Count {
    switches: u64,
    begin: i64,
    end: i64,
    /// Time from each switch to a thread until the next one on the same stream.
    running: BTreeMap<i64, i64>,
}

fn count(set: &TraceSet) -> Count {
    let mut count = Count::default();
    let mut on_cpu: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
    let mut cursor = Cursor::new(set, Conversion::Exact);
    while let Some(event) = cursor.next() {
        let is_scheduling = |name: &str| {
            name.starts_with("sched_wak")
                || ["switch", "migrate_task", "process_fork", "process_exit"]
                    .iter()
                    .any(|end| name == format!("sched_{end}"))
        };
        let (Some(time), Some(name)) = (event.nanos(), event.class().name.as_deref()) else {
            continue;
        };
        if is_scheduling(name) {
            count.end = time.0;
        }
        if name != "sched_switch" {
            continue;
        }
        let next = event.layout().leaf("next_tid").unwrap();
        let Raw::Number(next) = event.read(next) else {
            continue;
        };
        if count.switches == 0 {
            count.begin = time.0;
        }
        count.switches += 1;
        let before = on_cpu.insert(event.stream_id().stream, (next as i64, time.0));
        if let Some((tid, since)) = before {
            *count.running.entry(tid).or_insert(0) += time.0 - since;
        }
    }
    for (tid, since) in on_cpu.into_values() {
        *count.running.entry(tid).or_insert(0) += count.end - since;
    }
    count.running.remove(&0);
    count
}

#[test]
fn running_times_are_the_times_between_switches() {
    for name in ["many-threads", "flipping-endianness", "context-switches"] {
        let Some(path) = recordings::find(&format!("public/trace-compass/{name}")) else {
            continue;
        };
        let set = TraceSet::open(&[path]).unwrap();
        let model = rostrace_testkit::made_up::model_of(&set);
        let scheduling = Scheduling::load(&set, &model, &mut |_| true).unwrap();
        let count = count(&set);
        let (from, to) = (Nanos(count.begin - 1_000), Nanos(count.end + 1_000));
        let mut running = BTreeMap::new();
        let mut per_cpu: BTreeMap<Cpu, i64> = BTreeMap::new();
        for (host, tid) in scheduling.kernel_threads() {
            let timeline = scheduling.timeline_of_tid(host, tid).unwrap();
            let mut sum = 0;
            for slice in timeline.slices(from, to) {
                sum += slice.duration().0;
                if let State::Running { cpu } = slice.state {
                    *per_cpu.entry(cpu).or_insert(0) += slice.duration().0;
                }
            }
            assert_eq!(sum, to.0 - from.0, "{name}: {tid}");
            let off = timeline.off_cpu(from, to);
            if off.running.0 > 0 {
                running.insert(tid, off.running.0);
            }
        }
        let counted: BTreeMap<i64, i64> = (count.running.into_iter())
            .filter(|(_, time)| *time > 0)
            .collect();
        let complete = !set.damage.iter().any(|damage| damage.kind.is_loss());
        if complete {
            assert_eq!(running, counted, "{name}");
        }
        for (tid, time) in running {
            assert!(time <= counted[&tid], "{name}: {tid}");
        }
        for (cpu, time) in per_cpu {
            assert!(time <= count.end - count.begin, "{name}: {cpu:?}");
            let busy: i64 = scheduling
                .occupations(HostId(0), cpu, from, to)
                .filter(|row| {
                    row.task
                        .is_some_and(|task| !scheduling.task(task).is_idle())
                })
                .map(|row| row.to.0 - row.from.0)
                .sum();
            assert_eq!(time, busy, "{name}: {cpu:?}");
        }
        eprintln!("{name}: {} switches, complete: {complete}", count.switches);
    }
}

#[test]
fn in_a_recording_without_process_ids_every_thread_has_memory_of_its_own() {
    let Some((_folder, set)) = recordings::unpack("public/trace-compass/memory.tar.zst") else {
        return;
    };
    let model = rostrace_testkit::made_up::model_of(&set);
    let memory = Memory::load(&set, &model, &mut |_| true).unwrap();
    // Counted from what babeltrace2 prints.
    let rows: Vec<_> = (memory.processes.iter())
        .map(|row| {
            let left = row.series.last().unwrap().blocks;
            let totals = &row.totals;
            (
                row.tid.unwrap(),
                totals.lost_frees,
                totals.unknown_frees,
                left,
            )
        })
        .collect();
    let expected = [
        (10611, 7, 9, 1),
        (10618, 0, 0, 0),
        (10604, 6, 7, 2),
        (10613, 0, 4, 4),
    ];
    assert_eq!(rows, expected);
    let (mut allocations, mut frees) = (0, 0);
    for row in &memory.processes {
        let peak = row.peak.unwrap();
        assert!(row.series.contains(&peak), "{}", row.name);
        assert!(row.series.iter().all(|usage| usage.bytes <= peak.bytes));
        assert!(row.series.is_sorted_by_key(|usage| usage.time));
        let span = row.series.last().unwrap().time.0 - row.series[0].time.0;
        assert!(row.series.len() as i64 <= span / 1_000_000 + 3);
        allocations += row.totals.allocations;
        frees += row.totals.frees + row.totals.unknown_frees;
    }
    assert_eq!((allocations, frees), (164_028, 164_028));
}
