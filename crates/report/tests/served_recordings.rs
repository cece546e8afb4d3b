//! What the served timeline says of real recordings is what the table of executions says. Where they are absent the tests say so and pass.

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_ctf::schema::Nanos;
use rostrace_report::served::{Group, Options, Query, ServedTimeline};
use serde_json::Value;

use crate::recordings::{everything, model};
use crate::support;

const RECORDINGS: [&str; 14] = [
    "jazzy/chain",
    "jazzy/chain_caret",
    "jazzy/churn",
    "jazzy/executors",
    "jazzy/executors_caret",
    "jazzy/intra",
    "jazzy/late",
    "jazzy/lifecycle",
    "jazzy/lossy",
    "jazzy/names",
    "jazzy/services",
    "humble/multi",
    "humble/timers_caret",
    "public/caret-demos-end-to-end-humble",
];

fn for_each(test: impl Fn(&str, &Analysis<'_>, &ServedTimeline<'_>)) {
    for name in RECORDINGS {
        let Some(model) = model(name) else { continue };
        let all = everything(&model);
        test(name, &all, &serve(&all));
        let (begin, end) = (model.begin.unwrap().0, model.end.unwrap().0);
        let third = (end - begin) / 3;
        let part = Analysis::new(&model, Nanos(begin + third)..=Nanos(end - third));
        test(name, &part, &serve(&part));
    }
}

fn serve<'a>(analysis: &'a Analysis<'a>) -> ServedTimeline<'a> {
    ServedTimeline::new(analysis, Options::default())
}

/// A row of the table: node, kind, topic, start, end.
type ExecutionRow = (String, String, String, i64, Option<i64>);

fn table(analysis: &Analysis<'_>) -> Vec<ExecutionRow> {
    let rows = support::table(analysis, "callback_instances").into_iter();
    let mut rows: Vec<ExecutionRow> = rows
        .map(|row| {
            let text = |column: &str| row[column].as_str().unwrap().to_owned();
            let [start, end] = ["start_ns", "end_ns"].map(|column| row[column].as_i64());
            (
                text("node"),
                text("kind"),
                text("topic"),
                start.unwrap(),
                end,
            )
        })
        .collect();
    rows.sort();
    rows
}

/// A span of an answer.
#[derive(Debug, Clone)]
struct Span {
    start: i64,
    length: i64,
    longest: i64,
    count: u32,
    item: u32,
    subject: u32,
    is_open: bool,
}

fn view(timeline: &ServedTimeline<'_>, track: u32, from: i64, to: i64, pixels: u32) -> Vec<Span> {
    let query = Query::parse(&format!(
        "from={from}&to={to}&pixels={pixels}&tracks={track}"
    ));
    let body = timeline.answer("view", &query).unwrap().body;
    let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
    let float = |at: usize| f64::from_le_bytes(body[at..at + 8].try_into().unwrap()) as i64;
    assert_eq!((word(4), word(8)), (1, track));
    let mut spans = Vec::new();
    let mut at = 16;
    for _ in 0..word(12) {
        let count = word(at);
        at += 8;
        for _ in 0..count {
            spans.push(Span {
                start: float(at),
                length: float(at + 8),
                longest: float(at + 24),
                count: word(at + 32),
                item: word(at + 36),
                subject: word(at + 40),
                is_open: word(at + 44) & 1 == 1,
            });
            at += 56;
        }
    }
    assert_eq!(at, body.len());
    spans
}

/// Times count from the begin of the recording, whatever is shown of it.
fn extent(timeline: &ServedTimeline<'_>) -> (i64, i64) {
    (timeline.origin(), timeline.span().1)
}

fn tracks(groups: &[Group]) -> impl Iterator<Item = u32> {
    groups
        .iter()
        .flat_map(|group| &group.lanes)
        .map(|lane| lane.track)
}

/// Looks closer and closer until each execution stands alone; those that start at one instant are told apart by their numbers only.
fn singles(timeline: &ServedTimeline<'_>, track: u32, from: i64, to: i64) -> BTreeMap<u32, Span> {
    let mut found = BTreeMap::new();
    let mut open = vec![(from, to)];
    while let Some((from, to)) = open.pop() {
        for span in view(timeline, track, from, to, 2000) {
            if span.count == 1 {
                found.insert(span.item, span);
            } else if to - from > 4 {
                // Half of what is seen, around the block.
                let (begin, end) = (span.start - 1, span.start + span.length + 1);
                match end - begin < to - from {
                    true => open.push((begin, end)),
                    false => open.extend([(from, (from + to) / 2), ((from + to) / 2, to)]),
                }
            }
        }
    }
    found
}

#[test]
fn both_orders_of_lanes_count_every_execution_at_any_zoom() {
    for_each(|name, analysis, timeline| {
        let rows = table(analysis).len();
        let (begin, end) = extent(timeline);
        for (lanes, groups) in [
            ("threads", &timeline.lanes().threads),
            ("callbacks", &timeline.lanes().callbacks),
        ] {
            for pixels in [1, 7, 300, 3000] {
                let spans = tracks(groups)
                    .flat_map(|track| view(timeline, track, -1, end - begin + 1, pixels));
                let count: u64 = spans.map(|span| u64::from(span.count)).sum();
                assert_eq!(count, rows as u64, "{name} {lanes} {pixels}");
            }
            let shown: usize = groups
                .iter()
                .flat_map(|it| &it.lanes)
                .map(|it| it.count)
                .sum();
            assert_eq!(shown, rows, "{name} {lanes}");
        }
    });
}

#[test]
fn each_execution_is_where_the_table_says() {
    for_each(|name, analysis, timeline| {
        let (begin, end) = extent(timeline);
        let mut rows = Vec::new();
        for track in tracks(&timeline.lanes().threads) {
            for (_, span) in singles(timeline, track, -1, end - begin + 1) {
                let subject = &timeline.subjects().list[span.subject as usize];
                let node = match subject.node.as_str() {
                    rostrace_model::describe::names::UNKNOWN_NODE => "",
                    node => node,
                };
                // A table has nothing where it is not known.
                let kind = match subject.kind {
                    "unknown" => "",
                    kind => kind,
                };
                rows.push((
                    node.to_owned(),
                    kind.to_owned(),
                    subject.topic.clone(),
                    begin + span.start,
                    (!span.is_open).then_some(begin + span.start + span.length),
                ));
            }
        }
        rows.sort();
        let table = table(analysis);
        assert_eq!(rows.len(), table.len(), "{name}");
        assert!(rows == table, "{name}");
    });
}

#[test]
fn the_longest_execution_is_shown_however_small_it_is_drawn() {
    for_each(|name, analysis, timeline| {
        let (begin, end) = extent(timeline);
        let longest = table(analysis)
            .iter()
            .filter_map(|row| Some(row.4? - row.3))
            .max();
        for pixels in [1, 50, 1000] {
            let spans = tracks(&timeline.lanes().callbacks)
                .flat_map(|track| view(timeline, track, -1, end - begin + 1, pixels));
            let shown = spans.map(|span| span.longest).max();
            assert_eq!(
                shown.filter(|it| *it > 0),
                longest.filter(|it| *it > 0),
                "{name}"
            );
        }
    });
}

fn json(timeline: &ServedTimeline<'_>, question: &str, query: &str) -> Option<Value> {
    let answer = timeline.answer(question, &Query::parse(query))?;
    Some(serde_json::from_slice(&answer.body).unwrap())
}

#[test]
fn facts_of_an_execution_add_up() {
    for_each(|name, analysis, timeline| {
        let begin = timeline.origin();
        for (index, instance) in analysis.model.instances.iter().enumerate().step_by(29) {
            let facts = json(timeline, "instance", &format!("id={index}"));
            if !analysis.counts(instance.start) {
                assert!(facts.is_none(), "{name} {index}");
                continue;
            }
            let facts = facts.unwrap();
            assert_eq!(
                facts["place"]["start"],
                instance.start.0 - begin,
                "{name} {index}"
            );
            let duration = instance.end.map(|end| end.0 - instance.start.0);
            assert_eq!(facts["duration"].as_i64(), duration, "{name} {index}");
            let why = &facts["why"];
            let waits = why["waits"].as_array().unwrap();
            let sum: i64 = waits
                .iter()
                .map(|it| it["duration"].as_i64().unwrap())
                .sum();
            assert_eq!(sum, why["total"].as_i64().unwrap(), "{name} {index}");
            // The sender of what it received knows it as a receiver.
            let sender = &facts["upstream"][0]["instance"]["id"];
            if let Some(sender) = sender.as_u64()
                && let Some(facts) = json(timeline, "instance", &format!("id={sender}"))
            {
                let down = facts["downstream"].as_array().unwrap();
                let mut receivers = down.iter().map(|it| it["instance"]["id"].as_u64());
                let is_cut = facts["downstream_is_cut"].as_bool().unwrap();
                assert!(
                    is_cut || receivers.any(|it| it == Some(index as u64)),
                    "{name} {index}"
                );
            }
        }
    });
}

#[test]
fn steps_visit_every_execution_of_a_callback_once() {
    for_each(|name, analysis, timeline| {
        for number in 0..timeline.subjects().list.len() as u32 {
            let instances = timeline.subjects().instances(analysis, number);
            if instances.len() > 60 {
                continue;
            }
            let mut visited = Vec::new();
            let (mut from, mut than) = (-1, 0);
            loop {
                let query = format!("subjects={number}&direction=next&from={from}&than={than}");
                let found = json(timeline, "occurrence", &query).unwrap();
                let Some(id) = found["instance"]["id"].as_u64() else {
                    break;
                };
                visited.push(id as u32);
                from = found["instance"]["start"].as_i64().unwrap();
                than = id;
            }
            let all: Vec<u32> = instances.iter().map(|id| id.0).collect();
            assert_eq!(visited, all, "{name} {number}");
        }
    });
}

#[test]
fn arrows_lead_from_publications_to_callbacks() {
    for_each(|name, analysis, timeline| {
        let (begin, end) = extent(timeline);
        let from = (end - begin) / 2;
        let answer = json(
            timeline,
            "arrows",
            &format!("from={from}&to={}", from + 50_000_000),
        )
        .unwrap();
        for arrow in answer["arrows"].as_array().unwrap() {
            let id = arrow["delivery"].as_u64().unwrap() as usize;
            let delivery = &analysis.model.deliveries[id];
            let receiver = analysis.instance(delivery.instance.unwrap());
            assert_eq!(arrow["received"], receiver.start.0 - begin, "{name}");
            assert_eq!(arrow["to_thread"], receiver.thread.0, "{name}");
        }
    });
}

#[test]
fn the_instant_of_an_execution_finds_it() {
    for_each(|_, analysis, timeline| {
        for instance in analysis.model.instances.iter().step_by(37) {
            if analysis.counts(instance.start) && instance.end.is_some() {
                let found = timeline.instance_at(instance.start).unwrap();
                let found = analysis.instance(found);
                assert!(found.start <= instance.start && found.end >= Some(instance.start));
            }
        }
        assert_eq!(timeline.instance_at(Nanos(i64::MAX)), None);
    });
}

/// Start and end of the executions of each callback, as far as they count.
fn spans(analysis: &Analysis<'_>, timeline: &ServedTimeline<'_>) -> BTreeMap<u64, Vec<(i64, i64)>> {
    let begin = timeline.origin();
    let mut spans: BTreeMap<u64, Vec<(i64, i64)>> = BTreeMap::new();
    for number in 0..timeline.subjects().list.len() as u32 {
        for id in timeline.subjects().instances(analysis, number) {
            let row = analysis.instance(*id);
            let end = row.end.map_or(row.start, |end| end.max(row.start));
            let span = (row.start.0 - begin, end.0 - begin);
            spans.entry(u64::from(number)).or_default().push(span);
        }
    }
    spans
}

#[test]
fn a_marked_range_is_what_counting_one_by_one_gives() {
    for_each(|name, analysis, timeline| {
        let (begin, end) = extent(timeline);
        let length = end - begin;
        let spans = spans(analysis, timeline);
        for (from, to) in [
            (0, length),
            (length / 7, length / 2),
            (length / 3, length / 3 + 3_000_000),
            (length / 2, length / 2),
        ] {
            let query = format!("from={from}&to={to}");
            let range = json(timeline, "range", &query).unwrap();
            let mut expected = BTreeMap::new();
            for (number, spans) in &spans {
                let inside = spans
                    .iter()
                    .filter(|(start, end)| *start <= to && (*end > from || *start >= from));
                let inside: Vec<(i64, i64)> = inside.copied().collect();
                let busy = |(start, end): &(i64, i64)| (*end.min(&to) - *start.max(&from)).max(0);
                let longest = inside.iter().map(|(start, end)| end - start).max();
                if let Some(longest) = longest {
                    let busy: i64 = inside.iter().map(busy).sum();
                    expected.insert(*number, (inside.len() as i64, busy, longest));
                }
            }
            let rows = range["rows"].as_array().unwrap().iter();
            let found: BTreeMap<u64, (i64, i64, i64)> = rows
                .filter(|row| row["count"] != 0)
                .map(|row| {
                    let number = |key: &str| row[key].as_i64().unwrap();
                    let worst = row["worst"]["length"].as_i64().unwrap();
                    (
                        row["subject"].as_u64().unwrap(),
                        (number("count"), number("busy"), worst),
                    )
                })
                .collect();
            assert_eq!(found, expected, "{name} {query}");
            // Lanes of callbacks that are awake are these, and those with drops.
            let awake = json(timeline, "awake", &query).unwrap();
            let awake: Vec<u64> = awake["tracks"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_u64)
                .collect();
            for lane in timeline
                .lanes()
                .callbacks
                .iter()
                .flat_map(|group| &group.lanes)
            {
                let runs = expected.contains_key(&u64::from(lane.subject.unwrap()));
                if runs || lane.drops.is_none() {
                    assert_eq!(
                        awake.contains(&u64::from(lane.track)),
                        runs,
                        "{name} {query}"
                    );
                }
            }
        }
    });
}

#[test]
fn what_is_not_known_of_messages_is_not_denied() {
    let Some(model) = model("jazzy/late") else {
        return;
    };
    let analysis = everything(&model);
    let timeline = serve(&analysis);
    // No publisher of this recording is described, but publications are recorded.
    let instance = (model.publications.iter())
        .find_map(|it| it.instance)
        .unwrap();
    let facts = json(&timeline, "instance", &format!("id={}", instance.0)).unwrap();
    assert_eq!(facts["downstream"], Value::Array(Vec::new()));
    assert!(facts["published"].as_u64().unwrap() > 0);
    assert_eq!(facts["published_by_unknown"], Value::Bool(true));
    // Nor whether any of its messages was dropped.
    // Times count from the begin of the recording, whatever is shown of it.
    let (begin, end) = (timeline.origin(), timeline.span().1);
    let range = json(&timeline, "range", &format!("from=0&to={}", end - begin)).unwrap();
    assert_eq!(range["drops"], Value::Null);
}
