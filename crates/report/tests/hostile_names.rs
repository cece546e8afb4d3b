//! Names are whatever somebody wrote: the page of a comparison, JUnit XML and annotations stay what they are.

use proptest::prelude::*;
use rostrace_analyze::budget::key::{Bound, Measure, SubjectKind};
use rostrace_analyze::budget::{Judgement, Limit, Quantity, Verdict as BudgetVerdict};
use rostrace_analyze::comparison::{
    Change, ComparedMetric, Comparison, Difference, Metric, Options, Side, Statistic, Structural,
    ThingKind, Unit, Verdict,
};
use rostrace_architecture::Position;
use rostrace_ctf::schema::Nanos;
use rostrace_report::budget::{annotation, junit};
use rostrace_report::comparison::{Recorded, page};

const HOSTILE: [&str; 6] = [
    "</td><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' & ]]> <!-- -->",
    "\u{202e}gnp.exe\u{0}\u{1b}[31m\u{85}",
    "a\n::error file=x::b\r\n%0A",
    "/größe · 日本 ← \u{fffe}",
];

fn comparison(name: &str, interval: Option<(f64, f64)>) -> Comparison {
    let difference = Difference {
        statistic: Statistic::P95,
        base: 1e6,
        new: 2e6,
        difference: 1e6,
        interval,
        ratio: Some(2.0),
        margin: 5e4,
        p: 0.001,
        adjusted_p: 0.01,
        verdict: Verdict::Worse,
    };
    let row = |verdict: Verdict, differences: Vec<Difference>| ComparedMetric {
        kind: ThingKind::Callback,
        name: name.to_owned(),
        base_name: Some(name.to_owned()),
        metric: Metric::Duration,
        unit: Unit::Nanoseconds,
        base: Side {
            values: 100,
            damaged: 3,
        },
        new: Side {
            values: 100,
            damaged: 0,
        },
        cliffs_delta: Some(0.7),
        differences,
        verdict,
    };
    Comparison {
        options: Options::default(),
        rows: vec![
            row(Verdict::Worse, vec![difference]),
            row(Verdict::Undecided, Vec::new()),
        ],
        changes: vec![Structural {
            kind: ThingKind::Node,
            name: name.to_owned(),
            change: Change::Renamed {
                to: name.to_owned(),
                because: name.to_owned(),
            },
        }],
    }
}

fn judgement(name: &str, verdict: BudgetVerdict) -> Judgement {
    let at = Position { line: 3, column: 5 };
    Judgement {
        limit: Some(Limit {
            at,
            measure: Measure::Duration,
            bound: Bound::P99,
            value: Quantity::Nanoseconds(20_000_000),
        }),
        line: at.line,
        column: at.column,
        kind: SubjectKind::Callback,
        subject: name.to_owned(),
        measured: Some(Quantity::Nanoseconds(23_400_000)),
        values: 100,
        worst: Some(Nanos(1_794_715_986_683_087_061)),
        damaged: 1,
        verdict,
        notes: vec![name.to_owned()],
    }
}

/// The names of all tags, in order; fails on anything that is not well formed: an unknown reference, a control character, an attribute that is not
/// closed, elements that are not closed in order.
fn elements(markup: &str, void: &[&str]) -> Vec<String> {
    assert!(
        markup
            .chars()
            .all(|c| c == '\n' || !c.is_control() && c != '\u{fffe}' && c != '\u{ffff}'),
        "a character that XML does not allow"
    );
    for after in markup.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        assert!(known.iter().any(|it| after.starts_with(it)), "&{after:.20}");
    }
    let (mut names, mut open) = (Vec::new(), Vec::new());
    let mut rest = markup;
    while let Some(begin) = rest.find('<') {
        assert!(
            !rest[..begin].contains('>'),
            "a stray > before {:.40}",
            &rest[begin..]
        );
        let tag = &rest[begin + 1..];
        let mut quoted = false;
        let end = tag
            .char_indices()
            .find(|(_, c)| {
                quoted ^= *c == '"';
                assert!(quoted || *c != '<', "{tag:.60}");
                *c == '>' && !quoted
            })
            .unwrap()
            .0;
        let inner = &tag[..end];
        rest = &tag[end + 1..];
        if inner.starts_with(['?', '!']) {
            continue;
        }
        let is_empty = inner.ends_with('/');
        let name: String = inner
            .chars()
            .take_while(|c| !c.is_whitespace() && *c != '>')
            .collect();
        let name = name.trim_end_matches('/').to_owned();
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "{inner}");
        } else {
            if !is_empty && !void.contains(&name.as_str()) {
                open.push(name.clone());
            }
            names.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    names
}

/// The style and the script are ours, and contain what markup would mean something by.
fn without_our_code(html: &str) -> String {
    let mut html = html.to_owned();
    for name in ["style", "script"] {
        let begin = html.find(&format!("<{name}>")).unwrap() + name.len() + 2;
        let end = begin + html[begin..].find(&format!("</{name}>")).unwrap();
        html.replace_range(begin..end, "");
    }
    html
}

fn page_elements(name: &str) -> Vec<String> {
    let side = Recorded {
        recordings: vec![name.to_owned()],
        damage: vec![name.to_owned()],
    };
    let html = page(&comparison(name, Some((-1e6, f64::MAX))), &side, &side);
    elements(&without_our_code(&html), &["meta"])
}

fn junit_elements(name: &str) -> Vec<String> {
    let all = [
        BudgetVerdict::Broken,
        BudgetVerdict::Nothing,
        BudgetVerdict::Skipped,
        BudgetVerdict::Kept,
    ];
    let judgements: Vec<Judgement> = all
        .iter()
        .map(|verdict| judgement(name, *verdict))
        .collect();
    elements(&junit(&judgements, name, name, &[name.to_owned()]), &[])
}

#[test]
fn a_page_has_the_same_elements_whatever_the_names() {
    let expected = page_elements("/planner");
    for name in HOSTILE {
        assert_eq!(page_elements(name), expected, "{name:?}");
    }
    let html = page(
        &comparison("/planner", None),
        &Recorded::default(),
        &Recorded::default(),
    );
    assert!(html.contains("too few independent values"));
    assert!(
        !html.contains("http://") && !html.contains("https://"),
        "nothing is loaded"
    );
}

#[test]
fn junit_has_the_same_elements_whatever_the_names() {
    let expected = junit_elements("/planner");
    assert_eq!(expected.iter().filter(|it| *it == "failure").count(), 2);
    for name in HOSTILE {
        assert_eq!(junit_elements(name), expected, "{name:?}");
    }
}

#[test]
fn an_annotation_is_one_line_with_its_place() {
    for name in HOSTILE {
        let line = annotation(&judgement(name, BudgetVerdict::Broken), "budgets.yaml").unwrap();
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(
            line.starts_with("::error file=budgets.yaml,line=3,col=5,title="),
            "{line}"
        );
        let properties = line.split("::").nth(1).unwrap();
        assert_eq!(properties.matches(',').count(), 3, "{line}");
    }
    let plain = annotation(&judgement("/a ← /b", BudgetVerdict::Broken), "b.yaml").unwrap();
    assert_eq!(
        plain,
        "::error file=b.yaml,line=3,col=5,title=budget of /a ← /b::/a ← /b: duration p99 ≤ 20ms is broken with 23.4 ms; /a ← /b; 1 touched by lost events"
    );
    // Kept, but events were lost.
    let warned = annotation(&judgement("/a", BudgetVerdict::Kept), "b.yaml").unwrap();
    assert!(warned.starts_with("::warning "));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_name_is_harmless(name in "(.|\\n|[<>&'\"]){0,60}") {
        prop_assert_eq!(page_elements(&name), page_elements("/planner"));
        prop_assert_eq!(junit_elements(&name), junit_elements("/planner"));
    }
}
