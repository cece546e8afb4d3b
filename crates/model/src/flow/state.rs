//! The states of lifecycle nodes over time.

use rostrace_ctf::schema::Nanos;

use super::{Losses, Transition};
use crate::entity::{StateMachine, StateMachineId};

/// A lifecycle node is in a state. States such as `configuring` last as long as the node's own function for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleState {
    pub state_machine: StateMachineId,
    pub state: String,
    /// The first state begins with the node.
    pub begin: Nanos,
    /// Absent for the last one, and where lost events make it uncertain.
    pub end: Option<Nanos>,
}

/// The states of all machines, each machine's in the order of time.
pub(crate) fn lifecycle_states(
    machines: &[StateMachine],
    transitions: &[Transition],
    losses: &Losses,
) -> Vec<LifecycleState> {
    let mut current: Vec<Vec<LifecycleState>> = vec![Vec::new(); machines.len()];
    for transition in transitions {
        let Some(id) = transition.state_machine else {
            continue;
        };
        let states = &mut current[id.index()];
        let state = |name: &str, begin: Nanos| LifecycleState {
            state_machine: id,
            state: name.to_owned(),
            begin,
            end: None,
        };
        if states.is_empty() {
            states.push(state(&transition.from, machines[id.index()].created));
        }
        if let Some(last) = states.last_mut()
            && !losses.between(last.begin, transition.time)
        {
            last.end = Some(transition.time);
        }
        states.push(state(&transition.to, transition.time));
    }
    for (index, states) in current.iter_mut().enumerate() {
        if states.is_empty() && !losses.any() {
            states.push(LifecycleState {
                state_machine: StateMachineId::of(index),
                state: "unconfigured".to_owned(),
                begin: machines[index].created,
                end: None,
            });
        }
    }
    current.into_iter().flatten().collect()
}
