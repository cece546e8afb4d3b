//! `rostrace compare` at its boundary.

use crate::support::{
    Folder, Says, array, finished, json, recording, rostrace, shared, stderr_of, stdout_of,
};

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
    let twice = format!("{pingpong} {pingpong}");
    let shown = stdout_of(&format!("compare --base {twice} --new {twice}"), 0);
    shown.says("0 worse, 0 better");
}

#[test]
fn damage_is_reported_first_and_structure_with_a_doubt() {
    let (pingpong, lossy) = (recording("pingpong"), recording("lossy"));
    let shown = stdout_of(&["compare", &pingpong, &lossy], 3);
    assert!(shown.starts_with("new: 43,809 events were lost"), "{shown}");
    shown.says("  node /pinger disappeared\n");
    shown.says("may be missing from the recording alone");
    assert!(
        shown.ends_with("Nothing that both sides have can be compared\n"),
        "{shown}"
    );
}

#[test]
fn json_and_csv_have_every_statistic() {
    let pingpong = recording("pingpong");
    let json = json(&["compare", &pingpong, &pingpong], 0);
    assert_eq!(json["options"]["threshold"], 0.05);
    assert_eq!(json["options"]["floor_ns"], 50_000);
    assert_eq!(json["base"]["recordings"][0], pingpong);
    assert_eq!(array(&json["changes"]).len(), 0);
    let rows = array(&json["rows"]);
    assert_eq!(rows.len(), 17);
    let mut statistics = 0;
    for row in rows {
        for difference in array(&row["differences"]) {
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
    let folder = Folder::new();
    let pingpong = recording("pingpong");
    let file = folder.at("compare.html");
    stdout_of(&["compare", &pingpong, &pingpong, "-o", &file], 0);
    let html = folder.read("compare.html");
    assert!(html.starts_with("<!doctype html>"));
    assert!(html.contains("/pinger · timer 10 ms"));
    assert!(!html.contains("src=") && !html.contains("href="));
    // The name of a file alone is in the folder where one is.
    let mut command = rostrace(&["compare", &pingpong, &pingpong, "-o", "here.html"]);
    finished(command.current_dir(folder.path()), 0);
    assert!(folder.join("here.html").is_file());
}

#[test]
fn a_slower_system_fails_only_if_it_is_asked_to() {
    let (Some(base), Some(new)) = (shared("jazzy/chain"), shared("jazzy/chain_fastdds")) else {
        return;
    };
    let shown = stdout_of(&["compare", &base, &new], 0);
    assert!(shown.starts_with("Worse (1)\n"), "{shown}");
    stdout_of(&["compare", &base, &new, "--fail-on-regression"], 4);
    // Half as slow again does not matter to some.
    let shown = stdout_of(
        &format!("compare {base} {new} --fail-on-regression --threshold 200% --node /fusion"),
        0,
    );
    shown.says(": 0 worse");
}

#[test]
fn wrong_usage_is_reported() {
    let pingpong = recording("pingpong");
    for question in [
        "compare".to_owned(),
        format!("compare {pingpong}"),
        format!("compare --base {pingpong}"),
        format!("compare {pingpong} {pingpong} --base {pingpong} --new {pingpong}"),
        format!("compare {pingpong} {pingpong} --threshold much"),
    ] {
        stderr_of(&question, 2);
    }
    let reported = stderr_of(&["compare", &pingpong, "/nowhere"], 1);
    reported.says("/nowhere");
    let reported = stderr_of(&["compare", &pingpong, &pingpong, "--node", "/pingr"], 2);
    reported.says("no node of this trace is named `/pingr`");
}
