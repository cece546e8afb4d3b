//! What CARET computes from its own end-to-end sample (of 2022, 2 880 events), number by number: every table and metric in its style.

#![allow(clippy::unwrap_used)]

#[path = "../../trace/tests/support/mod.rs"]
mod support;

use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::chain::{PartKind, Spread};
use rostrace_analyze::declared::histogram::Histogram;
use rostrace_analyze::declared::metrics::{self, Bins};
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::response_time::{Case, ResponseTimes};
use rostrace_analyze::declared::stacked_bar::stacked;
use rostrace_analyze::declared::tables::{Indexed, Link};
use rostrace_architecture::communication::communications;
use rostrace_architecture::node_path::{Limits, node_paths};
use rostrace_architecture::search::{EdgeFilter, Search, SearchGraph, SearchOptions};
use rostrace_architecture::{Architecture, ContextType, NamedPath, from_trace};
use rostrace_trace::Model;
use rostrace_tracepoints::Kind;

/// The path begins in this second.
const SECOND: i64 = 1_655_782_980_000_000_000;

const BOTH_CALLBACKS: Ends = Ends {
    first_callback: true,
    last_callback: true,
};

struct Sample {
    model: Model,
    architecture: Architecture,
}

impl Sample {
    fn load() -> Option<Sample> {
        let model = support::shared::load("public/caret-demos-end-to-end-galactic")?;
        let mut architecture = from_trace(&model);
        for (node, input, output) in [
            ("/filter_node", "/topic1", "/topic2"),
            ("/message_driven_node", "/drive", "/topic3"),
            ("/message_driven_node", "/topic2", "/topic3"),
            ("/timer_driven_node", "/topic3", "/topic4"),
        ] {
            let latest = Some(ContextType::UseLatestMessage);
            architecture
                .update_message_context(node, latest, input, output)
                .unwrap();
        }
        let ends = ["/sensor_dummy_node", "/actuator_dummy_node"];
        let found: Vec<NamedPath> = {
            let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
            let found = Search::new(&graph, &ends, SearchOptions::default()).unwrap();
            found.map(|path| path.named("target")).collect()
        };
        assert_eq!(found.len(), 1);
        for path in found {
            architecture.add_path(path).unwrap();
        }
        Some(Sample {
            model,
            architecture,
        })
    }

    fn indexed(&self) -> Indexed<'_> {
        Indexed::new(&self.model, Style::Caret)
    }

    fn callback(&self, name: &str) -> Records {
        let node = name.rsplit_once('/').unwrap().0;
        let node = self.architecture.node(node).unwrap();
        self.indexed().callback(node, node.callback(name).unwrap())
    }

    fn path(&self, ends: Ends) -> Records {
        let path = &self.architecture.paths[0];
        self.indexed().path(&self.architecture, path, ends).unwrap()
    }
}

/// Number, smallest, largest and sum of durations.
fn summary(rows: &[(i64, i64)]) -> (usize, i64, i64, i64) {
    let values = || rows.iter().map(|(_, value)| *value);
    let (min, max) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
    (rows.len(), min, max, values().sum())
}

fn present(records: &Records) -> Vec<usize> {
    (0..records.columns.len())
        .map(|column| records.column(column).flatten().count())
        .collect()
}

#[test]
fn the_events_are_those_that_caret_counts() {
    let Some(Sample { model, .. }) = Sample::load() else {
        return;
    };
    assert_eq!(model.events, 2_880);
    assert_eq!(model.begin.unwrap().0, 1_655_782_979_334_385_495);
    assert_eq!(model.end.unwrap().0, 1_655_782_984_995_323_268);
    for (kind, count) in [
        (Kind::CallbackStart, 480),
        (Kind::CallbackEnd, 480),
        (Kind::DdsWrite, 405),
        (Kind::DdsBindAddrToStamp, 405),
        (Kind::DispatchSubscriptionCallback, 333),
        (Kind::RclcppPublish, 266),
        (Kind::RclPublish, 265),
        (Kind::RclcppCallbackRegister, 50),
        (Kind::RclServiceInit, 36),
        (Kind::RclPublisherInit, 17),
        (Kind::RclSubscriptionInit, 11),
        (Kind::RclNodeInit, 6),
        (Kind::RclTimerInit, 3),
        (Kind::RclInit, 1),
    ] {
        assert_eq!(model.count(kind), count, "{kind:?}");
    }
}

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
        let all = node_paths(node, Limits::default());
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
    let mut complete = path.clone();
    complete.remove_dropped();
    assert_eq!(complete.rows.len(), 47);
    let mut stripped = path;
    stripped.strip(1_000_000_000, 1_000_000_000);
    assert_eq!(stripped.rows.len(), 31);
}

#[test]
fn response_times_are_those_of_caret() {
    let Some(sample) = Sample::load() else { return };
    type Expected = (Case, usize, i64, i64, i64, [(i64, i64); 3]);
    let plain: [Expected; 4] = [
        (
            Case::All,
            46,
            102245410,
            296814343,
            8691341658,
            [
                (253723918, 196821805),
                (364719185, 191169111),
                (453642886, 102245410),
            ],
        ),
        (
            Case::Best,
            39,
            102245410,
            221903145,
            7164118425,
            [
                (253723918, 196821805),
                (453642886, 102245410),
                (553746057, 196823973),
            ],
        ),
        (
            Case::Worst,
            39,
            166892607,
            296814343,
            7853121220,
            [
                (253723918, 196821805),
                (364719185, 191169111),
                (553746057, 196823973),
            ],
        ),
        (
            Case::WorstWithExternalLatency,
            38,
            266898739,
            396822735,
            11467186889,
            [
                (253723918, 302164378),
                (453642886, 296927144),
                (553746057, 296825124),
            ],
        ),
    ];
    let with_callbacks: [Expected; 4] = [
        (
            Case::All,
            46,
            142554584,
            337095687,
            10760863945,
            [
                (233577376, 237107329),
                (333578447, 253445679),
                (433556276, 153467850),
            ],
        ),
        (
            Case::Best,
            39,
            142554584,
            297136775,
            8929719695,
            [
                (233577376, 237107329),
                (433556276, 153467850),
                (533598828, 237107611),
            ],
        ),
        (
            Case::Worst,
            39,
            237067993,
            337095687,
            9629737858,
            [
                (233577376, 237107329),
                (333578447, 253445679),
                (533598828, 237107611),
            ],
        ),
        (
            Case::WorstWithExternalLatency,
            38,
            337026020,
            437100704,
            13192508523,
            [
                (233577376, 353446750),
                (433556276, 337150163),
                (533598828, 337106607),
            ],
        ),
    ];
    for (ends, expected) in [(Ends::default(), plain), (BOTH_CALLBACKS, with_callbacks)] {
        let times = ResponseTimes::of(&sample.path(ends), Style::Caret);
        for (case, number, min, max, sum, first) in expected {
            let found = times.case(case);
            assert_eq!(summary(&found), (number, min, max, sum), "{case:?}");
            let begin: Vec<_> = found
                .iter()
                .take(3)
                .map(|(at, it)| (at - SECOND, *it))
                .collect();
            assert_eq!(begin, first, "{case:?}");
        }
    }
}

#[test]
fn frequencies_are_those_of_caret() {
    let Some(sample) = Sample::load() else { return };
    let counts = |rows: &[(i64, i64)]| rows.iter().map(|(_, count)| *count).collect::<Vec<_>>();
    let actuator = sample.callback("/actuator_dummy_node/callback_0");
    let found = metrics::frequency_in(&actuator, Bins::default());
    assert_eq!(found[0].0, 1_655_782_980_350_554_733);
    assert_eq!(counts(&found), [10, 10, 10, 10, 7]);
    let found = metrics::frequency(&sample.callback("/sensor_dummy_node/callback_0"));
    assert_eq!(found[0].0, 1_655_782_980_183_598_738);
    assert_eq!(counts(&found), [10, 10, 10, 10]);
    let found = metrics::frequency(&sample.callback("/timer_driven_node/callback_1"));
    assert_eq!(found[0].0, 1_655_782_980_332_656_628);
    assert_eq!(counts(&found), [9, 9, 9, 8]);
}

#[test]
fn histograms_are_those_of_caret() {
    let Some(sample) = Sample::load() else { return };
    let times = ResponseTimes::of(&sample.path(Ends::default()), Style::Caret);
    for (case, from, to, counts) in [
        (
            Case::All,
            102245410,
            296814343,
            [5, 1, 0, 0, 0, 0, 1, 1, 1, 27, 3, 3, 3, 0, 0, 0, 0, 0, 0, 1],
        ),
        (
            Case::Best,
            102245410,
            221903145,
            [3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 26, 0, 1, 0, 3],
        ),
        (
            Case::Worst,
            166892607,
            296814343,
            [1, 1, 0, 2, 25, 3, 2, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        ),
        (
            Case::WorstWithExternalLatency,
            266898739,
            396822735,
            [1, 1, 0, 0, 25, 5, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        ),
    ] {
        let values: Vec<i64> = times.case(case).iter().map(|(_, value)| *value).collect();
        let found = Histogram::of_bins(&values, 20).unwrap();
        assert_eq!((found.from, found.to), (from, to), "{case:?}");
        assert_eq!(found.counts, counts, "{case:?}");
    }
    let actuator = sample.callback("/actuator_dummy_node/callback_0");
    let values: Vec<i64> = metrics::latency(&actuator)
        .iter()
        .map(|(_, it)| *it)
        .collect();
    let found = Histogram::of_width(&values, 1_000_000).unwrap();
    assert_eq!((found.from, found.to), (20_000_000, 81_000_000));
    assert_eq!(found.counts.len(), 61);
    assert_eq!(found.counts.iter().sum::<u64>(), 47);
}

#[test]
fn stacked_bars_are_those_of_caret() {
    let Some(sample) = Sample::load() else { return };
    let path = sample.path(Ends::default());
    let best = [
        0.180524, 23.11098, 4.840966, 86.124328, 0.675464, 68.584419, 0.178665,
    ];
    let external: Vec<f64> = [117.944766].into_iter().chain(best).collect();
    for (case, bars, means) in [
        (
            Case::All,
            46,
            vec![
                0.181372, 22.658559, 5.179082, 93.943437, 1.549586, 65.250718, 0.179457,
            ],
        ),
        (Case::Best, 39, best.to_vec()),
        (
            Case::Worst,
            39,
            vec![
                0.18106, 22.393027, 5.071977, 103.123911, 1.304472, 69.108971, 0.178665,
            ],
        ),
        (Case::WorstWithExternalLatency, 39, external),
    ] {
        let found = stacked(&path, case, Style::Caret);
        assert_eq!(found.rows.len(), bars, "{case:?}");
        assert_eq!(found.columns.len(), means.len() + 1, "{case:?}");
        for (column, mean) in means.iter().enumerate() {
            let sum: i64 = found.column(column).flatten().sum();
            let found = sum as f64 / bars as f64 / 1e6;
            assert!(
                (found - mean).abs() < 1e-6,
                "{case:?} {column}: {found} is not {mean}"
            );
        }
    }
}

#[test]
fn the_parts_of_the_path_take_as_long_as_caret_says() {
    let Some(sample) = Sample::load() else { return };
    let indexed = sample.indexed();
    let path = &sample.architecture.paths[0];
    let latency = |ends: Ends| {
        let parts = indexed
            .chain_latency(&sample.architecture, path, ends)
            .unwrap();
        let milliseconds = |value: f64| format!("{:.2}", value / 1e6);
        let text = |spread: Spread| {
            let values = [spread.min as f64, spread.mean, spread.max as f64];
            values.map(milliseconds).join("/")
        };
        parts
            .into_iter()
            .map(|part| {
                let text = part.latency.map_or("-".to_owned(), text);
                (part.name, part.kind, text)
            })
            .collect::<Vec<_>>()
    };
    let row = |name: &str, kind: PartKind, text: &str| (name.to_owned(), kind, text.to_owned());
    use PartKind::*;
    assert_eq!(
        latency(Ends::default()),
        [
            row("/sensor_dummy_node", Node, "-"),
            row("/topic1", Communication, "0.15/0.18/0.20"),
            row("/filter_node", Node, "20.08/22.93/75.14"),
            row("/topic2", Communication, "0.14/5.45/39.34"),
            row("/message_driven_node", Node, "40.63/87.74/154.46"),
            row("/topic3", Communication, "0.14/1.72/43.85"),
            row("/timer_driven_node", Node, "40.64/79.30/198.18"),
            row("/topic4", Communication, "0.13/0.18/0.20"),
            row("/actuator_dummy_node", Node, "-"),
            row("target", Whole, "102.25/188.59/321.81"),
        ]
    );
    let with_callbacks = latency(BOTH_CALLBACKS);
    assert_eq!(with_callbacks[0].2, "20.09/21.37/50.10");
    assert_eq!(with_callbacks[8].2, "20.08/24.32/80.14");
}
