//! What was made from several inputs: where that is assumed, and how old the inputs were together.

use std::io::Write;

use rostrace_analyze::Analysis;
use rostrace_analyze::flow_latency::PathLatency;
use rostrace_analyze::flow_path::FlowPath;
use rostrace_analyze::input_age::{InputAges, input_ages};

use serde_json::{Value, json};

use super::Observed;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table};
use rostrace_base::text::visible;
use rostrace_base::units;

/// What was taken for granted of a path.
pub(super) fn assumption(path: &FlowPath, latency: &PathLatency) -> Option<String> {
    let hops = path.hops.iter().zip(&latency.hops);
    let stored = hops.filter(|(_, of_hop)| of_hop.assumed > 0);
    let stored: Vec<(&str, u64)> = stored
        .map(|(hop, of_hop)| (hop.node.as_str(), of_hop.assumed))
        .collect();
    let nodes = match stored.as_slice() {
        [] => return None,
        [(node, _)] => (*node).to_owned(),
        several => {
            let several = several.iter();
            let counted =
                several.map(|(node, times)| format!("{node} ({} times)", units::count(*times)));
            counted.collect::<Vec<_>>().join(" and ")
        }
    };
    Some(format!(
        "assumed for {} of {}, since no trace shows it: {nodes} stored the message, and another callback of the same node published what it made of the newest one stored",
        units::count(latency.assumed),
        units::counted(path.flows.len() as u64, "message"),
    ))
}

/// One combined figure for each callback in which several of the paths end with the same execution.
pub(super) fn write(
    out: &mut impl Write,
    analysis: &Analysis<'_>,
    rows: &[Observed],
) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    for ages in input_ages(analysis, rows.iter().map(|row| &row.path)) {
        let title = format!("{}: age of its inputs", ages.callback);
        writeln!(out, "{}", palette.heading(&visible(&title)))?;
        let titles = ["", "min", "mean", "p50", "p90", "p99", "max"];
        let columns = titles.map(|title| match title {
            "" => (title, Align::Left),
            _ => (title, Align::Right),
        });
        let mut table = Table::new(&columns).dispensable(&["min", "p90", "mean"]);
        for (name, of) in [
            ("newest input", &ages.newest),
            ("oldest input", &ages.oldest),
        ] {
            let mut cells = vec![format!("  {name}")];
            if let Some(it) = of {
                let mean = it.mean.round() as i64;
                let values = [it.min, mean, it.p50, it.p90, it.p99, it.max];
                cells.extend(values.map(units::signed_duration));
            }
            table.row(cells);
        }
        write!(out, "{table}")?;
        let remark = format!(
            "   it ran {} for messages of the {} paths that end in it; the ages are of the {} that used messages of more than one of them",
            units::counted(ages.executions as u64, "time"),
            units::count(ages.paths.len() as u64),
            units::counted(ages.fused as u64, "time"),
        );
        writeln!(out, "{}\n", palette.dim(&remark))?;
    }
    Ok(())
}

/// By path: the ages of all inputs of the executions that it ends in, if there are others.
pub(super) fn json_rows(analysis: &Analysis<'_>, rows: &[Observed]) -> Vec<Value> {
    let mut values = vec![Value::Null; rows.len()];
    for ages in input_ages(analysis, rows.iter().map(|row| &row.path)) {
        for path in &ages.paths {
            values[*path] = json_of(&ages);
        }
    }
    values
}

fn json_of(ages: &InputAges) -> Value {
    json!({
        "paths": ages.paths.len(),
        "executions": ages.executions,
        "fused": ages.fused,
        "newest": ages.newest,
        "oldest": ages.oldest,
    })
}
