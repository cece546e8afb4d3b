//! The Firefox Profiler's format, read back and compared with Perfetto's, which is given the same timeline.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use rostrace_analyze::Selection;
use rostrace_ctf::TraceSet;
use rostrace_report::timeline::{Format, is_packed};

use crate::timeline::decoded::{Decoded, decode};
use crate::timeline::profile::{Marker, Profile, read};
use crate::timeline::{ALWAYS, Loaded, recordings, write};
use crate::trace_support::Recording;
use crate::trace_support::application::Given;
use crate::trace_support::kernel::{ASLEEP, PREEMPTED};

fn both(loaded: &Loaded) -> (Profile, Decoded) {
    let (analysis, damage) = (loaded.analysis(ALWAYS), loaded.damage());
    let selection = Selection::default();
    let (profile, shown) = write(Format::Firefox, &analysis, &selection, &damage);
    let (perfetto, expected) = write(Format::Perfetto, &analysis, &selection, &damage);
    assert_eq!(
        (
            shown.executions,
            shown.messages,
            shown.drops,
            shown.user_events
        ),
        (
            expected.executions,
            expected.messages,
            expected.drops,
            expected.user_events
        )
    );
    (read(&profile), decode(&perfetto))
}

fn begin_of(decoded: &Decoded) -> i64 {
    decoded.notes["rostrace.begin_ns"].parse().unwrap()
}

#[test]
fn every_recording_has_the_same_slices_instants_and_arrows_as_for_perfetto() {
    for folder in recordings() {
        let loaded = Loaded::of(TraceSet::open(&[&folder]).unwrap());
        let (profile, decoded) = both(&loaded);
        let begin = begin_of(&decoded);
        let mut found: Vec<(String, String, i64, Option<i64>)> = (profile.markers.iter())
            .filter(|marker| marker.category != "cpu")
            .map(|it| {
                let begin = begin + it.begin;
                let duration = it.end.map(|end| end - it.begin);
                (it.category.clone(), it.event().to_owned(), begin, duration)
            })
            .collect();
        let all = decoded.slices.iter().chain(&decoded.instants);
        let mut expected: Vec<(String, String, i64, Option<i64>)> = all
            .map(|it| {
                let duration = it.end.map(|end| end - it.begin);
                (it.category.clone(), it.name.clone(), it.begin, duration)
            })
            .collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert!(!found.is_empty());
        assert!(found == expected, "{}", folder.display());

        // A flow is known to whom it comes from and to all whom it reaches.
        let sent: usize = decoded.slices.iter().map(|it| it.sends.len()).sum();
        let mut flows: BTreeMap<&str, Vec<&Marker>> = BTreeMap::new();
        for marker in &profile.markers {
            for flow in &marker.flows {
                flows.entry(flow).or_default().push(marker);
            }
        }
        let reached: usize = (flows.values())
            .filter(|markers| markers.iter().any(|it| it.category == "publish"))
            .map(|markers| markers.len() - 1)
            .sum();
        assert_eq!(reached, sent, "{}", folder.display());
        for markers in flows.values() {
            let first = markers.iter().map(|it| it.begin).min().unwrap();
            let senders = markers.iter().filter(|it| it.begin == first);
            assert!(markers.len() > 1 && senders.count() == 1);
        }

        let mut processes = BTreeSet::new();
        for thread in profile.threads.iter().filter(|it| it.is_main) {
            assert!(processes.insert(&thread.pid), "{}", thread.pid);
        }
        let of_perfetto = decoded
            .tracks
            .values()
            .filter_map(|it| it.tid.is_none().then_some(it.pid)?);
        for pid in of_perfetto {
            assert!(processes.contains(&pid.to_string()), "{pid}");
        }
        assert_eq!(
            profile
                .counters
                .iter()
                .map(|(_, it)| it.len())
                .sum::<usize>(),
            decoded.counts.len()
        );
    }
}

#[test]
fn fields_are_those_of_perfetto_under_names_that_the_program_leaves_alone() {
    let folder = recordings().remove(0);
    let (profile, decoded) = both(&Loaded::of(TraceSet::open(&[&folder]).unwrap()));
    let begin = begin_of(&decoded);
    let by_begin: BTreeMap<i64, &Marker> = (profile.markers.iter())
        .filter(|it| it.category == "callback")
        .map(|it| (begin + it.begin, it))
        .collect();
    let mut compared = 0;
    for slice in decoded.slices.iter().filter(|it| it.category == "callback") {
        let marker = by_begin[&slice.begin];
        assert_eq!(marker.name, slice.name);
        for (key, value) in &slice.arguments {
            let field = &marker.fields[key.strip_suffix("_ns").unwrap_or(key)];
            let flag = value == "true" && field == "yes";
            assert!(
                flag || serde_text(value) == *field,
                "{key}: {value} {field}"
            );
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared}");
}

/// Texts are shown with quotes by the reader of Perfetto's format.
fn serde_text(value: &str) -> String {
    serde_json::from_str(value).unwrap_or_else(|_| value.to_owned())
}

#[test]
fn cpus_are_rows_of_a_process_that_stands_for_the_machine() {
    let mut recording = Recording::jazzy();
    recording.process(100, "app").context(0x1).node(0x10, "/n");
    recording.cpu(1).at(2_000_000).switch(0, PREEMPTED, 100);
    recording.at(2_200_000).switch(100, PREEMPTED, 55);
    recording.at(2_300_000).switch(55, ASLEEP, 0);
    recording.at(2_600_000).user_counter("end", 1.0);
    let (profile, _) = both(&Loaded::of(recording.open()));
    let running: Vec<(&str, &str, i64)> = (profile.markers.iter())
        .filter(|it| it.category == "cpu")
        .map(|it| (it.name.as_str(), it.event(), it.end.unwrap() - it.begin))
        .collect();
    assert_eq!(
        running,
        [
            ("CPU 1", "thread100", 200_000),
            ("CPU 1", "thread55", 100_000)
        ]
    );
    assert!(
        profile
            .threads
            .iter()
            .any(|it| it.process.starts_with("CPUs of"))
    );
}

#[test]
fn hostile_texts_and_numbers_are_a_valid_profile() {
    let name = "</script>\"'\\\u{202e}\n\u{1}x";
    let mut recording = Recording::jazzy();
    recording
        .process(100, "<b>\"'\\")
        .context(1)
        .node(0x10, name);
    let given = Given {
        integers: &[
            ("number", i64::MIN),
            ("stack", 7),
            ("type", 1),
            ("__proto__", 2),
        ],
        reals: &[("nan", f64::NAN), ("cause", 0.5)],
        texts: &[(name, &name.repeat(1_000)), ("number", "a text")],
    };
    recording.user_instant(name, &given);
    recording
        .user_counter(name, f64::NAN)
        .user_counter(name, 2.5)
        .user_counter(name, 1.0)
        .user_counter(name, f64::MAX)
        .user_counter(name, -f64::MAX);
    let (profile, _) = {
        let loaded = Loaded::of(recording.open());
        let (analysis, damage) = (loaded.analysis(ALWAYS), loaded.damage());
        let selection = Selection::default();
        let (bytes, written) = write(Format::Firefox, &analysis, &selection, &damage);
        (read(&bytes), written)
    };
    let said = profile.markers.iter().find(|it| it.category == "user");
    let said = said.unwrap();
    assert_eq!(said.name, name);
    assert_eq!(said.fields[&format!("given.{name}")], name.repeat(1_000));
    assert_eq!(said.fields["given.nan"], "NaN");
    assert_eq!(said.fields["given.cause"], "0.5");
    assert_eq!(said.fields["given.type"], "1");
    assert_eq!(said.fields["given.number"], i64::MIN.to_string());
    assert_eq!(said.fields["given.number (unique-string)"], "a text");
    let process = profile.threads.iter().find(|it| it.pid == "100").unwrap();
    assert_eq!(process.name, "<b>\"'\\");
    // What has no number is left out, as are steps that no number tells.
    let values: Vec<f64> = profile.counters[0].1.iter().map(|(_, it)| *it).collect();
    assert_eq!(values, [2.5, 1.0, f64::MAX]);
}

#[test]
fn a_packed_file_holds_the_same() {
    let folder = recordings().remove(0);
    let loaded = Loaded::of(TraceSet::open(&[&folder]).unwrap());
    let (analysis, damage) = (loaded.analysis(ALWAYS), loaded.damage());
    let selection = Selection::default();
    for format in [Format::Firefox, Format::Chrome, Format::Perfetto] {
        let (plain, _) = write(format, &analysis, &selection, &damage);
        let mut packed = Vec::new();
        let written = format
            .write_packed(&analysis, &selection, &damage, &mut packed)
            .unwrap();
        assert_eq!(written.bytes, packed.len() as u64);
        assert!(packed.len() * 2 < plain.len());
        let mut unpacked = Vec::new();
        let mut reader = flate2::read::GzDecoder::new(&packed[..]);
        reader.read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == plain);
    }
    assert!(is_packed("a.firefox.json.GZ") && !is_packed("a.json"));
}

#[test]
fn a_trace_without_anything_is_a_profile_that_can_be_opened() {
    let (profile, _) = both(&Loaded::of(TraceSet::open(&[] as &[&str]).unwrap()));
    assert_eq!(profile.threads.len(), 1);
    assert_eq!(profile.markers.len(), 0);
    assert_eq!(profile.meta["initialSelectedThreads"][0], 0);
}
