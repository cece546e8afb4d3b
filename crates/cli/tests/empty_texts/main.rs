//! `rostrace dump` shows empty texts as babeltrace2 does: with what the recycled event object held before.
//!
//! Traces are made by hand, in many constellations, and both programs must print the same bytes. Without babeltrace2
//! on the `PATH` most of these tests have nothing to say, and say so.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod made;
mod random;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;

use made::{Event, Recording, one, packet, recording};
use proptest::prelude::*;
use random::any_recording;
use support::{json_lines, rostrace, stderr_of, stdout_of};

/// What babeltrace2 prints; nothing, but a loud word, if it is not installed.
fn babeltrace(folder: &Path) -> Option<Vec<u8>> {
    let output = std::process::Command::new("babeltrace2")
        .arg(folder)
        .env("TZ", "UTC")
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no babeltrace2; nothing was compared");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(output.stdout)
}

/// Writes the recording, and returns both outputs if they differ, and how many lines there are if they do not.
fn compare(recording: &Recording) -> Result<usize, String> {
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let path = folder.path().to_str().unwrap();
    let Some(theirs) = babeltrace(folder.path()) else {
        return Ok(0);
    };
    let ours = rostrace(&["dump", path]).output().unwrap().stdout;
    if ours == theirs {
        return Ok(theirs.split(|byte| *byte == b'\n').count() - 1);
    }
    let (ours, theirs) = (text_of(&ours), text_of(&theirs));
    let odd = ours.lines().zip(theirs.lines()).position(|(a, b)| a != b);
    let line = odd.unwrap_or(0);
    Err(format!(
        "line {}:\n{}\nbabeltrace2:\n{}",
        line + 1,
        ours.lines().nth(line).unwrap_or("(no more lines)"),
        theirs.lines().nth(line).unwrap_or("(no more lines)"),
    ))
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_batch_of_fifteen_messages_has_new_objects() {
    // Stream beginning, packet beginning, thirteen events: the fourteenth event is the first that gets a used object, that
    // of the last event that was shown.
    const NAMES: [&str; 13] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
    ];
    let mut events: Vec<Event> = NAMES.iter().map(|name| one(name, 1)).collect();
    events.extend(vec![one("", 1); 3]);
    let recording = recording(vec![vec![packet(events)]]);
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let printed = stdout_of(&["dump", folder.path().to_str().unwrap()], 0);
    let last: Vec<&str> = printed.lines().skip(13).collect();
    for (line, shown) in last.iter().zip(["m", "l", "k"]) {
        assert!(
            line.ends_with(&format!("{{ text = \"{shown}\" }}")),
            "{line}"
        );
    }
    assert_eq!(
        compare(&recording),
        Ok(if babeltrace(folder.path()).is_some() {
            16
        } else {
            0
        })
    );
}

#[test]
fn the_user_is_told_and_the_other_formats_are_right() {
    let mut events: Vec<Event> = vec![one("secret", 1); 14];
    events.push(one("", 1));
    let recording = recording(vec![vec![packet(events)]]);
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let path = folder.path().to_str().unwrap();
    assert_eq!(
        stderr_of(&["dump", path], 0),
        "rostrace: 1 empty text is shown as babeltrace2 shows it, with the text of an earlier event; \
         --format json and csv show what is in the trace\n"
    );
    assert_eq!(stderr_of(&["dump", path, "--format", "json"], 0), "");
    let events = json_lines(&stdout_of(&["dump", path, "--format", "json"], 0));
    assert_eq!(events[14]["payload"]["text"], "");
}

#[test]
fn a_limit_gives_the_first_lines_and_a_filter_shows_empty_texts_as_they_are() {
    let mut events: Vec<Event> = vec![one("secret", 1); 14];
    events.extend(vec![one("", 1); 4]);
    let recording = recording(vec![vec![packet(events.clone())], vec![packet(events)]]);
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let path = folder.path().to_str().unwrap();
    let all = stdout_of(&["dump", path], 0);
    for limit in 0..36 {
        let some = stdout_of(&["dump", path, "--limit", &limit.to_string()], 0);
        assert_eq!(some.lines().count(), limit);
        assert!(all.starts_with(&some));
    }
    let filtered = stdout_of(&["dump", path, "--event", "one"], 0);
    assert_eq!(filtered.matches("text = \"\"").count(), 8);
}

#[test]
fn real_kernel_traces_are_the_same() {
    let Some(shared) = support::shared_recordings() else {
        return;
    };
    let trace = shared.join("public/trace-compass/many-threads");
    let Some(theirs) = babeltrace(&trace) else {
        return;
    };
    let ours = rostrace(&["dump", trace.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(ours.stdout == theirs);
    assert!(text_of(&ours.stderr).contains("1 empty text is shown"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_traces_are_shown_as_babeltrace2_shows_them(recording in any_recording()) {
        let compared = compare(&recording);
        prop_assert!(compared.is_ok(), "{}", compared.unwrap_err());
    }
}
