//! Any text as an architecture file: refused or read, and what was read is written so that it reads the same again.

use std::io;
use std::path::Path;

use rostrace_architecture::{check, read, write};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "architecture",
    run,
    seeds,
    dictionary: &[
        "UNDEFINED",
        "callback_chain",
        "node_name: ",
        "topic_name: ",
        "&a ",
        "*a",
        "- ",
        ": ",
        "[",
        "{",
        "? ",
        "!!str ",
        "|\n",
        "construction_order: 1\n",
        "'",
        "\"",
    ],
};

fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(reading) = read(text) else {
        return;
    };
    let _ = check(&reading.architecture);
    let written = write(&reading.architecture);
    match read(&written) {
        Ok(again) => assert_eq!(write(&again.architecture), written),
        Err(refused) => panic!("what we wrote is refused: {refused}\n{written}"),
    }
}

fn seeds(_: &Path) -> io::Result<Vec<Vec<u8>>> {
    let rover = include_bytes!("../../../crates/architecture/tests/files/rover.yaml");
    Ok(vec![rover.to_vec()])
}
