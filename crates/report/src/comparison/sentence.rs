//! A difference as a sentence with its numbers, the same in the terminal and on the page.

use rostrace_analyze::comparison::{Change, ComparedMetric, Metric, Structural, ThingKind, Unit};

use crate::quantity::{change, quantity, signed};

/// `duration p95 12.3 ms → 15.6 ms (+27 %; between +2.9 ms and +3.7 ms)`; nothing if no statistic had enough values.
pub fn sentence(row: &ComparedMetric) -> Option<String> {
    let main = row.main()?;
    let unit = row.unit;
    let mut text = row.metric.name().to_owned();
    if !main.statistic.phrase().is_empty() {
        text += &format!(" {}", main.statistic.phrase());
    }
    text += &format!(
        " {} → {}",
        quantity(main.base, unit),
        quantity(main.new, unit)
    );
    let mut details = Vec::new();
    if unit != Unit::Share {
        details.extend(main.ratio.map(change));
    }
    if let Some((low, high)) = main.interval {
        details.push(format!("{} … {}", signed(low, unit), signed(high, unit)));
    }
    if !details.is_empty() {
        text += &format!(" ({})", details.join("; "));
    }
    if let Some(old) = &row.base_name {
        text += &format!("; was {old}");
    }
    if row.is_damaged() {
        let damaged = row.base.damaged + row.new.damaged;
        let noun = if damaged == 1 { "value" } else { "values" };
        text += &format!("; {damaged} {noun} touched by lost events");
    }
    Some(text)
}

/// `node /planner: renamed? to /motion_planner (2 equal callback functions)`
pub fn change_sentence(change: &Structural) -> String {
    let what = format!("{} {}", change.kind.name(), change.name);
    match &change.change {
        Change::Appeared => format!("{what} appeared"),
        Change::Disappeared => format!("{what} disappeared"),
        Change::Renamed { to, because } => {
            let verb = match change.kind {
                ThingKind::Topic => "remapped? to",
                ThingKind::Callback => "changed? to",
                _ => "renamed? to",
            };
            format!("{what} {verb} {to}: {because}")
        }
        Change::FellSilent { executions } => {
            format!("{what} never ran, after {executions} executions in the base")
        }
        Change::Awoke { executions } => {
            format!("{what} ran {executions} times, never in the base")
        }
        Change::Number { base, new } => format!("{what}: {base} in the base, {new} now"),
    }
}

/// How people say that something is worse, by metric.
pub(super) fn worse(metric: Metric) -> &'static str {
    match metric {
        Metric::Load => "busier",
        Metric::Rate => "rarer",
        Metric::Drops => "more lost",
        _ => "slower",
    }
}

pub(super) fn better(metric: Metric) -> &'static str {
    match metric {
        Metric::Load => "less busy",
        Metric::Rate => "more often",
        Metric::Drops => "fewer lost",
        _ => "faster",
    }
}
