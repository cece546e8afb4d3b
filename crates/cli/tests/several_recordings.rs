//! Cuts, pauses and recordings that are given together: what was observed, and what would count twice.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{recording, shared_recordings, stderr_of, stdout_of};

fn json(arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    serde_json::from_str(&stdout_of(&all, 0)).unwrap()
}

/// Cuts of one recording.
struct Cuts {
    folder: TempDir,
    trace: String,
}

impl Cuts {
    fn of(trace: String) -> Cuts {
        let folder = tempfile::tempdir().unwrap();
        Cuts { folder, trace }
    }

    fn cut(&self, name: &str, from: &str, to: &str) -> String {
        let path = self.folder.path().join(name).to_str().unwrap().to_owned();
        let range = ["--since", from, "--until", to];
        stdout_of(
            &[&["cut", &self.trace, "-o", &path], &range[..]].concat(),
            0,
        );
        path
    }
}

fn count_of(trace: &[&str], extra: &[&str]) -> Vec<(String, u64)> {
    let rows = json(&[&["callbacks", "--all"], trace, extra].concat());
    let mut counts: Vec<(String, u64)> = (rows.as_array().unwrap().iter())
        .map(|row| {
            let name = row["name"].as_str().unwrap().to_owned();
            (name, row["count"].as_u64().unwrap())
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    counts.sort();
    counts
}

fn copy(from: &Path, to: &Path, change: &dyn Fn(Vec<u8>) -> Vec<u8>) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target, change);
        } else {
            let content = std::fs::read(entry.path()).unwrap();
            std::fs::write(target, change(content)).unwrap();
        }
    }
}

fn replaced(content: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut content = content;
    let mut at = 0;
    while at + from.len() <= content.len() {
        if &content[at..at + from.len()] == from {
            content[at..at + to.len()].copy_from_slice(to);
        }
        at += 1;
    }
    content
}

/// The same recording as another session would have written it: with another UUID and another name.
fn twin(trace: &str, folder: &Path) -> PathBuf {
    let metadata = std::fs::read(Path::new(trace).join("ust/uid/0/64-bit/metadata")).unwrap();
    let uuid = metadata[4..20].to_vec();
    let other: Vec<u8> = uuid.iter().map(|byte| byte ^ 0x55).collect();
    let text = |bytes: &[u8]| {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex[range].to_owned());
        parts.join("-").into_bytes()
    };
    let to = folder.join("twin");
    copy(Path::new(trace), &to, &|content| {
        let content = replaced(content, &uuid, &other);
        let content = replaced(content, &text(&uuid), &text(&other));
        replaced(content, b"trace_name = \"s", b"trace_name = \"t")
    });
    to
}

#[test]
fn initialisation_that_a_cut_keeps_is_no_observed_time() {
    let Some(shared) = shared_recordings() else {
        return;
    };
    let trace = shared
        .join("jazzy/chain_caret")
        .to_str()
        .unwrap()
        .to_owned();
    let cuts = Cuts::of(trace.clone());
    let part = cuts.cut("part", "+3s", "+5s");
    let shares = |arguments: &[&str]| -> Vec<(String, f64)> {
        let rows = json(&[&["executors"], arguments].concat());
        (rows.as_array().unwrap().iter())
            .filter_map(|row| {
                let name = row["process"].as_str().unwrap().to_owned();
                Some((name, row["busy_share"].as_f64()?))
            })
            .collect()
    };
    let expected = shares(&[&trace, "--since", "+3s", "--until", "+5s"]);
    let found = shares(&[&part]);
    assert!(
        expected.iter().any(|(_, share)| *share > 0.1),
        "{expected:?}"
    );
    assert_eq!(expected.len(), found.len());
    for ((name, expected), (_, found)) in expected.iter().zip(&found) {
        // A process may have been there for a while after its last event.
        let difference = (expected - found).abs();
        assert!(
            difference <= expected * 0.03,
            "{name}: {found}, not {expected}"
        );
    }
    let info = json(&["info", &part]);
    let length = info["duration_ns"].as_i64().unwrap();
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
        assert!(said.contains("would count twice"), "{said}");
        assert!(said.contains("between 20"), "{said}");
    }
    // A cut beside the whole is no better.
    let said = stderr_of(&["topics", &cuts.trace, &first], 2);
    assert!(said.contains("would count twice"), "{said}");
}

#[test]
fn cuts_that_follow_each_other_are_as_if_cut_at_once() {
    let cuts = Cuts::of(recording("pingpong"));
    let first = cuts.cut("first", "+3s", "+3.5s");
    let second = cuts.cut("second", "+3.500000001s", "+4s");
    let whole = cuts.cut("whole", "+3s", "+4s");
    assert_eq!(count_of(&[&first, &second], &[]), count_of(&[&whole], &[]));
    let info = json(&["info", &second, &first]);
    assert_eq!(info["damage"], Value::Array(Vec::new()));
    assert_eq!(info["pauses"], Value::Array(Vec::new()));
    assert_eq!(info["lost_packets"], 0);
    let nodes = |arguments: &[&str]| json(&[&["nodes", "--all"], arguments].concat());
    assert_eq!(nodes(&[&first, &second]), nodes(&[&whole]));
}

#[test]
fn a_gap_between_cuts_is_a_pause_that_nothing_is_computed_across() {
    let cuts = Cuts::of(recording("pingpong"));
    let first = cuts.cut("first", "+2.5s", "+3s");
    let second = cuts.cut("second", "+4s", "+4.5s");
    let both = [first.as_str(), second.as_str()];
    let info = json(&[&["info"], &both[..]].concat());
    assert_eq!(info["damage"], Value::Array(Vec::new()));
    assert_eq!(info["pauses"][0]["duration_ns"], 1_000_000_000);
    assert_eq!(info["pauses"].as_array().unwrap().len(), 1);
    let shown = stdout_of(&[&["info"], &both[..]].concat(), 0);
    assert!(shown.contains("in which nothing was recorded"), "{shown}");
    let longest = |arguments: &[&str]| -> Vec<(String, i64)> {
        let rows = json(&[&["topics"], arguments].concat());
        (rows.as_array().unwrap().iter())
            .filter_map(|row| {
                let name = row["topic"].as_str()?.to_owned();
                Some((name, row["longest_pause_ns"].as_i64()?))
            })
            .collect()
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
        let rows = json(&[&["topics", "--topic", "/ping"], arguments].concat());
        rows[0]["rate_hz"].as_f64().unwrap()
    };
    let (one, two) = (rate(&[&first]), rate(&both));
    assert!((one - two).abs() < one * 0.05, "{one} {two}");
}

#[test]
fn no_timer_is_late_because_of_a_pause_and_no_period_spans_it() {
    let Some(shared) = shared_recordings() else {
        return;
    };
    for (name, field) in [
        ("jazzy/executors", "lateness_ns"),
        ("jazzy/late", "period_ns_observed"),
    ] {
        let whole = shared.join(name).to_str().unwrap().to_owned();
        let cuts = Cuts::of(whole.clone());
        let first = cuts.cut("first", "+0s", "+2.5s");
        let second = cuts.cut("second", "+3.013s", "+9s");
        let largest = |arguments: &[&str]| -> Vec<(String, i64)> {
            let rows = json(&[&["callbacks", "--all"], arguments].concat());
            let rows = rows.as_array().unwrap().iter();
            rows.filter_map(|row| {
                let name = format!("{} {}", row["pid"], row["name"].as_str()?);
                Some((name, row[field]["max"].as_i64()?))
            })
            .collect()
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
    let Some(shared) = shared_recordings() else {
        return;
    };
    let path = |name: &str| shared.join(name).to_str().unwrap().to_owned();
    let (first, second) = (path("jazzy/chain"), path("jazzy/timers"));
    let info = json(&["info", &first, &second]);
    assert_eq!(
        info["pauses"].as_array().unwrap().len(),
        1,
        "{}",
        info["pauses"]
    );
    assert_eq!(info["lost_packets"], 0);
    // One of them, idle or not, has none.
    assert_eq!(json(&["info", &first])["pauses"], Value::Array(Vec::new()));
}

#[test]
fn two_sessions_at_once_are_refused_and_one_of_them_is_read() {
    let trace = recording("pingpong");
    let folder = tempfile::tempdir().unwrap();
    let twin = twin(&trace, folder.path());
    let twin = twin.to_str().unwrap();
    for verb in ["callbacks", "topics", "info"] {
        let said = stderr_of(&[verb, &trace, twin], 2);
        assert!(said.contains("recorded at the same time"), "{said}");
        assert!(said.contains("pingpong") && said.contains("twin"), "{said}");
        assert!(said.contains("give one of them"), "{said}");
    }
    assert_eq!(count_of(&[twin], &[]), count_of(&[&trace], &[]));
    // Events alone may be looked at.
    let lines = |arguments: &[&str]| stdout_of(arguments, 0).lines().count();
    assert_eq!(lines(&["dump", &trace, twin]), 2 * lines(&["dump", &trace]));
}

#[test]
fn a_session_for_initialisation_and_one_for_the_rest_are_read_together() {
    let trace = recording("pingpong");
    let folder = tempfile::tempdir().unwrap();
    let cuts = Cuts::of(trace.clone());
    // All events but those of the initialisation, and those alone, in two sessions.
    let twin = twin(&trace, folder.path());
    let names = folder.path().join("names").to_str().unwrap().to_owned();
    let rest = cuts.folder.path().join("rest").to_str().unwrap().to_owned();
    let init = [
        "--event",
        "ros2:*_init",
        "--event",
        "ros2:*_added",
        "--event",
        "ros2:*_register",
        "--event",
        "ros2:*link*",
    ];
    stdout_of(
        &[&["cut", twin.to_str().unwrap(), "-o", &names], &init[..]].concat(),
        0,
    );
    let runs = [
        "--event",
        "ros2:callback_*",
        "--event",
        "ros2:*publish*",
        "--event",
        "ros2:rmw_take",
        "--event",
        "ros2:rclcpp_executor*",
        "--no-init",
    ];
    stdout_of(&[&["cut", &trace, "-o", &rest], &runs[..]].concat(), 0);
    assert_eq!(count_of(&[&names, &rest], &[]), count_of(&[&trace], &[]));
}
