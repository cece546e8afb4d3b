//! `rostrace dump` prints what babeltrace2 prints.
//!
//! Traces are made by hand, in many constellations. Without babeltrace2 on the `PATH` most of these tests have nothing to say, and say so.

mod made;
mod random;

use std::path::Path;

use made::{Event, Recording, one, packet, recording};
use proptest::prelude::*;
use random::any_recording;

use crate::support::{rostrace, stderr_of, stdout_of};

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

/// Writes the recording, and returns the lines that differ.
fn compare(recording: &Recording) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    compare_folder(folder.path())
}

fn compare_folder(folder: &Path) -> Result<(), String> {
    let Some(theirs) = babeltrace(folder) else {
        return Ok(());
    };
    let ours = rostrace(&["dump", folder.to_str().unwrap()])
        .output()
        .unwrap()
        .stdout;
    let Some(place) = difference(&ours, &theirs) else {
        return Ok(());
    };
    let line = ours[..place].iter().filter(|byte| **byte == b'\n').count();
    let line_of = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.lines()
            .nth(line)
            .unwrap_or("(no more lines)")
            .to_owned()
    };
    Err(format!(
        "line {}:\n{}\nbabeltrace2:\n{}",
        line + 1,
        line_of(&ours),
        line_of(&theirs)
    ))
}

/// babeltrace2 before 2.0.5 (mended by its commit d321ba031) uses event objects again, and where a text is empty it prints what the
/// object held before: the text of another event. Ours is the true text, so theirs may be longer inside the quotes of an empty text.
/// Returns where they differ otherwise.
fn difference(ours: &[u8], theirs: &[u8]) -> Option<usize> {
    let mut rest = theirs;
    for (place, byte) in ours.iter().enumerate() {
        let is_end_of_empty =
            ours[..=place].ends_with(b"\"\"") && !ours[..=place].ends_with(b"\\\"\"");
        if is_end_of_empty {
            while let [first, behind @ ..] = rest
                && *first != b'"'
            {
                rest = if *first == b'\\' {
                    behind.get(1..)?
                } else {
                    behind
                };
            }
        }
        match rest {
            [first, behind @ ..] if first == byte => rest = behind,
            _ => return Some(place),
        }
    }
    (!rest.is_empty()).then_some(ours.len())
}

#[test]
fn only_what_is_inside_an_empty_text_may_be_longer() {
    assert_eq!(
        difference(br#"a = "", b = "x""#, br#"a = "o\"ld", b = "x""#),
        None
    );
    assert_eq!(
        difference(br#"a = "", b = "x""#, br#"a = "", b = "xy""#),
        Some(14)
    );
    assert_eq!(difference(br#"a = "\"""#, br#"a = "\"b""#), Some(7));
    assert_eq!(difference(b"a = 1", b"a = 12"), Some(5));
}

#[test]
fn empty_texts_are_shown_as_they_are() {
    let mut events: Vec<Event> = vec![one("secret", 1); 14];
    events.push(one("", 1));
    let recording = recording(vec![vec![packet(events)]]);
    let folder = tempfile::tempdir().unwrap();
    recording.write(folder.path());
    let path = folder.path().to_str().unwrap();
    let printed = stdout_of(&["dump", path], 0);
    let last = printed.lines().last().unwrap();
    assert!(last.ends_with("{ text = \"\" }"), "{last}");
    assert_eq!(stderr_of(&["dump", path], 0), "");
}

#[test]
fn a_limit_gives_the_first_lines() {
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
}

#[test]
fn real_kernel_traces_are_the_same() {
    let Some(shared) = crate::support::shared_recordings() else {
        return;
    };
    let trace = shared.join("public/trace-compass/many-threads");
    assert_eq!(compare_folder(&trace), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_traces_are_shown_as_babeltrace2_shows_them(recording in any_recording()) {
        let compared = compare(&recording);
        prop_assert!(compared.is_ok(), "{}", compared.unwrap_err());
    }
}
