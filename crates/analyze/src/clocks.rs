//! Clocks of several hosts. Nothing aligns them yet, so what lies between an event of one and an event of the other is wrong by as much as they
//! differ: it may even be negative, and is no share of anything.

use rostrace_architecture::NamedPath;
use rostrace_model::Model;
use rostrace_model::entity::{DeliveryId, ProcessId};

use crate::analysis::Analysis;

/// Two hosts whose clocks are not known to be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsynchronisedHosts<'m> {
    pub from: &'m str,
    pub to: &'m str,
}

impl<'m> UnsynchronisedHosts<'m> {
    /// The first pair of hosts in a recording.
    pub fn of(model: &'m Model) -> Option<UnsynchronisedHosts<'m>> {
        let mut processes = (0..model.processes.len()).map(ProcessId::from_index);
        let first = processes.next()?;
        let other = processes.find(|other| !model.have_one_clock(first, *other))?;
        Some(UnsynchronisedHosts::between(model, first, other))
    }

    /// Where a declared path leads from a node of one host to one of another.
    pub fn on_declared_path(model: &'m Model, path: &NamedPath) -> Option<UnsynchronisedHosts<'m>> {
        let processes = |name: &str| -> Vec<ProcessId> {
            let lives = model.nodes.iter().filter(|node| node.name == name);
            lives.map(|node| node.process).collect()
        };
        let nodes: Vec<&str> = path.node_names().collect();
        nodes.windows(2).find_map(|pair| {
            let (from, to) = (processes(pair[0]), processes(pair[1]));
            let pairs = from
                .iter()
                .flat_map(|from| to.iter().map(move |to| (*from, *to)));
            let mut strange = pairs.filter(|(from, to)| !model.have_one_clock(*from, *to));
            let (from, to) = strange.next()?;
            Some(UnsynchronisedHosts::between(model, from, to))
        })
    }

    /// Where messages went from one host to another.
    pub fn on_the_way(
        analysis: &Analysis<'m>,
        deliveries: &[DeliveryId],
    ) -> Option<UnsynchronisedHosts<'m>> {
        let model = analysis.model;
        deliveries.iter().find_map(|id| {
            let delivery = analysis.delivery(*id);
            let publication = analysis.publication(delivery.publication);
            let from = model.process_of(publication.thread);
            let named = delivery.subscription;
            let named = named.map(|id| model.subscriptions[id.index()].process);
            let ran = || {
                let instance = analysis.instance(delivery.instance?);
                Some(model.process_of(instance.thread))
            };
            let to = named.or_else(ran)?;
            (!model.have_one_clock(from, to)).then(|| UnsynchronisedHosts::between(model, from, to))
        })
    }

    fn between(model: &'m Model, from: ProcessId, to: ProcessId) -> UnsynchronisedHosts<'m> {
        UnsynchronisedHosts {
            from: model.host_name(from),
            to: model.host_name(to),
        }
    }

    pub fn sentence(&self) -> String {
        format!(
            "the clocks of {} and {} are not known to agree: what lies between an event of one and an event of the other is wrong by as much as they differ, so it is no share of anything",
            self.from, self.to
        )
    }
}
