//! How old its inputs were when a callback got what was made from several of them: several paths lead to one execution, and each tells of one
//! input alone. Two figures tell of all: the age of the newest input and that of the oldest.

use std::collections::{BTreeMap, HashMap};

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::InstanceId;

use crate::analysis::Analysis;
use crate::flow_latency::{FlowTimes, Include};
use crate::flow_path::FlowPath;
use crate::statistics::Statistics;

/// A callback that was reached on several paths at once.
#[derive(Debug)]
pub struct InputAges {
    /// As people say it.
    pub callback: String,
    /// The paths that lead to it, by their places among those that were asked for.
    pub paths: Vec<usize>,
    /// Executions that were reached, and those that were reached on more than one path.
    pub executions: usize,
    pub fused: usize,
    /// Of those, from the publication of the newest first message to the start of the callback.
    pub newest: Option<Statistics>,
    pub oldest: Option<Statistics>,
}

/// Of all callbacks in which several of the paths end with the same execution, in the order of the paths.
pub fn input_ages<'p>(
    analysis: &Analysis<'_>,
    paths: impl IntoIterator<Item = &'p FlowPath>,
) -> Vec<InputAges> {
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    let mut groups: Vec<(InputAges, BTreeMap<InstanceId, Ages>)> = Vec::new();
    for (number, path) in paths.into_iter().enumerate() {
        let Some(last) = path.hops.last() else {
            continue;
        };
        let place = *places
            .entry((&last.node, &last.callback))
            .or_insert_with(|| {
                let ages = InputAges {
                    callback: last.callback.clone(),
                    paths: Vec::new(),
                    executions: 0,
                    fused: 0,
                    newest: None,
                    oldest: None,
                };
                groups.push((ages, BTreeMap::new()));
                groups.len() - 1
            });
        let (group, executions) = &mut groups[place];
        group.paths.push(number);
        for flow in &path.flows {
            let end = flow.deliveries.last();
            let end = end.and_then(|it| analysis.delivery(*it).instance);
            let times = FlowTimes::of(analysis, flow, Include::default());
            if let (Some(end), Some(times)) = (end, times) {
                let ages = executions
                    .entry(end)
                    .or_insert_with(|| Ages::none(times.end));
                ages.add(times.begin);
            }
        }
    }
    let groups = groups.into_iter().map(|(mut group, executions)| {
        group.executions = executions.len();
        group.fused = executions.values().filter(|it| it.inputs > 1).count();
        let statistics = |age: fn(&Ages) -> (i64, Nanos)| {
            // Of one that was reached on one path alone, others may have been used again, which no event tells.
            let several = executions.values().filter(|it| it.inputs > 1);
            let mut values: Vec<_> = several.map(age).collect();
            Statistics::of(&mut values)
        };
        group.newest = statistics(|it| (it.end.0 - it.newest.0, it.newest));
        group.oldest = statistics(|it| (it.end.0 - it.oldest.0, it.oldest));
        group
    });
    groups.filter(|group| group.fused > 0).collect()
}

/// The inputs of one execution.
struct Ages {
    end: Nanos,
    newest: Nanos,
    oldest: Nanos,
    inputs: usize,
}

impl Ages {
    fn none(end: Nanos) -> Ages {
        Ages {
            end,
            newest: Nanos(i64::MIN),
            oldest: Nanos(i64::MAX),
            inputs: 0,
        }
    }

    fn add(&mut self, begin: Nanos) {
        self.newest = self.newest.max(begin);
        self.oldest = self.oldest.min(begin);
        self.inputs += 1;
    }
}
