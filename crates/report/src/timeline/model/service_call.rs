//! Calls of services: which events belong to which call, and the arrows from client to service and back.

use std::collections::HashMap;
use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{InstanceId, ProcessId};
use rostrace_model::flow::{Request, ServiceStep, ServiceStepKind};

use super::super::flow::FlowId;
use super::super::label::{Common, Labels};
use super::super::lanes::Lanes;
use super::super::sink::{Argument, Sink, TrackId, TrackKind};
use super::{TimelineModel, labelled};

/// The rows of [`Model::requests`] by what is known of them elsewhere.
#[derive(Debug, Default)]
pub(super) struct Calls {
    of_step: HashMap<(ServiceStepKind, Nanos, i64), Vec<usize>>,
    of_instance: HashMap<InstanceId, Vec<usize>>,
    of_client: HashMap<ProcessId, Vec<usize>>,
    /// By thread; empty if there are none.
    steps_on: Vec<Vec<usize>>,
}

impl Calls {
    pub(super) fn of(model: &Model) -> Calls {
        let mut calls = Calls::default();
        if !model.service_steps.is_empty() {
            calls.steps_on.resize_with(model.threads.len(), Vec::new);
        }
        for (row, step) in model.service_steps.iter().enumerate() {
            calls.steps_on[step.thread.index()].push(row);
        }
        for (row, request) in model.requests.iter().enumerate() {
            for (kind, time) in [
                (ServiceStepKind::SendRequest, request.sent),
                (ServiceStepKind::SendResponse, request.answered),
                (ServiceStepKind::TakeResponse, request.received),
            ] {
                if let Some(time) = time {
                    let key = (kind, time, request.sequence);
                    calls.of_step.entry(key).or_default().push(row);
                }
            }
            if let Some(instance) = request.instance {
                calls.of_instance.entry(instance).or_default().push(row);
            }
            if let Some(client) = request.client {
                let process = model.clients[client.index()].process;
                calls.of_client.entry(process).or_default().push(row);
            }
        }
        calls
    }

    pub(super) fn steps_on(&self, thread: usize) -> &[usize] {
        self.steps_on.get(thread).map_or(&[], Vec::as_slice)
    }

    fn of_step(&self, step: &ServiceStep) -> &[usize] {
        let key = (step.kind, step.time, step.sequence);
        self.of_step.get(&key).map_or(&[], Vec::as_slice)
    }
}

fn name<'m>(model: &'m Model, request: &Request) -> Option<&'m str> {
    let service = request.service.map(|id| &model.services[id.index()].name);
    let client = || request.client.map(|id| &model.clients[id.index()].name);
    service.or_else(client).map(String::as_str)
}

impl<S: Sink> TimelineModel<'_, S> {
    fn shows_client(&self, request: &Request) -> bool {
        let client = request
            .client
            .map(|id| &self.analysis.model.clients[id.index()]);
        client.is_some_and(|client| {
            self.selected.has_process(client.process) && self.selected.has_node(client.node)
        })
    }

    fn shows_service(&self, request: &Request) -> bool {
        let service = (request.service).map(|id| &self.analysis.model.services[id.index()]);
        service.is_some_and(|service| {
            self.selected.has_process(service.process) && self.selected.has_node(service.node)
        })
    }

    fn both_count(&self, from: Option<Nanos>, to: Option<Nanos>) -> bool {
        let counts = |at: Nanos| self.analysis.counts(at);
        from.zip(to)
            .is_some_and(|(from, to)| from < to && counts(from) && counts(to))
    }

    /// From the client to the callback of the service.
    fn request_arrow(&self, row: usize) -> Option<FlowId> {
        let request = &self.analysis.model.requests[row];
        let instance = self.analysis.instance(request.instance?);
        (self.both_count(request.sent, Some(instance.start))
            && self.shows_client(request)
            && self.shows_instance(instance))
        .then(|| FlowId::of_request(row))
    }

    /// From the service to the client.
    fn response_arrow(&self, row: usize) -> Option<FlowId> {
        let request = &self.analysis.model.requests[row];
        (self.both_count(request.answered, request.received)
            && self.shows_client(request)
            && self.shows_service(request))
        .then(|| FlowId::of_response(row))
    }

    /// The requests that an execution of a service's callback received.
    pub(super) fn requests_of(&self, instance: InstanceId) -> impl Iterator<Item = FlowId> + '_ {
        let rows = self.calls.of_instance.get(&instance);
        let rows = rows.map_or(&[][..], Vec::as_slice).iter();
        rows.filter_map(|row| self.request_arrow(*row))
    }

    /// A taken request is not shown: its callback begins then.
    pub(super) fn shows_step(&self, step: &ServiceStep) -> bool {
        let calls = self.calls.of_step(step).first();
        let call = calls.map(|row| &self.analysis.model.requests[*row]);
        let is_shown = match (step.kind, call) {
            (ServiceStepKind::TakeRequest, _) => false,
            (_, None) => self.selected.has_unnamed(),
            (ServiceStepKind::SendResponse, Some(request)) => self.shows_service(request),
            (_, Some(request)) => self.shows_client(request),
        };
        is_shown && self.analysis.counts(step.time)
    }

    /// What a client or a service did, as an instant on its thread.
    pub(super) fn service_step(&mut self, track: TrackId, step: &ServiceStep) -> io::Result<()> {
        let model = self.analysis.model;
        let calls = self.calls.of_step(step);
        let word = match step.kind {
            ServiceStepKind::SendRequest => "send request",
            ServiceStepKind::TakeRequest => "take request",
            ServiceStepKind::SendResponse => "send response",
            ServiceStepKind::TakeResponse => "take response",
        };
        let service = calls
            .iter()
            .find_map(|row| name(model, &model.requests[*row]));
        let flows = |arrow: &dyn Fn(usize) -> Option<FlowId>| {
            let flows = calls.iter().filter_map(|row| arrow(*row));
            flows.collect::<Vec<FlowId>>()
        };
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        match step.kind {
            ServiceStepKind::SendRequest => sends = flows(&|row| self.request_arrow(row)),
            ServiceStepKind::SendResponse => sends = flows(&|row| self.response_arrow(row)),
            _ => receives = flows(&|row| self.response_arrow(row)),
        }
        let name = match service {
            Some(service) => format!("{word} {service}"),
            None => word.to_owned(),
        };
        let arguments = [("sequence", Argument::Integer(step.sequence))];
        let label = Labels::common(Common::Service);
        let mut event = labelled(&self.labels, track, step.time, label);
        event.name = Some(&name);
        event.arguments = &arguments;
        event.sends = &sends;
        event.receives = &receives;
        self.sink.event(&event)
    }

    /// How long the clients of a process waited: from sending to the response. Calls without one are shown where they were sent: drawn to the end,
    /// many would hide everything.
    pub(super) fn service_calls(&mut self, process: ProcessId, track: TrackId) -> io::Result<()> {
        let model = self.analysis.model;
        let Some(rows) = self.calls.of_client.get(&process) else {
            return Ok(());
        };
        let mut calls: Vec<(Nanos, Nanos, &Request)> = Vec::new();
        for request in rows.iter().map(|row| &model.requests[*row]) {
            let sent = request.sent.filter(|sent| self.analysis.counts(*sent));
            if let Some(sent) = sent.filter(|_| self.shows_client(request)) {
                let end = request.received.unwrap_or(sent).max(sent);
                calls.push((sent, end, request));
            }
        }
        calls.sort_by_key(|(sent, end, _)| (*sent, std::cmp::Reverse(*end)));
        let mut lanes = Lanes::default();
        let mut tracks = Vec::new();
        for (sent, end, request) in calls {
            let lane = lanes.place(sent, end);
            while tracks.len() <= lane {
                tracks.push(self.track(Some(track), TrackKind::Named("service calls"))?);
            }
            let mut arguments = vec![("sequence", Argument::Integer(request.sequence))];
            let service = request.service.map(|id| &model.services[id.index()]);
            if let Some(node) = service.and_then(|service| model.node_name(service.node)) {
                arguments.push(("service_node", Argument::Text(node)));
            }
            if request.received.is_none() {
                arguments.push(("unfinished", Argument::Flag(true)));
            }
            let label = Labels::common(Common::Service);
            let mut event = labelled(&self.labels, tracks[lane], sent, label);
            event.end = request.received.map(|_| end);
            event.name = Some(name(model, request).unwrap_or("call"));
            event.arguments = &arguments;
            self.sink.event(&event)?;
        }
        for track in tracks {
            self.sink.close(track)?;
        }
        Ok(())
    }
}
