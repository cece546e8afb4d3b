//! A profile of the Firefox Profiler read back, with no knowledge of how it was written. Whatever is not as the format wants it is a panic.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

#[derive(Debug)]
pub struct Profile {
    pub threads: Vec<Thread>,
    pub markers: Vec<Marker>,
    pub counters: Vec<(String, Vec<(i64, f64)>)>,
    pub meta: Value,
}

#[derive(Debug)]
pub struct Thread {
    pub pid: String,
    pub process: String,
    pub name: String,
    pub is_main: bool,
}

#[derive(Debug, Clone)]
pub struct Marker {
    pub name: String,
    pub category: String,
    pub begin: i64,
    pub end: Option<i64>,
    /// By the keys of fields; texts in the place of their numbers.
    pub fields: BTreeMap<String, String>,
    pub flows: Vec<String>,
}

impl Marker {
    /// What happened: its own name, or what its row says.
    pub fn event(&self) -> &str {
        self.fields.get("event").unwrap_or(&self.name)
    }
}

fn list(value: &Value) -> &Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no list: {value:.100}"))
}

/// Milliseconds with a fraction are nanoseconds exactly. Numbers are read as their digits: JavaScript has as many as are needed.
fn nanos(value: &Value) -> i64 {
    let milliseconds = value.as_f64().unwrap();
    (milliseconds * 1e6).round() as i64
}

pub fn read(bytes: &[u8]) -> Profile {
    let profile: Value = serde_json::from_slice(bytes).unwrap();
    let texts: Vec<&str> = (list(&profile["shared"]["stringArray"]).iter())
        .map(|text| text.as_str().unwrap())
        .collect();
    assert_eq!(
        texts.iter().collect::<BTreeSet<_>>().len(),
        texts.len(),
        "a text stands in the array once"
    );
    let meta = &profile["meta"];
    assert_eq!(meta["preprocessedProfileVersion"], 60);
    for table in [
        "stackTable",
        "frameTable",
        "funcTable",
        "resourceTable",
        "nativeSymbols",
    ] {
        assert_eq!(profile["shared"][table]["length"], 0, "{table}");
    }
    let categories = list(&meta["categories"]);
    assert_eq!(categories[0]["color"], "grey");
    let mut formats: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut kinds = BTreeSet::new();
    for schema in list(&meta["markerSchema"]) {
        let name = schema["name"].as_str().unwrap();
        assert!(kinds.insert(name), "{name} is declared twice");
        for field in list(&schema["fields"]) {
            let key = field["key"].as_str().unwrap();
            let format = field["format"].as_str().unwrap();
            let before = formats.insert((name, key), format);
            assert_eq!(before, None, "{name}.{key} is declared twice");
        }
    }
    let threads = list(&profile["threads"]);
    let tids: BTreeSet<String> = threads.iter().map(|it| it["tid"].to_string()).collect();
    assert_eq!(tids.len(), threads.len(), "numbers of threads are unique");
    for key in ["initialVisibleThreads", "initialSelectedThreads"] {
        for index in meta[key].as_array().into_iter().flatten() {
            assert!((index.as_u64().unwrap() as usize) < threads.len());
        }
    }
    let mut markers = Vec::new();
    for content in threads {
        let table = &content["markers"];
        let length = table["length"].as_u64().unwrap() as usize;
        let column = |name: &str| {
            let column = list(&table[name]);
            assert_eq!(column.len(), length, "{name}");
            column
        };
        let (names, data) = (column("name"), column("data"));
        let (begins, ends) = (column("startTime"), column("endTime"));
        let (phases, of) = (column("phase"), column("category"));
        let mut last = i64::MIN;
        for row in 0..length {
            let begin = nanos(&begins[row]);
            assert!(last <= begin, "markers are in the order of time");
            last = begin;
            let end = match phases[row].as_u64() {
                Some(0) => {
                    assert!(ends[row].is_null());
                    None
                }
                Some(1) => Some(nanos(&ends[row])),
                other => panic!("phase {other:?}"),
            };
            assert!(end.is_none_or(|end| begin <= end));
            let kind = data[row]["type"].as_str().unwrap();
            assert!(kinds.contains(kind), "{kind} is not declared");
            let (mut fields, mut flows) = (BTreeMap::new(), Vec::new());
            for (key, value) in data[row].as_object().unwrap() {
                if key == "type" {
                    continue;
                }
                // The program would look for a stack.
                assert!(!["cause", "stack"].contains(&key.as_str()));
                let format = formats.get(&(kind, key.as_str()));
                let text = |value: &Value| texts[value.as_u64().unwrap() as usize].to_owned();
                let value = match *format.unwrap_or_else(|| panic!("{kind}.{key}")) {
                    "unique-string" => text(value),
                    "flow-id" => {
                        let flow = text(value);
                        assert!(u64::from_str_radix(&flow, 16).is_ok());
                        flows.push(flow.clone());
                        flow
                    }
                    "string" => value.as_str().unwrap().to_owned(),
                    "duration" => nanos(value).to_string(),
                    "integer" => value.as_i64().unwrap().to_string(),
                    "decimal" => value.as_f64().unwrap().to_string(),
                    other => panic!("format {other}"),
                };
                fields.insert(key.clone(), value);
            }
            let category = &categories[of[row].as_u64().unwrap() as usize];
            markers.push(Marker {
                name: texts[names[row].as_u64().unwrap() as usize].to_owned(),
                category: category["name"].as_str().unwrap().to_owned(),
                begin,
                end,
                fields,
                flows,
            });
        }
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let counters = list(&profile["counters"]).iter().map(|counter| {
        let main = &threads[counter["mainThreadIndex"].as_u64().unwrap() as usize];
        assert_eq!(main["pid"], counter["pid"]);
        assert_eq!(main["isMainThread"], true);
        let samples = &counter["samples"];
        let (times, counts) = (list(&samples["time"]), list(&samples["count"]));
        assert_eq!(samples["length"].as_u64(), Some(times.len() as u64));
        assert_eq!(counts.len(), times.len());
        let mut sum = 0.0;
        let values = times.iter().zip(counts).map(|(time, difference)| {
            sum += difference.as_f64().unwrap();
            (nanos(time), sum)
        });
        (text(&counter["name"]), values.collect())
    });
    Profile {
        counters: counters.collect(),
        threads: (threads.iter())
            .map(|thread| Thread {
                pid: text(&thread["pid"]),
                process: text(&thread["processName"]),
                name: text(&thread["name"]),
                is_main: thread["isMainThread"].as_bool().unwrap(),
            })
            .collect(),
        markers,
        meta: meta.clone(),
    }
}
