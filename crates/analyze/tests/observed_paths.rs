//! Observed causality against the log: which output was made from which input.

use std::collections::{BTreeSet, HashMap, HashSet};

use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::paths::Ends as IncludedEnds;
use rostrace_analyze::declared::summary::{assume_latest_message, declared_path};
use rostrace_analyze::declared::tables::Indexed;
use rostrace_analyze::flow_latency::{Include, path_latency};
use rostrace_analyze::flow_path::{Ends, FlowPaths};
use rostrace_analyze::input_age::input_ages;
use rostrace_analyze::table::{Cell, TABLES};
use rostrace_analyze::why::{Cause, Why};
use rostrace_architecture::from_trace_with_flows;
use rostrace_model::entity::InstanceId;

use crate::observed::truth::{dependences, logs, messages};
use crate::observed::{open, path_through, recordings, whole};
use crate::support::{Recording, stamp};

/// Each as often as it occurs: processes that run twice count from 1 again.
fn tally<T: std::hash::Hash + Eq>(all: impl IntoIterator<Item = T>) -> HashMap<T, usize> {
    let mut tally = HashMap::new();
    for one in all {
        *tally.entry(one).or_default() += 1;
    }
    tally
}

#[test]
fn what_went_out_because_of_what_came_in_is_what_the_log_says() {
    let mut compared = 0;
    for (name, recorded) in open(recordings()) {
        let model = &recorded.model;
        let logs = logs(&recorded);
        let (direct, _) = dependences(&logs);
        let known = messages(model, &logs);
        let analysis = whole(model);
        let paths = FlowPaths::of(&analysis);
        let mut ours = Vec::new();
        for index in 0..model.instances.len() {
            let id = InstanceId::from_index(index);
            let Some(cause) = paths.cause(id) else {
                continue;
            };
            let input = known.get(&analysis.delivery(cause).publication);
            for output in analysis.publications_in(id) {
                if let (Some(output), Some(input)) = (known.get(output), input) {
                    ours.push([output.1.clone(), input.1.clone()]);
                }
            }
        }
        // Processes that lose their begin, or events: what is not in the trace cannot be known.
        let reported: HashSet<_> = known.values().map(|(_, message)| message).collect();
        let (ours, direct) = (tally(ours), tally(direct));
        for (pair, number) in &direct {
            let is_reported = pair.iter().all(|message| reported.contains(message));
            let is_named = name != "jazzy/late";
            if is_reported && is_named {
                assert_eq!(ours.get(pair), Some(number), "{name}: missing {pair:?}");
                compared += number;
            }
        }
        // The programs of these log no dependences.
        if !name.contains("lossy") {
            for (pair, number) in &ours {
                assert_eq!(direct.get(pair), Some(number), "{name}: made up {pair:?}");
            }
        }
    }
    if !recordings().is_empty() {
        assert!(compared > 4_000, "{compared}");
    }
}

#[test]
fn what_is_assumed_of_stored_messages_is_what_the_log_says() {
    let mut compared = 0;
    for (name, recorded) in open(recordings()) {
        let model = &recorded.model;
        let logs = logs(&recorded);
        let (_, stored) = dependences(&logs);
        let stored: HashSet<_> = stored.into_iter().collect();
        let known = messages(model, &logs);
        let analysis = whole(model);
        for (output, input) in analysis.stored_inputs().pairs() {
            let input = known.get(&analysis.delivery(input).publication);
            // Processes that lose their begin: what the trace does not name cannot be compared.
            if let (Some(output), Some(input)) = (known.get(&output), input) {
                let pair = [output.1.clone(), input.1.clone()];
                assert!(stored.contains(&pair), "{name}: made up {pair:?}");
                compared += 1;
            }
        }
    }
    if !recordings().is_empty() {
        assert!(compared > 600, "{compared}");
    }
}

/// Two sensors, and a node that publishes when it has one message of each, whichever comes last. A third input is passed on by itself.
fn fusion() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process_of(1, "source", (2, "/source"));
    recording.publisher(0x10, 2, "/front");
    recording.publisher(0x11, 2, "/rear");
    recording.publisher(0x12, 2, "/other");
    recording.process_of(2, "fusion", (2, "/fusion"));
    recording.subscription(0x20, 2, "/front", 0x30);
    recording.subscription(0x21, 2, "/rear", 0x31);
    recording.subscription(0x22, 2, "/other", 0x32);
    recording.publisher(0x10, 2, "/fused");
    recording.publisher(0x11, 2, "/passed_on");
    recording.process_of(3, "sink", (2, "/sink"));
    recording.subscription(0x20, 2, "/fused", 0x30);
    for k in 0..10u64 {
        let order = if k % 3 == 0 { [1, 2, 0] } else { [0, 2, 1] };
        for (place, input) in order.into_iter().enumerate() {
            let at = 10_000_000 * (k + 1) + 2_000_000 * place as u64;
            recording.at(at).process(1, "source");
            let sent = stamp(recording.now() + 2_300);
            recording.publish(0x10 + input, 0x5000, sent);
            recording.process(2, "fusion");
            recording.rmw_take(0x20 + input, 0x7000, sent);
            recording.start(0x30 + input);
            let output = stamp(recording.now() + 2_300);
            match (input, place) {
                (2, _) => drop(recording.publish(0x11, 0x5000, output)),
                (_, 2) => drop(recording.publish(0x10, 0x5000, output)),
                _ => {}
            }
            recording.end(0x30 + input);
            if place == 2 {
                recording.process(3, "sink").receive(0x20, output, 0x30);
            }
        }
    }
    recording
}

#[test]
fn an_output_of_several_inputs_is_on_the_path_of_each() {
    let model = fusion().load();
    let analysis = whole(&model);
    let paths = FlowPaths::observed(&analysis);
    let mut found = Vec::new();
    for path in &paths {
        let latency = path_latency(&analysis, path, Include::default());
        let hop = &latency.hops[0];
        let parts: f64 = (latency.hops.iter())
            .flat_map(|hop| [hop.communication, hop.node])
            .flatten()
            .map(|it| it.mean)
            .sum();
        assert!((parts - latency.latency.unwrap().mean).abs() < 1.0);
        let (flows, not_passed_on) = (path.flows.len() as u64, hop.outcome.not_passed_on);
        let numbers = [flows, latency.assumed, hop.assumed, not_passed_on];
        found.push((path.title(), numbers));
    }
    found.sort();
    assert_eq!(
        found,
        [
            (
                "/source → /front → /fusion → /fused → /sink".into(),
                [10, 6, 6, 0]
            ),
            ("/source → /other → /fusion".into(), [10, 0, 0, 0]),
            (
                "/source → /rear → /fusion → /fused → /sink".into(),
                [10, 4, 4, 0]
            ),
        ]
    );
    let ages = input_ages(&analysis, &paths);
    assert_eq!(ages.len(), 1);
    assert_eq!((ages[0].executions, ages[0].fused), (10, 10));
    let (newest, oldest) = (ages[0].newest.unwrap(), ages[0].oldest.unwrap());
    assert!(newest.max < 2_000_000, "{newest:?}");
    assert!(
        oldest.min > 4_000_000 && oldest.max < 6_000_000,
        "{oldest:?}"
    );
    // Why one took so long: what was stored waits for the other input, and the parts still add up.
    for flow in paths.iter().flat_map(|path| &path.flows) {
        let explanation = Why::new(&analysis).flow(flow).unwrap();
        let sum: i64 = explanation.parts.iter().map(|part| part.duration()).sum();
        assert_eq!(sum, explanation.end.0 - explanation.begin.0);
        let mut causes = explanation.parts.iter().map(|part| part.cause);
        let is_assumed = flow.assumed(&analysis).any(|it| it);
        let is_stored = causes.any(|cause| matches!(cause, Cause::Stored(_)));
        assert_eq!(is_stored, is_assumed, "{explanation:?}");
    }
}

#[test]
fn a_declared_path_through_a_fusion_has_all_outputs_too() {
    let model = fusion().load();
    let analysis = whole(&model);
    let architecture = from_trace_with_flows(&model);
    let path = path_through(
        "front",
        &[("/source", "/front"), ("/fusion", "/fused")],
        "/sink",
    );
    let indexed = Indexed::new(&model, Style::Own);
    let complete = |fused: &BTreeSet<[String; 3]>| {
        let mut assuming = architecture.clone();
        let assumed = assume_latest_message(&mut assuming, &path, fused);
        let ends = IncludedEnds::default();
        let found = declared_path(&indexed, &assuming, &path, ends, |_| true);
        (found.unwrap().complete, assumed)
    };
    // Those that were published in the callback of this input alone.
    assert_eq!(complete(&BTreeSet::new()), (4, Vec::new()));
    let fused = analysis.stored_inputs().node_paths(&analysis);
    assert_eq!(complete(&fused), (10, vec!["/fusion".to_owned()]));
}

/// One input stands for the other when it is there, and is left alone otherwise: what is not passed on is not used.
#[test]
fn a_multiplexer_uses_one_input_at_a_time() {
    let mut recording = Recording::jazzy();
    recording.process_of(1, "source", (2, "/source"));
    recording.publisher(0x10, 2, "/manual");
    recording.publisher(0x11, 2, "/automatic");
    recording.process_of(2, "mux", (2, "/mux"));
    recording.subscription(0x20, 2, "/manual", 0x30);
    recording.subscription(0x21, 2, "/automatic", 0x31);
    recording.publisher(0x10, 2, "/command");
    for k in 0..40u64 {
        // Only in the second half there is a manual input, which then rules.
        for input in [0u64, 1] {
            if input == 0 && k < 20 {
                continue;
            }
            recording.at(10_000_000 * (k + 1) + input * 1_000_000);
            recording.process(1, "source");
            let sent = stamp(recording.now() + 2_300);
            recording.publish(0x10 + input, 0x5000, sent);
            recording.process(2, "mux");
            recording.rmw_take(0x20 + input, 0x7000, sent);
            recording.start(0x30 + input);
            if input == 0 || k < 20 {
                let output = stamp(recording.now() + 2_300);
                recording.publish(0x10, 0x5000, output);
            }
            recording.end(0x30 + input);
        }
    }
    let model = recording.load();
    let analysis = whole(&model);
    assert_eq!(analysis.stored_inputs().pairs().count(), 0);
}

/// A timer publishes; the message is passed on by every second execution of the next node.
fn relay() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process_of(1, "source", (2, "/source"));
    recording.publisher(0x10, 2, "/a");
    recording.timer(0x60, 2, 1_000_000, 0x70);
    recording.timer(0x61, 2, 7_000_000, 0x71);
    recording.process_of(2, "relay", (2, "/relay"));
    recording.subscription(0x20, 2, "/a", 0x30);
    recording.publisher(0x10, 2, "/b");
    recording.process_of(3, "sink", (2, "/sink"));
    recording.subscription(0x20, 2, "/b", 0x30);
    for k in 0..4u64 {
        recording.at(10_000_000 + k * 1_000_000);
        recording.process(1, "source");
        let first = stamp(recording.now() + 3_300);
        recording.start(0x70).publish(0x10, 0x5000, first).end(0x70);
        recording.process(2, "relay").rmw_take(0x20, 0x7000, first);
        recording.start(0x30);
        let second = stamp(recording.now() + 2_300);
        if k % 2 == 0 {
            recording.publish(0x10, 0x5000, second);
        }
        recording.end(0x30);
        if k % 2 == 0 {
            recording.process(3, "sink").receive(0x20, second, 0x30);
        }
    }
    // Another callback publishes the same topic: another path.
    recording.at(20_000_000).process(1, "source");
    let first = stamp(recording.now() + 3_300);
    recording.start(0x71).publish(0x10, 0x5000, first).end(0x71);
    recording.process(2, "relay").receive(0x20, first, 0x30);
    recording
}

#[test]
fn paths_say_what_was_sent_and_where_it_ended() {
    let model = relay().load();
    let analysis = whole(&model);
    let ends = Ends {
        from: None,
        to: None,
    };
    let mut found = Vec::new();
    for path in FlowPaths::of(&analysis).paths(&ends) {
        let latency = path_latency(&analysis, &path, Include::default());
        let outcomes = latency.hops.iter().map(|hop| {
            let outcome = &hop.outcome;
            (outcome.sent, outcome.arrived, outcome.not_passed_on)
        });
        let origin = format!("{:?}", path.origin).contains("timer 1 ms");
        found.push((
            path.title(),
            origin,
            path.flows.len(),
            outcomes.collect::<Vec<_>>(),
        ));
    }
    let long = "/source → /a → /relay → /b → /sink".to_owned();
    let short = "/source → /a → /relay".to_owned();
    let expected = [
        (long, true, 2, vec![(4, 4, 2), (2, 2, 0)]),
        (short.clone(), true, 2, vec![(4, 4, 0)]),
        (short, false, 1, vec![(1, 1, 0)]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn response_times_count_messages_that_nothing_was_made_from() {
    let model = relay().load();
    let analysis = whole(&model);
    let table = TABLES.iter().find(|table| table.name == "response_times");
    let mut times: HashMap<(i64, String), Vec<i64>> = HashMap::new();
    (table.unwrap().rows)(&analysis, &mut |row| {
        if let [
            Cell::Integer(path),
            Cell::Text(case),
            Cell::Integer(start),
            Cell::Integer(_),
        ] = row
        {
            let milliseconds = (start - crate::support::recording::EPOCH) / 1_000_000;
            let of_case = times.entry((*path, (*case).to_owned())).or_default();
            of_case.push(milliseconds);
        }
        Ok(())
    })
    .unwrap();
    let starts = |path: i64, case: &str| times.get(&(path, case.to_owned())).cloned();
    // Along the whole path every second message comes through; the second output also answers the one before.
    assert_eq!(starts(0, "all"), Some(vec![10, 12]));
    assert_eq!(starts(0, "best"), Some(vec![10, 12]));
    assert_eq!(starts(0, "worst"), Some(vec![11]));
    assert_eq!(starts(0, "worst_with_external_latency"), Some(vec![10]));
    // All reach the first callback, whether they go on or not.
    assert_eq!(starts(1, "all"), Some(vec![10, 11, 12, 13]));
    assert_eq!(starts(1, "worst"), Some(vec![11, 12, 13]));
}
