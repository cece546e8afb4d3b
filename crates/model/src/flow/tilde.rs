//! What TILDE tells: which input each output of a node was made from.
//!
//! TILDE gives every message an identity. On reception it says the identity of the input, and before each publication, once for
//! every input, which message it was made from. Its own events name nodes and topics, not the handles of ROS 2.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use crate::entity::{Address, Entities, InstanceId, ProcessId, PublicationId, ThreadId};
use crate::import::Imported;

/// A subscription or publisher of TILDE, or an input of its publishers, by the names that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TildeEndpoint {
    pub thread: ThreadId,
    pub time: Nanos,
    /// TILDE's own object or number, not a handle of ROS 2.
    pub address: Address,
    /// Full name.
    pub node: String,
    pub topic: String,
}

/// A message that TILDE followed into a node, or out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TildeStep {
    pub thread: ThreadId,
    pub time: Nanos,
    pub kind: TildeStepKind,
    /// TILDE's subscription or publisher.
    pub address: Address,
    /// The same, as a row of [`crate::Model::tilde_endpoints`].
    pub endpoint: Option<usize>,
    /// Identity of the message that was received, or that the output is made from.
    pub message_id: u64,
    /// The callback that it happened in.
    pub instance: Option<InstanceId>,
    /// What was published next on the thread.
    pub publication: Option<PublicationId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TildeStepKind {
    Subscribe,
    Publish {
        /// TILDE's number of the input.
        subscription: Address,
        /// The input, as a row of [`crate::Model::tilde_endpoints`].
        input: Option<usize>,
    },
}

/// Gives the steps their names, and the publications that follow them.
pub(crate) fn connect_tilde(imported: &mut Imported, entities: &Entities) {
    if imported.tilde_steps.is_empty() {
        return;
    }
    let process_of = |thread: ThreadId| imported.population.threads[thread.index()].process;
    let mut known: HashMap<(ProcessId, Address), Vec<usize>> = HashMap::new();
    for (row, endpoint) in imported.tilde_endpoints.iter().enumerate() {
        let key = (process_of(endpoint.thread), endpoint.address);
        known.entry(key).or_default().push(row);
    }
    // The youngest at its time; where TILDE reported it only later, the first.
    let endpoint = |process: ProcessId, address: Address, at: Nanos| {
        let rows = known.get(&(process, address))?;
        let reported = rows.partition_point(|row| imported.tilde_endpoints[*row].time <= at);
        rows.get(reported.saturating_sub(1)).copied()
    };
    let mut on_thread: HashMap<ThreadId, Vec<PublicationId>> = HashMap::new();
    for (index, publication) in imported.publications.iter().enumerate() {
        let publications = on_thread.entry(publication.thread).or_default();
        publications.push(PublicationId::of(index));
    }
    for step in &mut imported.tilde_steps {
        let process = process_of(step.thread);
        step.endpoint = endpoint(process, step.address, step.time);
        let TildeStepKind::Publish {
            subscription,
            input,
        } = &mut step.kind
        else {
            continue;
        };
        *input = endpoint(process, *subscription, step.time);
        let topic = step
            .endpoint
            .map(|row| &imported.tilde_endpoints[row].topic);
        let publications = on_thread.get(&step.thread).map_or(&[][..], Vec::as_slice);
        let row = |id: &PublicationId| &imported.publications[id.index()];
        let later = publications.partition_point(|id| row(id).publish < step.time);
        step.publication = publications[later..]
            .iter()
            .take_while(|id| row(id).instance == step.instance)
            .find(|id| {
                let publisher = row(id).publisher;
                let of_publisher = publisher.map(|it| &entities.publishers[it.index()].topic);
                topic.is_none() || of_publisher == topic
            })
            .copied();
    }
}
