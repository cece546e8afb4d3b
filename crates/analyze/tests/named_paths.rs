//! The tables of paths that an architecture file names: they agree with each other, on real recordings.

use std::collections::BTreeMap;
use std::fs;

use rostrace_analyze::Analysis;
use rostrace_analyze::table::TABLES;
use rostrace_architecture::read;

use crate::observed::{Recorded, open, rows, whole};

fn table(analysis: &Analysis<'_>, name: &str) -> Vec<Vec<String>> {
    let table = TABLES.iter().find(|table| table.name == name).unwrap();
    let lines = rows(analysis, table);
    let cells = |line: String| line.split(',').map(str::to_owned).collect();
    lines.into_iter().map(cells).collect()
}

fn number(text: &str) -> i64 {
    text.parse().unwrap()
}

#[test]
fn without_an_architecture_they_are_empty() {
    let Some(recorded) = Recorded::open("jazzy/chain_caret") else {
        return;
    };
    let analysis = whole(&recorded.model);
    for table in TABLES
        .iter()
        .filter(|table| table.name.starts_with("named_"))
    {
        assert_eq!(rows(&analysis, table), [""; 0], "{}", table.name);
    }
}

#[test]
fn the_parts_of_a_response_add_up_and_begin_where_it_begins() {
    for (name, recorded) in open([
        "jazzy/chain_caret",
        "humble/chain_caret",
        "jazzy/late_caret",
    ]) {
        let file = format!("{name}/expected/edited_architecture.yaml");
        let file = rostrace_testkit::recordings::find(&file).unwrap();
        let architecture = read(&fs::read_to_string(file).unwrap())
            .unwrap()
            .architecture;
        let mut analysis = whole(&recorded.model);
        analysis.architecture = Some(&architecture);

        let mut sums: BTreeMap<(String, String, i64), (i64, i64)> = BTreeMap::new();
        for row in table(&analysis, "named_response_stages") {
            let key = (row[0].clone(), row[1].clone(), number(&row[2]));
            let (begin, duration) = (number(&row[6]), number(&row[7]));
            let sum = sums.entry(key).or_insert((begin, 0));
            assert_eq!(sum.0 + sum.1, begin, "{name}: parts follow each other");
            sum.1 += duration;
        }
        let mut in_parts: BTreeMap<(String, String), Vec<(i64, i64)>> = BTreeMap::new();
        for ((path, case, _), sum) in sums {
            in_parts.entry((path, case)).or_default().push(sum);
        }
        let mut whole: BTreeMap<(String, String), Vec<(i64, i64)>> = BTreeMap::new();
        for row in table(&analysis, "named_response_times") {
            let key = (row[0].clone(), row[1].clone());
            let times = whole.entry(key).or_default();
            times.push((number(&row[2]), number(&row[3])));
        }
        for times in in_parts.values_mut().chain(whole.values_mut()) {
            times.sort_unstable();
        }
        assert!(!whole.is_empty(), "{name}");
        assert_eq!(in_parts, whole, "{name}");

        let begun: i64 = table(&analysis, "named_paths")
            .iter()
            .map(|row| number(&row[1]))
            .sum();
        let instants = table(&analysis, "named_path_instants");
        let first = instants.iter().filter(|row| row[2] == "0");
        assert_eq!(first.count() as i64, begun, "{name}");
    }
}
