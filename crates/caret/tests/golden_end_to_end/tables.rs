//! The tables of callbacks, communications, nodes, timers and the path.

use rostrace_analyze::declared::metrics;
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::tables::Link;
use rostrace_architecture::communication::communications;
use rostrace_architecture::node_path::node_paths;

use crate::golden_end_to_end::{SECOND, Sample, present, summary};

#[test]
fn callbacks_last_and_repeat_as_caret_says() {
    let Some(sample) = Sample::load() else { return };
    for (name, rows, latency, period) in [
        (
            "/actuator_dummy_node/callback_0",
            47,
            (20081549, 80136029, 1143241066),
            (74996017, 125094253, 4599981732),
        ),
        (
            "/drive_node/callback_0",
            49,
            (20129840, 50196382, 1211118798),
            (99929463, 100077024, 4800118285),
        ),
        (
            "/filter_node/callback_0",
            49,
            (20120211, 75196642, 1126194817),
            (70006608, 129984336, 4800027344),
        ),
        (
            "/message_driven_node/callback_0",
            48,
            (20084603, 45146583, 1121396709),
            (50327199, 154899403, 4698006981),
        ),
        (
            "/message_driven_node/callback_1",
            49,
            (19475522, 45184896, 1111376905),
            (53033582, 146968426, 4800147882),
        ),
        (
            "/sensor_dummy_node/callback_0",
            49,
            (20130534, 50160774, 1058695869),
            (99827175, 100173076, 4800042820),
        ),
        (
            "/timer_driven_node/callback_0",
            49,
            (20133320, 45203701, 1099472144),
            (83625742, 116374426, 4800216508),
        ),
        (
            "/timer_driven_node/callback_1",
            41,
            (20081824, 45134118, 872356122),
            (20457522, 198637987, 4589053663),
        ),
    ] {
        let records = sample.callback(name);
        assert_eq!(
            summary(&metrics::latency(&records)),
            (rows, latency.0, latency.1, latency.2),
            "{name}"
        );
        assert_eq!(
            summary(&metrics::period(&records)),
            (rows - 1, period.0, period.1, period.2),
            "{name}"
        );
    }
}

#[test]
fn communications_and_nodes_take_as_long_as_caret_says() {
    let Some(sample) = Sample::load() else { return };
    let indexed = sample.indexed();
    let expected = [
        ("/drive", 49, 0, (137688, 17267834, 79687613)),
        ("/topic1", 49, 0, (149468, 204595, 8863750)),
        ("/topic2", 49, 1, (135280, 39337438, 261742690)),
        ("/topic3", 42, 1, (136174, 43853995, 70397203)),
        ("/topic4", 47, 0, (130339, 199895, 8433240)),
    ];
    let of_application = |topic: &str| expected.iter().find(|it| it.0 == topic);
    let mut seen = 0;
    for it in communications(&sample.architecture) {
        let Some((topic, rows, lost, (min, max, sum))) = of_application(it.topic()) else {
            continue;
        };
        let link = Link {
            publishing_node: it.publishing_node,
            publisher: it.publisher.endpoint(),
            subscribing_node: it.subscribing_node,
            subscription: it.subscription.endpoint(),
            callback: it.subscription.callback.clone().unwrap(),
        };
        let records = indexed.communication(&link);
        assert!(!indexed.is_intra(&link));
        assert_eq!(records.rows.len(), *rows, "{topic}");
        let found = summary(&metrics::latency(&records));
        assert_eq!(found, (rows - lost, *min, *max, *sum), "{topic}");
        seen += 1;
    }
    assert_eq!(seen, expected.len());
    for (node, input, output, rows, (min, max, sum)) in [
        (
            "/filter_node",
            "/topic1",
            "/topic2",
            49,
            (20081319, 75136043, 1123595693),
        ),
        (
            "/message_driven_node",
            "/drive",
            "/topic3",
            49,
            (19463152, 45135194, 926954394),
        ),
        (
            "/message_driven_node",
            "/topic2",
            "/topic3",
            48,
            (40629403, 154458806, 3684981049),
        ),
        (
            "/timer_driven_node",
            "/topic3",
            "/topic4",
            48,
            (40635289, 198182207, 3726899910),
        ),
    ] {
        let node = sample.architecture.node(node).unwrap();
        let all = node_paths(node);
        let topic = |end: &Option<rostrace_architecture::Endpoint>| {
            end.as_ref()
                .map(|end| end.topic.clone())
                .unwrap_or_default()
        };
        let path = all
            .paths
            .iter()
            .find(|it| topic(&it.subscription) == input && topic(&it.publisher) == output)
            .unwrap();
        let records = indexed.node_path(node, path).unwrap();
        assert_eq!(records.rows.len(), rows, "{input} → {output}");
        let (_, least, most, all) = summary(&metrics::latency(&records));
        assert_eq!((least, most, all), (min, max, sum), "{input} → {output}");
    }
}

#[test]
fn timers_fire_when_caret_thinks_they_should() {
    let Some(sample) = Sample::load() else { return };
    let indexed = sample.indexed();
    for (name, min, max, first) in [
        (
            "/drive_node/callback_0",
            271300,
            389585,
            1655782980036163811,
        ),
        (
            "/sensor_dummy_node/callback_0",
            243920,
            433307,
            1655782980033229613,
        ),
        (
            "/timer_driven_node/callback_1",
            144789,
            16782076,
            1655782980029878877,
        ),
    ] {
        let node = sample
            .architecture
            .node(name.rsplit_once('/').unwrap().0)
            .unwrap();
        let timers = node.callbacks.iter().filter(|it| {
            matches!(
                it.kind,
                rostrace_architecture::CallbackKind::Timer {
                    period_ns: 100_000_000
                }
            )
        });
        let callback = timers.into_iter().next().unwrap();
        let records = indexed.timer(node, callback, &indexed.caret_firings(node, callback));
        assert_eq!(records.rows.len(), 50, "{name}");
        assert_eq!(records.rows[0][0], Some(first), "{name}");
        let response = metrics::latency(&records.select(&[0, 1]));
        let (rows, least, most, _) = summary(&response);
        assert_eq!((rows, least, most), (49, min, max), "{name}");
    }
}

#[test]
fn the_path_has_the_rows_and_columns_of_caret() {
    let Some(sample) = Sample::load() else { return };
    let path = sample.path(Ends::default());
    assert_eq!(path.rows.len(), 56);
    assert_eq!(
        present(&path),
        [
            56, 56, 56, 56, 56, 56, 56, 55, 49, 48, 48, 48, 47, 47, 47, 47
        ]
    );
    assert_eq!(path.columns[0], "/topic1/rclcpp_publish_timestamp/0");
    assert_eq!(
        path.columns[15],
        "/actuator_dummy_node/callback_0/callback_start_timestamp/0"
    );
    let first: Vec<i64> = path.rows[0].iter().map(|it| it.unwrap() - SECOND).collect();
    assert_eq!(
        first,
        [
            153768294, 153773294, 153776110, 153936933, 174024204, 174027066, 174028801, 197318536,
            287977545, 287983242, 287985952, 288177673, 350371594, 350377132, 350379875, 350554733
        ]
    );
    let mut delayed = path.clone();
    delayed.bind_drop_as_delay();
    assert_eq!(
        present(&delayed),
        [
            56, 56, 56, 56, 56, 56, 56, 55, 55, 54, 54, 54, 54, 54, 54, 54
        ]
    );
    let complete = path
        .rows
        .iter()
        .filter(|row| row.iter().all(Option::is_some));
    assert_eq!(complete.count(), 47);
}
