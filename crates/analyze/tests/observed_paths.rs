//! Observed causality against the log: which output was made from which input.

#![allow(clippy::unwrap_used)]

mod observed;
#[path = "../../trace/tests/support/mod.rs"]
mod support;

use std::collections::{HashMap, HashSet};

use observed::truth::{dependences, logs, messages};
use observed::{Recorded, recordings, whole};
use rostrace_analyze::communication::Communications;
use rostrace_analyze::flow_latency::{Include, path_latency};
use rostrace_analyze::flow_path::{Ends, FlowPaths};
use rostrace_trace::entity::InstanceId;
use support::{Recording, stamp};

/// Each as often as it occurs: processes that run twice count from 1 again.
fn tally<T: std::hash::Hash + Eq>(all: impl IntoIterator<Item = T>) -> HashMap<T, usize> {
    let mut tally = HashMap::new();
    for one in all {
        *tally.entry(one).or_default() += 1;
    }
    tally
}

#[test]
fn what_went_out_because_of_what_came_in_is_what_the_log_says() {
    let mut compared = 0;
    for name in recordings() {
        let recorded = Recorded::open(&name).unwrap();
        let model = &recorded.model;
        let logs = logs(&recorded);
        let (direct, _) = dependences(&logs);
        let known = messages(model, &logs);
        let analysis = whole(model);
        let paths = FlowPaths::of(&analysis);
        let mut ours = Vec::new();
        for index in 0..model.instances.len() {
            let id = InstanceId::from_index(index);
            let Some(cause) = paths.cause(id) else {
                continue;
            };
            let input = known.get(&analysis.delivery(cause).publication);
            for output in analysis.publications_in(id) {
                if let (Some(output), Some(input)) = (known.get(output), input) {
                    ours.push([output.1.clone(), input.1.clone()]);
                }
            }
        }
        let (ours, direct) = (tally(ours), tally(direct));
        let missing: Vec<_> = direct.iter().filter(|it| ours.get(it.0) < Some(it.1)).collect();
        let invented: Vec<_> = ours.iter().filter(|it| direct.get(it.0) < Some(it.1)).collect();
        eprintln!("{name}: {} deps, missing {} {:?}, invented {} {:?}", direct.len(), missing.len(), missing.first(), invented.len(), invented.first());
        compared += direct.len();
    }
    eprintln!("{compared}");
}
