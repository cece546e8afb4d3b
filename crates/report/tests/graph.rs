//! What the scripts of the page compute without a browser: the picture of the graph, and numbers as text. Without `node` nothing is checked.

use std::path::Path;
use std::process::Command;

/// Those that need no browser, in the order of the page.
const SCRIPTS: &[&str] = &[
    "base/duration",
    "base/number",
    "page/base/format",
    "page/graph/layers",
    "page/graph/order",
    "page/graph/place",
    "page/graph/wrap",
    "page/graph/lines",
    "page/graph/layered",
    "page/graph/nested",
    "page/graph/curve",
    "page/graph/visible",
    "page/graph/figures",
];

#[test]
fn pictures_of_graphs_have_no_overlapping_boxes_and_no_edge_through_a_box() {
    let properties = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graph/properties.js");
    run(SCRIPTS, &std::fs::read_to_string(properties).unwrap());
}

/// The sentences of the program and the pages write numbers alike: both are checked with one list.
#[test]
fn pages_write_numbers_as_sentences_do() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../base/vectors.json");
    let vectors = std::fs::read_to_string(vectors).unwrap();
    let check = format!(
        "const vectors = {vectors};\n\
         for (const [name, write] of Object.entries({{ duration, exactDuration, digits, bytes }}))\n\
           for (const [value, text] of vectors[name])\n\
             if (write(value) !== text) throw new Error(`${{name}} ${{value}}: ${{write(value)}} instead of ${{text}}`);\n\
         console.log(\"all hold\");\n"
    );
    run(&["base/duration"], &check);
}

/// Names of lanes and headings have little room: no two may look alike where both are cut.
#[test]
fn names_that_end_alike_are_shown_by_where_they_differ() {
    let check = r##"
        const names = [
          "/sensing/lidar/left/pointcloud_preprocessor/velodyne_node_container", "/sensing/lidar/right/pointcloud_preprocessor/velodyne_node_container",
          "/perception/object_recognition/detection/clustering/euclidean_cluster", "/planning/scenario_planning",
          "/control/trajectory_follower/controller_node_exe ← /planning/scenario_planning/trajectory", "/control/autonomous_emergency_braking_node ← /planning/scenario_planning/trajectory",
        ];
        const found = apart(names);
        const texts = names.map((name) => found.get(name).text);
        if (new Set(texts).size !== names.length) throw new Error(texts.join(" | "));
        // What tells two apart stands where nothing is cut: at the begin, or in the end that is always seen.
        const seen = names.map((name) => { const { text, byEnd } = found.get(name); return byEnd ? text.slice(tailOf(text)) : text.slice(0, 24); });
        if (new Set(seen).size !== names.length) throw new Error(seen.join(" | "));
        if (texts[0] !== "…/left/…/velodyne_node_container") throw new Error(texts[0]);
        console.log("all hold");
    "##;
    run(&["base/text"], check);
}

/// These scripts of the page, and then this one.
fn run(scripts: &[&str], last: &str) {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let mut program = String::from("\"use strict\";\n");
    for script in scripts {
        let text = std::fs::read_to_string(assets.join(format!("{script}.js"))).unwrap();
        // As the page has it: one scope, in which what is exported is simply declared.
        for line in text.lines().filter(|line| !line.starts_with("import ")) {
            program.push_str(line.strip_prefix("export ").unwrap_or(line));
            program.push('\n');
        }
    }
    program.push_str(last);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.js");
    std::fs::write(&file, program).unwrap();
    let Ok(output) = Command::new("node").arg(&file).output() else {
        eprintln!("NOT TESTED: there is no node to run the scripts of the page");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{wrong}");
    assert!(said.contains("all hold"), "{said}");
}
