//! Cuts, pauses and recordings that are given together: what was observed, and what would count twice.

use std::path::Path;

use serde_json::Value;

use crate::support::{
    Folder, Says, array, copy_changed, integer, json, recording, rows, shared, stderr_of,
    stdout_of, text,
};

/// Cuts of one recording.
struct Cuts {
    folder: Folder,
    trace: String,
}

impl Cuts {
    fn of(trace: String) -> Cuts {
        let folder = Folder::new();
        Cuts { folder, trace }
    }

    fn cut(&self, name: &str, from: &str, to: &str) -> String {
        self.selected(name, &format!("--since {from} --until {to}"))
    }

    fn selected(&self, name: &str, options: &str) -> String {
        let path = self.folder.at(name);
        stdout_of(&format!("cut {} -o {path} {options}", self.trace), 0);
        path
    }
}

/// A number of each row that has one, with a name.
fn numbers(question: &[&str], of: impl Fn(&Value) -> Option<(String, i64)>) -> Vec<(String, i64)> {
    rows(question, 0).iter().filter_map(of).collect()
}

fn count_of(traces: &[&str]) -> Vec<(String, i64)> {
    let mut counts = numbers(&[&["callbacks", "--all"], traces].concat(), |row| {
        Some((text(&row["name"]).to_owned(), integer(&row["count"])))
    });
    counts.retain(|(_, count)| *count > 0);
    counts.sort();
    counts
}

fn replaced(mut content: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    for at in 0..content.len() {
        if content[at..].starts_with(from) {
            content[at..at + to.len()].copy_from_slice(to);
        }
    }
    content
}

/// The same recording as another session would have written it: with another UUID and another name.
fn twin(trace: &str, folder: &Folder) -> String {
    let metadata = std::fs::read(Path::new(trace).join("ust/uid/0/64-bit/metadata")).unwrap();
    let uuid = metadata[4..20].to_vec();
    let other: Vec<u8> = uuid.iter().map(|byte| byte ^ 0x55).collect();
    let text = |bytes: &[u8]| {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex[range].to_owned());
        parts.join("-").into_bytes()
    };
    copy_changed(Path::new(trace), &folder.join("twin"), &|content| {
        let content = replaced(content, &uuid, &other);
        let content = replaced(content, &text(&uuid), &text(&other));
        replaced(content, b"trace_name = \"s", b"trace_name = \"t")
    });
    folder.at("twin")
}

#[test]
fn initialisation_that_a_cut_keeps_is_no_observed_time() {
    let Some(trace) = shared("jazzy/chain_caret") else {
        return;
    };
    let cuts = Cuts::of(trace.clone());
    let part = cuts.cut("part", "+3s", "+5s");
    let shares = |arguments: &[&str]| -> Vec<(String, f64)> {
        let rows = rows(&[&["executors"], arguments].concat(), 0).into_iter();
        rows.filter_map(|row| {
            Some((
                text(&row["process"]).to_owned(),
                row["busy_share"].as_f64()?,
            ))
        })
        .collect()
    };
    let expected = shares(&[&trace, "--since", "+3s", "--until", "+5s"]);
    let found = shares(&[&part]);
    assert!(expected.iter().any(|(_, share)| *share > 0.1));
    assert_eq!(expected.len(), found.len());
    for ((name, expected), (_, found)) in expected.iter().zip(&found) {
        // A process may have been there for a while after its last event.
        let is_close = (expected - found).abs() <= expected * 0.03;
        assert!(is_close, "{name}: {found}, not {expected}");
    }
    let length = integer(&json(&["info", &part], 0)["duration_ns"]);
    assert!(
        (1_900_000_000..=2_000_000_000).contains(&length),
        "{length}"
    );
}

#[test]
fn cuts_that_overlap_are_refused_with_both_names_and_the_range() {
    let cuts = Cuts::of(recording("pingpong"));
    let first = cuts.cut("first", "+3s", "+4s");
    let second = cuts.cut("second", "+3.5s", "+4.5s");
    for arguments in [["callbacks", &first, &second], ["dump", &second, &first]] {
        let said = stderr_of(&arguments, 2);
        assert!(
            said.contains("first and ") || said.contains("second and "),
            "{said}"
        );
        said.says_all(&["would count twice", "between 20"]);
    }
    // A cut beside the whole is no better.
    stderr_of(&["topics", &cuts.trace, &first], 2).says("would count twice");
}

#[test]
fn cuts_that_follow_each_other_are_as_if_cut_at_once() {
    let cuts = Cuts::of(recording("pingpong"));
    let first = cuts.cut("first", "+3s", "+3.5s");
    let second = cuts.cut("second", "+3.500000001s", "+4s");
    let whole = cuts.cut("whole", "+3s", "+4s");
    assert_eq!(count_of(&[&first, &second]), count_of(&[&whole]));
    let info = json(&["info", &second, &first], 0);
    assert!(array(&info["damage"]).is_empty() && array(&info["pauses"]).is_empty());
    assert_eq!(info["lost_packets"], 0);
    let nodes = json(&["nodes", "--all", &first, &second], 0);
    assert_eq!(nodes, json(&["nodes", "--all", &whole], 0));
}

#[test]
fn a_gap_between_cuts_is_a_pause_that_nothing_is_computed_across() {
    let cuts = Cuts::of(recording("pingpong"));
    let first = cuts.cut("first", "+2.5s", "+3s");
    let second = cuts.cut("second", "+4s", "+4.5s");
    let both = [first.as_str(), second.as_str()];
    let info = json(&[&["info"], &both[..]].concat(), 0);
    assert!(array(&info["damage"]).is_empty());
    assert_eq!(info["pauses"][0]["duration_ns"], 1_000_000_000);
    assert_eq!(array(&info["pauses"]).len(), 1);
    let shown = stdout_of(&[&["info"], &both[..]].concat(), 0);
    shown.says("in which nothing was recorded");
    let longest = |traces: &[&str]| {
        numbers(&[&["topics"], traces].concat(), |row| {
            Some((
                row["topic"].as_str()?.to_owned(),
                row["longest_pause_ns"].as_i64()?,
            ))
        })
    };
    let apart = [longest(&[&first]), longest(&[&second])].concat();
    let together = longest(&both);
    assert!(!together.is_empty());
    for (topic, pause) in together {
        let most = (apart.iter())
            .filter(|(name, _)| *name == topic)
            .map(|(_, pause)| *pause);
        assert_eq!(Some(pause), most.max(), "{topic}");
    }
    // Rates are of the time that was recorded: those of the parts.
    let rate = |arguments: &[&str]| {
        let rows = rows(&[&["topics", "--topic", "/ping"], arguments].concat(), 0);
        rows[0]["rate_hz"].as_f64().unwrap()
    };
    let (one, two) = (rate(&[&first]), rate(&both));
    assert!((one - two).abs() < one * 0.05, "{one} {two}");
}

#[test]
fn no_timer_is_late_because_of_a_pause_and_no_period_spans_it() {
    for (name, field) in [
        ("jazzy/executors", "lateness_ns"),
        ("jazzy/late", "period_ns_observed"),
    ] {
        let Some(whole) = shared(name) else { return };
        let cuts = Cuts::of(whole.clone());
        let first = cuts.cut("first", "+0s", "+2.5s");
        let second = cuts.cut("second", "+3.013s", "+9s");
        let largest = |traces: &[&str]| {
            numbers(&[&["callbacks", "--all"], traces].concat(), |row| {
                let name = format!("{} {}", row["pid"], row["name"].as_str()?);
                Some((name, row[field]["max"].as_i64()?))
            })
        };
        let whole = largest(&[&whole]);
        let together = largest(&[&first, &second]);
        assert!(together.len() > 4, "{name}: {together:?}");
        for (callback, value) in together {
            let of_whole = whole.iter().find(|(other, _)| *other == callback);
            let (_, most) = of_whole.unwrap_or_else(|| panic!("{name}: {callback}"));
            // A grid that is found from fewer firings may be a little earlier.
            assert!(
                value <= most + 500_000,
                "{name}: {callback}: {value} {most}"
            );
        }
    }
}

#[test]
fn two_recordings_of_one_host_have_a_pause_between_them() {
    let (Some(first), Some(second)) = (shared("jazzy/chain"), shared("jazzy/timers")) else {
        return;
    };
    let info = json(&["info", &first, &second], 0);
    assert_eq!(array(&info["pauses"]).len(), 1, "{info}");
    assert_eq!(info["lost_packets"], 0);
    // One of them, idle or not, has none.
    assert!(array(&json(&["info", &first], 0)["pauses"]).is_empty());
}

#[test]
fn two_sessions_at_once_are_refused_and_one_of_them_is_read() {
    let trace = recording("pingpong");
    let folder = Folder::new();
    let twin = &twin(&trace, &folder);
    for verb in ["callbacks", "topics", "info"] {
        let said = stderr_of(&[verb, &trace, twin], 2);
        said.says("recorded at the same time");
        assert!(said.contains("pingpong") && said.contains("twin"), "{said}");
        said.says("give one of them");
    }
    assert_eq!(count_of(&[twin]), count_of(&[&trace]));
    // Events alone may be looked at.
    let lines = |arguments: &[&str]| stdout_of(arguments, 0).lines().count();
    assert_eq!(lines(&["dump", &trace, twin]), 2 * lines(&["dump", &trace]));
}

#[test]
fn a_session_for_initialisation_and_one_for_the_rest_are_read_together() {
    let trace = recording("pingpong");
    let folder = Folder::new();
    // All events but those of the initialisation, and those alone, in two sessions.
    let names = Cuts::of(twin(&trace, &folder));
    let names_alone =
        "--event ros2:*_init --event ros2:*_added --event ros2:*_register --event ros2:*link*";
    let rest = Cuts::of(trace.clone());
    let runs = "--event ros2:callback_* --event ros2:*publish* --event ros2:rmw_take --event ros2:rclcpp_executor* --no-init";
    let both = [
        names.selected("names", names_alone),
        rest.selected("rest", runs),
    ];
    assert_eq!(count_of(&[&both[0], &both[1]]), count_of(&[&trace]));
}
