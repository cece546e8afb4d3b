//! What our own style does where CARET is wrong, on traces made up for the purpose.

mod message_context;

use message_context::{publish_stamped, relay};
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::paths::{Ends, PathError};
use rostrace_analyze::declared::records::{Cell, Records};
use rostrace_analyze::declared::tables::{Indexed, Link};
use rostrace_architecture::node_path::node_paths;
use rostrace_architecture::{Architecture, ContextType, Endpoint, from_trace_with_flows};
use rostrace_model::Model;

use crate::observed::path_through;
use crate::support::{Flavour, Recording, recording, stamp};

/// Times of the recording, without its epoch.
fn times(records: &Records) -> Vec<Vec<Cell>> {
    let cell = |cell: &Cell| cell.map(|value| value - recording::EPOCH);
    let row = |row: &Vec<Cell>| row.iter().map(cell).collect();
    records.rows.iter().map(row).collect()
}

fn ends(records: &Records) -> Vec<(Cell, Cell)> {
    let row = |row: Vec<Cell>| (row[0], row[row.len() - 1]);
    times(records).into_iter().map(row).collect()
}

fn link<'a>(architecture: &'a Architecture, from: &str, topic: &str, to: &str) -> Link<'a> {
    let (publishing_node, subscribing_node) = (
        architecture.node(from).unwrap(),
        architecture.node(to).unwrap(),
    );
    let subscription = Endpoint::new(topic, 0);
    let callback = subscribing_node.subscription(&subscription).unwrap();
    Link {
        publishing_node,
        publisher: Endpoint::new(topic, 0),
        subscribing_node,
        callback: callback.callback.clone().unwrap(),
        subscription,
    }
}

/// What the trace tells, and how a node makes /b from /a.
fn with_context(model: &Model, node: &str, context: ContextType) -> Architecture {
    let mut architecture = from_trace_with_flows(model);
    let updated = architecture.update_message_context(node, Some(context), "/a", "/b");
    updated.unwrap();
    architecture
}

fn node_path(model: &Model, architecture: &Architecture, node: &str, style: Style) -> Records {
    let node = architecture.node(node).unwrap();
    let all = node_paths(node);
    let both = |path: &&rostrace_architecture::node_path::NodePath<'_>| {
        path.subscription.is_some() && path.publisher.is_some()
    };
    let path = all.paths.iter().find(both).unwrap();
    Indexed::new(model, style).node_path(node, path).unwrap()
}

/// A process with a publisher of /a at 0x20 and an intra-process subscription with one place.
fn inside() -> Recording {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording.process_of(100, "app", (0x10, "/talker"));
    recording.node(0x11, "/listener");
    recording.publisher(0x20, 0x10, "/a");
    recording.intra_subscription(0x30, 0x11, "/a", 0x50, 1);
    recording
}

#[test]
fn a_message_that_was_overwritten_inside_a_process_has_a_row_without_a_callback() {
    let mut recording = inside();
    recording.at(9_010_000).intra_publish(0x20, 0x7);
    recording.enqueue(0x33, 0, false);
    recording.at(9_020_000).intra_publish(0x20, 0x8);
    recording.enqueue(0x33, 0, true);
    recording.at(9_030_000).receive_intra(0x33, 0, 0x51);
    let model = recording.load();
    let architecture = from_trace_with_flows(&model);
    let link = link(&architecture, "/talker", "/a", "/listener");
    let own = Indexed::new(&model, Style::Own).communication(&link);
    assert_eq!(
        times(&own),
        [[Some(9_010_000), None], [Some(9_020_000), Some(9_031_000)]]
    );
    assert_eq!(own.columns[0], "/a/rclcpp_publish_timestamp");
    let caret = Indexed::new(&model, Style::Caret).communication(&link);
    assert_eq!(times(&caret), [[Some(9_020_000), Some(9_031_000)]]);
}

#[test]
fn a_pair_that_communicates_both_ways_has_one_table() {
    // The same node name in the process of the publisher and in another one.
    let mut recording = inside();
    recording.process_of(200, "other", (0x11, "/listener"));
    recording.subscription(0x30, 0x11, "/a", 0x50);
    recording.process(100, "app");
    recording.at(9_100_000).intra_publish(0x20, 0x7);
    recording.enqueue(0x33, 0, false);
    recording.publish(0x20, 0x7, stamp(9_103_000));
    recording.at(9_110_000).receive_intra(0x33, 0, 0x51);
    recording.process(200, "other");
    recording
        .at(9_120_000)
        .receive(0x30, stamp(9_103_000), 0x50);
    let model = recording.load();
    let architecture = from_trace_with_flows(&model);
    let link = link(&architecture, "/talker", "/a", "/listener");
    let own = Indexed::new(&model, Style::Own).communication(&link);
    assert_eq!(
        ends(&own),
        [
            (Some(9_100_000), Some(9_111_000)),
            (Some(9_100_000), Some(9_121_000))
        ]
    );
}

#[test]
fn a_path_that_cannot_be_followed_is_an_error_that_names_the_stage() {
    let mut recording = relay();
    recording.node(0x12, "/sink");
    recording.subscription(0x31, 0x12, "/b", 0x70);
    publish_stamped(&mut recording, 9_100_000, 0x20, 1);
    let model = recording.load();
    let architecture = from_trace_with_flows(&model);
    let path = path_through("all", &[("/source", "/a"), ("/relay", "/b")], "/sink");
    let follow = |style| Indexed::new(&model, style).path(&architecture, &path, Ends::default());
    let error = follow(Style::Own).unwrap_err();
    assert!(matches!(error, PathError::NoContext { .. }));
    assert_eq!(
        error.to_string(),
        "the path all cannot be followed through the node /relay: nothing says how /b is made from /a; `rostrace \
         architecture set-context FILE /relay /a /b use_latest_message` declares that it is made from the newest one, or declare variable passings"
    );
    // CARET's ends silently before it.
    let shorter = follow(Style::Caret).unwrap();
    let last = shorter.columns.last().unwrap();
    assert!(last.starts_with("/relay/"), "{last}");
}

#[test]
fn two_lives_of_a_node_do_not_feed_each_other() {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    for (pid, name) in [(100, "one"), (200, "two")] {
        recording.process(pid, name).context(0x1);
        recording.node(0x10, "/relay");
        recording.subscription(0x30, 0x10, "/a", 0x50);
        recording.publisher(0x20, 0x10, "/b");
    }
    // The first one receives, the second one publishes.
    recording.process(100, "one");
    recording
        .at(9_100_000)
        .receive(0x30, stamp(9_090_000), 0x50);
    recording.process(200, "two");
    recording.at(9_110_000).publish(0x20, 0x7, stamp(9_110_000));
    let model = recording.load();
    let architecture = with_context(&model, "/relay", ContextType::UseLatestMessage);
    let own = node_path(&model, &architecture, "/relay", Style::Own);
    assert_eq!(ends(&own), [(Some(9_101_000), None)]);
    let caret = node_path(&model, &architecture, "/relay", Style::Caret);
    assert_eq!(ends(&caret), [(Some(9_101_000), Some(9_110_000))]);
}

#[test]
fn messages_taken_by_hand_lead_along_a_path() {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording.process_of(100, "app", (0x10, "/source"));
    recording.publisher(0x20, 0x10, "/a").node(0x11, "/poller");
    recording.subscription(0x30, 0x11, "/a", 0x50);
    recording.publisher(0x21, 0x11, "/b").node(0x12, "/sink");
    recording.subscription(0x31, 0x12, "/b", 0x70);
    for at in [9_100_000, 9_110_000] {
        recording.at(at).publish(0x20, 0x7, stamp(at));
    }
    recording.at(9_120_000);
    recording.rmw_take(0x30, 0x7, stamp(9_100_000));
    recording.rmw_take(0x30, 0x7, stamp(9_110_000));
    recording.rmw_take_in_vain(0x30);
    recording.at(9_130_000).publish(0x21, 0x7, stamp(9_130_000));
    recording.at(9_140_000);
    recording.receive(0x31, stamp(9_130_000), 0x70);
    let model = recording.load();
    let architecture = with_context(&model, "/poller", ContextType::UseLatestMessage);
    let path = path_through("all", &[("/source", "/a"), ("/poller", "/b")], "/sink");
    let own = Indexed::new(&model, Style::Own);
    let records = own.path(&architecture, &path, Ends::default()).unwrap();
    assert_eq!(
        ends(&records),
        [(Some(9_100_000), None), (Some(9_110_000), Some(9_141_000))]
    );
    assert!(
        records
            .columns
            .contains(&"/poller/rmw_take_timestamp/0".to_owned())
    );
}

#[test]
fn a_message_lost_on_its_way_to_another_process_ends_early_in_both_styles() {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording.process_of(100, "app", (0x10, "/talker"));
    recording.publisher(0x20, 0x10, "/a");
    recording.process_of(200, "other", (0x11, "/listener"));
    recording.subscription(0x30, 0x11, "/a", 0x50);
    recording.process(100, "app");
    for at in [9_100_000, 9_117_000, 9_119_500] {
        recording.at(at).publish(0x20, 0x7, stamp(at + 2_000));
    }
    recording.process(200, "other");
    recording
        .at(9_130_000)
        .receive(0x30, stamp(9_102_000), 0x50);
    recording.at(9_140_000);
    recording.receive(0x30, stamp(9_121_500), 0x50);
    let model = recording.load();
    let architecture = from_trace_with_flows(&model);
    let link = link(&architecture, "/talker", "/a", "/listener");
    for style in [Style::Caret, Style::Own] {
        let found = Indexed::new(&model, style).communication(&link);
        // rclcpp, rcl, middleware, source, callback.
        let expected = [
            (9_100_000, Some(9_131_000)),
            (9_117_000, None),
            (9_119_500, Some(9_141_000)),
        ]
        .map(|(at, start)| {
            let layers = [at, at + 1_000, at + 2_000, at + 2_000].map(Some);
            layers.into_iter().chain([start]).collect::<Vec<_>>()
        });
        assert_eq!(times(&found), expected, "{style:?}");
    }
}

#[test]
fn one_message_in_two_ring_buffers_reaches_two_callbacks() {
    let mut recording = inside();
    recording.node(0x12, "/other");
    recording.intra_subscription(0x40, 0x12, "/a", 0x60, 1);
    recording.at(9_100_000).intra_publish(0x20, 0x7);
    recording.enqueue(0x33, 0, false).enqueue(0x43, 0, false);
    recording.at(9_110_000).receive_intra(0x33, 0, 0x51);
    recording.at(9_120_000).receive_intra(0x43, 0, 0x61);
    let model = recording.load();
    let architecture = from_trace_with_flows(&model);
    for style in [Style::Caret, Style::Own] {
        let indexed = Indexed::new(&model, style);
        for (node, start) in [("/listener", 9_111_000), ("/other", 9_121_000)] {
            let found = indexed.communication(&link(&architecture, "/talker", "/a", node));
            assert_eq!(times(&found), [[Some(9_100_000), Some(start)]], "{style:?}");
        }
    }
}

#[test]
fn a_message_is_followed_inside_a_process_by_its_address_before_iron() {
    let mut recording = Recording::new(Flavour::HumbleFork, "robot");
    recording.process_of(100, "app", (0x10, "/talker"));
    recording.publisher(0x20, 0x10, "/a");
    recording.node(0x11, "/listener");
    recording.intra_subscription(0x30, 0x11, "/a", 0x50, 1);
    recording.at(9_100_000).intra_publish(0x20, 0x7);
    recording.construct(0x7, 0x8);
    recording.at(9_110_000).dispatch_intra(0x51, 0x8);
    recording.start_with(0x51, true);
    recording.end(0x51);
    let model = recording.load();
    let architecture = from_trace_with_flows(&model);
    for style in [Style::Caret, Style::Own] {
        let indexed = Indexed::new(&model, style);
        let found = indexed.communication(&link(&architecture, "/talker", "/a", "/listener"));
        assert_eq!(
            times(&found),
            [[Some(9_100_000), Some(9_111_000)]],
            "{style:?}"
        );
    }
}

#[test]
fn processes_without_carets_library_are_in_our_tables() {
    let mut recording = Recording::new(Flavour::Jazzy, "robot");
    recording.process(100, "with").context(0x1);
    recording.caret_init(1_000_000, "jazzy");
    recording.process_of(200, "without", (0x10, "/n"));
    recording.timer(0x20, 0x10, 1_000_000, 0x50);
    recording.at(9_100_000).run(0x50);
    let model = recording.load();
    let architecture = from_trace_with_flows(&model);
    let node = architecture.node("/n").unwrap();
    let rows = |style| {
        let indexed = Indexed::new(&model, style);
        assert_eq!(indexed.left_out(), 1);
        indexed.callback(node, &node.callbacks[0]).rows.len()
    };
    assert_eq!((rows(Style::Caret), rows(Style::Own)), (0, 1));
}
