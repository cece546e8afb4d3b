//! Comparisons and budgets of real recordings: equal systems are equal, and a run keeps the budgets that were made from it.

use rostrace_analyze::budget::{self, Quantity, Recording, Verdict as BudgetVerdict};
use rostrace_analyze::comparison::{self, Comparison, Options, Verdict};
use rostrace_analyze::measured::Measured;
use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;

use crate::recordings::{everything, load};

const SCENARIOS: [&str; 7] = [
    "chain",
    "executors",
    "intra",
    "multi",
    "pingpong",
    "services",
    "timers",
];

fn measured(analysis: &Analysis<'_>) -> Vec<Measured> {
    vec![Measured::of(analysis, &Selection::default(), false)]
}

fn compare(base: &Analysis<'_>, new: &Analysis<'_>) -> Comparison {
    comparison::compare(&measured(base), &measured(new), &Options::default())
}

fn news(comparison: &Comparison) -> Vec<String> {
    let rows = comparison.rows.iter();
    rows.filter(|row| matches!(row.verdict, Verdict::Worse | Verdict::Better))
        .map(|row| format!("{} {} {:?}", row.name, row.metric.name(), row.main()))
        .collect()
}

/// The time in which callbacks ran, in two halves.
fn halves(model: &Model) -> [Analysis<'_>; 2] {
    let starts = model.instances.iter().map(|it| it.start.0);
    let (first, last) = (starts.clone().min().unwrap(), starts.max().unwrap());
    let middle = first + (last - first) / 2;
    [
        Analysis::new(model, Nanos(i64::MIN)..=Nanos(middle)),
        Analysis::new(model, Nanos(middle + 1)..=Nanos(i64::MAX)),
    ]
}

#[test]
fn a_recording_compared_with_itself_has_no_news() {
    for distribution in ["humble", "jazzy"] {
        for scenario in SCENARIOS {
            let Some(recording) = load(&format!("{distribution}/{scenario}")) else {
                continue;
            };
            let comparison = compare(&recording.analysis(), &everything(&recording.model));
            assert!(
                news(&comparison).is_empty(),
                "{scenario}: {:?}",
                news(&comparison)
            );
            assert!(
                comparison.changes.is_empty(),
                "{scenario}: {:?}",
                comparison.changes
            );
        }
    }
}

/// The programs do the same from beginning to end. `services` and `multi` do not: there some begin late.
#[test]
fn the_halves_of_a_recording_are_alike() {
    let (mut reported, mut all) = (Vec::new(), 0);
    for distribution in ["humble", "jazzy"] {
        for scenario in ["chain", "executors", "intra", "pingpong", "timers"] {
            let Some(recording) = load(&format!("{distribution}/{scenario}")) else {
                continue;
            };
            let [base, new] = halves(&recording.model);
            let comparison = compare(&base, &new);
            reported.extend(news(&comparison));
            all += comparison.rows.len();
        }
    }
    assert!(
        reported.len() * 100 <= all,
        "{} of {all}: {reported:#?}",
        reported.len()
    );
}

/// The same program, recorded once by LTTng and once with CARET: two runs, and two tracers of different cost. Little of that is news.
#[test]
fn two_runs_under_two_tracers_are_nearly_alike() {
    let (mut reported, mut all) = (Vec::new(), 0);
    for distribution in ["humble", "jazzy"] {
        for scenario in SCENARIOS {
            let pair = [
                load(&format!("{distribution}/{scenario}")),
                load(&format!("{distribution}/{scenario}_caret")),
            ];
            let [Some(base), Some(new)] = pair else {
                continue;
            };
            let comparison = compare(&base.analysis(), &new.analysis());
            reported.extend(news(&comparison));
            all += comparison.rows.len();
        }
    }
    assert!(
        reported.len() * 20 <= all,
        "{} of {all}: {reported:#?}",
        reported.len()
    );
}

/// Fast DDS takes longer than Cyclone DDS in this scenario: the path through it is slower, and nothing is faster.
#[test]
fn another_middleware_is_noticed() {
    let (Some(base), Some(new)) = (load("jazzy/chain"), load("jazzy/chain_fastdds")) else {
        return;
    };
    let comparison = compare(&base.analysis(), &new.analysis());
    assert!(comparison.count(Verdict::Worse) > 0);
    assert_eq!(
        comparison.count(Verdict::Better),
        0,
        "{:?}",
        news(&comparison)
    );
}

#[test]
fn a_run_keeps_the_budgets_that_were_made_from_it() {
    for distribution in ["humble", "jazzy"] {
        for scenario in SCENARIOS.iter().chain(&["churn", "names", "lossy", "late"]) {
            let Some(recording) = load(&format!("{distribution}/{scenario}")) else {
                continue;
            };
            let analysis = recording.analysis();
            let measured = Measured::of(&analysis, &Selection::default(), false);
            let held = Recording {
                analysis: &analysis,
                measured: &measured,
                architecture: None,
            };
            let text = budget::init::generate(std::slice::from_ref(&held), 0.0, scenario).text;
            let mut budgets = budget::read(&text).unwrap_or_else(|it| panic!("{it:?}\n{text}"));
            for judgement in budget::check(&budgets, &held) {
                assert_eq!(
                    judgement.verdict,
                    BudgetVerdict::Kept,
                    "{judgement:?}\n{text}"
                );
            }
            // A hundred times as strict, every limit of a time that took some is broken.
            for limit in budgets.iter_mut().flat_map(|it| &mut it.limits) {
                if let Quantity::Nanoseconds(nanos) = &mut limit.value {
                    *nanos /= 100;
                }
            }
            let judgements = budget::check(&budgets, &held);
            let broken = judgements
                .iter()
                .filter(|it| it.verdict == BudgetVerdict::Broken);
            let times = judgements.iter().filter(
                |it| matches!(it.measured, Some(Quantity::Nanoseconds(nanos)) if nanos > 1000),
            );
            assert!(broken.count() * 10 >= times.count() * 5, "{scenario}");
        }
    }
}
