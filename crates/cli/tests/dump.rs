//! `rostrace dump` at its boundary, as JSON and CSV, with every filter.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Value, json};

use crate::support::{
    Folder, HandMade, Says, dump as dump_of, finished, integer, json_lines, recording, rostrace,
    spawn, stderr_of, stdout_of,
};

/// What is selected of a complete recording.
fn dump(options: &str) -> Vec<Value> {
    let options: Vec<&str> = options.split_whitespace().collect();
    dump_of(&recording("pingpong"), &options, 0)
}

#[test]
fn every_event_is_a_line_in_the_order_of_time() {
    let events = dump("");
    assert_eq!(events.len(), 9644);
    assert!(events.is_sorted_by_key(|event| integer(&event["time_ns"])));
    assert_eq!(
        events[0],
        json!({
            "time_ns": 1794715879530423153i64,
            "cycles": 5200188277997u64,
            "trace": "vm/ust/uid/0/64-bit",
            "host": "vm",
            "stream": {"class": 0, "id": 1},
            "name": "ros2:rcl_init",
            "packet_context": {"cpu_id": 1},
            "common_context": {"vpid": 22091, "vtid": 22091, "procname": "ping"},
            "specific_context": null,
            "payload": {"context_handle": 94560555726320u64, "version": "8.2.2"},
        })
    );
}

#[test]
fn all_formats_have_the_same_number_of_events() {
    for (name, events, status) in [
        ("pingpong", 9644, 0),
        ("lossy", 7955, 3),
        ("lifecycle_caret", 1758, 0),
    ] {
        for (format, header) in [("text", 0), ("json", 0), ("csv", 1)] {
            let text = stdout_of(&["dump", &recording(name), "--format", format], status);
            assert_eq!(text.lines().count(), events + header, "{name} {format}");
        }
    }
}

#[test]
fn damage_is_reported_on_standard_error() {
    let reported = stderr_of(&["dump", "--format", "csv", &recording("lossy")], 3);
    assert!(
        reported.starts_with("rostrace: 43,809 events discarded\n"),
        "{reported}"
    );
    assert!(reported.contains(
        "ros2_0, byte 4096, 04:15:02.529502 – 04:15:02.546600: the tracer lost 157 events"
    ));
}

#[test]
fn a_limit_gives_the_first_events() {
    assert_eq!(dump("--limit 7"), dump("")[..7]);
    assert!(dump("--limit 0").is_empty());
}

#[test]
fn events_are_filtered_by_name() {
    assert_eq!(dump("--event ros2:callback_start").len(), 959);
    let both = dump("--event ros2:callback_*");
    assert_eq!(both.len(), 2 * 959);
    assert_eq!(
        dump("--event ros2:callback_start --event ros2:callback_end"),
        both
    );
    // A repeated option is more than one wish.
    assert_eq!(dump("--vpid 22091 --vpid 22096").len(), 9644);
}

#[test]
fn a_name_that_is_not_declared_gets_a_hint() {
    let asked = format!("dump {} --event callback_strat", recording("pingpong"));
    let (out, hint) = finished(&mut rostrace(&asked), 2);
    hint.says("`callback_strat`; similar: ros2:callback_start");
    assert_eq!(out, "");
}

#[test]
fn events_are_filtered_by_process_thread_and_cpu() {
    let all = dump("");
    for (option, number, field) in [
        ("--vpid", 22096, "/common_context/vpid"),
        ("--pid", 22096, "/common_context/vpid"),
        ("--vtid", 22091, "/common_context/vtid"),
        ("--cpu", 0, "/packet_context/cpu_id"),
    ] {
        let selected = dump(&format!("{option} {number}"));
        assert!((1..all.len()).contains(&selected.len()), "{option}");
        let wanted = |event: &&Value| event.pointer(field) == Some(&json!(number));
        let expected = all.iter().filter(wanted).count();
        assert_eq!(selected.len(), expected, "{option}");
    }
}

#[test]
fn events_are_filtered_by_time_however_it_is_written() {
    let all = dump("");
    let (from, to) = (1_794_715_881_000_000_000i64, 1_794_715_882_500_000_000i64);
    let inside = |event: &&Value| (from..=to).contains(&integer(&event["time_ns"]));
    let expected: Vec<Value> = all.iter().filter(inside).cloned().collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    for (from, to) in [
        ("1794715881", "1794715882.5"),
        ("1794715881000000000", "1794715882500000000"),
        ("2026-11-15T04:11:21Z", "2026-11-15T05:11:22.5+01:00"),
        ("04:11:21", "04:11:22.5"),
    ] {
        let selected = dump(&format!("--since {from} --until {to}"));
        assert_eq!(selected, expected, "{from} {to}");
    }
}

#[test]
fn both_ends_of_a_time_range_belong_to_it() {
    let first = dump("--limit 1");
    let time = &first[0]["time_ns"];
    assert_eq!(dump(&format!("--since {time} --until {time}")), first);
}

#[test]
fn relative_times_count_from_the_begin_and_end_that_info_shows() {
    let trace = HandMade::new("event", b"process", b"");
    let times = |options: &[&str]| -> Vec<i64> {
        let events = dump_of(trace.path(), options, 0).into_iter();
        let times = events.map(|event| integer(&event["time_ns"]) - HandMade::BEGIN);
        times.collect()
    };
    assert_eq!(times(&["--since", "+1.5s"]), [2_000_000_000]);
    assert_eq!(times(&["--until", "+1s"]), [1_000_000_000]);
    assert_eq!(times(&["--since", "-1s"]), [2_000_000_000]);
    let both = times(&["--since", "+999ms", "--until", "-2s"]);
    assert_eq!(both, [1_000_000_000]);
}

#[test]
fn fields_of_every_kind_are_exact_in_json() {
    let trace = HandMade::new("event", b"process", b"\xFF text");
    let events = dump_of(trace.path(), &[], 0);
    let payload = |number: Value| {
        json!({
            "big": u64::MAX,
            "small": -1,
            "number": number,
            "kind": {"value": 1, "labels": ["one", "few"]},
            "text": "\u{fffd} text",
            "inner": {"x": 7, "list": [8, 9]},
        })
    };
    assert_eq!(events[0]["payload"], payload(json!("NaN")));
    assert_eq!(events[1]["payload"], payload(json!(0.5)));
    assert_eq!(events[1]["packet_context"], json!({"cpu_id": 5}));
}

#[test]
fn csv_has_a_header_and_quotes_what_needs_it() {
    let trace = HandMade::new("event", b"a,b", b"two \"words\"\n");
    let csv = stdout_of(&format!("dump --format csv --limit 1 {}", trace.path()), 0);
    assert_eq!(
        csv,
        "time_ns,name,host,vpid,vtid,procname,cpu_id,fields\n\
         1000000001000000000,event,robot,41,,\"a,b\",5,\"big=18446744073709551615 small=-1 number=NaN kind=1 \
         text=\"\"two \\\"\"words\\\"\"\\n\"\" inner.x=7 inner.list=[8,9]\"\n"
    );
}

#[test]
fn the_output_can_be_a_file() {
    let trace = HandMade::new("event", b"process", b"");
    let folder = Folder::new();
    let file = folder.at("out.json");
    let printed = stdout_of(&["dump", "--format", "json", trace.path(), "-o", &file], 0);
    assert_eq!(printed, "");
    assert_eq!(json_lines(&folder.read("out.json")).len(), 2);
    let error = stderr_of(&["dump", trace.path(), "-o", "/nowhere/out"], 1);
    assert!(
        error.starts_with("rostrace: /nowhere: there is no such folder"),
        "{error}"
    );
}

#[test]
fn a_trace_is_not_overwritten_by_its_own_events() {
    let trace = HandMade::new("event", b"process", b"");
    for file in ["stream", "metadata"] {
        let stream = trace.file(file);
        let before = std::fs::read(&stream).unwrap();
        let error = stderr_of(&["dump", trace.path(), "-o", stream.to_str().unwrap()], 1);
        error.says("a file of the trace");
        assert_eq!(std::fs::read(&stream).unwrap(), before, "{file}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin("rostrace"))
        .args(["dump", &recording("pingpong")])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    error.says("the events cannot be written: No space left");
}

#[test]
fn a_closed_pipe_is_a_normal_end() {
    for format in ["text", "json", "csv"] {
        for (name, status) in [("pingpong", 0), ("lossy", 3)] {
            let mut child = spawn(&["dump", &recording(name), "--format", format]);
            let mut lines = BufReader::new(child.stdout.take().unwrap());
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            drop(lines);
            let output = child.wait_with_output().unwrap();
            assert!(line.ends_with('\n'));
            assert_eq!(output.status.code(), Some(status), "{format} {name}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        }
    }
}

#[test]
fn ctrl_c_leaves_whole_lines() {
    for format in ["text", "json", "csv"] {
        let mut child = spawn(&["dump", &recording("pingpong"), "--format", format]);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        // The pipe is full and the program waits: it is surely in the middle of its work.
        output.read_line(&mut text).unwrap();
        let kill = std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        output.read_to_string(&mut text).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{format}");
        assert!(text.ends_with('\n'));
        assert!(text.lines().count() < 9644, "{format}");
    }
}

#[test]
fn text_can_show_times_in_other_ways() {
    for (options, time) in [
        ("", "[04:11:19.530423153] (+?.?????????)"),
        ("--no-delta --clock-seconds", "[1794715879.530423153]"),
        ("--no-delta --clock-cycles", "[00000005200188277997]"),
        (
            "--no-delta --clock-date --clock-gmt",
            "[2026-11-15 04:11:19.530423153]",
        ),
    ] {
        let asked = format!("dump {} --limit 1 {options}", recording("pingpong"));
        assert_eq!(stdout_of(&asked, 0).split(" vm ").next(), Some(time));
    }
}

#[test]
fn what_selects_no_event_is_reported() {
    let pingpong = recording("pingpong");
    let said = stderr_of(&["dump", &pingpong, "--vpid", "3"], 0);
    said.says("no event fits what was asked for");
    let said = stderr_of(&["dump", &pingpong, "--since", "+3s", "--until", "+2s"], 2);
    said.says("--since is a later time than --until");
    assert_eq!(stderr_of(&["dump", &pingpong, "--limit", "1"], 0), "");
}
