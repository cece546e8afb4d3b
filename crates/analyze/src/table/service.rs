//! Calls of services.

use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::ProcessId;
use rostrace_model::flow::Request;

use super::describe::pid;
use super::recurring::{HOST, NODE, PID, TID};
use super::{Cell, Column, Sink, Table, cells, columns};
use crate::analysis::Analysis;

const SERVICE: Column = Column::text(
    "service",
    "Name of the service; empty if the trace does not name it.",
);

const SEQUENCE: Column = Column::integer("sequence", "The client's number of the request.");

pub(super) const SERVICES: Table = Table {
    name: "services",
    about: "One call of a service, as far as the trace has its steps: Kilted and later, and recordings of rostrace's own tracer. Otherwise executions of service callbacks are in `callback_instances`. `request_ns` + `queue_ns` + `answering_ns` + `response_ns` = `round_trip_ns`.",
    columns: columns! {
        SERVICE,
        text "client_host" "Machine of the client; empty if the client is not known.",
        pid? "client_pid" "Process of the client.",
        node "client_node" "Node of the client; empty if the trace does not name it.",
        text "service_host" "Machine of the service; empty if the service is not known.",
        pid? "service_pid" "Process of the service.",
        node "service_node" "Node of the service; empty if the trace does not name it.",
        SEQUENCE,
        time? "sent_ns" "The client sent the request.",
        time? "taken_ns" "The service took it.",
        time? "callback_start_ns" "The service's callback began.",
        time? "callback_end_ns" "The service's callback ended.",
        time? "answered_ns" "The service sent the response, perhaps after its callback.",
        time? "received_ns" "The client took the response.",
        duration? "request_ns" "Sent to taken: the way to the service, and its wait there.",
        duration? "queue_ns" "Taken to start of the callback.",
        duration? "execution_ns" "Start of the callback to its end.",
        duration? "answering_ns" "Start of the callback to the sending of the response.",
        duration? "response_ns" "Answered to received: the way back, and its wait there.",
        duration? "round_trip_ns" "Sent to received.",
        time? "client_callback_start_ns" "The client's callback began; where the program waits for a future, that got the response. Recordings of rostrace's own tracer only.",
        time? "client_callback_end_ns" "The client's callback ended.",
        duration? "client_callback_ns" "Start of the client's callback to its end.",
        text "matched_by" "What ties the client's steps to the service's: `gid`, or `sequence` (inferred: the numbers and instants fit to no other); empty if one side is not known.",
        flag "damaged" "Whether events were lost between the first known step and the last.",
    },
    rows: services,
};

fn services(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for request in &model.requests {
        let instance = request.instance.map(|id| analysis.instance(id));
        let start = instance.map(|instance| instance.start);
        let end = instance.and_then(|instance| instance.end);
        let in_client = request
            .client_callback
            .map(|id| analysis.client_callback(id));
        let client_start = in_client.map(|callback| callback.start);
        let client_end = in_client.and_then(|callback| callback.end);
        let Some((first, last)) = span(request, start, end.max(client_end)) else {
            continue;
        };
        if !analysis.counts(first) {
            continue;
        }
        let client = request.client.map(|id| &model.clients[id.index()]);
        let service = request.service.map(|id| &model.services[id.index()]);
        let name = service.map(|service| service.name.as_str());
        let name = name.or(client.map(|client| client.name.as_str()));
        let client_process = client.map(|client| client.process);
        let service_process = service.map(|service| service.process);
        let host = |process: Option<ProcessId>| process.map_or("", |it| model.host_name(it));
        let client_node = model.node_name(client.and_then(|client| client.node));
        let service_node = model.node_name(service.and_then(|service| service.node));
        take(&cells! {
            name.unwrap_or_default(), host(client_process),
            client_process.map(|process| pid(model, process)), client_node.unwrap_or_default(),
            host(service_process), service_process.map(|process| pid(model, process)),
            service_node.unwrap_or_default(), request.sequence, request.sent, request.taken, start,
            end, request.answered, request.received, between(request.sent, request.taken),
            between(request.taken, start), between(start, end), between(start, request.answered),
            between(request.answered, request.received), between(request.sent, request.received),
            client_start, client_end, between(client_start, client_end), request.by.name(),
            analysis.is_lossy(first, last),
        })?;
    }
    Ok(())
}

/// The first known step and the last.
fn span(request: &Request, start: Option<Nanos>, end: Option<Nanos>) -> Option<(Nanos, Nanos)> {
    let steps = [
        request.sent,
        request.taken,
        start,
        end,
        request.answered,
        request.received,
    ];
    let steps = steps.into_iter().flatten();
    Some((steps.clone().min()?, steps.max()?))
}

fn between(from: Option<Nanos>, to: Option<Nanos>) -> Cell<'static> {
    from.zip(to).map(|(from, to)| to.0 - from.0).into()
}

pub(super) const CLIENT_CALLBACKS: Table = Table {
    name: "client_callbacks",
    about: "One execution of a client's callback: recordings of rostrace's own tracer. It begins when the response was taken; where the program waits for a future, it is the delivery to that.",
    columns: columns! {
        HOST,
        PID,
        TID,
        NODE,
        SERVICE,
        SEQUENCE,
        time "start_ns" "The response was taken.",
        time? "end_ns" "The callback ended.",
        duration? "duration_ns" "Start to end.",
        flag "damaged" "Whether events were lost meanwhile.",
    },
    rows: client_callbacks,
};

fn client_callbacks(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for callback in &model.client_callbacks {
        if !analysis.counts(callback.start) {
            continue;
        }
        let thread = &model.threads[callback.thread.index()];
        let client = callback.client.map(|id| &model.clients[id.index()]);
        let node = model.node_name(client.and_then(|client| client.node));
        // What was lost last is later than all that was not.
        let last = callback.end.unwrap_or(Nanos(i64::MAX));
        take(&cells! {
            model.host_name(thread.process), pid(model, thread.process), thread.tid,
            node.unwrap_or_default(), client.map_or("", |client| client.name.as_str()),
            callback.sequence, callback.start, callback.end,
            between(Some(callback.start), callback.end), analysis.is_damaged(callback.start, last),
        })?;
    }
    Ok(())
}
