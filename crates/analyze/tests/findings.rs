//! Findings: what is found in tiny systems where it is plain, and what has to hold in every recording.

use rostrace_analyze::finding::{
    self, CauseLocation, Finding, FindingKind, Group, Measured, Phase, ProcessEnd, Ranking, Reason,
    Root, Runner, Silence, WORTH_A_WORD, delayed_by,
};
use rostrace_analyze::flow_latency::{Include, path_latency};
use rostrace_analyze::flow_path::FlowPaths;
use rostrace_analyze::thread::Ran;
use rostrace_analyze::unknowable::unknowable;
use rostrace_analyze::{Analysis, callback};
use rostrace_model::Model;
use rostrace_model::entity::{CallbackId, ProcessId};

use crate::observed::{open, whole};
use crate::support::recording::Payload::{Pointer, Text, Unsigned};
use crate::support::{Flavour, Recording, rmw, stamp};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn groups(analysis: &Analysis<'_>) -> Vec<Group> {
    let callbacks = callback::summaries(analysis);
    let paths: Vec<_> = (FlowPaths::observed(analysis).into_iter())
        .map(|path| {
            let latency = path_latency(analysis, &path, Include::default());
            (path, latency)
        })
        .collect();
    let measured = Measured::of(analysis);
    let mut evidence = measured.evidence(&callbacks);
    evidence.paths = &paths;
    let found = finding::findings(analysis, evidence);
    let number = found.len();
    let groups = finding::groups(analysis, &callbacks, found);
    let reported: usize = groups.iter().map(|group| group.findings().count()).sum();
    assert!(reported <= number + groups.len(), "{reported} of {number}");
    groups
}

fn findings(model: &Model) -> Vec<Finding> {
    let groups = groups(&whole(model));
    let all = groups.iter().flat_map(|group| group.findings().cloned());
    all.collect()
}

/// What is said of the findings of one kind.
macro_rules! found {
    ($model:expr, $kind:pat => $said:expr) => {{
        let all = findings($model).into_iter();
        let found = all.filter_map(|finding| match finding.kind {
            $kind => Some($said),
            _ => None,
        });
        found.collect::<Vec<_>>()
    }};
}

fn blocked(model: &Model) -> Vec<(Ran, i64, bool)> {
    found!(model, FindingKind::Blocked { runner, worst, ended, .. } => (runner.ran, worst, ended))
}

fn silent(model: &Model) -> Vec<(Silence, Vec<String>)> {
    found!(model, FindingKind::SilentTopics { silence, topics, .. } => (silence, topics))
}

/// A container that loads a node, beside another process that goes on for a minute.
fn container(executor_tells: bool) -> Recording {
    let mut recording = Recording::jazzy();
    recording.process_of(1, "container", (2, "/box"));
    recording.service(0x50, 2, "/box/_container/load_node", 0x51);
    recording.service(0x60, 2, "/box/get_parameters", 0x61);
    if executor_tells {
        recording.at(SECOND / 2).wait_for_work();
    }
    recording
}

fn goes_on(recording: &mut Recording) -> Model {
    recording.process(2, "other").at(60 * SECOND).context(1);
    recording.load()
}

#[test]
fn one_long_execution_is_found_whatever_it_is() {
    let mut recording = container(true);
    recording.run_between(SECOND, 41 * SECOND, 0x51);
    // Built in, and just below or just above a second.
    recording.run_between(42 * SECOND, 42 * SECOND + 990 * MS, 0x61);
    recording.run_between(44 * SECOND, 45 * SECOND + 100 * MS, 0x61);
    recording.wait_for_work();
    let model = goes_on(&mut recording);
    let callback = |id| Ran::Callback(CallbackId(id));
    let expected = [
        (callback(0), 40 * SECOND as i64, true),
        (callback(1), 1_100 * MS as i64, true),
    ];
    let found = blocked(&model);
    assert_eq!(found, expected);
    assert!(!findings(&model).iter().any(|it| it.severity < 0.5));
}

#[test]
fn what_did_not_end_ran_at_least_until_its_process_was_last_heard_of() {
    let mut recording = container(true);
    recording.at(SECOND).start(0x51);
    recording.thread(9).at(31 * SECOND).get_next_ready();
    let model = goes_on(&mut recording);
    let found = blocked(&model);
    assert_eq!(
        found,
        [(Ran::Callback(CallbackId(0)), 30 * SECOND as i64, false)]
    );
}

#[test]
fn a_service_that_answers_later_has_not_blocked() {
    // Its executor goes on, or tells nothing, so that it may have gone on; or events were lost, and its end may be one of them.
    for (executor_tells, goes_on_itself, loses) in [
        (true, true, false),
        (false, false, false),
        (true, false, true),
    ] {
        let mut recording = container(executor_tells);
        recording.at(SECOND).start(0x51);
        if goes_on_itself {
            recording.at(SECOND + MS).wait_for_work();
        }
        recording.thread(9).at(31 * SECOND).get_next_ready();
        if loses {
            recording.lose(10 * SECOND, 11 * SECOND);
        }
        assert_eq!(blocked(&goes_on(&mut recording)), [], "loses: {loses}");
    }
}

/// Two timers of one thread: one of a second that takes 38 ms, one of 10 ms that has to wait for it.
fn slow_and_quick(seconds: u64) -> Model {
    let mut recording = Recording::jazzy();
    recording.context(1).node(2, "/slow").node(3, "/quick");
    recording.timer(0x60, 2, SECOND as i64, 0x61);
    recording.timer(0x70, 3, 10 * MS as i64, 0x71);
    recording.wait_for_work();
    let mut at = recording.now();
    for second in 1..=seconds {
        while at < second * SECOND {
            at += 10 * MS;
            recording.run_between(at, at + MS / 10, 0x71);
            recording.wait_for_work();
        }
        recording.at(at + MS / 5).start(0x61);
        at += 38 * MS;
        recording.at(at).end(0x61);
        // What was due meanwhile.
        recording.run_between(at + MS / 10, at + MS / 5, 0x71);
        recording.wait_for_work();
        at -= 8 * MS;
    }
    recording.load()
}

#[test]
fn what_is_late_because_of_one_callback_is_below_it() {
    let model = slow_and_quick(8);
    let analysis = whole(&model);
    let groups = groups(&analysis);
    let first = &groups[0];
    let FindingKind::LongExecution { runner, .. } = first.head.kind else {
        panic!("{:?}", first.head);
    };
    assert_eq!(
        analysis.names.callback(callback_of(runner)),
        "/slow · timer 1 s"
    );
    let late: Vec<&Finding> = first.members.iter().collect();
    let because = late
        .iter()
        .find(|it| matches!(it.kind, FindingKind::LateExecution { .. }))
        .unwrap()
        .because
        .unwrap();
    assert_eq!(because.location, CauseLocation::SameThread);
    assert_eq!((because.times, because.of), (8, 8));
    assert!((37 * MS as i64..=38 * MS as i64).contains(&because.longest));
    // Its own period is a second, so that by itself it would be nothing; what it does to others makes it the worst.
    assert!(first.severity > 1.0 && first.head.severity < 0.1);
    let summaries = callback::summaries(&analysis);
    let ranking = Ranking::of(&analysis, &summaries);
    let quick = summaries
        .iter()
        .map(|it| Runner::callback(&model, it.callback));
    let quick = quick.filter(|other| *other != runner);
    for other in quick {
        assert!(ranking.order(runner, other).is_lt());
    }
    assert!(ranking.caused(runner) > 0);
}

fn callback_of(runner: Runner) -> CallbackId {
    match runner.ran {
        Ran::Callback(callback) => callback,
        other => panic!("{other:?}"),
    }
}

/// What each execution of a callback made late, together, is what the finding counts.
fn assert_agree(name: &str, model: &Model) -> u64 {
    let analysis = whole(model);
    let summaries = callback::summaries(&analysis);
    let mut compared = 0;
    for group in groups(&analysis) {
        for finding in &group.members {
            let (FindingKind::LateExecution { callback, .. }, Some(because)) =
                (&finding.kind, finding.because)
            else {
                continue;
            };
            let Some(runner) = because.root.runner() else {
                continue;
            };
            let Ran::Callback(cause) = runner.ran else {
                continue;
            };
            let mut delayed = std::collections::BTreeSet::new();
            for id in analysis.instances_of(cause) {
                for it in delayed_by(&analysis, &summaries, *id) {
                    assert!(0 < it.waited && it.waited <= it.lateness, "{name}: {it:?}");
                    let row = analysis.instance(it.instance);
                    if row.callback == Some(*callback) {
                        delayed.insert(it.instance);
                    }
                }
            }
            assert_eq!(delayed.len() as u64, because.times, "{name}: {finding:?}");
            compared += because.times;
        }
    }
    compared
}

#[test]
fn what_one_execution_made_late_adds_up_to_what_the_finding_says() {
    assert_eq!(assert_agree("made up", &slow_and_quick(4)), 4);
    for (name, recorded) in open(["jazzy/timers", "humble/timers_caret"]) {
        assert!(assert_agree(name, &recorded.model) > 0, "{name}");
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

/// Publishers with topics of several kinds, of one node that publishes on `/alive` all the time.
fn speaker() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process_of(100, "listener", (2, "/l"));
    for (number, topic) in TOPICS.iter().enumerate() {
        recording.subscription(
            0x1000 + 16 * number as u64,
            2,
            topic,
            0x5000 + number as u64,
        );
    }
    recording.process_of(200, "talker", (2, "/t"));
    for (number, topic) in TOPICS.iter().enumerate() {
        recording.publisher(0x2000 + 16 * number as u64, 2, topic);
    }
    // A queue of one is what topics have that keep their last message.
    recording.init(
        "rcl_publisher_init",
        &[
            ("publisher_handle", Pointer(0x2800)),
            ("node_handle", Pointer(2)),
            ("rmw_publisher_handle", Pointer(rmw(0x2800))),
            ("topic_name", Text("/map".to_owned())),
            ("queue_depth", Unsigned(1)),
        ],
    );
    recording
}

const TOPICS: [&str; 8] = [
    "/alive",
    "/never",
    "/once",
    "/stops",
    "/rosout",
    "/tf_static",
    "/count/_action/feedback",
    "/map_of_nobody",
];

fn speak(recording: &mut Recording, until_stop: u64) -> Model {
    recording.process(100, "listener");
    recording.subscription(0x1800, 2, "/map", 0x5800);
    recording.process(200, "talker");
    let mut at = 2 * SECOND;
    let publish = |recording: &mut Recording, publisher: u64, at: u64| {
        recording.at(at);
        recording.publish(publisher, 0x9000 + at, stamp(at + 10_000));
    };
    publish(recording, 0x2020, SECOND);
    publish(recording, 0x2800, SECOND + MS);
    while at < 30 * SECOND {
        publish(recording, 0x2000, at);
        if at < until_stop {
            publish(recording, 0x2030, at + MS);
        }
        at += 100 * MS;
    }
    recording.load()
}

#[test]
fn topics_without_messages_are_reported_but_not_those_that_have_none_by_design() {
    let model = speak(&mut speaker(), 30 * SECOND);
    let expected = [
        (Silence::Never, names(&["/map_of_nobody", "/never"])),
        (Silence::Once, names(&["/once"])),
    ];
    assert_eq!(silent(&model), expected);
}

#[test]
fn a_topic_that_stops_is_reported_if_others_go_on() {
    let mut recording = speaker();
    // Two that go on, so that most do.
    recording.publisher(0x2900, 2, "/alive_too");
    let model = speak(&mut recording, 10 * SECOND);
    let stopped = |model: &Model| {
        let silent = silent(model).into_iter();
        silent
            .filter(|(silence, _)| *silence == Silence::Stopped)
            .flat_map(|(_, topics)| topics)
            .collect::<Vec<String>>()
    };
    assert_eq!(stopped(&model), ["/stops"]);
    let model = speak(&mut speaker(), 30 * SECOND);
    assert_eq!(stopped(&model), Vec::<String>::new());
}

#[test]
fn lost_events_accuse_no_topic() {
    let mut recording = speaker();
    recording.lose(12 * SECOND, 13 * SECOND);
    assert_eq!(silent(&speak(&mut recording, 30 * SECOND)), []);
}

#[test]
fn what_the_recording_left_out_is_not_silent() {
    let nobody = (Silence::Never, names(&["/map_of_nobody"]));
    for (key, value, expected) in [
        ("rostrace_ignore_topics", "/nev*:/once", vec![nobody]),
        ("rostrace_select_topics", "/alive", vec![]),
        ("rostrace_ignore_nodes", "/t", vec![]),
    ] {
        let mut recording = speaker();
        recording.say(key, value);
        let found = silent(&speak(&mut recording, 30 * SECOND));
        assert_eq!(found, expected, "{key}");
    }
}

/// Why topics never had a message, by the name of the node that should have sent it.
fn never(model: &Model) -> Vec<String> {
    let node = |id: &rostrace_model::entity::NodeId| model.nodes[id.index()].name.clone();
    let reported = |reason: &Reason| match reason {
        Reason::Inactive { node: id, state } => format!("{} is {state}", node(id)),
        Reason::Upstream { node: id, topic } => format!("{} waits for {topic}", node(id)),
        Reason::Unpublished { node: id, topic } => format!("{} lacks {topic}", node(id)),
        Reason::NothingRan { node: id } => format!("{} ran nothing", node(id)),
        other => format!("{other:?}"),
    };
    let reasons = found!(model, FindingKind::SilentTopics { silence: Silence::Never, reasons, .. } => reasons);
    let reasons = reasons.into_iter().flatten();
    let mut reported: Vec<String> = reasons.map(|(it, _)| reported(&it)).collect();
    reported.sort();
    reported
}

#[test]
fn a_silent_topic_is_due_to_what_its_node_waits_for() {
    let mut recording = Recording::jazzy();
    recording.process_of(1, "app", (2, "/listener"));
    recording.node(3, "/map").node(4, "/plan");
    recording.node(5, "/lazy").node(6, "/orphan");
    recording.node(7, "/busy");
    recording.subscription(0x100, 2, "/route", 0x101);
    recording.subscription(0x110, 2, "/lazy_out", 0x111);
    recording.subscription(0x120, 2, "/orphan_out", 0x121);
    recording.subscription(0x130, 2, "/busy_out", 0x131);
    // A node with a lifecycle that nobody activates, one that waits for it, one that waits for nobody's topic, and one of which nothing is known.
    recording.state_machine(0x300, 3);
    recording.publisher(0x200, 3, "/tiles");
    recording.subscription(0x140, 4, "/tiles", 0x141);
    recording.publisher(0x210, 4, "/route");
    recording.timer(0x400, 5, SECOND as i64, 0x401);
    recording.publisher(0x220, 5, "/lazy_out");
    recording.subscription(0x150, 6, "/nobody", 0x151);
    recording.publisher(0x230, 6, "/orphan_out");
    recording.timer(0x410, 7, SECOND as i64, 0x411);
    recording.publisher(0x240, 7, "/busy_out");
    recording.publisher(0x250, 7, "/heard");
    for second in 2..20 {
        recording.at(second * SECOND).start(0x411);
        recording.publish(0x250, 0x9000, stamp(second * SECOND + 10_000));
        recording.end(0x411).wait_for_work();
    }
    let model = recording.load();
    assert_eq!(
        never(&model),
        [
            "/lazy ran nothing",
            "/map is unconfigured",
            "/orphan lacks /nobody",
            "/plan waits for /tiles",
        ]
    );
}

#[test]
fn a_node_is_late_because_its_container_took_long_or_its_process_began_late() {
    let reasons = |model: &Model| {
        let mut all = found!(model, FindingKind::LateNodes { reasons, .. } => reasons);
        all.swap_remove(0)
    };
    let with_nodes = || {
        let mut recording = container(true);
        for number in 0..5u64 {
            let name = format!("/n{number}");
            recording.at(SECOND).node(0x10 + number, &name);
        }
        recording
    };
    let mut recording = with_nodes();
    recording.at(2 * SECOND).start(0x51);
    recording.at(32 * SECOND).node(0x30, "/late");
    recording.at(33 * SECOND).end(0x51).wait_for_work();
    let found = reasons(&goes_on(&mut recording));
    assert!(
        matches!(found[..], [(Reason::Loading { longest, .. }, 1)] if longest == 30 * SECOND as i64),
        "{found:?}"
    );
    let mut recording = with_nodes();
    recording.at(59 * SECOND).wait_for_work();
    recording.process(3, "second").at(30 * SECOND).context(1);
    recording.at(31 * SECOND).node(2, "/late");
    let found = reasons(&goes_on(&mut recording));
    assert!(
        matches!(found[..], [(Reason::BeganLate { .. }, 1)]),
        "{found:?}"
    );
    // It began with the others, and nobody knows what it waited for.
    let mut recording = with_nodes();
    recording.at(31 * SECOND).node(0x30, "/late");
    assert_eq!(reasons(&goes_on(&mut recording)), []);
}

#[test]
fn a_process_that_leaves_before_the_others_is_reported() {
    let tick = |recording: &mut Recording, pid: i64, until: u64| {
        recording.process(pid, "app");
        let mut at = SECOND;
        while at < until {
            recording.at(at).wait_for_work().start(0x61);
            recording.at(at + MS).end(0x61);
            at += 100 * MS;
        }
    };
    let mut recording = Recording::jazzy();
    for pid in [1, 2, 3] {
        recording.process(pid, "app").context(1);
        recording.node(2, &format!("/n{pid}"));
        recording.timer(0x60, 2, 100 * MS as i64, 0x61);
    }
    // The third only waits: that is no end.
    recording.wait_for_work();
    tick(&mut recording, 1, 20 * SECOND);
    tick(&mut recording, 2, 8 * SECOND);
    let model = recording.load();
    let pid = |process: ProcessId| model.processes[process.index()].pid;
    let ended = found!(&model, FindingKind::EndedEarly { process, end, .. } => (pid(process), end));
    assert_eq!(ended, [(2, ProcessEnd::Unknown)]);
}

#[test]
fn a_node_that_comes_long_after_the_others_is_reported_and_one_that_comes_back_is_not() {
    let mut recording = Recording::jazzy();
    recording.context(1);
    for number in 0..5u64 {
        recording.at((number + 1) * 100 * MS);
        recording.node(0x10 + number, &format!("/n{number}"));
    }
    recording.at(20 * SECOND).node(0x30, "/late");
    recording.at(25 * SECOND).node(0x40, "/n3");
    recording.at(60 * SECOND).wait_for_work();
    let model = recording.load();
    let late: Vec<(Vec<&str>, Option<Phase>)> = findings(&model)
        .into_iter()
        .filter_map(|finding| match finding.kind {
            FindingKind::LateNodes { nodes, .. } => {
                let names = nodes.iter().map(|id| model.nodes[id.index()].name.as_str());
                Some((names.collect(), finding.phase))
            }
            _ => None,
        })
        .collect();
    assert_eq!(late, [(vec!["/late"], None)]);
}

#[test]
fn a_queue_that_pushes_most_out_is_one_finding() {
    let mut recording = Recording::talker_to_itself(Flavour::Jazzy);
    let mut at = 10 * MS;
    // Two places; of four messages two are pushed out each time, of the last round all but one.
    for round in 0..20u64 {
        for number in 0..6u64 {
            let message = 0x9000 + 64 * round + 8 * number;
            recording.at(at).intra_publish(0x20, message);
            recording.enqueue(0x33, number % 2, number > 1);
            at += MS;
        }
        recording.at(at).receive_intra(0x33, 0, 0x41);
        recording.receive_intra(0x33, 1, 0x41);
        at += MS;
    }
    recording.go_on();
    let model = recording.load();
    let overflowing = found!(&model, FindingKind::OverflowingQueue { overwritten, sent, .. } => (overwritten, sent));
    assert_eq!(overflowing, [(80, 120)]);
    assert_eq!(found!(&model, FindingKind::LostMessages { .. } => ()), []);
}

#[test]
fn between_clocks_that_differ_nothing_is_late_and_nobody_left() {
    let recording = |other: &str| {
        let mut recording = Recording::jazzy();
        recording.process_of(200, "listener", (2, "/l"));
        recording.subscription(0x30, 2, "/a", 0x40);
        recording.host(other).process_of(100, "talker", (2, "/t"));
        recording.publisher(0x20, 2, "/a");
        for number in 1..50u64 {
            let at = number * 100 * MS;
            recording.host(other).process(100, "talker");
            recording.at(at).publish(0x20, 0x9000, stamp(at + 10_000));
            // The clock of the listener is 60 ms ahead.
            recording.host("robot").process(200, "listener");
            recording.at(at + 60 * MS);
            recording.receive(0x30, stamp(at + 10_000), 0x40);
            recording.end(0x40);
        }
        recording.load()
    };
    let late = |model: &Model| {
        let all = findings(model).into_iter();
        all.filter(|it| {
            let kind = &it.kind;
            matches!(
                kind,
                FindingKind::LateExecution { .. } | FindingKind::SlowPath { .. }
            )
        })
        .count()
    };
    assert!(late(&recording("robot")) > 0);
    assert_eq!(late(&recording("rover")), 0);
}

/// Whatever was recorded: a cause is an execution that is in the trace, no group is milder than what is in it, and the order of callbacks is that of the groups.
#[test]
fn groups_and_order_hold_in_every_recording() {
    for (name, recorded) in open(crate::observed::recordings()) {
        let model = &recorded.model;
        let analysis = whole(model);
        let groups = groups(&analysis);
        assert!(
            groups.is_sorted_by(|a, b| a.severity >= b.severity),
            "{name}"
        );
        for group in &groups {
            for finding in group.findings() {
                assert!(finding.severity <= group.severity, "{name}: {finding:?}");
                assert!(finding.severity.is_finite(), "{name}: {finding:?}");
            }
            for because in group.members.iter().filter_map(|it| it.because) {
                assert!((1..=because.of).contains(&because.times), "{name}");
                // A thread that has time left is no finding.
                let is_thread = matches!(because.root, Root::Thread(_));
                let mut roots = group.findings().map(|it| it.kind.root());
                assert!(
                    roots.any(|it| it == Some(because.root)) || is_thread,
                    "{name}: {because:?}"
                );
                let Root::Runner(runner) = because.root else {
                    continue;
                };
                let ran = model.instances.iter().any(|instance| {
                    instance.start == because.at
                        && instance
                            .end
                            .is_some_and(|end| end.0 - because.at.0 == because.longest)
                        && Runner::of(model, instance) == runner
                });
                let is_client = matches!(runner.ran, Ran::Client(_));
                assert!(ran || is_client, "{name}: {because:?}");
            }
        }
        let summaries = callback::summaries(&analysis);
        let ranking = Ranking::of(&analysis, &summaries);
        let mut runners: Vec<Runner> = summaries
            .iter()
            .map(|it| Runner::callback(model, it.callback))
            .collect();
        runners.sort_by(|a, b| ranking.order(*a, *b));
        // What is not worth a word has no order that anybody sees.
        let reported = groups.iter().filter(|it| it.severity >= WORTH_A_WORD);
        let mut worst = 0.0f64;
        for group in reported {
            let is_named = |runner: &Runner| matches!(runner.ran, Ran::Callback(_));
            if group.head.kind.runner().is_some_and(|it| is_named(&it)) {
                worst = worst.max(group.severity);
            }
            for member in &group.members {
                let is_late = matches!(
                    member.kind,
                    FindingKind::LateExecution { .. } | FindingKind::SkippedFirings { .. }
                );
                if is_late || member.kind.runner().is_some_and(|it| is_named(&it)) {
                    worst = worst.max(member.severity);
                }
            }
        }
        if let Some(first) = runners.first().filter(|_| worst > 0.0) {
            assert!(ranking.severity(*first) >= worst, "{name}");
        }
    }
}

/// Many short callbacks on one thread, none of which takes most of its time: what is late is late because of all of them.
#[test]
fn what_waits_for_many_callbacks_is_below_their_thread() {
    let mut recording = Recording::jazzy();
    recording.process_of(100, "talker", (2, "/t"));
    for number in 0..10u64 {
        recording.publisher(0x2000 + 16 * number, 2, &format!("/topic{number}"));
    }
    recording.process_of(200, "listener", (2, "/l"));
    for number in 0..10u64 {
        let topic = format!("/topic{number}");
        recording.subscription(0x3000 + 16 * number, 2, &topic, 0x4000 + number);
    }
    for round in 1..40u64 {
        let at = |number: u64| 100 * round * MS + 20_000 * number;
        recording.process(100, "talker");
        for number in 0..10 {
            let (at, message) = (at(number), 0x9000 + at(number));
            recording.at(at);
            recording.publish(0x2000 + 16 * number, message, stamp(at + 10_000));
        }
        recording.process(200, "listener");
        for number in 0..10 {
            let start = 100 * round * MS + MS + 9 * number * MS;
            recording.at(start);
            let sent = stamp(at(number) + 10_000);
            recording.rmw_take(0x3000 + 16 * number, 0x7000, sent);
            recording.start(0x4000 + number);
            recording.at(start + 9 * MS - MS / 10).end(0x4000 + number);
        }
    }
    let model = recording.load();
    let groups = groups(&whole(&model));
    let first = &groups[0];
    let FindingKind::BusyThread { callbacks, .. } = first.head.kind else {
        panic!("{first:?}");
    };
    assert_eq!(callbacks, 10);
    let of_thread = first
        .members
        .iter()
        .filter(|it| matches!(it.because.map(|it| it.root), Some(Root::Thread(_))));
    // The first ones wait for one or two others.
    assert!(of_thread.count() >= 6, "{first:?}");
}

/// The programs log which executions they made slow on purpose: they head what follows from them.
#[test]
fn what_was_made_slow_on_purpose_is_the_cause() {
    for (name, cause) in [
        ("jazzy/chain", "/filter ← /raw_a"),
        ("jazzy/chain_caret", "/filter ← /raw_a"),
        ("humble/chain", "/filter ← /raw_a"),
        ("jazzy/timers", "/slow_timers · timer 10 ms"),
        ("humble/timers_caret", "/slow_timers · timer 10 ms"),
    ] {
        let Some(recorded) = crate::observed::Recorded::open(name) else {
            return;
        };
        let analysis = whole(&recorded.model);
        let groups = groups(&analysis);
        let runner = groups[0].head.kind.runner().unwrap();
        assert_eq!(
            analysis.names.callback(callback_of(runner)),
            cause,
            "{name}"
        );
        let caused = groups[0].members.iter().filter(|it| it.because.is_some());
        assert!(caused.count() >= 3, "{name}: {:?}", groups[0]);
    }
}

/// Each status of an action has all of its goals: that a newer one takes the place of an older one is no loss.
#[test]
fn a_status_of_an_action_that_a_newer_one_replaced_is_not_lost() {
    for (name, recorded) in open(["humble/services", "jazzy/services"]) {
        let model = &recorded.model;
        for finding in findings(model) {
            if let FindingKind::LostMessages { subscription, .. } = finding.kind {
                let topic = &model.subscriptions[subscription.index()].topic;
                assert!(!topic.ends_with("/_action/status"), "{name}: {finding:?}");
            }
        }
    }
}

/// The programs of these recordings publish for 4 to 8 s on all topics that they have, and end together.
#[test]
fn a_system_that_does_what_it_should_has_no_silent_topic_and_no_process_that_left() {
    for (name, recorded) in open([
        "jazzy/chain",
        "jazzy/pingpong",
        "humble/chain_caret",
        "jazzy/executors",
    ]) {
        for finding in findings(&recorded.model) {
            let is_wrong = matches!(
                finding.kind,
                FindingKind::SilentTopics { .. }
                    | FindingKind::EndedEarly { .. }
                    | FindingKind::LateNodes { .. }
            );
            assert!(!is_wrong, "{name}: {finding:?}");
        }
    }
}

#[test]
fn the_nodes_that_never_came_up_are_the_first_thing_that_is_reported_of_autoware() {
    let Some((_folder, set)) =
        rostrace_testkit::recordings::unpack("public/autoware-carla-galactic.tar.zst")
    else {
        return;
    };
    let model = crate::support::model_of(&set);
    let analysis = whole(&model);
    let groups = groups(&analysis);
    let heads: Vec<String> = groups[..2]
        .iter()
        .map(|group| match group.head.kind {
            FindingKind::Blocked { runner, worst, .. } => {
                let name = analysis.names.callback(callback_of(runner));
                let last = name.rsplit(' ').next().unwrap();
                format!("{last} {} s", worst / SECOND as i64)
            }
            ref other => format!("{other:?}"),
        })
        .collect();
    let planning = "/planning/scenario_planning/lane_driving/behavior_planning/behavior_planning_container/_container/load_node 187 s";
    let control = "/control/control_container/_container/load_node 177 s";
    assert_eq!(heads, [planning, control]);
    let is_silent = |it: &Group| matches!(it.head.kind, FindingKind::SilentTopics { .. });
    assert!(groups.iter().take(5).any(is_silent));
    let unknown = unknowable(&model);
    assert!(unknown[0].what.contains("no take events"), "{unknown:?}");
}

/// The talker of this recording is deactivated and activated again, and its topic is silent meanwhile.
#[test]
fn a_node_that_is_not_active_does_not_pause() {
    for (name, recorded) in open(["jazzy/lifecycle", "jazzy/lifecycle_caret"]) {
        let pauses = findings(&recorded.model).into_iter();
        let mut pauses = pauses.filter(|it| matches!(it.kind, FindingKind::Pause { .. }));
        assert_eq!(pauses.find(|it| it.severity >= 1.0), None, "{name}");
    }
}

#[test]
fn what_cannot_be_known_is_said_where_it_cannot() {
    let unknown = |name: &str| {
        let model = rostrace_testkit::recordings::load(name)?;
        Some(unknowable(&model))
    };
    let Some(late) = unknown("jazzy/late") else {
        return;
    };
    assert!(late[0].what.starts_with("No node is known"), "{late:?}");
    for name in [
        "jazzy/chain",
        "jazzy/chain_caret",
        "humble/services",
        "jazzy/lifecycle",
    ] {
        assert_eq!(unknown(name).unwrap(), [], "{name}");
    }
}
