//! Perfetto's format, read back and compared with what the trace means.

use std::collections::BTreeMap;
use std::path::Path;

use rostrace_analyze::Analysis;
use rostrace_analyze::communication::DropCause;
use rostrace_analyze::selection::{Pattern, Selection};
use rostrace_ctf::{Damage, TraceSet};
use rostrace_model::entity::{DeliveryId, InstanceId};
use rostrace_model::flow::DeliveryStatus;
use rostrace_report::timeline::{Format, Written};

use crate::timeline::decoded::{Decoded, Slice, decode};
use crate::timeline::{ALWAYS, Loaded, python, recordings, write};
use crate::trace_support::application::Given;
use crate::trace_support::kernel::{ASLEEP, PREEMPTED};
use crate::trace_support::{Recording, rmw, stamp, time};

fn load(folder: &Path) -> Loaded {
    Loaded::of(TraceSet::open(&[folder]).unwrap())
}

fn of(recording: &Recording) -> Loaded {
    Loaded::of(recording.open())
}

fn perfetto(
    analysis: &Analysis<'_>,
    selection: &Selection,
    damage: &[Damage],
) -> (Decoded, Written) {
    let (bytes, written) = write(Format::Perfetto, analysis, selection, damage);
    (decode(&bytes), written)
}

fn everything(loaded: &Loaded) -> Decoded {
    perfetto(
        &loaded.analysis(ALWAYS),
        &Selection::default(),
        &loaded.damage(),
    )
    .0
}

/// Executions as (pid, tid, start, end), in order.
type Executions = Vec<(i64, i64, i64, Option<i64>)>;

fn executions_in(decoded: &Decoded) -> Executions {
    let callbacks = decoded.slices.iter().filter(|it| it.category == "callback");
    let row = |slice: &Slice| {
        let mut track = &decoded.tracks[&slice.track];
        // What does not fit on a thread's own track is on one below it.
        while track.tid.is_none() {
            track = &decoded.tracks[&track.parent.unwrap()];
        }
        let end = slice.end.filter(|_| slice.argument("unfinished").is_none());
        (track.pid.unwrap(), track.tid.unwrap(), slice.begin, end)
    };
    let mut rows: Executions = callbacks.map(row).collect();
    rows.sort_unstable();
    rows
}

fn executions_of(loaded: &Loaded) -> Executions {
    let model = &loaded.model;
    let mut rows: Executions = (model.instances.iter())
        .map(|instance| {
            let thread = &model.threads[instance.thread.index()];
            let pid = model.processes[thread.process.index()].pid;
            let end = instance.end.map(|end| end.0);
            (pid, thread.tid, instance.start.0, end)
        })
        .collect();
    rows.sort_unstable();
    rows
}

#[test]
fn every_execution_is_a_slice_with_its_start_and_its_end() {
    for folder in recordings() {
        let loaded = load(&folder);
        let decoded = everything(&loaded);
        let (found, expected) = (executions_in(&decoded), executions_of(&loaded));
        assert!(!expected.is_empty());
        assert!(found == expected, "{}", folder.display());
    }
}

#[test]
fn every_message_that_arrived_is_one_arrow_from_its_publication_to_its_callback() {
    for folder in recordings() {
        let loaded = load(&folder);
        let analysis = loaded.analysis(ALWAYS);
        let (decoded, written) = perfetto(&analysis, &Selection::default(), &loaded.damage());
        let mut ends: BTreeMap<u64, (Vec<i64>, Vec<i64>)> = BTreeMap::new();
        for slice in decoded.slices.iter().chain(&decoded.instants) {
            for id in &slice.sends {
                ends.entry(*id).or_default().0.push(slice.begin);
            }
            for id in &slice.receives {
                ends.entry(*id).or_default().1.push(slice.begin);
            }
        }
        let mut found = Vec::new();
        for (id, (sent, received)) in ends {
            let ([sent], [received]) = (&sent[..], &received[..]) else {
                panic!("arrow {id} has the ends {sent:?} and {received:?}");
            };
            if id & 3 == 0 {
                found.push((*sent, *received));
            }
        }
        let mut expected = Vec::new();
        for index in 0..loaded.model.deliveries.len() {
            let delivery = analysis.delivery(DeliveryId::from_index(index));
            let publish = analysis.publication(delivery.publication).publish;
            let start = delivery.instance.map(|id| analysis.instance(id).start);
            let received = start.or(analysis.take_of(delivery).map(|take| take.time));
            if let Some(received) = received
                && delivery.status == DeliveryStatus::Delivered
                && publish < received
            {
                expected.push((publish.0, received.0));
            }
        }
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", folder.display());
        assert_eq!(written.messages, expected.len() as u64);
    }
}

#[test]
fn drops_phases_and_publications_are_as_many_as_in_the_tables() {
    for folder in recordings() {
        let loaded = load(&folder);
        let analysis = loaded.analysis(ALWAYS);
        let (decoded, written) = perfetto(&analysis, &Selection::default(), &loaded.damage());
        let slices = |category: &str| {
            let of = decoded.slices.iter().filter(|it| it.category == category);
            of.count()
        };
        let model = &loaded.model;
        assert_eq!(slices("publish"), model.publications.len());
        assert_eq!(slices("executor"), model.phases.len());
        let causes = (0..model.deliveries.len())
            .filter_map(|index| analysis.drop_cause(DeliveryId::from_index(index)));
        let drops =
            causes.filter(|cause| !matches!(cause, DropCause::RecordingEnd | DropCause::Unknown));
        let shown = decoded.instants.iter().filter(|it| it.category == "drop");
        assert_eq!(shown.count(), drops.count(), "{}", folder.display());
        assert_eq!(written.executions, slices("callback") as u64);
        let has_losses = loaded.set.damage.iter().any(|row| row.kind.is_loss());
        assert_eq!(
            decoded.notes["rostrace.damage"] == "nothing was lost",
            !has_losses
        );
    }
}

#[test]
fn perfettos_own_definitions_read_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.perfetto-trace");
    let mut all: Vec<Loaded> = recordings().iter().map(|folder| load(folder)).collect();
    all.push(of(&hostile()));
    all.push(of(&with_kernel()));
    all.push(of(&application()));
    for loaded in all {
        let analysis = loaded.analysis(ALWAYS);
        let (bytes, _) = write(
            Format::Perfetto,
            &analysis,
            &Selection::default(),
            &loaded.damage(),
        );
        std::fs::write(&file, &bytes).unwrap();
        let Some(mut python) = python() else {
            return;
        };
        let output = python.arg(&file).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let found = String::from_utf8(output.stdout).unwrap();
        let expected = decode(&bytes).lines;
        assert_eq!(found.lines().count(), expected.len());
        for (found, expected) in found.lines().zip(&expected) {
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn the_wall_clock_is_the_clock_of_the_trace() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").node(0x10, "/n");
    let decoded = everything(&of(&recording));
    assert_eq!(decoded.clocks[&1], decoded.clocks[&6]);
    assert_eq!(decoded.clocks[&1], time(0).0);
}

/// Names that would do harm where they are not only names.
fn hostile() -> Recording {
    let long = "x".repeat(5_000);
    let names = [
        "/<script>alert(1)</script>",
        "/quote\"'\\\n\t\u{1}\u{7f}",
        "/\u{202e}olleh\u{200f}שלום",
        "/\u{fffd}\u{2028}\u{1f916}",
        &format!("/{long}"),
    ];
    let mut recording = Recording::jazzy();
    for (index, name) in names.iter().enumerate() {
        let base = (index as u64 + 1) << 16;
        recording.process(100 + index as i64, "<b>\"'\\");
        recording.context(base).node(base + 0x10, name);
        recording.publisher(base + 0x20, base + 0x10, name);
        recording.subscription(base + 0x30, base + 0x10, name, base + 0x40);
        recording.symbol(base + 0x40, name);
        let given = Given {
            texts: &[(name, name)],
            ..Given::default()
        };
        recording
            .user_instant(name, &given)
            .user_counter(name, f64::NAN);
        let sent = stamp(recording.now());
        recording.publish(base + 0x20, 0x900, sent);
        recording.receive(base + 0x30, sent, base + 0x40);
    }
    recording
}

#[test]
fn names_that_would_do_harm_elsewhere_are_names() {
    let loaded = of(&hostile());
    let decoded = everything(&loaded);
    for node in &loaded.model.nodes {
        let callback = format!("{} ← {}", node.name, node.name);
        let is_shown = |slice: &Slice| slice.name == callback;
        assert!(decoded.slices.iter().any(is_shown), "{callback}");
    }
    assert_eq!(decoded.counts.len(), 5);
    assert!(decoded.counts.iter().all(|(_, _, value)| value.is_nan()));
}

/// A program that says what it does, on two threads.
fn application() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1).node(0x10, "/n");
    recording.timer(0x20, 0x10, 1_000_000, 0x30);
    recording.at(2_000_000).start(0x30);
    let given = Given {
        integers: &[("lanes", -3)],
        reals: &[("speed", 2.5)],
        texts: &[("why", "blocked")],
    };
    recording.span_begin("plan", 1, &given);
    recording.user_instant("found", &given);
    recording.span_end("plan", 1);
    recording.span_begin("crossing", 2, &Given::default());
    recording.end(0x30).wait(5_000).span_end("crossing", 2);
    recording.span_begin("endless", 3, &Given::default());
    recording.user_counter("queue", 7.0).thread(101);
    recording.user_counter("queue", 8.5);
    recording
}

#[test]
fn what_an_application_says_is_shown_where_it_said_it() {
    let decoded = everything(&of(&application()));
    let named = |name: &str| decoded.slices.iter().find(|it| it.name == name);
    let plan = named("plan").unwrap();
    let callback = named("/n · timer 1 ms").unwrap();
    assert_eq!(plan.track, callback.track);
    assert!(callback.begin < plan.begin && plan.end < callback.end);
    let arguments: Vec<_> = plan.arguments.iter().collect();
    let expected = [
        ("lanes".to_owned(), "-3".to_owned()),
        ("speed".to_owned(), format!("{:#x}", 2.5f64.to_bits())),
        ("why".to_owned(), "blocked".to_owned()),
    ];
    assert_eq!(arguments, expected.iter().collect::<Vec<_>>());
    // It goes on when the callback has ended, so it is beside it.
    let crossing = named("crossing").unwrap();
    assert_ne!(crossing.track, callback.track);
    assert_eq!(decoded.tracks[&crossing.track].parent, Some(callback.track));
    let instants: Vec<&Slice> = decoded.instants.iter().collect();
    assert_eq!(instants[0].name, "found");
    assert_eq!(instants[1].name, "endless");
    assert_eq!(instants[1].argument("unfinished"), Some("true"));
    let values: Vec<f64> = decoded.counts.iter().map(|(_, _, value)| *value).collect();
    assert_eq!(values, [7.0, 8.5]);
}

#[test]
fn an_execution_without_an_end_has_no_length_and_says_so() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1).node(0x10, "/n");
    recording.timer(0x20, 0x10, 1_000_000, 0x30);
    recording.at(2_000_000).start(0x30);
    recording.at(3_000_000).start(0x30).at(3_500_000).end(0x30);
    let decoded = everything(&of(&recording));
    let callbacks: Vec<&Slice> = (decoded.slices.iter())
        .filter(|it| it.category == "callback")
        .collect();
    let ends: Vec<_> = callbacks.iter().map(|it| it.end.unwrap()).collect();
    assert_eq!(ends, [time(2_000_000).0, time(3_500_000).0]);
    assert_eq!(callbacks[0].argument("unfinished"), Some("true"));
    assert_eq!(callbacks[1].argument("unfinished"), None);
}

#[test]
fn processes_of_one_number_on_several_hosts_stay_apart() {
    let mut recording = Recording::jazzy();
    for host in ["robot", "cloud"] {
        recording.host(host).process(100, "app").context(0x1);
        recording
            .node(0x10, "/n")
            .timer(0x20, 0x10, 1_000_000, 0x30);
        recording.run(0x30);
    }
    let decoded = everything(&of(&recording));
    let processes: Vec<_> = (decoded.tracks.values())
        .filter(|track| track.pid.is_some() && track.tid.is_none())
        .map(|track| (track.pid.unwrap(), track.name.as_str()))
        .collect();
    assert_eq!(
        processes,
        [(100, "app on robot"), (5_000_000, "app on cloud (pid 100)")]
    );
    let mut tids: Vec<_> = decoded.tracks.values().filter_map(|it| it.tid).collect();
    tids.sort_unstable();
    assert_eq!(tids, [100, 5_000_000]);
}

/// Two threads take turns on a CPU.
fn with_kernel() -> Recording {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1).node(0x10, "/n");
    recording.timer(0x20, 0x10, 1_000_000, 0x30);
    recording.cpu(1).at(2_000_000).switch(0, PREEMPTED, 100);
    recording.at(2_100_000).run(0x30);
    recording.at(2_200_000).switch(100, PREEMPTED, 55);
    recording.at(2_300_000).switch(55, ASLEEP, 100);
    recording.at(2_400_000).switch(100, ASLEEP, 0);
    recording.at(2_450_000).waking(55, 1);
    recording.at(2_500_000).switch(0, PREEMPTED, 55);
    recording.at(2_550_000).switch(55, ASLEEP, 0);
    recording.at(2_600_000).user_counter("end", 1.0);
    recording
}

#[test]
fn the_kernels_switches_are_native() {
    let decoded = everything(&of(&with_kernel()));
    let found: Vec<_> = (decoded.switches.iter())
        .map(|it| (it.cpu, it.at, it.previous.0, it.state, it.next.0))
        .collect();
    let at = |at: u64| time(at).0;
    assert_eq!(
        found[..5],
        [
            (1, at(2_000_000), 0, 0, 100),
            (1, at(2_200_000), 100, 0, 55),
            (1, at(2_300_000), 55, 1, 100),
            (1, at(2_400_000), 100, 1, 0),
            (1, at(2_500_000), 0, 0, 55),
        ]
    );
    assert_eq!(decoded.wakings, [(1, at(2_450_000), 55)]);
    let names = decoded.switches.iter().map(|it| it.next.1.as_str());
    assert_eq!(names.take(2).collect::<Vec<_>>(), ["thread100", "thread55"]);
}

#[test]
fn a_call_of_a_service_is_an_arrow_there_and_one_back() {
    let mut recording = Recording::jazzy();
    recording.process(100, "server").context(0x1);
    recording
        .node(0x10, "/server")
        .service(0x20, 0x10, "/add", 0x30);
    recording.process(200, "asker").context(0x1);
    recording.node(0x10, "/asker").client(0x40, 0x10, "/add", 7);
    recording.at(2_000_000).send_request(0x40, 1);
    recording.process(100, "server").at(2_100_000);
    recording.take_request(0x20, 7, 1).start(0x30);
    recording.send_response(0x20, 7, 1).end(0x30);
    recording.process(200, "asker").at(2_500_000);
    recording.take_response(0x40, 1, stamp(2_400_000));
    let _ = rmw(0x20);
    let loaded = of(&recording);
    assert_eq!(loaded.model.requests.len(), 1);
    let decoded = everything(&loaded);
    let instant = |name: &str| {
        let found = decoded.instants.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("{name}: {:?}", decoded.instants))
    };
    let callback = (decoded.slices.iter())
        .find(|it| it.category == "callback")
        .unwrap();
    assert_eq!(instant("send request /add").sends, callback.receives);
    assert_eq!(callback.receives.len(), 1);
    let answer = instant("send response /add");
    assert_eq!(answer.sends, instant("take response /add").receives);
    let call = (decoded.slices.iter()).find(|it| it.category == "service");
    let call = call.unwrap();
    assert_eq!(
        (call.begin, call.end),
        (time(2_000_000).0, Some(time(2_500_000).0))
    );
}

#[test]
fn a_range_of_time_and_a_node_narrow_what_is_shown() {
    let loaded = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pingpong"));
    let analysis = loaded.analysis(ALWAYS);
    let middle = (0..loaded.model.instances.len() / 2)
        .map(|index| analysis.instance(InstanceId::from_index(index)).start)
        .max()
        .unwrap();
    let second_half = loaded.analysis(middle..=*ALWAYS.end());
    let (decoded, _) = perfetto(&second_half, &Selection::default(), &[]);
    let callbacks = || decoded.slices.iter().filter(|it| it.category == "callback");
    assert!(callbacks().count() > 0);
    assert!(callbacks().all(|slice| slice.begin >= middle.0));

    let selection = Selection {
        nodes: vec![Pattern::new("/ponger").unwrap()],
        ..Selection::default()
    };
    let (decoded, written) = perfetto(&analysis, &selection, &[]);
    let of_node = |slice: &&Slice| slice.argument("node") == Some("/ponger");
    let callbacks = decoded.slices.iter().filter(|it| it.category == "callback");
    let callbacks: Vec<&Slice> = callbacks.collect();
    assert!(!callbacks.is_empty() && callbacks.iter().all(of_node));
    // Only what it sends to itself has both of its ends in this node.
    let to_itself = (0..loaded.model.deliveries.len()).filter(|index| {
        let delivery = analysis.delivery(DeliveryId::from_index(*index));
        let publisher = analysis.publication(delivery.publication).publisher;
        let sender = &loaded.model.publishers[publisher.unwrap().index()];
        let receiver = &loaded.model.subscriptions[delivery.subscription.unwrap().index()];
        let is_it = |node| loaded.model.node_name(node) == Some("/ponger");
        is_it(sender.node) && is_it(receiver.node) && delivery.instance.is_some()
    });
    assert_eq!(written.messages, to_itself.count() as u64);
}

#[test]
fn what_was_lost_is_on_a_track_of_its_own_and_in_the_notes() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1).node(0x10, "/n");
    recording.timer(0x20, 0x10, 1_000_000, 0x30);
    recording.at(2_000_000).start(0x30).at(4_000_000).end(0x30);
    recording.lose(2_500_000, 3_000_000);
    let decoded = everything(&of(&recording));
    assert_eq!(
        decoded.notes["rostrace.damage"],
        "1 loss: see the track `damage`"
    );
    let damage = decoded.slices.iter().find(|it| it.category == "damage");
    let damage = damage.unwrap();
    assert_eq!(damage.name, "discarded_events");
    assert_eq!(damage.argument("count"), Some("1"));
    assert_eq!(decoded.tracks[&damage.track].name, "damage");
    // Its end may be that of another one.
    let callback = decoded.slices.iter().find(|it| it.category == "callback");
    let callback = callback.unwrap();
    assert_eq!(callback.argument("unfinished"), Some("true"));
    assert_eq!(callback.argument("damaged"), Some("true"));
}

#[test]
fn calls_without_a_response_are_instants_however_many_they_are() {
    let mut recording = Recording::jazzy();
    recording.process(200, "asker").context(0x1);
    recording.node(0x10, "/asker").client(0x40, 0x10, "/add", 7);
    for sequence in 0..2_000 {
        recording.send_request(0x40, sequence);
    }
    let decoded = everything(&of(&recording));
    let calls = decoded.instants.iter().filter(|it| it.name == "/add");
    assert_eq!(calls.count(), 2_000);
    assert_eq!(decoded.slices.len(), 0);
    assert_eq!(decoded.tracks.len(), 3);
}
