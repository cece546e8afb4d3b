//! A cut has the events that a reader finds in that part of the whole trace, with all their values, and tells the same
//! losses. babeltrace2, where it is installed, agrees.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Damage, DamageKind, Selection, TraceSet, Trim, TrimError, TrimReport};

use crate::support::babeltrace::{babeltrace, empty_folder};
use crate::support::random_trace::{Profile, RandomTrace, random_trace};
use crate::support::reading::{ReadEvent, events, losses, open};
use rostrace_testkit::recordings::{folders, shared_folder, testdata};

const INITIALISATION: &[&str] = &["ros2:*_init", "ros2_caret:*_init", "ros2:*_register"];

fn cut(from: i64, to: i64) -> Trim {
    Trim {
        selection: Selection {
            time: Some(Nanos(from)..=Nanos(to)),
            ..Selection::default()
        },
        initialisation: Vec::new(),
    }
}

fn with_initialisation(cut: &Trim) -> Trim {
    Trim {
        initialisation: INITIALISATION.iter().map(|&name| name.to_owned()).collect(),
        ..cut.clone()
    }
}

fn try_write(cut: &Trim, set: &TraceSet, folder: &Path) -> Result<TrimReport, TrimError> {
    cut.write(set, folder, &mut |_| true)
        .map(|report| report.unwrap())
}

fn write(cut: &Trim, set: &TraceSet, name: &str) -> (PathBuf, TrimReport) {
    let folder = empty_folder(name);
    let report = try_write(cut, set, &folder).unwrap_or_else(|error| panic!("{name}: {error}"));
    (folder, report)
}

/// The events of the whole trace that must be in the cut.
fn expected(set: &TraceSet, cut: &Trim) -> Vec<ReadEvent> {
    let range = cut.selection.time.clone();
    let to = range.as_ref().map_or(Nanos(i64::MAX), |range| *range.end());
    let selected = events(set, &cut.selection);
    if cut.initialisation.is_empty() {
        return selected;
    }
    let initialisation = Selection {
        events: cut.initialisation.clone(),
        vpids: cut.selection.vpids.clone(),
        ..Selection::default()
    };
    let initialisation = events(set, &initialisation);
    let everything = events(set, &Selection::default());
    let mut selected = selected.into_iter().peekable();
    let mut initialisation = initialisation.into_iter().peekable();
    let mut expected = Vec::new();
    for event in everything {
        let is_selected = selected.next_if(|next| *next == event).is_some();
        let names = initialisation.next_if(|next| *next == event).is_some();
        if is_selected || (names && event.nanos.is_none_or(|nanos| nanos <= to)) {
            expected.push(event);
        }
    }
    expected
}

fn assert_same(found: &[ReadEvent], expected: &[ReadEvent], case: &str) {
    let (count, of) = (found.len(), expected.len());
    let differs = |place: &usize| found.get(*place) != expected.get(*place);
    if let Some(place) = (0..count.max(of)).find(differs) {
        let (found, expected) = (found.get(place), expected.get(place));
        panic!(
            "{case}: {count} events instead of {of}; event {place} is {found:?}, not {expected:?}"
        );
    }
}

/// Writes the cut and compares it with the whole; gives the new folder.
fn check(set: &TraceSet, cut: &Trim, name: &str) -> (PathBuf, TrimReport) {
    let (folder, report) = write(cut, set, name);
    let new = open(&folder);
    let expected = expected(set, cut);
    let found = events(&new, &Selection::default());
    assert_same(&found, &expected, name);
    assert_eq!(report.kept as usize, expected.len(), "{name}");
    assert_eq!(
        report.kept - report.initialisation,
        events(set, &cut.selection).len() as u64,
        "{name}"
    );
    // Files that the whole does not have cannot be cut either.
    let was_missing = |row: &Damage| {
        let mut rows = set.damage.iter();
        row.kind == DamageKind::MissingStream && rows.any(|it| it.kind == row.kind)
    };
    for row in new.damage.iter().filter(|row| !was_missing(row)) {
        assert!(
            matches!(
                row.kind.name(),
                "discarded_events" | "lost_packets" | "incomparable_clocks"
            ),
            "{name}: {row:?}"
        );
    }
    (folder, report)
}

fn check_losses(set: &TraceSet, cut: &Trim, folder: &Path, report: &TrimReport, name: &str) {
    let range = cut.selection.time.clone().unwrap();
    let expected = losses(set, *range.start(), *range.end());
    let found = losses(&open(folder), Nanos(i64::MIN), Nanos(i64::MAX));
    assert_eq!(found, expected, "{name}");
    let reported = (report.damage.iter())
        .filter(|row| matches!(row.kind.name(), "discarded_events" | "lost_packets"))
        .count();
    assert_eq!(reported, expected.len(), "{name}");
}

/// babeltrace2 shows as many events, and complains of losses alone.
fn check_with_babeltrace(folder: &Path, report: &TrimReport, losses_are_reported: bool) {
    let case = folder.display();
    let Some(printed) = babeltrace(folder) else {
        return;
    };
    assert_eq!(printed.lines.len() as u64, report.kept, "{case}");
    let complaints: Vec<&str> = (printed.errors.lines())
        .filter(|line| !line.is_empty() && !line.contains("Fallback to [sec.ns]"))
        .collect();
    let of_losses = complaints
        .iter()
        .all(|line| line.contains("WARNING: Tracer") || line.contains("discarded"));
    assert!(of_losses, "{case}: {}", printed.errors);
    let errors = &printed.errors;
    assert_eq!(
        complaints.is_empty(),
        !losses_are_reported,
        "{case}: {errors}"
    );
}

/// First and last time of the events.
fn span(events: &[ReadEvent]) -> Option<(i64, i64)> {
    let time = |event: &ReadEvent| event.nanos.map(|nanos| nanos.0);
    let times = || events.iter().filter_map(time);
    times().min().zip(times().max())
}

/// The times between which parts of the trace lie: a fifth after the start, a part in the middle, the end.
fn ranges(all: &[ReadEvent]) -> Vec<(i64, i64)> {
    let Some((first, last)) = span(all) else {
        return vec![(i64::MIN, i64::MAX)];
    };
    let at = |percent: i64| first + ((last - first) as i128 * i128::from(percent) / 100) as i64;
    vec![
        (i64::MIN, i64::MAX),
        (first, last),
        (at(20), at(40)),
        (at(50), at(51)),
        (at(80), i64::MAX),
        (i64::MIN, at(10)),
        // Two events that follow each other, and a time between events.
        (all[all.len() / 2].nanos.map_or(0, |nanos| nanos.0), at(95)),
        (last + 1, last + 2),
    ]
}

/// All ranges, with and without initialisation, on a trace that has nothing wrong but losses.
fn check_all(folder: &Path, name: &str, with_babeltrace: bool) {
    let set = open(folder);
    let all = events(&set, &Selection::default());
    for (number, (from, to)) in ranges(&all).into_iter().enumerate() {
        for cut in [cut(from, to), with_initialisation(&cut(from, to))] {
            let is_plain = cut.initialisation.is_empty();
            let kind = if is_plain { "plain" } else { "init" };
            let name = format!("{name}-{number}-{kind}");
            let (folder, report) = check(&set, &cut, &name);
            check_losses(&set, &cut, &folder, &report, &name);
            if with_babeltrace {
                let lossy = !losses(&set, Nanos(from), Nanos(to)).is_empty();
                check_with_babeltrace(&folder, &report, lossy);
            }
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}

#[test]
fn parts_of_recordings_have_their_events() {
    for name in ["pingpong", "lifecycle_caret"] {
        check_all(&testdata().join(name), &format!("cut-{name}"), true);
    }
}

#[test]
fn losses_in_the_range_are_reported_and_no_others() {
    check_all(&testdata().join("lossy"), "cut-lossy", true);
}

#[test]
fn the_whole_range_keeps_every_event_and_every_byte_of_the_metadata() {
    let source = testdata().join("pingpong");
    let set = open(&source);
    let (folder, report) = check(&set, &Trim::default(), "cut-everything");
    assert_eq!(report.kept, 9644);
    assert_eq!(report.read, 9644);
    assert_eq!(report.initialisation, 0);
    assert!(report.damage.is_empty());
    let metadata = "ust/uid/0/64-bit/metadata";
    assert_eq!(
        std::fs::read(folder.join(metadata)).unwrap(),
        std::fs::read(source.join(metadata)).unwrap()
    );
    for name in ["ros2_0", "ros2_1"] {
        let index = format!("ust/uid/0/64-bit/index/{name}.idx");
        assert!(folder.join(index).is_file());
    }
}

#[test]
fn filters_select_events_processes_threads_and_cpus() {
    let set = open(&testdata().join("pingpong"));
    let all = events(&set, &Selection::default());
    let (first, last) = span(&all).unwrap();
    let time = Some(Nanos(first + (last - first) / 3)..=Nanos(last - (last - first) / 3));
    let vpid = |event: &ReadEvent| match event.values[0].1.members().unwrap()[0] {
        rostrace_ctf::Value::Signed(vpid) => vpid,
        _ => panic!("the first context is not vpid"),
    };
    let process = vpid(&all[0]);
    let mut selections = vec![Selection::default(); 5];
    selections[0].events = vec!["ros2:callback_*".to_owned()];
    selections[1].events = vec!["ros2:rcl_publish".to_owned()];
    selections[2].vpids = vec![process];
    selections[3].vtids = vec![process];
    selections[4].cpus = vec![1];
    for selection in &mut selections[1..] {
        selection.time.clone_from(&time);
    }
    for (number, selection) in selections.into_iter().enumerate() {
        let cut = Trim {
            selection,
            initialisation: Vec::new(),
        };
        for cut in [cut.clone(), with_initialisation(&cut)] {
            let name = format!("cut-filter-{number}-{}", cut.initialisation.len());
            let (folder, report) = check(&set, &cut, &name);
            assert!(report.kept > 0 && report.kept < all.len() as u64, "{name}");
            assert_eq!(
                report.initialisation > 0,
                !cut.initialisation.is_empty(),
                "{name}"
            );
            check_with_babeltrace(&folder, &report, false);
        }
    }
}

#[test]
fn a_cut_of_a_cut_is_the_cut_of_the_whole() {
    for name in ["pingpong", "lossy", "lifecycle_caret"] {
        let set = open(&testdata().join(name));
        let (first, last) = span(&events(&set, &Selection::default())).unwrap();
        let length = last - first;
        let wide = cut(first + length / 10, last - length / 10);
        let narrow = cut(first + length / 3, last - length / 2);
        for (wide, narrow) in [
            (wide.clone(), narrow.clone()),
            (with_initialisation(&wide), with_initialisation(&narrow)),
            (with_initialisation(&wide), narrow.clone()),
        ] {
            let (once, report) = write(&narrow, &set, &format!("cut-once-{name}"));
            let (half, _) = write(&wide, &set, &format!("cut-half-{name}"));
            let (twice, _) = write(&narrow, &open(&half), &format!("cut-twice-{name}"));
            check_losses(&open(&half), &narrow, &twice, &report, name);
            let (once, twice) = (open(&once), open(&twice));
            assert_same(
                &events(&twice, &Selection::default()),
                &events(&once, &Selection::default()),
                name,
            );
            let all = |set| losses(set, Nanos(i64::MIN), Nanos(i64::MAX));
            assert_eq!(all(&twice), all(&once), "{name}");
        }
    }
}

#[test]
fn a_cut_that_selects_nothing_is_a_valid_trace() {
    let set = open(&testdata().join("pingpong"));
    let (folder, report) = write(&cut(0, 1), &set, "cut-nothing");
    assert_eq!((report.kept, report.streams), (0, 0));
    assert!(events(&open(&folder), &Selection::default()).is_empty());
    check_with_babeltrace(&folder, &report, false);
}

#[test]
fn a_cut_can_be_stopped() {
    let set = open(&testdata().join("pingpong"));
    let folder = empty_folder("cut-stopped");
    let report = Trim::default().write(&set, &folder, &mut |bytes| bytes == 0);
    assert!(report.unwrap().is_none());
}

#[test]
fn several_traces_stay_apart() {
    let names = ["pingpong", "lifecycle_caret"];
    let set = TraceSet::open(&names.map(|name| testdata().join(name))).unwrap();
    let (folder, _) = check(&set, &Trim::default(), "cut-several");
    for name in names {
        assert!(
            folder
                .join(name)
                .join("ust/uid/0/64-bit/metadata")
                .is_file()
        );
    }
}

#[test]
fn recordings_of_lttng_are_cut_in_all_their_forms() {
    let Some(folder) = shared_folder("traces/ust") else {
        return;
    };
    for trace in folders(&folder) {
        let name = trace.file_name().unwrap().to_string_lossy().into_owned();
        check_all(&trace, &format!("cut-ust-{name}"), true);
    }
}

#[test]
fn recordings_of_ros_2_are_cut() {
    for name in [
        "jazzy/churn_caret",
        "jazzy/lossy_overwrite",
        "jazzy/names",
        "humble/intra_caret",
        "humble/services",
        "public/tracecompass-ros2-humble",
        "public/caret-talker-listener-galactic",
    ] {
        let Some(folder) = shared_folder(&format!("traces/{name}")) else {
            continue;
        };
        check_all(&folder, &format!("cut-{}", name.replace('/', "-")), true);
    }
}

/// The conformance suite: every field class in every position, one event or a few in each trace.
fn check_suite(version: &str, at_least: usize) {
    let Some(folder) = shared_folder(&format!("ctf-suite/{version}/succeed")) else {
        return;
    };
    let traces = folders(&folder);
    assert!(traces.len() >= at_least, "only {}", traces.len());
    for trace in traces {
        let name = trace.file_name().unwrap().to_string_lossy().into_owned();
        let set = open(&trace);
        let all = events(&set, &Selection::default());
        let mut cuts: Vec<Trim> = vec![Trim::default()];
        cuts.extend(ranges(&all).into_iter().map(|(from, to)| cut(from, to)));
        // Without the first event everything behind it may lie elsewhere in its packet.
        let second = all.get(1).and_then(|event| event.nanos);
        cuts.extend(second.map(|nanos| cut(nanos.0, i64::MAX)));
        for (number, cut) in cuts.iter().enumerate() {
            let (folder, _) = check(&set, cut, &format!("cut-suite-{version}-{name}-{number}"));
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}

#[test]
fn the_conformance_suite_is_cut() {
    check_suite("1", 150);
    check_suite("2", 300);
}

/// Whether the packets of all streams say both sizes, so that they can have padding.
fn all_can_be_padded(trace: &RandomTrace) -> bool {
    (trace.schema.streams.iter()).all(|stream| {
        let context = stream.packet_context.as_ref();
        let says = |name| context.is_some_and(|context| context.member(name).is_some());
        says("content_size") && says("packet_size")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn random_parts_of_random_traces_have_their_events(
        trace in random_trace(Profile::Ctf1),
        first in 0.0..1.0f64,
        second in 0.0..1.0f64,
        by_name: bool,
    ) {
        let source = empty_folder("cut-random-source");
        trace.write(&source);
        let set = open(&source);
        let all = events(&set, &Selection::default());
        let at = |part: f64| {
            let event = all.get((part * all.len() as f64) as usize);
            event.and_then(|event| event.nanos)
        };
        let mut cut = Trim::default();
        cut.selection.time = at(first.min(second)).zip(at(first.max(second))).map(|(from, to)| from..=to);
        if by_name {
            cut.selection.events = vec!["*\"[02468]\"".to_owned()];
        }
        let folder = empty_folder("cut-random");
        match try_write(&cut, &set, &folder) {
            Ok(report) => {
                let mut found = events(&open(&folder), &Selection::default());
                let mut expected = expected(&set, &cut);
                if found.len() < expected.len() && !all_can_be_padded(&trace) {
                    // Packets with one size alone, without numbers, and with the same event at the same time cannot
                    // be made different: readers take the second one for a copy of the first.
                    found.dedup();
                    expected.dedup();
                }
                prop_assert_eq!(&found, &expected);
                if let Some(printed) = babeltrace(&folder) {
                    prop_assert_eq!(printed.errors, "");
                    let all = found.len() as u64 == report.kept;
                    prop_assert!(printed.lines.len() as u64 == report.kept || !all);
                }
            }
            // Only if the packets of a stream do not tell the whole time.
            Err(TrimError::TimeUnknown { .. }) => {
                prop_assert!(set.streams().any(|id| set.stream(id).sequential));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}
