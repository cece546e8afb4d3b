//! A made-up system with everything that a lane can show: the kernel's scheduling, phases of executors, dropped messages, callbacks inside
//! callbacks, and names that nobody should have given.

use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::scheduling::Scheduling;
use rostrace_report::served::track::Content;
use rostrace_report::served::{Lane, Options, Query, ServedTimeline};
use serde_json::Value;

use crate::trace_support::kernel::{ASLEEP, PREEMPTED};
use crate::trace_support::{Flavour, Recording, stamp};

const MILLISECOND: u64 = 1_000_000;
const ROUNDS: u64 = 100;

fn hostile_names() -> [String; 3] {
    [
        "/<img src=x onerror=alert(1)>\"'&".to_owned(),
        "/\u{202e}שלום\u{2067}".to_owned(),
        format!("/{}", "long".repeat(1250)),
    ]
}

/// Every ten milliseconds a timer publishes; its message is received by a thread that is preempted by thread 77 meanwhile. Every seventh
/// is dropped, and every fifth callback runs another one inside.
fn system() -> Recording {
    let [talker, listener, topic] = hostile_names();
    let mut recording = Recording::jazzy();
    recording
        .process(100, "talker")
        .context(0x1)
        .node(0x10, &talker);
    recording.publisher(0x20, 0x10, &topic);
    recording.timer(0x60, 0x10, 10_000_000, 0x61);
    recording
        .process(200, "listener")
        .context(0x1)
        .node(0x10, &listener);
    recording.subscription(0x30, 0x10, &topic, 0x40);
    recording.timer(0x60, 0x10, 50_000_000, 0x61);
    for round in 0..ROUNDS {
        let begin = (10 + 10 * round) * MILLISECOND;
        let at = |micros: u64| begin + micros * 1000;
        let is_dropped = round % 7 == 3;
        recording.process(100, "talker").cpu(0);
        recording.at(at(0)).switch(0, ASLEEP, 100);
        recording
            .at(at(10))
            .get_next_ready()
            .execute(0x60)
            .start(0x61);
        recording.at(at(1000)).publish(0x20, 0x7, stamp(at(1000)));
        recording.at(at(2000)).end(0x61).wait_for_work();
        recording.at(at(2100)).switch(100, ASLEEP, 0);
        recording.process(200, "listener").cpu(1);
        recording.at(at(1100)).wakeup(200, 1);
        recording.at(at(1500)).switch(77, PREEMPTED, 200);
        if !is_dropped {
            recording.at(at(1510)).execute(0x30);
            recording
                .at(at(1520))
                .rmw_take(0x30, 0x7000, stamp(at(1000)))
                .start(0x40);
            recording.at(at(2000)).switch(200, PREEMPTED, 77);
            recording.at(at(2500)).switch(77, ASLEEP, 200);
            if round % 5 == 0 {
                recording.at(at(2600)).start(0x61).at(at(2700)).end(0x61);
            }
            recording.at(at(3000)).end(0x40).wait_for_work();
        }
        recording.at(at(3100)).switch(200, ASLEEP, 77);
    }
    recording
}

fn with_system(test: impl FnOnce(&Analysis<'_>, &ServedTimeline<'_>)) {
    let recording = system();
    let set = recording.open();
    let model = Model::load(&set, &mut |_| true);
    let mut analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    analysis.scheduling = Scheduling::load(&set, &model, &mut |_| true);
    let options = Options {
        title: hostile_names()[0].clone(),
        at: Some(crate::trace_support::time(
            (10 + 40) * MILLISECOND + 2_650_000,
        )),
        losses: vec![(
            crate::trace_support::time(0),
            crate::trace_support::time(MILLISECOND),
        )],
        selection: Selection::default(),
    };
    test(&analysis, &ServedTimeline::new(&analysis, options));
}

fn json(timeline: &ServedTimeline<'_>, question: &str, query: &str) -> Value {
    let answer = timeline.answer(question, &Query::parse(query)).unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

fn lane<'t>(timeline: &'t ServedTimeline<'_>, process: &str) -> &'t Lane {
    let groups = &timeline.lanes().threads;
    let group = groups
        .iter()
        .find(|group| group.note.starts_with(process))
        .unwrap();
    &group.lanes[0]
}

#[test]
fn what_runs_at_the_same_time_is_in_rows_of_its_own() {
    with_system(|_, timeline| {
        let listener = lane(timeline, "listener");
        assert_eq!(listener.rows, 2);
        let (_, track) = timeline.track(listener.track).unwrap();
        let counts: Vec<usize> = track.rows.iter().map(|row| row.len()).collect();
        let dropped = (0..ROUNDS).filter(|round| round % 7 == 3).count();
        let nested = (0..ROUNDS)
            .filter(|round| round % 7 != 3 && round % 5 == 0)
            .count();
        assert_eq!(counts, [ROUNDS as usize - dropped, nested]);
        assert_eq!(lane(timeline, "talker").rows, 1);
    });
}

#[test]
fn dropped_messages_are_marked_where_they_should_have_arrived() {
    with_system(|_, timeline| {
        let drops = lane(timeline, "listener").drops.unwrap();
        let (content, track) = timeline.track(drops).unwrap();
        let dropped = (0..ROUNDS).filter(|round| round % 7 == 3).count();
        assert!(matches!(content, Content::Drops(_)));
        assert_eq!(track.rows[0].len(), dropped);
        assert_eq!(lane(timeline, "talker").drops, None);
        let callbacks = timeline
            .lanes()
            .callbacks
            .iter()
            .flat_map(|group| &group.lanes);
        assert_eq!(callbacks.filter(|lane| lane.drops.is_some()).count(), 1);
    });
}

#[test]
fn states_of_the_kernel_and_of_executors_have_tracks() {
    with_system(|analysis, timeline| {
        let listener = lane(timeline, "listener");
        let sums = |track: u32| {
            let (content, track) = timeline.track(track).unwrap();
            let window = rostrace_report::served::window::Window {
                from: i64::MIN,
                to: i64::MAX,
                pixels: 1,
            };
            let mut sums = [0; 4];
            let class_of = |item| content.class_of(item);
            rostrace_report::served::window::look(&track.rows[0], &window, class_of, |span| {
                for (sum, part) in sums.iter_mut().zip(span.sums) {
                    *sum += part;
                }
            });
            sums
        };
        let thread = rostrace_model::entity::ThreadId(listener.thread.unwrap());
        let (begin, end) = timeline.span();
        let scheduling = analysis.scheduling.as_ref().unwrap();
        let expected = scheduling.off_cpu(thread, Nanos(begin), Nanos(end));
        let [running, waiting, asleep, stuck] = sums(listener.scheduling.unwrap());
        assert_eq!(running, expected.running.0);
        assert_eq!(waiting, expected.waiting.0);
        assert_eq!(asleep + stuck, expected.blocked.0);
        assert!(waiting > 0);
        let [executing, _, waiting, _] = sums(listener.executor.unwrap());
        assert!(executing > 0 && waiting > executing);
    });
}

#[test]
fn an_instant_selects_the_innermost_callback_that_ran_then() {
    with_system(|_, timeline| {
        let at = &json(timeline, "trace", "")["at"];
        let facts = json(
            timeline,
            "instance",
            &format!("id={}", at["instance"]["id"]),
        );
        // Round 4 is not one of those with a callback inside.
        assert_eq!(facts["kind"], "subscription");
        assert_eq!(facts["pid"], 200);
        assert_eq!(facts["cpu"]["waiting"], 500_000);
        assert_eq!(facts["cpu"]["preemptions"], 1);
        let causes = facts["why"]["waits"].as_array().unwrap();
        assert!(causes.iter().any(|wait| wait["cause"] == "preempted"));
        assert_eq!(facts["upstream"].as_array().unwrap().len(), 1);
        assert_eq!(facts["arrows"].as_array().unwrap().len(), 1);
    });
}

#[test]
fn names_are_shown_as_they_are_and_as_data() {
    with_system(|_, timeline| {
        let trace = json(timeline, "trace", "");
        assert_eq!(trace["title"], hostile_names()[0]);
        let subjects = trace["subjects"].as_array().unwrap();
        for name in &hostile_names()[..2] {
            assert!(
                subjects.iter().any(|subject| subject["node"] == **name),
                "{name}"
            );
        }
        let topics = trace["topics"].as_array().unwrap();
        assert!(
            topics
                .iter()
                .any(|topic| topic["name"] == *hostile_names()[2])
        );
        assert_eq!(trace["losses"][0].as_array().unwrap().len(), 2);
    });
}

#[test]
fn what_is_not_shown_is_nowhere() {
    let recording = system();
    let set = recording.open();
    let model = Model::load(&set, &mut |_| true);
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    let options = Options {
        selection: Selection {
            pids: vec![100],
            ..Selection::default()
        },
        ..Options::default()
    };
    let timeline = ServedTimeline::new(&analysis, options);
    let trace = json(&timeline, "trace", "");
    assert_eq!(trace["threads"].as_array().unwrap().len(), 1);
    assert_eq!(trace["executions"], ROUNDS);
    let arrows = json(&timeline, "arrows", "from=0&to=100000000");
    assert_eq!(arrows["arrows"].as_array().unwrap().len(), 0);
    for (index, instance) in model.instances.iter().enumerate() {
        let facts = timeline.answer("instance", &Query::parse(&format!("id={index}")));
        let process = model.process_of(instance.thread);
        let is_shown = model.processes[process.index()].pid == 100;
        assert_eq!(facts.is_some(), is_shown);
    }
}

#[test]
fn the_request_that_a_service_answered_is_part_of_the_flow() {
    let mut recording = Recording::new(Flavour::Kilted, "robot");
    recording.process(100, "client").context(0x1);
    recording.node(0x10, "/c").client(0x70, 0x10, "/ask", 7);
    recording.process(200, "server").context(0x1);
    recording.node(0x10, "/s").service(0x80, 0x10, "/ask", 0x81);
    recording
        .process(100, "client")
        .at(5_000_000)
        .send_request(0x70, 1);
    recording
        .process(200, "server")
        .at(5_010_000)
        .take_request(0x80, 7, 1);
    recording
        .at(5_020_000)
        .run(0x81)
        .at(5_030_000)
        .send_response(0x80, 7, 1);
    recording
        .process(100, "client")
        .at(5_050_000)
        .take_response(0x70, 1, stamp(5_030_000));
    let model = recording.load();
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    let timeline = ServedTimeline::new(&analysis, Options::default());
    let facts = json(&timeline, "instance", "id=0");
    assert_eq!(facts["upstream"][0]["name"], "/c · client /ask");
    assert_eq!(facts["upstream"][0]["latency"], 20_000);
    assert_eq!(facts["downstream"][0]["latency"], 20_000);
}
