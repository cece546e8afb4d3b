//! Calls of services, those of one client to one service together, with the steps that the trace has.

use std::collections::BTreeMap;

use rostrace_analyze::Statistics;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{ClientId, ServiceId};
use rostrace_model::flow::Request;
use serde::Serialize;

use super::Subject;
use super::columns::Columns;
use super::distribution::Distribution;
use super::numbers::numbers;
use super::series::{Allowance, Series};

#[derive(Debug, Serialize)]
pub(crate) struct Calls<'a> {
    id: usize,
    service: &'a str,
    client_node: Option<usize>,
    client_name: &'a str,
    service_node: Option<usize>,
    service_name: &'a str,
    calls: usize,
    /// Those whose response the client took.
    answered: usize,
    request: Option<Statistics>,
    queue: Option<Statistics>,
    execution: Option<Statistics>,
    answering: Option<Statistics>,
    response: Option<Statistics>,
    round_trip: Option<Statistics>,
    series: Option<Series>,
    spread: Option<Distribution>,
}

/// The instants of one call.
#[derive(Debug, Clone, Copy)]
struct Steps {
    first: Nanos,
    sent: Option<Nanos>,
    taken: Option<Nanos>,
    start: Option<Nanos>,
    end: Option<Nanos>,
    answered: Option<Nanos>,
    received: Option<Nanos>,
}

/// In the order of services and clients.
pub(crate) fn calls<'a>(
    subject: Subject<'a>,
    allowance: Allowance,
    columns: &mut Columns,
) -> Vec<Calls<'a>> {
    let analysis = subject.analysis;
    let model = analysis.model;
    let mut together: BTreeMap<(Option<ServiceId>, Option<ClientId>), Vec<Steps>> = BTreeMap::new();
    for request in &model.requests {
        let Some(steps) = steps(subject, request) else {
            continue;
        };
        if analysis.counts(steps.first) {
            let key = (request.service, request.client);
            together.entry(key).or_default().push(steps);
        }
    }
    let mut calls = Vec::with_capacity(together.len());
    for ((service, client), steps) in together {
        let service = service.map(|id| &model.services[id.index()]);
        let client = client.map(|id| &model.clients[id.index()]);
        let service_node = service.and_then(|it| it.node);
        let client_node = client.and_then(|it| it.node);
        if !subject.analysis.selection.has_node(model, service_node)
            && !subject.analysis.selection.has_node(model, client_node)
        {
            continue;
        }
        let name = service.map(|it| it.name.as_str());
        let between = |from: fn(&Steps) -> Option<Nanos>, to: fn(&Steps) -> Option<Nanos>| {
            let value = |steps: &Steps| Some((to(steps)?.0 - from(steps)?.0, steps.first));
            let mut values: Vec<(i64, Nanos)> = steps.iter().filter_map(value).collect();
            numbers(subject, Statistics::of(&mut values).as_ref())
        };
        let round_trips: Vec<(i64, i64)> = steps
            .iter()
            .filter_map(|it| Some((subject.time(it.sent?), it.received?.0 - it.sent?.0)))
            .collect();
        calls.push(Calls {
            id: calls.len(),
            service: name
                .or(client.map(|it| it.name.as_str()))
                .unwrap_or_default(),
            client_node: client_node.map(|id| id.index()),
            client_name: model.node_name(client_node).unwrap_or_default(),
            service_node: service_node.map(|id| id.index()),
            service_name: model.node_name(service_node).unwrap_or_default(),
            calls: steps.len(),
            answered: steps.iter().filter(|it| it.received.is_some()).count(),
            request: between(|it| it.sent, |it| it.taken),
            queue: between(|it| it.taken, |it| it.start),
            execution: between(|it| it.start, |it| it.end),
            answering: between(|it| it.start, |it| it.answered),
            response: between(|it| it.answered, |it| it.received),
            round_trip: between(|it| it.sent, |it| it.received),
            series: allowance.series(columns, &round_trips),
            spread: Distribution::of(columns, round_trips.iter().map(|it| it.1).collect()),
        });
    }
    calls
}

fn steps(subject: Subject<'_>, request: &Request) -> Option<Steps> {
    let instance = request.instance.map(|id| subject.analysis.instance(id));
    let start = instance.map(|instance| instance.start);
    let end = instance.and_then(|instance| instance.end);
    let (sent, taken) = (request.sent, request.taken);
    let (answered, received) = (request.answered, request.received);
    let all = [sent, taken, start, end, answered, received];
    Some(Steps {
        first: all.into_iter().flatten().min()?,
        sent,
        taken,
        start,
        end,
        answered,
        received,
    })
}
