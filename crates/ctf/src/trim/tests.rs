//! Every event of the conformance suite, decoded and encoded anew.
//!
//! In most traces events are copied byte by byte, so encoding would hardly be tried otherwise.

use std::path::Path;

use rostrace_testkit::recordings::{folders, shared, testdata};

use super::Trim;
use super::copy::ENCODES_EVERYTHING;
use crate::{Conversion, Cursor, Scope, TraceSet, Value};

/// Name, time and fields.
type Read = (Option<String>, u64, Vec<(Scope, Value)>);

fn events(set: &TraceSet) -> Vec<Read> {
    let mut cursor = Cursor::new(set, Conversion::Exact);
    let mut events = Vec::new();
    while let Some(event) = cursor.next() {
        let time = event.event().time.0;
        events.push((event.class().name.clone(), time, event.values().unwrap()));
    }
    events
}

fn check(source: &Path, folder: &Path) {
    let set = TraceSet::open(&[source]).unwrap();
    let _ = std::fs::remove_dir_all(folder);
    let report = Trim::default().write(&set, folder, &mut |_| true);
    let case = source.display();
    let report = report.unwrap_or_else(|error| panic!("{case}: {error}"));
    let expected = events(&set);
    assert_eq!(report.unwrap().kept, expected.len() as u64, "{case}");
    let found = events(&TraceSet::open(&[folder]).unwrap());
    assert_eq!(found, expected, "{case}");
}

#[test]
fn events_that_are_encoded_anew_have_the_same_values() {
    ENCODES_EVERYTHING.set(true);
    let new = std::env::temp_dir().join(format!("rostrace-cut-{}", std::process::id()));
    check(&testdata().join("lifecycle_caret"), &new);
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    for suite in ["ctf-suite/1/succeed", "ctf-suite/2/succeed", "traces/ust"] {
        for folder in folders(&shared.join(suite)) {
            check(&folder, &new);
        }
    }
    let _ = std::fs::remove_dir_all(new);
}
