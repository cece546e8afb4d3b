//! What an output was made from: by stamps in headers, by TILDE, and by links that the application declares.

use rostrace_analyze::declared::Style;
use rostrace_analyze::message_link::linked_messages;
use rostrace_architecture::ContextType;
use rostrace_model::Model;

use crate::own_style::{node_path, times, with_context};
use crate::support::Payload::{Pointer, Pointers, Text, Unsigned};
use crate::support::{Flavour, Recording, recording, stamp};

/// A node that gets /a (callback 0x50) and publishes /b, both of CARET's fork for Galactic, whose messages tell their stamps.
pub(crate) fn relay() -> Recording {
    let mut recording = Recording::new(Flavour::GalacticFork, "robot");
    recording.process_of(100, "app", (0x10, "/source"));
    recording.publisher(0x20, 0x10, "/a").node(0x11, "/relay");
    recording.subscription(0x30, 0x11, "/a", 0x50);
    recording.publisher(0x21, 0x11, "/b");
    recording
}

/// A message with a header stamp, through all layers.
pub(crate) fn publish_stamped(recording: &mut Recording, at: u64, publisher: u64, header: u64) {
    let message = ("message", Pointer(0x7));
    let handle = ("publisher_handle", Pointer(publisher));
    recording.at(at).event(
        "ros2:rclcpp_publish",
        &[
            handle.clone(),
            message,
            ("message_timestamp", Unsigned(header)),
        ],
    );
    recording.rcl_publish(publisher, 0x7);
    recording.rmw_publish(publisher, 0x7, stamp(at));
}

#[test]
fn an_output_with_the_header_stamp_of_an_input_was_made_from_it() {
    let mut recording = relay();
    for (at, header) in [(9_010_000, 77), (9_020_000, 78), (9_030_000, 0)] {
        publish_stamped(&mut recording, at, 0x20, header);
    }
    for at in [9_010_000, 9_020_000, 9_030_000] {
        recording.at(at + 40_000).dispatch(0x50, stamp(at));
        recording.run(0x50);
    }
    // In another order, and one without a stamp.
    for (at, header) in [(9_090_000, 78), (9_100_000, 77), (9_110_000, 0)] {
        publish_stamped(&mut recording, at, 0x21, header);
    }
    let model = recording.load();
    let architecture = with_context(&model, "/relay", ContextType::InheritUniqueStamp);
    let own = node_path(&model, &architecture, "/relay", Style::Own);
    assert_eq!(
        times(&own),
        [
            [Some(9_051_000), Some(9_100_000)],
            [Some(9_061_000), Some(9_090_000)],
            [Some(9_071_000), None]
        ]
    );
    let caret = node_path(&model, &architecture, "/relay", Style::Caret);
    assert!(times(&caret).iter().all(|row| row[1].is_none()));
}

#[test]
fn tilde_says_which_input_an_output_was_made_from() {
    let mut recording = relay();
    let names = |node: &str, topic: &str| {
        [
            ("node_name", Text(node.into())),
            ("topic_name", Text(topic.into())),
        ]
    };
    for (event, field, address, topic) in [
        (
            "ros2_caret:tilde_subscription_init",
            "subscription",
            0x90,
            "/a",
        ),
        ("ros2_caret:tilde_publisher_init", "publisher", 0x91, "/b"),
        (
            "ros2_caret:tilde_subscribe_added",
            "subscription_id",
            0x92,
            "/a",
        ),
    ] {
        let mut fields = vec![(field, Pointer(address))];
        fields.extend(names("/relay", topic));
        recording.event(event, &fields);
    }
    for (at, message) in [(9_100_000, 5), (9_200_000, 6)] {
        recording
            .at(at)
            .dispatch(0x50, stamp(at))
            .start(0x50)
            .event(
                "ros2_caret:tilde_subscribe",
                &[
                    ("subscription", Pointer(0x90)),
                    ("tilde_message_id", Unsigned(message)),
                ],
            )
            .end(0x50);
    }
    for (at, message) in [(9_300_000, 6), (9_400_000, 5)] {
        recording.at(at).event(
            "ros2_caret:tilde_publish",
            &[
                ("publisher", Pointer(0x91)),
                ("tilde_publish_timestamp", Unsigned(at)),
                ("subscription_id", Pointer(0x92)),
                ("tilde_message_id", Unsigned(message)),
            ],
        );
        recording.publish(0x21, 0x7, stamp(at));
    }
    let model = recording.load();
    let architecture = with_context(&model, "/relay", ContextType::Tilde);
    let own = node_path(&model, &architecture, "/relay", Style::Own);
    assert_eq!(
        times(&own),
        [
            [Some(9_101_000), Some(9_401_000)],
            [Some(9_201_000), Some(9_301_000)]
        ]
    );
}

/// Two inputs (callbacks 0x50 and 0x60) and an output at 0x21, declared to be linked.
fn linked(event: &str) -> Recording {
    let mut recording = relay();
    recording.subscription(0x40, 0x11, "/c", 0x60).event(
        event,
        &[
            ("subs", Pointers(vec![0x30, 0x40])),
            ("pubs", Pointers(vec![0x21])),
        ],
    );
    for (at, callback) in [(9_100_000, 0x50), (9_110_000, 0x60), (9_120_000, 0x50)] {
        recording.at(at).run(callback);
    }
    recording.at(9_130_000).publish(0x21, 0x7, stamp(9_130_000));
    recording.at(9_140_000).run(0x60);
    recording.at(9_150_000).publish(0x21, 0x7, stamp(9_150_000));
    recording
}

/// Output and instant of reception, in thousands.
fn links(model: &Model) -> Vec<(u32, i64)> {
    let row = |row: rostrace_analyze::message_link::LinkedMessage| {
        (
            row.output.0,
            (row.received - recording::EPOCH) / 1_000 - 9_000,
        )
    };
    linked_messages(model).into_iter().map(row).collect()
}

#[test]
fn a_periodic_output_uses_the_newest_message_of_each_input() {
    let model = linked("ros2:message_link_periodic_async").load();
    assert_eq!(links(&model), [(0, 120), (0, 110), (1, 120), (1, 140)]);
}

#[test]
fn a_synchronised_output_uses_what_came_since_the_one_before() {
    let model = linked("ros2:message_link_partial_sync").load();
    assert_eq!(links(&model), [(0, 120), (0, 110), (1, 140)]);
}
