//! The paths of a report against the exported tables and against what `rostrace paths` computes.

use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::response_time::Case;
use rostrace_analyze::declared::summary::declared_path;
use rostrace_analyze::declared::tables::Indexed;
use rostrace_report::page::Options;
use serde_json::{Value, json};

use crate::recordings::{everything, find, model};
use crate::support::table;
use rostrace_testkit::opened_page::{OpenedPage, OpenedPart};

const RECORDINGS: &[&str] = &[
    "jazzy/chain_caret",
    "jazzy/multi_caret",
    "jazzy/intra_caret",
    "jazzy/lossy",
    "jazzy/lossy_overwrite",
    "jazzy/names",
    "humble/chain",
    "humble/intra_caret",
    // Messages are lost between the hops of a path.
    "public/caret-demos-end-to-end-humble",
    "public/caret-demos-end-to-end-galactic",
];

const STATISTICS: &[&str] = &["min", "mean", "p50", "p90", "p95", "p99", "max"];

fn same(page: &Value, table: &std::collections::BTreeMap<&str, Value>, prefix: &str, what: &str) {
    for name in STATISTICS {
        let column = format!("{prefix}_{name}_ns");
        let (ours, theirs) = (page[name].as_f64(), table[column.as_str()].as_f64());
        // Texts of numbers are not read back to the last bit.
        let apart = ours.zip(theirs).map(|(ours, theirs)| (ours - theirs).abs());
        assert!(
            apart < Some(1e-3) && apart.is_some(),
            "{what}: {name}: {ours:?} {theirs:?}"
        );
    }
}

#[test]
fn the_paths_of_a_report_are_those_of_the_tables() {
    let mut compared = 0;
    for name in RECORDINGS {
        let Some(model) = model(name) else { return };
        let analysis = everything(&model);
        let page = OpenedPage::of(&analysis);
        let paths = page.part("paths");
        let begin = page.part("overview").data["begin_ns"].clone();
        let begin: i64 = begin.as_str().unwrap().parse().unwrap();
        let (rows, stages) = (table(&analysis, "paths"), table(&analysis, "path_stages"));
        let responses = table(&analysis, "response_times");
        for path in paths.data["paths"].as_array().unwrap() {
            let number: usize = path["id"].as_str().unwrap().parse().unwrap();
            let what = format!("{name}: path {number}");
            let row = &rows[number];
            assert_eq!(path["title"], row["title"], "{what}");
            for (ours, theirs) in [("hops", "hops"), ("sent", "sent"), ("flows", "flows")] {
                assert_eq!(path[ours], row[theirs], "{what}: {ours}");
            }
            if !path["latency"].is_null() {
                same(&path["latency"], row, "latency", &what);
            }
            let of_path =
                |row: &&std::collections::BTreeMap<&str, Value>| row["path"] == json!(number);
            for (place, case) in Case::EVERY.iter().enumerate() {
                let mut times: Vec<i64> = responses
                    .iter()
                    .filter(of_path)
                    .filter(|row| row["response_case"] == case.name())
                    .map(|row| row["response_time_ns"].as_i64().unwrap())
                    .collect();
                times.sort_unstable();
                let ours = &path["response_times"][place];
                assert_eq!(
                    ours["count"].as_u64().unwrap_or(0),
                    times.len() as u64,
                    "{what}"
                );
                assert_eq!(ours["max"].as_i64(), times.last().copied(), "{what}");
                assert_eq!(ours["min"].as_i64(), times.first().copied(), "{what}");
            }
            let details = paths.data["details"].as_array().unwrap();
            let Some(detail) = details.iter().find(|detail| detail["id"] == path["id"]) else {
                continue;
            };
            let of_table: Vec<_> = stages.iter().filter(of_path).collect();
            let ours = detail["stages"].as_array().unwrap();
            assert_eq!(ours.len(), of_table.len(), "{what}");
            let mut sum = 0.0;
            for (stage, row) in ours.iter().zip(&of_table) {
                assert_eq!(stage["kind"], row["kind"], "{what}");
                assert_eq!(stage["lost"], row["lost"], "{what}");
                if !stage["duration"].is_null() {
                    same(&stage["duration"], row, "duration", &what);
                    sum += stage["duration"]["mean"].as_f64().unwrap();
                }
            }
            let mean = detail["latency"]["mean"].as_f64().unwrap_or(0.0);
            assert!((sum - mean).abs() < 1.0, "{what}: {sum} is not {mean}");
            check_detail(&paths, detail, begin, &what, &responses, number);
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

/// What is drawn: series, bars and explanations.
fn check_detail(
    paths: &OpenedPart,
    detail: &Value,
    begin: i64,
    what: &str,
    responses: &[std::collections::BTreeMap<&'static str, Value>],
    number: usize,
) {
    for (place, case) in Case::EVERY.iter().enumerate() {
        let ours = &detail["responses"][place];
        let of_table: std::collections::HashSet<(i64, i64)> = responses
            .iter()
            .filter(|row| row["path"] == json!(number) && row["response_case"] == case.name())
            .map(|row| {
                let start = row["start_ns"].as_i64().unwrap() - begin;
                (start, row["response_time_ns"].as_i64().unwrap())
            })
            .collect();
        let points = paths.column(&ours["begin"]);
        for point in points.into_iter().zip(paths.column(&ours["time"])) {
            assert!(of_table.contains(&point), "{what}: {point:?}");
        }
        let counted: u64 = match ours["histogram"]["counts"].as_array() {
            Some(counts) => counts.iter().map(|count| count.as_u64().unwrap()).sum(),
            None => 0,
        };
        assert_eq!(
            counted,
            ours["statistics"]["count"].as_u64().unwrap_or(0),
            "{what}"
        );
        let bars = ours["bars"]["parts"].as_array().unwrap();
        let parts: Vec<Vec<i64>> = bars.iter().map(|part| paths.column(part)).collect();
        let known: std::collections::HashSet<i64> = of_table.iter().map(|it| it.1).collect();
        let largest = (0..parts.first().map_or(0, Vec::len))
            .map(|bar| parts.iter().map(|part| part[bar]).sum::<i64>())
            .inspect(|total| assert!(known.contains(total), "{what}: a bar of {total} ns"))
            .max();
        assert_eq!(largest, ours["statistics"]["max"].as_i64(), "{what}");
    }
    adds_up(detail["worst"].as_array().unwrap(), what);
    let longest = detail["worst"][0]["total"].as_i64();
    assert_eq!(longest, detail["latency"]["max"].as_i64(), "{what}");
    // The slowest message is among those that are drawn.
    let flow = &detail["flow"];
    let steps: Vec<Vec<i64>> = flow["after"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| paths.column(column))
        .collect();
    let measured = |end: usize| flow["measured"][end].as_u64().unwrap() as usize;
    let after = |stored: i64| stored - i64::from(stored > 0);
    let drawn = (0..steps[0].len())
        .filter(|row| steps[measured(1)][*row] != 0)
        .map(|row| {
            let steps = &steps[measured(0) + 1..=measured(1)];
            steps.iter().map(|step| after(step[row])).sum::<i64>()
        })
        .max();
    assert_eq!(drawn, detail["latency"]["max"].as_i64(), "{what}");
}

/// The parts of explanations are the latencies that they explain.
fn adds_up(worst: &[Value], what: &str) {
    for worst in worst {
        let waits = worst["waits"].as_array().unwrap().iter();
        let sum: i64 = waits.map(|wait| wait["duration"].as_i64().unwrap()).sum();
        assert_eq!(Some(sum), worst["total"].as_i64(), "{what}");
        // Begin, duration and wait: without a gap, in the order of time.
        let mut at = worst["begin"].as_i64().unwrap();
        for part in worst["parts"].as_array().into_iter().flatten() {
            assert_eq!(part[0].as_i64(), Some(at), "{what}");
            at += part[1].as_i64().unwrap();
        }
    }
}

#[test]
fn messages_that_were_lost_are_drawn_to_where_they_ended() {
    let Some(model) = model("jazzy/lossy_overwrite") else {
        return;
    };
    let analysis = everything(&model);
    let page = OpenedPage::of(&analysis);
    let paths = page.part("paths");
    for detail in paths.data["details"].as_array().unwrap() {
        let stages = detail["stages"].as_array().unwrap();
        let counted = |name: &str| {
            stages
                .iter()
                .filter_map(|it| it[name].as_u64())
                .sum::<u64>()
        };
        let ends = paths.column(&detail["flow"]["ends"]);
        let lost = ends.iter().filter(|end| (1..=3).contains(*end)).count();
        assert_eq!(lost as u64, counted("lost"), "{}", detail["id"]);
    }
}

#[test]
fn declared_paths_have_the_numbers_of_the_command() {
    let mut causes: std::collections::BTreeSet<String> = Default::default();
    for name in [
        "jazzy/chain_caret",
        "jazzy/multi_caret",
        "jazzy/intra_caret",
    ] {
        let file = format!("{name}/expected/edited_architecture.yaml");
        let (Some(model), Some(file)) = (model(name), find(&file)) else {
            return;
        };
        let text = std::fs::read_to_string(file).unwrap();
        let architecture = rostrace_architecture::read(&text).unwrap().architecture;
        let analysis = everything(&model);
        let options = Options {
            architecture: Some(&architecture),
            ..Options::default()
        };
        let page = OpenedPage::with(&analysis, &options);
        let paths = page.part("paths");
        let indexed = Indexed::new(&model, Style::Own);
        for (number, path) in architecture.paths.iter().enumerate() {
            let id = json!(format!("d{number}"));
            let what = format!("{name}: {}", path.name);
            let rows = paths.data["paths"].as_array().unwrap();
            let row = rows.iter().find(|row| row["id"] == id).unwrap();
            let found = declared_path(&indexed, &architecture, path, Ends::default(), |_| true);
            let Ok(found) = found else {
                assert!(row["error"].is_string(), "{what}");
                continue;
            };
            assert_eq!(row["flows"], json!(found.complete), "{what}");
            let expected = found
                .latency
                .map(|it| json!([it.min, it.p50, it.p99, it.max]));
            let latency = &row["latency"];
            let ours = latency.is_object().then(|| {
                json!([
                    latency["min"],
                    latency["p50"],
                    latency["p99"],
                    latency["max"]
                ])
            });
            assert_eq!(ours, expected, "{what}");
            let details = paths.data["details"].as_array().unwrap();
            let detail = details.iter().find(|detail| detail["id"] == id).unwrap();
            let worst = detail["worst"].as_array().unwrap();
            assert_eq!(worst.len(), found.complete.min(5), "{what}");
            let slowest = worst.first().map(|it| it["total"].clone());
            assert_eq!(slowest, found.latency.map(|it| json!(it.max)), "{what}");
            adds_up(worst, &what);
            let damaged = worst.iter().filter(|it| it["damaged"] == true).count();
            assert!(row["damaged"].as_u64().unwrap() >= damaged as u64, "{what}");
            let waits = worst.iter().flat_map(|it| it["waits"].as_array().unwrap());
            causes.extend(waits.map(|wait| wait["cause"].as_str().unwrap().to_owned()));
            for (place, times) in found.response_times.iter().enumerate() {
                let ours = &detail["responses"][place]["statistics"];
                assert_eq!(
                    row["response_times"][place]["max"],
                    json!(times.map(|it| it.max)),
                    "{what}"
                );
                assert_eq!(ours["max"], json!(times.map(|it| it.max)), "{what}");
                assert_eq!(ours["count"], json!(times.map(|it| it.count)), "{what}");
            }
        }
    }
    // They tell more than their stages.
    for cause in ["execution", "stored", "other_callback", "dispatch"] {
        assert!(causes.contains(cause), "{cause}: {causes:?}");
    }
}
