//! Services and actions of real programs, recorded by rostrace: the table of goals, and explanations that go through a service.

use std::process::Command;

use crate::support::{Folder, Says, array, integer, json_of_any as json, shared, stdout_of, text};
use crate::why_everywhere::adds_up;

/// The recordings of real programs, unpacked; nothing where they are not there.
fn unpacked() -> Option<Folder> {
    let packed = shared("real/jazzy-real.tar.zst")?;
    let folder = Folder::new();
    let unpacked = Command::new("tar")
        .args(["--use-compress-program", "zstd -d", "-xf", &packed, "-C"])
        .arg(folder.path())
        .status();
    unpacked
        .is_ok_and(|status| status.success())
        .then_some(folder)
}

#[test]
fn the_goal_of_a_real_action_took_as_long_as_its_client_printed() {
    let Some(folder) = unpacked() else { return };
    let trace = format!("{}/real/act", folder.here());
    let goals = json(&["actions", &trace]);
    let goals = array(&goals);
    assert_eq!(goals.len(), 1, "{goals:?}");
    let goal = &goals[0];
    assert_eq!(text(&goal["action"]), "/fibonacci");
    assert_eq!(text(&goal["matched_by"]), "callback");
    // What the client printed: sent at 1794790799.235988540, the result received at 1794790808.239238770.
    let printed = 9_003_250_230;
    let duration = integer(&goal["duration_ns"]);
    assert!((duration - printed).abs() < 5_000_000, "{duration}");
    assert_eq!(goal["feedback"], 9);
    stdout_of(&["actions", &trace], 0).says("/minimal_action_server");
}

#[test]
fn a_real_service_is_explained_from_the_sending_of_its_request() {
    let Some(folder) = unpacked() else { return };
    let trace = format!("{}/real/srv", folder.here());
    let question = [
        "why",
        &trace,
        "--callback",
        "/minimal_service · service /add_two_ints",
    ];
    let why = json(&question);
    adds_up(&why, "srv");
    let causes: Vec<&str> = array(&why["parts"])
        .iter()
        .map(|part| text(&part["cause"]))
        .collect();
    assert_eq!(causes.first(), Some(&"request"), "{causes:?}");
    assert_eq!(causes.last(), Some(&"execution"), "{causes:?}");
    stdout_of(&question, 0).says("from the sending of its request");
}
