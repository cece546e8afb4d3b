//! What the tests of observed behaviour share: the recordings that they go through, what has to hold in each of them, and the
//! log of what the recorded programs really did.

#![allow(unreachable_pub)]

pub mod invariants;
pub mod path_instances;
pub mod system;
pub mod truth;

use rostrace_analyze::Analysis;
use rostrace_analyze::table::{Cell, Table};
use rostrace_architecture::{Endpoint, NamedPath, PathStep};
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;

use crate::support;

/// Everything counts.
pub fn whole(model: &Model) -> Analysis<'_> {
    Analysis::new(model, Nanos(i64::MIN)..=Nanos(i64::MAX))
}

/// A recording of a real program.
#[derive(Debug)]
pub struct Recorded {
    pub name: String,
    pub set: TraceSet,
    pub model: Model,
}

impl Recorded {
    pub fn open(name: &str) -> Option<Recorded> {
        let path = rostrace_testkit::recordings::find(name)?;
        let set = TraceSet::open(&[path]).unwrap();
        let model = support::model_of(&set);
        Some(Recorded {
            name: name.to_owned(),
            set,
            model,
        })
    }
}

/// Those of the recordings that are there.
pub fn open<N: AsRef<str>>(
    names: impl IntoIterator<Item = N>,
) -> impl Iterator<Item = (N, Recorded)> {
    let names = names.into_iter();
    names.filter_map(|name| Recorded::open(name.as_ref()).map(|recorded| (name, recorded)))
}

/// All recordings with a log that are not packed, as `jazzy/chain`.
pub fn recordings() -> Vec<String> {
    let mut names = Vec::new();
    for distribution in ["jazzy", "humble"] {
        let Some(folder) = rostrace_testkit::recordings::find(distribution) else {
            continue;
        };
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.path().join("ground_truth").is_dir() {
                let name = entry.file_name().into_string().unwrap();
                names.push(format!("{distribution}/{name}"));
            }
        }
    }
    names.sort();
    names
}

/// The rows of a table as text, in their order.
pub fn rows(analysis: &Analysis<'_>, table: &Table) -> Vec<String> {
    let mut rows = Vec::new();
    (table.rows)(analysis, &mut |cells| {
        rows.push(cells.iter().map(text).collect::<Vec<_>>().join(","));
        Ok(())
    })
    .unwrap();
    rows
}

fn text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Text(text) => (*text).to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
        Cell::Flag(flag) => flag.to_string(),
    }
}

/// A declared path: nodes, each with the topic by which it is left.
pub fn path_through(name: &str, nodes: &[(&str, &str)], last: &str) -> NamedPath {
    let mut steps = Vec::new();
    let mut input = None;
    for (node, topic) in nodes {
        let output = Some(Endpoint::new(*topic, 0));
        steps.push(PathStep::new(*node, input, output.clone()));
        input = output;
    }
    steps.push(PathStep::new(last, input, None));
    NamedPath::new(name, steps)
}
