//! The picture of the graph is arranged by scripts of the page; what must hold of it is checked where scripts run. Without `node` nothing is.

use std::path::Path;
use std::process::Command;

/// Those that need no browser, in the order of the page.
const SCRIPTS: &[&str] = &[
    "shared/duration",
    "page/base/format",
    "page/graph/layers",
    "page/graph/order",
    "page/graph/place",
    "page/graph/wrap",
    "page/graph/lines",
    "page/graph/layered",
    "page/graph/nested",
    "page/graph/curve",
    "page/graph/seen",
    "page/graph/figures",
];

#[test]
fn pictures_of_graphs_have_no_overlapping_boxes_and_no_edge_through_a_box() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut program = String::from("\"use strict\";\n");
    for script in SCRIPTS {
        let file = crate_folder.join(format!("assets/{script}.js"));
        let text = std::fs::read_to_string(file).unwrap();
        // As the page has it: one scope, in which what is exported is simply declared.
        program.push_str(&text.replace("\nexport ", "\n"));
    }
    let properties = crate_folder.join("tests/graph/properties.js");
    program.push_str(&std::fs::read_to_string(properties).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("properties.js");
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
