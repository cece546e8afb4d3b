//! `--sort`, `--limit` and `--columns`: the same for every list and every format.

use crate::support::{Folder, Says, array, json, recording, stderr_of, stdout_of, text};

const VERBS: [&str; 5] = ["callbacks", "topics", "nodes", "processes", "executors"];

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
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
        chosen_and_sorted_by(&[verb, &trace, "--all"], reader.headers().unwrap());
    }
}

/// Each column alone, in every format.
fn chosen_and_sorted_by(asked: &[&str], columns: &csv::StringRecord) {
    for name in columns {
        for format in ["table", "csv", "json"] {
            let choice = ["--columns", name, "--sort", name, "--format", format];
            let said = stdout_of(&with(asked, &choice), 0);
            assert!(!said.is_empty(), "{asked:?} {name} {format}");
        }
    }
}

#[test]
fn all_formats_show_the_same_rows_in_the_same_order() {
    let trace = recording("pingpong");
    let asked = format!("callbacks {trace} --sort -max --limit 2 --columns name,max");
    let asked: Vec<&str> = asked.split(' ').collect();
    let names = column(&asked, "name");
    assert_eq!(names, ["/ponger ← /ping", "/pinger · timer 10 ms"]);
    let rows = json(&asked, 0);
    let of_json = array(&rows).iter().map(|it| text(&it["name"]));
    assert!(of_json.eq(&names), "{rows}");
    assert_eq!(rows[0].as_object().unwrap().len(), 2);
    assert!(rows[0]["duration_max_ns"].as_i64().unwrap() > 3_000_000);
    let table = stdout_of(&asked, 0);
    let lines: Vec<&str> = table.lines().collect();
    lines[0].says_all(&["callback", "max"]);
    lines[1].says(&names[0]);
    lines[2].says(&names[1]);
    table.lacks("/pinger ← /pong");
}

/// The number of a callback has the name that the table has for a title.
#[test]
fn a_column_is_chosen_by_what_the_output_calls_it() {
    let trace = recording("pingpong");
    for (written, name) in [
        ("callback", "callback"),
        ("name", "name"),
        ("max", "duration_max_ns"),
        ("late max", "lateness_max_ns"),
    ] {
        let asked = ["callbacks", &trace, "--columns", written];
        let rows = json(&asked, 0);
        assert!(rows[0].as_object().unwrap().keys().eq([name]), "{rows}");
        let csv = stdout_of(&with(&asked, &["--format", "csv"]), 0);
        assert_eq!(csv.lines().next(), Some(name));
    }
    let numbers = column(
        &["callbacks", &trace, "--all", "--sort", "-callback"],
        "callback",
    );
    let numbers: Vec<u64> = numbers.iter().map_while(|it| it.parse().ok()).collect();
    assert!(
        numbers.len() > 2 && numbers.is_sorted_by(|a, b| a > b),
        "{numbers:?}"
    );
    let table = stdout_of(&["callbacks", &trace, "--columns", "callback"], 0);
    table.says("/ponger ← /ping");
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
fn a_limit_is_reported_and_built_in_rows_come_last() {
    let trace = recording("pingpong");
    let asked = ["topics", &trace, "--sort", "-messages", "--limit", "2"];
    let mut names = column(&asked, "topic");
    names.sort();
    assert_eq!(names, ["/ping", "/pong"]);
    let said = stderr_of(&with(&asked, &["--format", "csv"]), 0);
    said.says("2 more topics not shown, because of --limit");
    // In a table the built-in ones are one line in any case.
    let table = stdout_of(&asked, 0);
    table.says("2 built-in topics");
    let all = column(&with(&asked, &["--all"]), "messages");
    let all: Vec<u64> = all.iter().map(|it| it.parse().unwrap()).collect();
    assert!(all[0] >= all[1], "{all:?}");
}

#[test]
fn a_column_that_is_not_there_comes_with_similar_ones() {
    let trace = recording("pingpong");
    for (question, sentence) in [
        (
            "callbacks --columns callbak",
            "callbacks have no column `callbak`; similar: callback",
        ),
        (
            "processes --sort -evnts",
            "processes have no column `evnts`; similar: events",
        ),
        (
            "latency --sort qqq",
            "`rostrace latency --help` lists the columns",
        ),
    ] {
        stderr_of(&format!("{question} {trace}"), 2).says(sentence);
    }
}

#[test]
fn paths_are_sorted_by_the_figures_of_the_whole() {
    let trace = recording("lifecycle_caret");
    let whole = |sort: &str| {
        let text = stdout_of(
            &format!("latency {trace} --all --sort {sort} --format csv"),
            0,
        );
        let mut reader = csv_reader(&text);
        let records = reader.records().map(|it| it.unwrap());
        let whole = records
            .filter(|it| &it[2] == "path")
            .map(|it| it[12].parse());
        whole.collect::<Result<Vec<i64>, _>>().unwrap()
    };
    let (rising, falling) = (whole("max"), whole("-max"));
    assert!(rising.len() > 1 && rising.is_sorted(), "{rising:?}");
    assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
    let one = json(&format!("latency {trace} --all --sort -max --limit 1"), 0);
    assert_eq!(array(&one).len(), 1);
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
    let folder = Folder::new();
    let output = format!("-o {}", folder.at("out"));
    let of_nodes = VERBS.into_iter().chain(["latency", "why"]);
    let of_nodes = of_nodes.map(str::to_owned).chain([
        format!("report {output}"),
        "timeline -o unwritten.json".to_owned(),
        format!("export {output}"),
        format!("compare {trace}"),
    ]);
    for verb in of_nodes {
        let said = stderr_of(&format!("{verb} {trace} --node /pongr"), 2);
        said.says("`/pongr`; similar: /ponger");
    }
    for verb in ["dump", &format!("cut {output}")] {
        let said = stderr_of(&format!("{verb} {trace} --event ros2:callback_strat"), 2);
        said.says("similar: ros2:callback_start");
    }
    let said = stderr_of(&format!("report {trace} {output} --path /nowhere"), 2);
    said.says("no path is named `/nowhere`");
    assert!(folder.names().is_empty());
}

#[test]
fn verdicts_are_chosen_and_sorted_as_other_lists_are() {
    let folder = Folder::new();
    let (trace, budgets) = (recording("pingpong"), folder.at("budgets.yaml"));
    stdout_of(&["check", "--init", &trace, "-o", &budgets], 0);
    for asked in [
        &["check", &budgets, &trace, "--all"][..],
        &["compare", &trace, &trace],
    ] {
        let verb = asked[0];
        let csv = stdout_of(&with(asked, &["--format", "csv"]), 0);
        let mut reader = csv_reader(&csv);
        chosen_and_sorted_by(asked, reader.headers().unwrap());
        let (what, value) = match verb {
            "check" => ("subject", "measured"),
            _ => ("name", "new"),
        };
        let sort = format!("-{value}");
        let columns = format!("{what},{value},unit");
        let choice = ["--sort", &sort, "--limit", "3", "--columns", &columns];
        let chosen = with(asked, &choice);
        let numbers = column(&chosen, value);
        let numbers: Vec<f64> = numbers.iter().map(|it| it.parse().unwrap()).collect();
        assert!(
            numbers.len() == 3 && numbers.is_sorted_by(|a, b| a >= b),
            "{verb}: {numbers:?}"
        );
        let all = column(asked, value);
        let largest = all.iter().filter_map(|it| it.parse().ok());
        assert_eq!(largest.fold(f64::MIN, f64::max), numbers[0], "{verb}");
        let names = column(&chosen, what);
        let rows = json(&chosen, 0);
        let of_json = array(&rows).iter().map(|it| text(&it[what]));
        assert!(of_json.eq(&names), "{rows}");
        assert_eq!(rows[0].as_object().unwrap().len(), 3, "{verb}");
        let table = stdout_of(&chosen, 0);
        let lines: Vec<&str> = table.lines().collect();
        for (line, name) in lines[1..].iter().zip(&names) {
            assert!(line.contains(name), "{verb}: {table}");
        }
        // All are counted, whatever is shown.
        assert!(lines[4].contains("checked:") || lines[4].contains("compared:"));
        let said = stderr_of(&chosen, 0);
        said.says("not shown, because of --limit");
        let wrong = stderr_of(&with(asked, &["--columns", "colour"]), 2);
        wrong.says("have no column `colour`");
    }
    let wrong = stderr_of(&["status", "--sort", "-looost"], 2);
    wrong.says("similar: lost");
}
