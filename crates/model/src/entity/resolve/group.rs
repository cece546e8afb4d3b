//! Who executes what: executors, callback groups, and the callbacks in them.
//!
//! A group tells neither when it is made nor when it is destroyed: it is known by the address at which it is given to an executor or gets a
//! callback. That one address was two groups is seen by the nodes of their callbacks.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use crate::entity::{
    Address, CallbackGroupId, CallbackGroupType, CallbackId, Entities, ExecutorId, ProcessId,
};
use crate::import::Grouping;

#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Groups of collectors that are not tied to an executor yet.
    collectors: HashMap<(ProcessId, Address), Vec<CallbackGroupId>>,
    /// Groups that were given to an executor after they got their callbacks: what they were before.
    rebound: HashMap<CallbackGroupId, (CallbackGroupType, Option<ExecutorId>)>,
}

impl Groups {
    pub(super) fn take(
        &mut self,
        all: &mut Entities,
        process: ProcessId,
        time: Nanos,
        grouping: &Grouping,
    ) {
        match grouping {
            Grouping::Executor {
                executor,
                collector,
                name,
            } => {
                all.executor(process, time, *executor, Some(name));
                if let Some(collector) = collector.non_null() {
                    self.collector(all, process, time, *executor, collector);
                }
            }
            Grouping::CollectorToExecutor {
                executor,
                collector,
            } => {
                self.collector(all, process, time, *executor, *collector);
            }
            Grouping::GroupToExecutor {
                executor,
                group,
                name,
            } => {
                let executor = all.executor(process, time, *executor, None);
                let group = self.bound(all, process, time, *group, name);
                all.groups[group.index()].executor = Some(executor);
            }
            Grouping::GroupToCollector {
                collector,
                group,
                name,
            } => {
                let group = self.bound(all, process, time, *group, name);
                match all.collector_at.at(process, *collector, time) {
                    Some(executor) => all.groups[group.index()].executor = Some(executor),
                    None => self
                        .collectors
                        .entry((process, *collector))
                        .or_default()
                        .push(group),
                }
            }
            Grouping::GroupTimer { group, timer } => {
                let timer = all.timer_at.around(process, *timer, time);
                let callback = timer.and_then(|timer| all.timers[timer.index()].callback);
                self.add(all, process, time, *group, callback);
            }
            Grouping::GroupSubscription {
                group,
                subscription,
            } => {
                let subscription = all.subscription_at.around(process, *subscription, time);
                let callback = subscription.and_then(|id| all.subscriptions[id.index()].callback);
                self.add(all, process, time, *group, callback);
            }
            Grouping::GroupService { group, service } => {
                let service = all.service_at.around(process, *service, time);
                let callback = service.and_then(|service| all.services[service.index()].callback);
                self.add(all, process, time, *group, callback);
            }
            Grouping::GroupClient { group, client } => {
                let group = all.group(process, time, *group);
                if let Some(client) = all.client_at.around(process, *client, time) {
                    // A group belongs to one node: for another one it is a new group at an old address.
                    let node = all.clients[client.index()].node;
                    let member = all.groups[group.index()].callbacks.first();
                    let fits = member.is_none_or(|member| all.node_of(*member) == node);
                    all.clients[client.index()].group = fits.then_some(group);
                }
            }
        }
    }

    /// The group at an address, which is given to an executor now.
    fn bound(
        &mut self,
        all: &mut Entities,
        process: ProcessId,
        time: Nanos,
        address: Address,
        kind: &str,
    ) -> CallbackGroupId {
        let id = all.group(process, time, address);
        let group = &mut all.groups[id.index()];
        let is_bound = group.executor.is_some() || group.kind != CallbackGroupType::Unknown;
        if is_bound && !group.callbacks.is_empty() {
            // A new group may be given away before it has callbacks; then this is not about the one that has them.
            self.rebound
                .entry(id)
                .or_insert((group.kind, group.executor));
        }
        group.kind = CallbackGroupType::parse(kind);
        id
    }

    /// A callback, if it is known, is in the group at an address.
    pub(super) fn add(
        &mut self,
        all: &mut Entities,
        process: ProcessId,
        time: Nanos,
        group: Address,
        callback: Option<CallbackId>,
    ) {
        let Some(callback) = callback else { return };
        let mut id = all.group(process, time, group);
        // A group belongs to one node: for another one it is a new group at an old address.
        let node = all.node_of(callback);
        let before = self.rebound.remove(&id);
        let members = &all.groups[id.index()].callbacks;
        if members
            .first()
            .is_some_and(|member| all.node_of(*member) != node)
        {
            let new = all.new_group(process, time, group);
            if let Some((kind, executor)) = before {
                let old = &mut all.groups[id.index()];
                let bound = (
                    std::mem::replace(&mut old.kind, kind),
                    std::mem::replace(&mut old.executor, executor),
                );
                let new = &mut all.groups[new.index()];
                (new.kind, new.executor) = bound;
            }
            id = new;
        }
        all.groups[id.index()].callbacks.push(callback);
        all.callbacks[callback.index()].group = Some(id);
    }

    fn collector(
        &mut self,
        all: &mut Entities,
        process: ProcessId,
        time: Nanos,
        executor: Address,
        collector: Address,
    ) {
        let executor = all.executor(process, time, executor, None);
        all.collector_at.create(process, collector, time, executor);
        for group in self
            .collectors
            .remove(&(process, collector))
            .unwrap_or_default()
        {
            all.groups[group.index()].executor = Some(executor);
        }
    }
}
