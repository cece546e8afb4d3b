//! What is computed from the tables: response times, frequencies, histograms, stacked bars, parts of the path.

use rostrace_analyze::declared::chain::{PartKind, Spread};
use rostrace_analyze::declared::histogram::Histogram;
use rostrace_analyze::declared::metrics::Bins;
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::response_time::{Case, ResponseTimes};
use rostrace_analyze::declared::stacked_bar::stacked;
use rostrace_analyze::declared::{Style, metrics};

use crate::golden_end_to_end::{BOTH_CALLBACKS, SECOND, Sample, summary};

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
