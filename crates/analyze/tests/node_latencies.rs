//! From input to output in a node, whoever says so: each pair of messages once, by the best witness.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rostrace_analyze::Analysis;
use rostrace_analyze::node_latency::{Basis, NodeLatency, node_latencies};
use rostrace_architecture::{ContextType, from_trace_with_flows, read};
use rostrace_ctf::schema::Nanos;

use crate::observed::truth::{Message, dependences, logs, messages};
use crate::observed::{open, whole};
use crate::support::Payload::Pointers;
use crate::support::{Flavour, Recording, recording::EPOCH, stamp, time};

fn all(analysis: &Analysis<'_>) -> Vec<NodeLatency> {
    let mut rows = Vec::new();
    node_latencies(analysis, &mut |row| {
        rows.push(*row);
        Ok(())
    })
    .unwrap();
    rows
}

/// Received, published, and who says so; times in microseconds after 9 ms.
fn reported(analysis: &Analysis<'_>) -> Vec<(i64, i64, &'static str)> {
    let short = |at: Nanos| (at.0 - EPOCH) / 1_000 - 9_000;
    let row = |row: NodeLatency| {
        let publish = analysis.publication(row.output).publish;
        (short(row.received), short(publish), row.basis.name())
    };
    all(analysis).into_iter().map(row).collect()
}

/// Publishers of /a and /c; a node that receives both (callbacks 0x50 and 0x60) and publishes /b (0x21), which a link declares.
fn fusion(link: Option<&str>) -> Recording {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording.process_of(100, "app", (0x10, "/source"));
    recording.publisher(0x20, 0x10, "/a");
    recording.publisher(0x22, 0x10, "/c").node(0x11, "/fusion");
    recording.subscription(0x30, 0x11, "/a", 0x50);
    recording.subscription(0x40, 0x11, "/c", 0x60);
    recording.publisher(0x21, 0x11, "/b");
    if let Some(link) = link {
        let (inputs, outputs) = (Pointers(vec![0x30, 0x40]), Pointers(vec![0x21]));
        recording.event(link, &[("subs", inputs), ("pubs", outputs)]);
    }
    recording
}

/// /a comes and is stored; /c comes, and /b is published in its callback. Then /a comes again, and /b is published outside.
fn run(recording: &mut Recording) {
    input(recording, 9_000_000, 0x20, 0x30);
    recording.at(9_100_000).run(0x50);
    input(recording, 9_130_000, 0x22, 0x40);
    recording.at(9_200_000).start(0x60);
    recording.at(9_210_000).publish(0x21, 0x8, stamp(9_210_000));
    recording.at(9_220_000).end(0x60);
    input(recording, 9_230_000, 0x20, 0x30);
    recording.at(9_300_000).run(0x50);
    recording.at(9_400_000).publish(0x21, 0x8, stamp(9_400_000));
}

/// A message is published, and taken a little later.
fn input(recording: &mut Recording, at: u64, publisher: u64, subscription: u64) {
    recording.at(at).publish(publisher, 0x7, stamp(at));
    recording.at(at + 20_000);
    recording.rmw_take(subscription, 0x7000, stamp(at));
}

#[test]
fn without_a_declaration_what_was_observed_is_reported_and_what_was_stored_is_assumed() {
    let mut recording = fusion(None);
    run(&mut recording);
    let model = recording.load();
    let expected = [(200, 210, "observed"), (100, 210, "assumed")];
    assert_eq!(reported(&whole(&model)), expected);
}

#[test]
fn links_add_what_was_stored_and_do_not_repeat_what_was_observed() {
    let basis = "message_link_periodic_async";
    let mut recording = fusion(Some("ros2:message_link_periodic_async"));
    run(&mut recording);
    let model = recording.load();
    let expected = [
        (200, 210, "observed"),
        (100, 210, basis),
        (300, 400, basis),
        (200, 400, basis),
    ];
    assert_eq!(reported(&whole(&model)), expected);

    let basis = "message_link_partial_sync";
    let mut recording = fusion(Some("ros2:message_link_partial_sync"));
    run(&mut recording);
    let model = recording.load();
    // What the first output used is not used again.
    let expected = [(200, 210, "observed"), (100, 210, basis), (300, 400, basis)];
    assert_eq!(reported(&whole(&model)), expected);
    let inputs: Vec<bool> = all(&whole(&model))
        .iter()
        .map(|row| row.input.is_some())
        .collect();
    assert_eq!(inputs, [true; 3]);
}

#[test]
fn what_was_taken_by_hand_before_a_publish_was_used_for_it() {
    let mut recording = fusion(None);
    recording.timer(0x61, 0x11, 1_000_000, 0x71);
    // Published: twice /a, and /c, which nobody takes in time.
    for (at, publisher) in [(9_000_000, 0x20), (9_010_000, 0x20), (9_020_000, 0x22)] {
        recording.at(at).publish(publisher, 0x7, stamp(at));
    }
    recording.at(9_100_000).start(0x71);
    let take = |recording: &mut Recording, at: u64, subscription: u64, sent: u64| {
        recording.at(at).rmw_take(subscription, 0x7000, stamp(sent));
    };
    take(&mut recording, 9_110_000, 0x30, 9_000_000);
    take(&mut recording, 9_120_000, 0x30, 9_010_000);
    recording.at(9_130_000).publish(0x21, 0x8, stamp(9_130_000));
    take(&mut recording, 9_140_000, 0x40, 9_020_000);
    recording.at(9_150_000).end(0x71);
    let model = recording.load();
    assert_eq!(reported(&whole(&model)), [(120, 130, "taken")]);
}

#[test]
fn message_contexts_of_a_file_come_last() {
    let mut recording = fusion(None);
    run(&mut recording);
    let model = recording.load();
    let mut architecture = from_trace_with_flows(&model);
    let latest = Some(ContextType::UseLatestMessage);
    for input in ["/a", "/c"] {
        architecture
            .update_message_context("/fusion", latest, input, "/b")
            .unwrap();
    }
    let mut analysis = whole(&model);
    analysis.architecture = Some(&architecture);
    let basis = "use_latest_message";
    let mut found = reported(&analysis);
    found.sort();
    let expected = [
        (100, 210, basis),
        (200, 210, "observed"),
        (200, 400, basis),
        (300, 400, basis),
    ];
    assert_eq!(found, expected);

    // Only what was received in the range of time counts.
    analysis.window = time(9_250_000)..=time(9_999_000);
    assert_eq!(reported(&analysis), [(300, 400, basis)]);
}

#[test]
fn with_an_architecture_all_that_the_programs_logged_is_found_and_nothing_else() {
    for (name, recorded) in open([
        "jazzy/chain_caret",
        "humble/chain_caret",
        "jazzy/intra_caret",
        "humble/intra_caret",
    ]) {
        let file = rostrace_testkit::recordings::find(&format!(
            "{name}/expected/edited_architecture.yaml"
        ));
        let text = fs::read_to_string(file.unwrap()).unwrap();
        let architecture = read(&text).unwrap().architecture;
        let logs = logs(&recorded);
        let known = messages(&recorded.model, &logs);
        let (direct, stored) = dependences(&logs);
        let logged: BTreeSet<&[Message; 2]> = direct.iter().chain(&stored).collect();
        let outputs: BTreeSet<&Message> = logged.iter().map(|pair| &pair[0]).collect();

        let mut analysis = whole(&recorded.model);
        let observed = all(&analysis).into_iter();
        let observed = observed.filter(|row| row.basis == Basis::Observed).count();
        analysis.architecture = Some(&architecture);
        let rows = all(&analysis);
        let mut of_basis: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found: BTreeSet<[Message; 2]> = BTreeSet::new();
        for row in &rows {
            *of_basis.entry(row.basis.name()).or_default() += 1;
            let [output, input] = [Some(row.output), row.input].map(|id| Some(&known.get(&id?)?.1));
            if let (Some(output), Some(input)) = (output, input)
                && outputs.contains(output)
            {
                assert!(
                    found.insert([output.clone(), input.clone()]),
                    "{name}: {output:?} from {input:?} is reported twice"
                );
            }
        }
        eprintln!(
            "{name}: {of_basis:?}, {} of {} logged",
            found.len(),
            logged.len()
        );
        let found: BTreeSet<&[Message; 2]> = found.iter().collect();
        let missing: Vec<_> = logged.difference(&found).collect();
        let invented: Vec<_> = found.difference(&logged).collect();
        assert!(missing.is_empty(), "{name}: {} {missing:?}", missing.len());
        assert!(
            invented.is_empty(),
            "{name}: {} {invented:?}",
            invented.len()
        );
        assert_eq!(of_basis["observed"], observed, "{name}");
    }
}
