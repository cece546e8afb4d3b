//! Executions cut where they had asked a service and the response had not come yet.
//!
//! Only what the trace joins is reported: the request was sent by this execution, on its thread, and the response was taken before it ended.
//! That it only waited meanwhile is certain where it took the response itself; where another thread did, it may have worked too. What it is
//! known to have done after the request is not cut: it published, sent another request, or had a CPU for most of the time.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{InstanceId, RequestId};
use rostrace_model::flow::Request;
use rostrace_model::scheduling::State;

use super::Why;
use super::cause::{CallStage, Cause};
use super::part::Parts;
use crate::analysis::Analysis;
use crate::service_hop::ServiceHop;

/// Services that ask services are followed this deep.
const DEEPEST: usize = 16;

impl Why<'_> {
    /// The callback itself, up to an instant.
    pub(super) fn add_execution(&self, parts: &mut Parts, instance: InstanceId, until: Nanos) {
        self.add_running(parts, instance, until, Cause::Execution(instance), 0);
    }

    /// From the sending of a request to the start of the service's callback.
    pub(super) fn add_request(&self, parts: &mut Parts, id: RequestId, instance: InstanceId) {
        let request = self.analysis.request(id);
        let row = self.analysis.instance(instance);
        let taken = request.taken.unwrap_or(row.start).min(row.start);
        parts.thread = Some(row.thread);
        let idle = Cause::Call(id, CallStage::Request);
        self.add_wait(parts, row.thread, Some(instance), taken, idle);
        parts.until(row.start, Cause::Dispatch);
    }

    /// From an input, through a request that its execution sent, to an output of the service or of the client's callback.
    pub(super) fn add_service_hop(
        &self,
        parts: &mut Parts,
        asker: InstanceId,
        hop: ServiceHop,
        end: Nanos,
    ) {
        let id = hop.request();
        let request = self.analysis.request(id);
        let sent = request.sent.unwrap_or(end).min(end);
        self.add_execution(parts, asker, sent);
        match (hop, request.instance, request.received) {
            (ServiceHop::Asked(_), Some(service), _) => {
                self.add_request(parts, id, service);
                self.add_execution(parts, service, end);
            }
            (ServiceHop::Answered(_), _, Some(received)) => {
                self.add_call(parts, id, (sent, received.min(end)), 1);
                parts.thread = request.receiver;
                parts.until(end, Cause::Call(id, CallStage::ClientCallback));
            }
            _ => parts.until(end, Cause::Unknown),
        }
    }

    fn add_running(
        &self,
        parts: &mut Parts,
        instance: InstanceId,
        until: Nanos,
        cause: Cause,
        depth: usize,
    ) {
        let analysis = self.analysis;
        let thread = analysis.instance(instance).thread;
        for id in analysis.requests_in(instance) {
            let request = analysis.request(*id);
            let (Some(sent), Some(received)) = (request.sent, request.received) else {
                continue;
            };
            // A second service that answered has a row without the response.
            if depth >= DEEPEST || received <= parts.at || received > until || received <= sent {
                continue;
            }
            let since = self.active_until(instance, sent, received);
            if request.receiver != Some(thread) && self.had_cpu(instance, since, received) {
                continue;
            }
            parts.thread = Some(thread);
            parts.until(since, cause);
            self.add_call(parts, *id, (sent, received), depth + 1);
        }
        parts.thread = Some(thread);
        parts.until(until, cause);
    }

    /// The last thing that an execution is known to have done after it sent a request.
    fn active_until(&self, instance: InstanceId, sent: Nanos, received: Nanos) -> Nanos {
        let analysis = self.analysis;
        let published = analysis.publications_in(instance).iter();
        let published = published.map(|id| analysis.publication(*id).last);
        let asked = analysis.requests_in(instance).iter();
        let asked = asked.filter_map(|id| analysis.request(*id).sent);
        let later = published.chain(asked).filter(|at| *at < received);
        later.fold(sent, Nanos::max)
    }

    /// Whether the kernel's scheduler says that an execution had a CPU for most of a time: it did not just wait.
    fn had_cpu(&self, instance: InstanceId, from: Nanos, to: Nanos) -> bool {
        let Some(scheduling) = &self.analysis.scheduling else {
            return false;
        };
        let thread = self.analysis.instance(instance).thread;
        let running = (scheduling.slices(thread, from, to))
            .filter(|slice| matches!(slice.state, State::Running { .. }))
            .map(|slice| slice.to.0 - slice.from.0);
        running.sum::<i64>() * 2 > to.0 - from.0
    }

    /// A request on its way, at the service and back.
    fn add_call(
        &self,
        parts: &mut Parts,
        id: RequestId,
        (sent, received): (Nanos, Nanos),
        depth: usize,
    ) {
        let analysis = self.analysis;
        let request = analysis.request(id);
        parts.damaged |= analysis.is_damaged(sent, received);
        let service = request
            .instance
            .filter(|_| has_one_clock(analysis, request));
        if let Some(service) = service {
            let row = analysis.instance(service);
            if row.start <= received {
                self.add_request(parts, id, service);
                let answered = request.answered.unwrap_or(received).min(received);
                let end = row.end.unwrap_or(row.start).min(answered);
                self.add_running(parts, service, end, Cause::ServiceExecution(service), depth);
                if request.answered.is_some() {
                    parts.thread = Some(row.thread);
                    parts.until(answered, Cause::Call(id, CallStage::Answering));
                }
            }
        }
        let back = match (service, request.answered) {
            (Some(_), Some(_)) => CallStage::Response,
            _ => CallStage::Unseen,
        };
        let back = Cause::Call(id, back);
        parts.thread = request.receiver;
        let asker = request.sent_by.map(|asker| analysis.instance(asker).thread);
        match request.receiver {
            Some(receiver) if Some(receiver) != asker => {
                self.add_wait(parts, receiver, None, received, back);
            }
            _ => parts.until(received, back),
        }
    }
}

/// Whether the instants of both sides can be compared.
pub(crate) fn has_one_clock(analysis: &Analysis<'_>, request: &Request) -> bool {
    let model = analysis.model;
    let client = request.client.map(|id| model.clients[id.index()].process);
    let service = request.service.map(|id| model.services[id.index()].process);
    client
        .zip(service)
        .is_some_and(|(client, service)| model.have_one_clock(client, service))
}
