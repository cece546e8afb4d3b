//! Chrome's format, read back and compared with what the trace means.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_analyze::Selection;
use rostrace_ctf::TraceSet;
use rostrace_report::timeline::Format;
use serde_json::Value;

use crate::timeline::{ALWAYS, Loaded, recordings, write};
use crate::trace_support::Recording;
use crate::trace_support::application::Given;

fn events(loaded: &Loaded) -> (Value, Vec<Value>) {
    let (bytes, _) = write(
        Format::Chrome,
        &loaded.analysis(ALWAYS),
        &Selection::default(),
        &loaded.damage(),
    );
    let mut trace: Value = serde_json::from_slice(&bytes).unwrap();
    let Value::Array(events) = trace["traceEvents"].take() else {
        panic!("there are no events");
    };
    (trace, events)
}

fn nanos(value: &Value) -> i64 {
    (value.as_f64().unwrap() * 1000.0).round() as i64
}

#[test]
fn executions_have_their_durations_and_messages_two_ends() {
    for folder in recordings() {
        let loaded = Loaded::of(TraceSet::open(&[&folder]).unwrap());
        let (trace, events) = events(&loaded);
        let begin: i64 = trace["otherData"]["rostrace.begin_ns"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        let mut found: Vec<(i64, Option<i64>)> = (events.iter())
            .filter(|event| event["cat"] == "callback")
            .map(|event| {
                assert_eq!(event["ph"], "X");
                let start = begin + nanos(&event["ts"]);
                let is_known = event["args"]["unfinished"].is_null();
                let end = is_known.then(|| start + nanos(&event["dur"]));
                (start, end)
            })
            .collect();
        let mut expected: Vec<(i64, Option<i64>)> = (loaded.model.instances.iter())
            .map(|instance| (instance.start.0, instance.end.map(|end| end.0)))
            .collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert!(found == expected, "{}", folder.display());

        let mut ends: BTreeMap<(&str, u64), Vec<&str>> = BTreeMap::new();
        let threads: BTreeSet<(i64, i64)> = (events.iter())
            .filter(|event| event["name"] == "thread_name")
            .map(|event| {
                let number = |key: &str| event[key].as_i64().unwrap();
                (number("pid"), number("tid"))
            })
            .collect();
        for event in &events {
            let kind = event["ph"].as_str().unwrap();
            let place = (
                event["pid"].as_i64().unwrap(),
                event["tid"].as_i64().unwrap(),
            );
            if kind == "X" || kind == "i" {
                assert!(threads.contains(&place), "{event}");
            }
            if kind == "s" || kind == "f" {
                let id = event["id"].as_u64().unwrap();
                let name = event["cat"].as_str().unwrap();
                ends.entry((name, id)).or_default().push(kind);
            }
        }
        for (arrow, mut kinds) in ends {
            kinds.sort_unstable();
            assert_eq!(kinds, ["f", "s"], "{arrow:?}");
        }
    }
}

#[test]
fn hostile_texts_and_numbers_are_valid_json() {
    let name = "</script>\"'\\\u{202e}\n\u{1}x";
    let mut recording = Recording::jazzy();
    recording
        .process(100, "<b>\"'\\")
        .context(1)
        .node(0x10, name);
    let given = Given {
        integers: &[("number", i64::MIN)],
        reals: &[("nan", f64::NAN), ("infinite", f64::INFINITY)],
        texts: &[(name, &name.repeat(1_000))],
    };
    recording.user_instant(name, &given);
    recording
        .user_counter(name, f64::NAN)
        .user_counter(name, 2.5);
    let (_, events) = events(&Loaded::of(recording.open()));
    let said: Vec<&Value> = events.iter().filter(|it| it["cat"] == "user").collect();
    assert_eq!(said[0]["name"], name);
    assert_eq!(said[0]["args"][name], name.repeat(1_000));
    assert_eq!(said[0]["args"]["nan"], "NaN");
    let counts: Vec<&Value> = events.iter().filter(|it| it["ph"] == "C").collect();
    assert_eq!(counts.len(), 1);
    assert_eq!(counts[0]["args"]["value"], 2.5);
}
