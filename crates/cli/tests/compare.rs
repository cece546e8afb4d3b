//! `rostrace compare` at its boundary.

use serde_json::Value;

use crate::support::{recording, rostrace, shared_recordings, stderr_of, stdout_of};

#[test]
fn a_recording_and_itself_are_the_same() {
    let pingpong = recording("pingpong");
    let shown = stdout_of(&["compare", &pingpong, &pingpong], 0);
    assert!(
        shown.starts_with("17 metrics of 8 things compared: 0 worse, 0 better, "),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 1);
    // A group of the same, too.
    let shown = stdout_of(
        &[
            "compare", "--base", &pingpong, &pingpong, "--new", &pingpong, &pingpong,
        ],
        0,
    );
    assert!(shown.contains("0 worse, 0 better"), "{shown}");
}

#[test]
fn damage_is_told_first_and_structure_with_a_doubt() {
    let (pingpong, lossy) = (recording("pingpong"), recording("lossy"));
    let shown = stdout_of(&["compare", &pingpong, &lossy], 3);
    let mut lines = shown.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("new: 43,809 events were lost"),
        "{shown}"
    );
    assert!(shown.contains("  node /pinger disappeared\n"), "{shown}");
    assert!(
        shown.contains("may be missing from the recording alone"),
        "{shown}"
    );
    assert!(
        shown.ends_with("Nothing that both sides have can be compared\n"),
        "{shown}"
    );
}

#[test]
fn json_and_csv_have_every_statistic() {
    let pingpong = recording("pingpong");
    let json: Value = serde_json::from_str(&stdout_of(
        &["compare", &pingpong, &pingpong, "--format", "json"],
        0,
    ))
    .unwrap();
    assert_eq!(json["options"]["threshold"], 0.05);
    assert_eq!(json["options"]["floor_ns"], 50_000);
    assert_eq!(json["base"]["recordings"][0], pingpong);
    assert_eq!(json["changes"].as_array().unwrap().len(), 0);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 17);
    let mut statistics = 0;
    for row in rows {
        for difference in row["differences"].as_array().unwrap() {
            statistics += 1;
            assert_eq!(difference["difference"], 0.0);
            let interval = difference["interval"].as_array();
            assert!(interval.is_none_or(|it| it[0].as_f64() <= it[1].as_f64()));
        }
    }
    let csv = stdout_of(&["compare", &pingpong, &pingpong, "--format", "csv"], 0);
    assert_eq!(csv.lines().count(), statistics + 1);
    assert!(csv.starts_with("kind,name,base_name,metric,unit,statistic,base,new,difference,"));
}

#[test]
fn the_page_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("compare.html");
    let pingpong = recording("pingpong");
    stdout_of(
        &[
            "compare",
            &pingpong,
            &pingpong,
            "-o",
            file.to_str().unwrap(),
        ],
        0,
    );
    let html = std::fs::read_to_string(&file).unwrap();
    assert!(html.starts_with("<!doctype html>"));
    assert!(html.contains("/pinger · timer 10 ms"));
    assert!(!html.contains("src=") && !html.contains("href="));
    // The name of a file alone is in the folder where one is.
    let mut command = rostrace(&["compare", &pingpong, &pingpong, "-o", "here.html"]);
    command.current_dir(folder.path()).assert().success();
    assert!(folder.path().join("here.html").is_file());
}

#[test]
fn a_slower_system_fails_only_if_it_is_asked_to() {
    let Some(shared) = shared_recordings() else {
        return;
    };
    let path = |name: &str| shared.join("jazzy").join(name).to_str().unwrap().to_owned();
    let (base, new) = (path("chain"), path("chain_fastdds"));
    let shown = stdout_of(&["compare", &base, &new], 0);
    assert!(shown.starts_with("Worse (1)\n"), "{shown}");
    stdout_of(&["compare", &base, &new, "--fail-on-regression"], 4);
    // Half as slow again does not matter to some.
    let shown = stdout_of(
        &[
            "compare",
            &base,
            &new,
            "--fail-on-regression",
            "--threshold",
            "200%",
            "--node",
            "/fusion",
        ],
        0,
    );
    assert!(shown.contains(": 0 worse"), "{shown}");
}

#[test]
fn wrong_usage_is_told() {
    let pingpong = recording("pingpong");
    for arguments in [
        &["compare", &pingpong][..],
        &["compare"],
        &["compare", "--base", &pingpong],
        &[
            "compare", &pingpong, &pingpong, "--base", &pingpong, "--new", &pingpong,
        ],
        &["compare", &pingpong, &pingpong, "--threshold", "much"],
    ] {
        stderr_of(arguments, 2);
    }
    let told = stderr_of(&["compare", &pingpong, "/nowhere"], 1);
    assert!(told.contains("/nowhere"), "{told}");
    let told = stderr_of(&["compare", &pingpong, &pingpong, "--node", "/pingr"], 2);
    assert!(
        told.contains("no node of this trace is named `/pingr`"),
        "{told}"
    );
}
