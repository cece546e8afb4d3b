//! `--sort`, `--limit` and `--columns`: the same for every list and every format.

use serde_json::Value;

use crate::support::{recording, stderr_of, stdout_of};

const VERBS: [&str; 5] = ["callbacks", "topics", "nodes", "processes", "executors"];

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

fn json(arguments: &[&str], status: i32) -> Value {
    let text = stdout_of(&with(arguments, &["--format", "json"]), status);
    serde_json::from_str(&text).unwrap()
}

/// The values of one column of the CSV.
fn column(arguments: &[&str], name: &str) -> Vec<String> {
    let text = stdout_of(&with(arguments, &["--format", "csv"]), 0);
    let mut reader = csv_reader(&text);
    let place = reader.headers().unwrap().iter().position(|it| it == name);
    let place = place.unwrap_or_else(|| panic!("no column {name} in {text}"));
    let records = reader.records().map(|it| it.unwrap());
    records.map(|it| it[place].to_owned()).collect()
}

fn csv_reader(text: &str) -> csv::Reader<&[u8]> {
    csv::Reader::from_reader(text.as_bytes())
}

#[test]
fn every_column_of_every_list_can_be_chosen_and_sorted_by() {
    let trace = recording("pingpong");
    for verb in VERBS {
        let text = stdout_of(&[verb, &trace, "--format", "csv"], 0);
        let mut reader = csv_reader(&text);
        for name in reader.headers().unwrap().clone().iter() {
            for format in ["table", "csv", "json"] {
                let choice = ["--columns", name, "--sort", name, "--format", format];
                let said = stdout_of(&with(&[verb, &trace, "--all"], &choice), 0);
                assert!(!said.is_empty(), "{verb} {name} {format}");
            }
        }
    }
}

#[test]
fn all_formats_show_the_same_rows_in_the_same_order() {
    let trace = recording("pingpong");
    let choice = [
        "--sort",
        "-max",
        "--limit",
        "2",
        "--columns",
        "callback,max",
    ];
    let asked = with(&["callbacks", &trace], &choice);
    let names = column(&asked, "name");
    assert_eq!(names, ["/ponger ← /ping", "/pinger · timer 10 ms"]);
    let rows = json(&asked, 0);
    let of_json = rows.as_array().unwrap().iter();
    let of_json: Vec<&str> = of_json.map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(of_json, names);
    assert_eq!(rows[0].as_object().unwrap().len(), 2);
    assert!(rows[0]["duration_max_ns"].as_i64().unwrap() > 3_000_000);
    let table = stdout_of(&asked, 0);
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines[0].contains("callback") && lines[0].contains("max"),
        "{table}"
    );
    assert!(
        lines[1].contains(&names[0]) && lines[2].contains(&names[1]),
        "{table}"
    );
    assert!(!table.contains("/pinger ← /pong"), "{table}");
}

/// A table leaves out what is built in, and so does its order.
#[test]
fn a_table_is_sorted_by_the_numbers_that_it_shows() {
    let trace = recording("lifecycle_caret");
    for column in ["services", "callbacks", "publishers", "runs"] {
        let sort = format!("-{column}");
        let choice = [column, "node"].join(",");
        let asked = ["nodes", &trace, "--sort", &sort, "--columns", &choice];
        for more in [&[][..], &["--all"]] {
            let table = stdout_of(&with(&asked, more), 0);
            let numbers = table.lines().skip(1);
            let numbers = numbers.filter_map(|line| line.split_whitespace().next());
            let numbers = numbers.map(|text| text.replace(',', ""));
            let numbers: Vec<u64> = numbers.map_while(|text| text.parse().ok()).collect();
            assert!(
                numbers.len() > 2 && numbers.is_sorted_by(|a, b| a >= b),
                "{table}"
            );
        }
    }
}

#[test]
fn a_limit_is_told_and_built_in_rows_come_last() {
    let trace = recording("pingpong");
    let asked = ["topics", &trace, "--sort", "-messages", "--limit", "2"];
    let mut names = column(&asked, "topic");
    names.sort();
    assert_eq!(names, ["/ping", "/pong"]);
    let said = stderr_of(&with(&asked, &["--format", "csv"]), 0);
    assert!(
        said.contains("2 more topics not shown, because of --limit"),
        "{said}"
    );
    // In a table the built-in ones are one line in any case.
    let table = stdout_of(&asked, 0);
    assert!(table.contains("2 built-in topics"), "{table}");
    let all = column(&with(&asked, &["--all"]), "messages");
    let all: Vec<u64> = all.iter().map(|it| it.parse().unwrap()).collect();
    assert!(all[0] >= all[1], "{all:?}");
}

#[test]
fn a_column_that_is_not_there_comes_with_similar_ones() {
    let trace = recording("pingpong");
    let said = stderr_of(&["callbacks", &trace, "--columns", "callbak"], 2);
    assert!(
        said.contains("callbacks have no column `callbak`; similar: callback"),
        "{said}"
    );
    let said = stderr_of(&["processes", &trace, "--sort", "-evnts"], 2);
    assert!(
        said.contains("processes have no column `evnts`; similar: events"),
        "{said}"
    );
    let said = stderr_of(&["latency", &trace, "--sort", "qqq"], 2);
    assert!(
        said.contains("`rostrace latency --help` lists the columns"),
        "{said}"
    );
}

#[test]
fn paths_are_sorted_by_the_figures_of_the_whole() {
    let trace = recording("lifecycle_caret");
    let whole = |sort: &str| {
        let asked = [
            "latency", &trace, "--all", "--sort", sort, "--format", "csv",
        ];
        let text = stdout_of(&asked, 0);
        let mut reader = csv_reader(&text);
        let records = reader.records().map(|it| it.unwrap());
        let whole = records.filter(|it| &it[2] == "path");
        whole
            .map(|it| it[12].parse().unwrap())
            .collect::<Vec<i64>>()
    };
    let (rising, falling) = (whole("max"), whole("-max"));
    assert!(rising.len() > 1 && rising.is_sorted(), "{rising:?}");
    assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
    let one = json(
        &["latency", &trace, "--all", "--sort", "-max", "--limit", "1"],
        0,
    );
    assert_eq!(one.as_array().unwrap().len(), 1);
    assert_eq!(one[0]["latency_ns"]["max"], falling[0]);
}

#[test]
fn names_may_be_written_without_slash_and_with_ascii_arrows() {
    let trace = recording("pingpong");
    let expected = stdout_of(&["why", &trace, "--callback", "/ponger ← /ping"], 0);
    for written in ["/ponger <- /ping", "ponger<-ping"] {
        let said = stdout_of(&["why", &trace, "--callback", written], 0);
        assert_eq!(said, expected, "{written}");
    }
    let node = |name| stdout_of(&["why", &trace, "--callback", name], 0);
    assert_eq!(node("ponger"), node("/ponger"));
    let ends = |from, to| stdout_of(&["latency", &trace, "--from", from, "--to", to], 0);
    assert_eq!(ends("pinger", "ponger"), ends("/pinger", "/ponger"));
    let nodes = |node| stdout_of(&["nodes", &trace, "--node", node], 0);
    assert_eq!(nodes("ponger"), nodes("/ponger"));
}

#[test]
fn a_name_that_nothing_has_is_wrong_usage_in_every_verb() {
    let trace = recording("pingpong");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    let output = output.to_str().unwrap();
    for verb in [
        &["nodes"][..],
        &["topics"],
        &["callbacks"],
        &["processes"],
        &["executors"],
        &["latency"],
        &["why"],
        &["report", "-o", output],
        &["timeline", "-o", "unwritten.json"],
        &["export", "-o", output],
        &["compare", &trace],
    ] {
        let said = stderr_of(&with(verb, &[&trace, "--node", "/pongr"]), 2);
        assert!(
            said.contains("`/pongr`; similar: /ponger"),
            "{verb:?}: {said}"
        );
    }
    for verb in [&["dump"][..], &["cut", "-o", output]] {
        let said = stderr_of(&with(verb, &[&trace, "--event", "ros2:callback_strat"]), 2);
        assert!(
            said.contains("similar: ros2:callback_start"),
            "{verb:?}: {said}"
        );
    }
    let said = stderr_of(&["report", &trace, "-o", output, "--path", "/nowhere"], 2);
    assert!(said.contains("no path is named `/nowhere`"), "{said}");
    assert!(!std::path::Path::new(output).exists());
}

/// What `check` and `compare` are asked, without a choice.
fn verdicts(folder: &std::path::Path) -> [Vec<String>; 2] {
    let trace = recording("pingpong");
    let budgets = folder.join("budgets.yaml");
    let budgets = budgets.to_str().unwrap().to_owned();
    let init = ["check", "--init", &trace, "-o", &budgets];
    stdout_of(&init, 0);
    let owned = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect();
    [
        owned(&["check", &budgets, &trace, "--all"]),
        owned(&["compare", &trace, &trace]),
    ]
}

#[test]
fn verdicts_are_chosen_and_sorted_as_other_lists_are() {
    let folder = tempfile::tempdir().unwrap();
    for asked in verdicts(folder.path()) {
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let verb = asked[0];
        let text = stdout_of(&with(&asked, &["--format", "csv"]), 0);
        let mut reader = csv_reader(&text);
        let names = reader.headers().unwrap().clone();
        for name in names.iter() {
            for format in ["table", "csv", "json"] {
                let choice = ["--columns", name, "--sort", name, "--format", format];
                let said = stdout_of(&with(&asked, &choice), 0);
                assert!(!said.is_empty(), "{verb} {name} {format}");
            }
        }
        let (what, value) = match verb {
            "check" => ("subject", "measured"),
            _ => ("name", "new"),
        };
        let sort = format!("-{value}");
        let columns = format!("{what},{value},unit");
        let choice = ["--sort", &sort, "--limit", "3", "--columns", &columns];
        let chosen = with(&asked, &choice);
        let numbers: Vec<f64> = column(&chosen, value)
            .iter()
            .map(|it| it.parse().unwrap())
            .collect();
        assert!(
            numbers.len() == 3 && numbers.is_sorted_by(|a, b| a >= b),
            "{verb}: {numbers:?}"
        );
        let all = column(&asked, value);
        let largest = all.iter().filter_map(|it| it.parse().ok());
        assert_eq!(largest.fold(f64::MIN, f64::max), numbers[0], "{verb}");
        let names = column(&chosen, what);
        let rows = json(&chosen, 0);
        let of_json = rows.as_array().unwrap().iter();
        let of_json: Vec<&str> = of_json.map(|it| it[what].as_str().unwrap()).collect();
        assert_eq!(of_json, names, "{verb}");
        assert_eq!(rows[0].as_object().unwrap().len(), 3, "{verb}");
        let table = stdout_of(&chosen, 0);
        let lines: Vec<&str> = table.lines().collect();
        for (line, name) in lines[1..].iter().zip(&names) {
            assert!(line.contains(name), "{verb}: {table}");
        }
        // All are counted, whatever is shown.
        assert!(lines[4].contains("checked:") || lines[4].contains("compared:"));
        let said = stderr_of(&chosen, 0);
        assert!(said.contains("not shown, because of --limit"), "{said}");
        let wrong = stderr_of(&with(&asked, &["--columns", "colour"]), 2);
        assert!(wrong.contains("have no column `colour`"), "{wrong}");
    }
    let wrong = stderr_of(&["status", "--sort", "-looost"], 2);
    assert!(wrong.contains("similar: lost"), "{wrong}");
}
