//! States of lifecycle nodes.

use std::io;

use super::describe::pid;
use super::recurring::{HOST, NODE, PID};
use super::{Sink, Table, cells, columns};
use crate::analysis::Analysis;

pub(super) const LIFECYCLE_STATES: Table = Table {
    name: "lifecycle_states",
    about: "One state that a lifecycle node was in for a while.",
    columns: columns! {
        HOST,
        PID,
        NODE,
        text "state" "Its name; `configuring` and the like last as long as the node's own function for them.",
        time "begin_ns" "The transition to it; of the first one the creation of the node.",
        time? "end_ns" "The transition from it; nothing for the last one, and where lost events make it uncertain.",
        duration? "duration_ns" "Begin to end.",
    },
    rows: lifecycle_states,
};

fn lifecycle_states(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for state in &model.lifecycle_states {
        if !analysis.counts(state.begin) {
            continue;
        }
        let machine = &model.state_machines[state.state_machine.index()];
        let node = model.node_name(machine.node).unwrap_or_default();
        take(&cells! {
            model.host_name(machine.process), pid(model, machine.process), node, &state.state,
            state.begin, state.end, state.end.map(|end| end.0 - state.begin.0),
        })?;
    }
    Ok(())
}
