//! Where the time of threads went: parts add up, and say what the programs logged.

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::observed_executor::observed_executors;
use rostrace_analyze::why::{Cause, Why};
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::InstanceId;

use crate::recordings::{TableRow, load, rows};

const RECORDINGS: [&str; 10] = [
    "jazzy/executors",
    "jazzy/executors_caret",
    "humble/executors",
    "jazzy/services",
    "jazzy/chain",
    "jazzy/timers",
    "jazzy/lossy",
    "jazzy/late",
    "jazzy/lifecycle",
    "humble/multi_caret",
];

fn sum(row: &TableRow, columns: &[&str]) -> i64 {
    columns.iter().map(|column| row.integer(column)).sum()
}

#[test]
fn the_parts_of_a_thread_add_up_to_its_time() {
    for name in RECORDINGS {
        let Some(recording) = load(name) else { return };
        let threads = rows(&recording.analysis(), "threads");
        assert!(!threads.is_empty(), "{name}");
        for row in &threads {
            let parts = ["busy_ns", "executor_ns", "waiting_ns", "unobserved_ns"];
            assert!(
                parts.iter().all(|part| row.integer(part) >= 0),
                "{name} {row:?}"
            );
            assert_eq!(
                sum(row, &parts),
                row.integer("observed_ns"),
                "{name} {row:?}"
            );
        }
    }
}

#[test]
fn the_shares_of_a_thread_are_all_that_it_did() {
    for name in RECORDINGS {
        let Some(recording) = load(name) else { return };
        let analysis = recording.analysis();
        let mut shares: BTreeMap<(i64, i64), (i64, i64, f64)> = BTreeMap::new();
        let mut nodes: BTreeMap<i64, i64> = BTreeMap::new();
        for row in rows(&analysis, "executor_shares") {
            let key = (row.integer("pid"), row.integer("tid"));
            let (executions, busy, share) = shares.entry(key).or_default();
            *executions += row.integer("executions");
            // What never ended has none.
            if row.has("busy_ns") {
                *busy += row.integer("busy_ns");
            }
            if row.has("share_of_busy") {
                *share += row.number("share_of_busy").unwrap();
            }
        }
        for row in rows(&analysis, "threads") {
            let key = (row.integer("pid"), row.integer("tid"));
            let (executions, busy, share) = shares.get(&key).copied().unwrap_or_default();
            assert_eq!(executions, row.integer("callbacks"), "{name} {row:?}");
            assert_eq!(busy, row.integer("busy_ns"), "{name} {row:?}");
            assert!(share <= 1.0 + 1e-9, "{name} {row:?}");
            *nodes.entry(row.integer("pid")).or_default() += busy;
        }
        let mut processes = nodes.clone();
        for row in rows(&analysis, "node_shares") {
            *nodes.get_mut(&row.integer("pid")).unwrap() -= row.integer("busy_ns");
        }
        for row in rows(&analysis, "process_shares") {
            if let Some(busy) = processes.get_mut(&row.integer("pid")) {
                *busy -= row.integer("busy_ns");
            }
        }
        assert!(
            nodes
                .values()
                .chain(processes.values())
                .all(|rest| *rest == 0),
            "{name}"
        );
    }
}

#[test]
fn the_parts_of_a_spin_cycle_add_up_and_cycles_follow_each_other() {
    let mut cycles = 0;
    for name in RECORDINGS {
        let Some(recording) = load(name) else { return };
        let mut reached: BTreeMap<(i64, i64), i64> = BTreeMap::new();
        for row in rows(&recording.analysis(), "spins") {
            let parts = ["waiting_ns", "executor_ns", "callbacks_ns", "unobserved_ns"];
            let duration = row.integer("duration_ns");
            assert_eq!(sum(&row, &parts), duration, "{name} {row:?}");
            let key = (row.integer("pid"), row.integer("tid"));
            let begin = row.integer("begin_ns");
            if let Some(before) = reached.insert(key, begin + duration) {
                assert_eq!(before, begin, "{name} {row:?}");
            }
            cycles += 1;
        }
    }
    assert!(cycles > 1000, "{cycles}");
}

#[test]
fn threads_were_at_least_as_busy_as_their_callbacks_logged() {
    for name in [
        "jazzy/executors",
        "humble/executors",
        "jazzy/pingpong",
        "jazzy/timers",
    ] {
        let Some(recording) = load(name) else { return };
        let mut begun: BTreeMap<(i64, String, String), i64> = BTreeMap::new();
        let mut logged: BTreeMap<(i64, i64), (i64, i64)> = BTreeMap::new();
        for (pid, lines) in &recording.truth {
            for words in lines {
                let key = || (*pid, words[2].clone(), words[3].clone());
                let at = || words[0].parse::<i64>().unwrap();
                if words[1] == "cb_begin" {
                    begun.insert(key(), at());
                } else if words[1] == "cb_end"
                    && let Some(begin) = begun.remove(&key())
                {
                    let thread = words[3].parse().unwrap();
                    let (number, time) = logged.entry((*pid, thread)).or_default();
                    *number += 1;
                    *time += at() - begin;
                }
            }
        }
        let threads = rows(&recording.analysis(), "threads");
        assert!(logged.len() > 1, "{name}");
        for ((pid, tid), (number, time)) in logged {
            let is_it = |row: &&TableRow| (row.integer("pid"), row.integer("tid")) == (pid, tid);
            let row = threads.iter().find(is_it).unwrap();
            assert!(row.integer("callbacks") >= number, "{name} {row:?}");
            let busy = row.integer("busy_ns");
            assert!(busy >= time, "{name} {tid}: {busy} < {time}");
            // Tracing and logging around the callbacks take microseconds, services of the node run besides.
            let most = time + number * 100_000 + 50_000_000;
            assert!(busy <= most, "{name} {tid}: {busy} > {time}");
        }
    }
}

#[test]
fn executors_without_phases_leave_the_time_between_callbacks_unobserved() {
    let Some(recording) = load("jazzy/executors") else {
        return;
    };
    let analysis = recording.analysis();
    let pid_of = |process: &str| {
        let processes = recording.model.processes.iter();
        let mut named = processes.filter(|it| it.name.starts_with(process));
        named.next().map(|it| it.pid).unwrap()
    };
    for (process, has_phases) in [
        ("exec_static", false),
        ("exec_events", false),
        ("exec_mt", true),
    ] {
        let pid = pid_of(process);
        let spins = rows(&analysis, "spins");
        assert_eq!(
            spins.iter().any(|row| row.integer("pid") == pid),
            has_phases,
            "{process}"
        );
        for row in rows(&analysis, "threads") {
            if row.integer("pid") == pid && row.integer("callbacks") > 100 {
                assert_eq!(row.integer("unobserved_ns") == 0, has_phases, "{row:?}");
            }
        }
    }
    // The reentrant timer overlaps itself: several threads of the process had work at once.
    let threads = rows(&analysis, "process_shares");
    let multi = threads
        .iter()
        .find(|row| row.integer("pid") == pid_of("exec_mt"));
    assert!(multi.unwrap().integer("threads") > 1);
}

#[test]
fn a_range_cuts_the_time_of_threads_at_its_ends() {
    let Some(recording) = load("jazzy/executors") else {
        return;
    };
    let model = &recording.model;
    let (begin, end) = (model.begin.unwrap().0, model.end.unwrap().0);
    let border = begin + (end - begin) * 3 / 4;
    let whole = rows(&recording.analysis(), "threads");
    // No event happens at the border, so that what begins counts in one part only.
    let first = Analysis::new(model, Nanos(begin)..=Nanos(border));
    let second = Analysis::new(model, Nanos(border)..=Nanos(end));
    let (first, second) = (rows(&first, "threads"), rows(&second, "threads"));
    let parts = ["busy_ns", "executor_ns", "waiting_ns", "unobserved_ns"];
    for row in &whole {
        let same = |other: &&TableRow| other.integer("tid") == row.integer("tid");
        let both: Vec<&TableRow> = first.iter().chain(&second).filter(same).collect();
        assert_eq!(both.len(), 2, "{row:?}");
        for column in parts.iter().chain(["observed_ns", "callbacks"].iter()) {
            let of_both: i64 = both.iter().map(|part| part.integer(column)).sum();
            assert_eq!(of_both, row.integer(column), "{column} of {row:?}");
        }
    }
}

#[test]
fn threads_belong_to_the_executor_whose_callbacks_they_ran() {
    let Some(recording) = load("jazzy/executors_caret") else {
        return;
    };
    let threads = rows(&recording.analysis(), "threads");
    let mut spinning: BTreeMap<(i64, String), Vec<String>> = BTreeMap::new();
    for (pid, words) in recording.lines("spin_begin") {
        let tid: i64 = words[3].parse().unwrap();
        let is_it = |row: &&TableRow| (row.integer("pid"), row.integer("tid")) == (pid, tid);
        if let Some(row) = threads.iter().find(is_it) {
            let executors = spinning.entry((pid, words[2].clone())).or_default();
            executors.push(row.text("executor").to_owned());
        }
    }
    assert!(spinning.len() >= 4, "{spinning:?}");
    // Different executors of a process have different numbers; the events executor is not known to CARET.
    let named: Vec<_> = spinning
        .values()
        .map(|names| &names[0])
        .filter(|it| !it.is_empty())
        .collect();
    let mut different = named.clone();
    different.sort();
    different.dedup();
    assert_eq!(named.len(), different.len(), "{spinning:?}");
    assert!(named.len() >= 3, "{spinning:?}");
}

/// What ran on the same threads, as sets of nodes.
fn observed_nodes(model: &rostrace_model::Model) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = observed_executors(model)
        .iter()
        .map(|executor| {
            let callbacks = executor.callbacks.iter();
            let nodes = callbacks.filter_map(|id| model.node_name(model.node_of_callback(*id)));
            let nodes: std::collections::BTreeSet<&str> = nodes
                .filter(|node| !rostrace_model::describe::built_in::node(node))
                .collect();
            nodes.into_iter().map(str::to_owned).collect()
        })
        .filter(|nodes: &Vec<String>| !nodes.is_empty())
        .collect();
    found.sort();
    found
}

#[test]
fn executors_that_are_observed_are_those_that_are_declared() {
    let recordings = [
        "jazzy/executors_caret",
        "jazzy/multi_caret",
        "jazzy/chain_caret",
        "jazzy/services_caret",
        "jazzy/timers_caret",
        "jazzy/lifecycle_caret",
        "humble/executors_caret",
        "humble/multi_caret",
    ];
    for name in recordings {
        let Some(recording) = load(name) else { return };
        let model = &recording.model;
        let observed = observed_executors(model);
        let mut seen: BTreeMap<_, usize> = BTreeMap::new();
        for executor in &observed {
            let declared = executor.declared(model);
            assert!(declared.len() <= 1, "{name}: {executor:?} is {declared:?}");
            for id in declared {
                *seen.entry(id).or_default() += 1;
            }
        }
        assert!(!seen.is_empty(), "{name}");
        let split: Vec<_> = seen.iter().filter(|(_, count)| **count > 1).collect();
        assert!(split.is_empty(), "{name}: {split:?}");
    }
}

/// The same application, recorded with and without the events that tell of executors.
#[test]
fn executors_are_observed_where_nothing_tells_of_them() {
    for name in ["jazzy/executors", "humble/executors"] {
        let Some(plain) = load(name) else { return };
        let Some(reported) = load(&format!("{name}_caret")) else {
            return;
        };
        assert!(plain.model.executors.is_empty());
        let nodes = observed_nodes(&plain.model);
        assert_eq!(nodes, observed_nodes(&reported.model), "{name}");
        assert!(nodes.len() > 1, "{name}: {nodes:?}");
    }
}

/// A service that answers later leaves no `callback_end`: how long it ran is not known, so it took no time of anybody.
#[test]
fn what_has_no_end_has_no_duration() {
    for name in [
        "jazzy/services",
        "jazzy/services_caret",
        "humble/services",
        "humble/services_caret",
    ] {
        let Some(recording) = load(name) else { return };
        let analysis = recording.analysis();
        let is_later = |row: &TableRow| row.text("callback").contains("service /later");
        let shares = rows(&analysis, "executor_shares");
        let later: Vec<&TableRow> = shares.iter().filter(|row| is_later(row)).collect();
        assert!(!later.is_empty(), "{name}");
        for row in &later {
            assert!(row.integer("executions") > 10, "{name} {row:?}");
            assert!(!row.has("busy_ns"), "{name} {row:?}");
            assert!(!row.has("share_of_busy"), "{name} {row:?}");
        }
        for row in rows(&analysis, "threads") {
            assert!(!row.text("busiest_callback").contains("/later"), "{name}");
        }
        // What it did not end cannot be said to have been in the way of others.
        let mut why = Why::new(&analysis);
        for index in 0..analysis.model.instances.len() {
            for part in why.instance(InstanceId::from_index(index), None).parts {
                let Cause::OtherCallback(other, _) = part.cause else {
                    continue;
                };
                assert!(analysis.instance(other).end.is_some(), "{name} {part:?}");
            }
        }
    }
}
