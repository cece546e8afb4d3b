//! Real recordings and the conformance suite: the compiled decoder reads in every packet what the interpreter reads.

use std::path::PathBuf;

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{
    Conversion, Cursor, DamageKind, Event, Packet, Selection, StreamId, Survey, Trace, TraceSet,
};

use rostrace_testkit::agreement::{Compared, compare};
use rostrace_testkit::recordings::{folders, shared, testdata};

/// The interpreter is slow: of a large trace only packets of about so many bytes in all are compared.
const BYTES: u64 = 1_000_000;

fn sample(set: &TraceSet) -> impl Fn(&Trace, &Packet) -> bool {
    let every = set.bytes() / BYTES + 1;
    move |_, packet| (packet.offset / packet.size.max(1)).is_multiple_of(every)
}

fn all_agree(folders: &[PathBuf], at_least: usize) {
    assert!(folders.len() >= at_least, "only {}", folders.len());
    let mut faults = Vec::new();
    let mut all = Compared::default();
    for folder in folders {
        let result = TraceSet::open(&[folder])
            .map_err(|error| error.to_string())
            .and_then(|set| compare(&set, sample(&set)));
        match result {
            Ok(compared) => {
                all.packets_compared += compared.packets_compared;
                all.events_compared += compared.events_compared;
            }
            Err(error) => faults.push(format!("{}: {error}", folder.display())),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("{all:?}");
    assert!(all.events_compared > 0);
}

#[test]
fn the_recordings_of_the_repository_are_read_the_same_both_ways() {
    all_agree(&folders(&testdata()), 3);
}

#[test]
fn the_cases_of_the_suite_are_read_the_same_both_ways() {
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    all_agree(&folders(&shared.join("ctf-suite/1/succeed")), 222);
    all_agree(&folders(&shared.join("ctf-suite/2/succeed")), 356);
}

/// No bad case may end in a panic; that most of them are refused is the business of other tests.
#[test]
fn the_bad_cases_are_survived() {
    let Some(shared) = shared("ctf-suite") else {
        return;
    };
    for version in ["1", "2"] {
        for folder in folders(&shared.join("ctf-suite").join(version).join("fail")) {
            if let Ok(set) = TraceSet::open(&[&folder]) {
                compare(&set, sample(&set)).unwrap();
            }
        }
    }
}

#[test]
fn recordings_are_read_the_same_both_ways() {
    let Some(shared) = shared("traces") else {
        return;
    };
    for (kind, at_least) in [("ust", 9), ("humble", 16), ("jazzy", 28), ("public", 9)] {
        all_agree(&folders(&shared.join("traces").join(kind)), at_least);
    }
}

/// 120 000 events were emitted into buffers that were too small for them.
#[test]
fn recorded_and_discarded_events_add_up_to_what_was_emitted() {
    let Some(shared) = shared("traces") else {
        return;
    };
    let set = TraceSet::open(&[shared.join("traces/ust/ust-2.13-lossy")]).unwrap();
    let recorded = Survey::take(&set, 2, &|_| true).events;
    let discarded: u64 = (set.damage.iter())
        .filter(|damage| damage.kind == DamageKind::DiscardedEvents)
        .map(|damage| damage.count.unwrap())
        .sum();
    assert_eq!((recorded, discarded), (14_874, 105_126));
    assert_eq!(recorded + discarded, 120_000);
}

/// Everything that can be told apart in the order of events.
fn order(set: &TraceSet) -> Vec<(StreamId, u64, Event)> {
    let mut events = Vec::new();
    let mut cursor = Cursor::new(set, Conversion::Exact);
    while let Some(event) = cursor.next() {
        events.push((event.stream_id(), event.packet().offset, event.event()));
    }
    events
}

#[test]
fn the_order_of_the_given_folders_does_not_matter() {
    let mut folders = folders(&testdata());
    let one = order(&TraceSet::open(&folders).unwrap());
    folders.reverse();
    let other = order(&TraceSet::open(&folders).unwrap());
    assert_eq!(one.len(), other.len());
    assert!(one == other);
}

fn selected(set: &TraceSet, selection: Selection) -> u64 {
    let mut cursor = Cursor::select(set, Conversion::Exact, &selection);
    let mut events = 0;
    while cursor.next().is_some() {
        events += 1;
    }
    events
}

#[test]
fn a_selection_selects_what_the_survey_counts() {
    for folder in folders(&testdata()) {
        let set = TraceSet::open(&[&folder]).unwrap();
        let survey = Survey::take(&set, 2, &|_| true);
        for process in &survey.processes {
            let selection = Selection {
                vpids: vec![process.vpid],
                ..Selection::default()
            };
            assert_eq!(selected(&set, selection), process.events);
        }
        for class in &survey.classes {
            let classes = &set.traces[class.trace].schema.streams[class.stream_class].events;
            let selection = Selection {
                events: vec![classes[class.event_class].name.clone().unwrap()],
                ..Selection::default()
            };
            assert_eq!(selected(&set, selection), class.events);
        }
        let cpus = (0..8).map(|cpu| Selection {
            cpus: vec![cpu],
            ..Selection::default()
        });
        let of_cpus: u64 = cpus.map(|selection| selected(&set, selection)).sum();
        assert_eq!(of_cpus, survey.events);
        // Adjoining stretches of time.
        let (begin, end) = (survey.begin.unwrap().0, survey.end.unwrap().0);
        let middle = begin + (end - begin) / 3;
        let parts = [begin..=middle, middle + 1..=end].map(|time| Selection {
            time: Some(Nanos(*time.start())..=Nanos(*time.end())),
            ..Selection::default()
        });
        let of_parts: u64 = parts.map(|part| selected(&set, part)).iter().sum();
        assert_eq!(of_parts, survey.events);
    }
}
