//! Whether comparisons keep their promise: of equal systems they report (nearly) nothing, however correlated the values are, and they find what
//! really became slower.

use rostrace_analyze::comparison::{Comparison, Metric, Options, Verdict, compare};
use rostrace_analyze::measured::{Measured, MeasuredCallback, Series};
use rostrace_ctf::schema::Nanos;

/// Measured of a timer every 100 ms.
pub(crate) fn measured_timer(node: &str, period: &str, duration: Series) -> MeasuredCallback {
    let executions = duration.values.len();
    MeasuredCallback {
        node: node.to_owned(),
        kind: rostrace_model::describe::CallbackKind::Timer,
        built_in: false,
        trigger: format!("timer {period}"),
        ordinal: 1,
        name: format!("{node} · timer {period}"),
        symbol: None,
        executions: executions as u64,
        duration,
        period: Series::default(),
        lateness: Series::default(),
        cycles: Vec::new(),
        starts: (0..executions as i64)
            .map(|it| Nanos(it * 100_000_000))
            .collect(),
        damaged: 0,
    }
}

/// A stream of numbers that is the same in every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58476d1ce4e5b9);
        ((mixed >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
    }

    /// Log-normal with median 10 ms, so many values that remember the one before by this much.
    fn durations(&mut self, number: usize, memory: f64, spread: f64) -> Vec<i64> {
        let mut state = self.normal();
        let values = (0..number).map(|_| {
            state = memory * state + (1.0 - memory * memory).sqrt() * self.normal();
            (10e6 * (spread * state).exp()) as i64
        });
        values.collect()
    }
}

fn callback(number: usize, durations: &[i64]) -> MeasuredCallback {
    let at = |place: usize| Nanos(place as i64 * 100_000_000);
    let values = durations.iter().enumerate();
    let duration = Series {
        values: values.map(|(place, it)| (*it, at(place))).collect(),
        damaged: 0,
    };
    let period = Series {
        values: (1..durations.len())
            .map(|place| (100_000_000, at(place)))
            .collect(),
        damaged: 0,
    };
    let cycles = durations.iter().map(|it| (*it, 100_000_000));
    MeasuredCallback {
        period,
        cycles: cycles.collect(),
        ..measured_timer(&format!("/node_{number}"), "100 ms", duration)
    }
}

struct Scenario {
    values: usize,
    memory: f64,
    spread: f64,
    /// Recordings on each side.
    runs: usize,
    /// What differs from one run to the next, whatever is compared.
    between: f64,
}

/// So many callbacks of equal systems, of which the new one takes `factor` times as long.
fn compared(scenario: &Scenario, callbacks: usize, factor: f64, options: &Options) -> Comparison {
    let mut noise = Noise(scenario.values as u64 * 31 + (scenario.memory * 100.0) as u64);
    let mut side = |factor: f64| -> Vec<Measured> {
        let runs = (0..scenario.runs).map(|_| Measured {
            callbacks: (0..callbacks)
                .map(|number| {
                    let run = (scenario.between * noise.normal()).exp();
                    let durations =
                        noise.durations(scenario.values, scenario.memory, scenario.spread);
                    let scaled = durations
                        .iter()
                        .map(|it| (*it as f64 * factor * run) as i64);
                    callback(number, &scaled.collect::<Vec<i64>>())
                })
                .collect(),
            ..Measured::default()
        });
        runs.collect()
    };
    let (base, new) = (side(1.0), side(factor));
    compare(&base, &new, options)
}

/// The share of rows of a metric with a verdict.
fn share(comparison: &Comparison, metric: Metric, wanted: &[Verdict]) -> f64 {
    let rows = comparison.rows.iter().filter(|row| row.metric == metric);
    let all = rows.clone().count();
    let found = rows.filter(|row| wanted.contains(&row.verdict)).count();
    found as f64 / all as f64
}

/// The share of rows in which one statistic would be called different if it were the only comparison and every difference mattered.
fn alone(comparison: &Comparison, metric: Metric) -> Vec<(String, f64)> {
    let mut shares = Vec::new();
    for statistic in metric.statistics() {
        let rows = comparison.rows.iter().filter(|row| row.metric == metric);
        let differences: Vec<_> = rows
            .flat_map(|row| &row.differences)
            .filter(|it| it.statistic == *statistic && it.interval.is_some())
            .collect();
        let different = differences.iter().filter(|it| it.p <= 0.05).count();
        if !differences.is_empty() {
            let share = different as f64 / differences.len() as f64;
            shares.push((statistic.name().to_owned(), share));
        }
    }
    shares
}

const EITHER: [Verdict; 2] = [Verdict::Worse, Verdict::Better];

/// Every difference matters, however small.
fn strict() -> Options {
    Options {
        threshold: 0.0,
        floor: 0,
        share_floor: 0.0,
        ..Options::default()
    }
}

fn one_run(values: usize, memory: f64, spread: f64) -> Scenario {
    Scenario {
        values,
        memory,
        spread,
        runs: 1,
        between: 0.0,
    }
}

#[test]
fn equal_systems_are_equal_however_correlated_their_values_are() {
    for (values, memory, spread) in [
        (60, 0.0, 0.1),
        (300, 0.5, 0.5),
        (300, 0.9, 0.3),
        (2000, 0.5, 0.1),
        (2000, 0.97, 0.5),
    ] {
        let scenario = one_run(values, memory, spread);
        for options in [Options::default(), strict()] {
            let comparison = compared(&scenario, 60, 1.0, &options);
            for metric in [Metric::Duration, Metric::Period, Metric::Load] {
                let share = share(&comparison, metric, &EITHER);
                assert!(
                    share <= 0.05,
                    "{values} {memory} {spread} {metric:?}: {share}"
                );
            }
        }
    }
}

/// Without correction for many comparisons, and without a margin, an interval misses the truth about as often as it says.
#[test]
fn intervals_are_about_as_honest_as_they_say() {
    for (values, memory, most) in [(300, 0.0, 0.08), (300, 0.5, 0.09), (2000, 0.9, 0.1)] {
        let comparison = compared(&one_run(values, memory, 0.2), 120, 1.0, &strict());
        for metric in [Metric::Duration, Metric::Load] {
            for (statistic, share) in alone(&comparison, metric) {
                assert!(
                    share <= most,
                    "{values} {memory} {metric:?} {statistic}: {share}"
                );
            }
        }
    }
}

#[test]
fn a_fifth_slower_is_found_and_a_fifth_faster_too() {
    for (values, memory) in [(300, 0.0), (300, 0.5), (2000, 0.9)] {
        let scenario = one_run(values, memory, 0.1);
        let slower = compared(&scenario, 40, 1.2, &Options::default());
        let found = share(&slower, Metric::Duration, &[Verdict::Worse]);
        assert!(found >= 0.95, "{values} {memory}: {found}");
        let faster = compared(&scenario, 40, 1.0 / 1.2, &Options::default());
        let found = share(&faster, Metric::Duration, &[Verdict::Better]);
        assert!(found >= 0.95, "{values} {memory}: {found}");
    }
}

/// One callback among many, and nothing else.
#[test]
fn one_slow_callback_among_a_hundred_is_the_only_news() {
    let mut noise = Noise(5);
    let mut side = |factor: f64| {
        let callbacks = (0..100).map(|number| {
            let factor = if number == 42 { factor } else { 1.0 };
            let durations = noise.durations(500, 0.3, 0.1);
            let scaled = durations.iter().map(|it| (*it as f64 * factor) as i64);
            callback(number, &scaled.collect::<Vec<i64>>())
        });
        Measured {
            callbacks: callbacks.collect(),
            ..Measured::default()
        }
    };
    let (base, new) = (side(1.0), side(1.2));
    let comparison = compare(&[base], &[new], &Options::default());
    let news = comparison.rows.iter();
    let news: Vec<_> = news.filter(|row| EITHER.contains(&row.verdict)).collect();
    assert!(!news.is_empty());
    for row in news {
        assert_eq!(row.name, "/node_42 · timer 100 ms");
        assert_eq!(row.verdict, Verdict::Worse);
        assert!(row.cliffs_delta.is_none_or(|delta| delta > 0.5));
    }
    assert!(comparison.changes.is_empty());
}

/// Runs of one system differ by a tenth: two single runs cannot know that, groups do.
#[test]
fn groups_know_how_much_runs_differ() {
    let scenario = Scenario {
        values: 300,
        memory: 0.5,
        spread: 0.1,
        runs: 4,
        between: 0.1,
    };
    let comparison = compared(&scenario, 60, 1.0, &Options::default());
    let wrong = share(&comparison, Metric::Duration, &EITHER);
    assert!(wrong <= 0.05, "{wrong}");
    let quiet = Scenario {
        between: 0.0,
        ..scenario
    };
    let comparison = compared(&quiet, 60, 1.2, &Options::default());
    let found = share(&comparison, Metric::Duration, &[Verdict::Worse]);
    assert!(found >= 0.9, "{found}");
}

#[test]
fn a_recording_compared_with_itself_is_the_same_and_says_so_every_time() {
    let scenario = one_run(300, 0.5, 0.3);
    let mut noise = Noise(3);
    let durations = noise.durations(scenario.values, scenario.memory, scenario.spread);
    let side = || {
        vec![Measured {
            callbacks: vec![callback(1, &durations)],
            ..Measured::default()
        }]
    };
    let once = compare(&side(), &side(), &Options::default());
    assert_eq!(once.count(Verdict::Worse) + once.count(Verdict::Better), 0);
    assert!(once.changes.is_empty());
    let again = compare(&side(), &side(), &Options::default());
    assert_eq!(once.rows, again.rows);
}

#[test]
fn too_few_values_decide_nothing() {
    let comparison = compared(&one_run(5, 0.0, 0.1), 3, 4.0, &Options::default());
    let decided = comparison
        .rows
        .iter()
        .any(|row| row.verdict != Verdict::Undecided);
    assert!(!decided);
}
