//! Publishers and subscriptions, judged by what the programs logged.

use std::collections::BTreeMap;

use rostrace_analyze::endpoint::Endpoints;
use rostrace_model::entity::PublisherId;

use crate::recordings::{TableRow, everything, load, rows};
use crate::support::Payload::{Pointer, Unsigned};
use crate::support::{Flavour, Recording, stamp};

type Counts = BTreeMap<(i64, String, String), i64>;

const WITHOUT_LOSSES: [&str; 10] = [
    "jazzy/pingpong",
    "jazzy/pingpong_caret",
    "jazzy/chain",
    "jazzy/chain_fastdds_caret",
    "jazzy/intra",
    "jazzy/multi",
    "humble/pingpong",
    "humble/chain_caret",
    "humble/intra",
    "humble/multi_caret",
];

/// The node in a key such as `/sensors#pub.raw_a`.
fn node(key: &str) -> String {
    key.split('#').next().unwrap_or_default().to_owned()
}

/// By process, node and topic: what a column of a table counts.
fn counted(rows: &[TableRow], column: &str) -> Counts {
    let mut counted = Counts::new();
    for row in rows {
        if !row.flag("built_in") && row.integer(column) > 0 {
            let (node, topic) = (row.text("node").into(), row.text("topic").into());
            let key = (row.integer("pid"), node, topic);
            *counted.entry(key).or_default() += row.integer(column);
        }
    }
    counted
}

#[test]
fn publishers_published_what_their_programs_logged() {
    for name in WITHOUT_LOSSES {
        let Some(recording) = load(name) else { return };
        let mut logged = Counts::new();
        // On Humble and with CARET, serialized messages leave no event that tells their publisher.
        let tells_serialized = name.starts_with("jazzy") && !name.ends_with("_caret");
        for (pid, words) in recording.lines("pub") {
            if tells_serialized || !words.iter().any(|word| word == "how=serialized") {
                let key = (pid, node(&words[4]), words[2].clone());
                *logged.entry(key).or_default() += 1;
            }
        }
        let rows = rows(&recording.analysis(), "publishers");
        assert_eq!(counted(&rows, "messages"), logged, "{name}");
    }
}

#[test]
fn subscriptions_received_what_their_programs_logged() {
    for name in WITHOUT_LOSSES {
        let Some(recording) = load(name) else { return };
        let mut logged = Counts::new();
        let mut taken = 0;
        for (pid, words) in recording.lines("recv").chain(recording.lines("take")) {
            let key = (pid, node(&words[5]), words[2].clone());
            *logged.entry(key).or_default() += 1;
            taken += i64::from(words[1] == "take");
        }
        let rows = rows(&recording.analysis(), "subscriptions");
        assert_eq!(counted(&rows, "received"), logged, "{name}");
        let own = rows.iter().filter(|row| !row.flag("built_in"));
        let by_hand: i64 = own.map(|row| row.integer("by_hand")).sum();
        assert_eq!(by_hand, taken, "{name}");
    }
}

#[test]
fn the_mean_period_is_the_inverse_of_the_rate() {
    let Some(recording) = load("jazzy/chain") else {
        return;
    };
    let analysis = recording.analysis();
    let mut compared = 0;
    for table in ["publishers", "subscriptions"] {
        for row in rows(&analysis, table) {
            if row.has("rate_hz") {
                let product =
                    row.number("rate_hz").unwrap() * row.number("period_mean_ns").unwrap() / 1e9;
                assert!((product - 1.0).abs() < 1e-9, "{row:?}");
                assert_eq!(row.integer("damaged"), 0);
                compared += 1;
            }
        }
    }
    assert!(compared >= 8, "{compared}");
}

#[test]
fn no_period_spans_a_time_in_which_events_were_lost() {
    for name in ["jazzy/lossy", "jazzy/lossy_overwrite_caret"] {
        let Some(recording) = load(name) else { return };
        let analysis = recording.analysis();
        let endpoints = Endpoints::new(&analysis);
        let mut damaged = 0;
        for publisher in (0..recording.model.publishers.len()).map(PublisherId::from_index) {
            let summary = endpoints.publisher(publisher);
            let messages = endpoints.published(publisher);
            let longest = messages
                .windows(2)
                .map(|pair| (pair[0].time, pair[1].time))
                .filter(|(from, to)| !recording.model.losses.between(*from, *to))
                .map(|(from, to)| to.0 - from.0)
                .max();
            assert_eq!(summary.period.map(|period| period.max), longest);
            let periods = summary.period.map_or(0, |period| period.count);
            assert_eq!(
                periods + summary.damaged,
                summary.messages.saturating_sub(1)
            );
            damaged += summary.damaged;
        }
        assert!(damaged > 0, "{name}");
    }
}

#[test]
fn a_message_is_never_received_before_it_was_stamped() {
    for name in [
        "public/caret-demos-end-to-end-galactic",
        "public/caret-demos-end-to-end-humble",
    ] {
        let Some(recording) = load(name) else { return };
        let mut aged = 0;
        for row in rows(&recording.analysis(), "subscriptions") {
            let ages = row.integer("message_age_count");
            assert!(ages <= row.integer("received"));
            assert_eq!(row.has("message_age_min_ns"), ages > 0);
            if ages > 0 {
                assert!(row.integer("message_age_min_ns") >= 0, "{name} {row:?}");
                assert!(
                    row.integer("message_age_max_ns") < 10_000_000_000,
                    "{name} {row:?}"
                );
            }
            aged += ages;
        }
        assert!(aged > 200, "{name}: {aged}");
    }
}

#[test]
fn stamps_of_both_clocks_have_an_age() {
    let mut recording = Recording::new(Flavour::GalacticFork, "robot");
    recording.process_of(100, "talker", (0x10, "/talker"));
    recording.publisher(0x20, 0x10, "/chat");
    recording.process_of(200, "listener", (0x10, "/listener"));
    recording.subscription(0x30, 0x10, "/chat", 0x40);
    recording.at(5_000_000);
    recording.event(
        "ros2_caret:sim_time",
        &[("stamp", Unsigned(70_000_000_000))],
    );
    // One stamped by the simulation, one by the system, one not at all.
    let stamps = [69_999_999_000, stamp(5_900_000) as u64, 0];
    for (number, header) in (1..).zip(stamps) {
        recording.at(5_000_000 + number * 500_000);
        recording.process(100, "talker");
        let fields = [
            ("publisher_handle", Pointer(0x20)),
            ("message", Pointer(0x7)),
            ("message_timestamp", Unsigned(header)),
        ];
        recording.event("ros2:rclcpp_publish", &fields);
        recording.rcl_publish(0x20, 0x7);
        recording.rmw_publish(0x20, 0x7, number as i64);
        recording.at(5_100_000 + number * 500_000);
        recording.process(200, "listener");
        recording.dispatch(0x40, number as i64).run(0x40);
    }
    let model = recording.load();
    let rows = rows(&everything(&model), "subscriptions");
    assert_eq!(rows[0].integer("received"), 3);
    assert_eq!(rows[0].integer("message_age_count"), 2);
    assert_eq!(rows[0].integer("message_age_min_ns"), 1_000);
    // Received at 6.101 ms, as the event of the dispatch takes a microsecond.
    assert_eq!(rows[0].integer("message_age_max_ns"), 201_000);
}
