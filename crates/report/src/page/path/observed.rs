//! Paths that messages were observed to take.

use std::cmp::Reverse;
use std::collections::HashMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::communication::{Arrival, handed, publish_instant};
use rostrace_analyze::declared::records::{Cell, Records};
use rostrace_analyze::declared::response_time::{Case, ResponseTimes};
use rostrace_analyze::flow_end::ended_flows;
use rostrace_analyze::flow_end::{Course, answerable, courses, response_times};
use rostrace_analyze::flow_latency::{FlowTimes, Include, PathLatency};
use rostrace_analyze::flow_path::{FlowPath, Origin};
use rostrace_analyze::input_age::input_ages;
use rostrace_analyze::statistics::Statistics;
use rostrace_analyze::why::Why;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackId, DeliveryId};

use super::material::{Instant, Link, Material, Response, ResponseParts, Spread, Stage};
use super::sample::{Candidate, sample};
use super::worst::{WORST, worst};
use super::{CAME_THROUGH, Inputs, NOT_PASSED_ON, PathEntry};
use crate::explained::Explained;
use crate::page::Subject;
use crate::page::numbers::numbers;

/// Messages whose instants are looked at; of more, the slowest, lost ones and some of every time.
const MOST_MESSAGES: usize = 100_000;

/// The messages of a path, in the order of time.
struct Messages {
    instants: Vec<Instant>,
    rows: Records,
    ends: Vec<u8>,
    /// How many there were.
    of: usize,
}

#[derive(Debug)]
pub(super) struct Observed<'a> {
    subject: Subject<'a>,
    paths: Vec<Path<'a>>,
    /// All callbacks of one name.
    lives: HashMap<&'a str, Vec<CallbackId>>,
}

#[derive(Debug)]
struct Path<'a> {
    /// As the exported tables number it.
    number: usize,
    path: &'a FlowPath,
    latency: &'a PathLatency,
    courses: Vec<Course>,
    responses: ResponseTimes,
}

impl<'a> Observed<'a> {
    pub(super) fn of(subject: Subject<'a>) -> Observed<'a> {
        let analysis = subject.analysis;
        let mut lives: HashMap<&str, Vec<CallbackId>> = HashMap::new();
        for index in 0..analysis.model.callbacks.len() {
            let id = CallbackId::from_index(index);
            lives
                .entry(analysis.names.unnumbered(id))
                .or_default()
                .push(id);
        }
        let observed = subject.shared.paths().iter().enumerate();
        let paths = observed
            .filter(|(_, (path, _))| subject.analysis.selection.has_observed_path(path))
            .map(|(number, (path, latency))| {
                let courses = answerable(analysis, courses(analysis, path));
                Path {
                    number,
                    path,
                    latency,
                    responses: response_times(&courses),
                    courses,
                }
            });
        Observed {
            subject,
            paths: paths.collect(),
            lives,
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = PathEntry> {
        let figures = |statistics: Option<&Statistics>| numbers(self.subject, statistics);
        let analysis = self.subject.analysis;
        let mut inputs = self.inputs().into_iter();
        self.paths.iter().map(move |path| {
            let hops = &path.latency.hops;
            PathEntry {
                id: path.number.to_string(),
                title: path.path.title(),
                declared: false,
                error: None,
                hops: hops.len(),
                sent: hops.first().map_or(0, |hop| hop.outcome.sent),
                flows: path.path.flows.len() as u64,
                lost: hops.iter().map(|hop| hop.outcome.lost()).sum(),
                ended: hops.iter().map(|hop| hop.outcome.not_passed_on).sum(),
                damaged: path.latency.damaged,
                assumed: path.latency.assumed,
                inputs: inputs.next().flatten(),
                clocks: path
                    .path
                    .unsynchronised_hosts(analysis)
                    .map(|it| it.sentence()),
                latency: figures(path.latency.latency.as_ref()),
                response_times: Case::EVERY.map(|case| {
                    let times = path.responses.case(case).into_iter();
                    let mut times: Vec<_> =
                        times.map(|(start, time)| (time, Nanos(start))).collect();
                    figures(Statistics::of(&mut times).as_ref())
                }),
                detailed: false,
            }
        })
    }

    /// By path: the ages of all inputs of what it ends in.
    fn inputs(&self) -> Vec<Option<Inputs>> {
        let mut found = vec![None; self.paths.len()];
        let paths = self.paths.iter().map(|it| it.path);
        for ages in input_ages(self.subject.analysis, paths) {
            let inputs = Inputs {
                paths: ages.paths.len(),
                executions: ages.executions,
                fused: ages.fused,
                newest: numbers(self.subject, ages.newest.as_ref()),
                oldest: numbers(self.subject, ages.oldest.as_ref()),
            };
            for path in ages.paths {
                found[path] = Some(inputs);
            }
        }
        found
    }

    pub(super) fn material(&self, place: usize) -> Material<'_> {
        let Path {
            path,
            latency,
            courses,
            responses,
            ..
        } = &self.paths[place];
        let stages = self.stages(path, latency);
        let figures = numbers(self.subject, latency.latency.as_ref());
        let Messages {
            instants,
            rows: messages,
            ends,
            of,
        } = self.messages(path);
        let origin = usize::from(matches!(path.origin, Origin::Callback { .. }));
        let last = instants.len().saturating_sub(2);
        let first = path.hops.first().map(|hop| hop.publishing_node.clone());
        let nodes = first
            .into_iter()
            .chain(path.hops.iter().map(|hop| hop.node.clone()));
        Material {
            nodes: nodes.collect(),
            chain: chain(path, &stages, figures.as_ref()),
            stages,
            latency: figures,
            instants,
            messages,
            ends,
            of,
            measured: (origin, last),
            responses: Case::EVERY.map(|case| responses_of(responses, case)),
            parts: ResponseParts::Observed {
                analysis: self.subject.analysis,
                courses,
            },
            worst: self.worst(path),
        }
    }

    /// Communications and nodes in turn, as the table `path_stages` has them.
    fn stages(&self, path: &FlowPath, latency: &PathLatency) -> Vec<Stage> {
        let mut stages = Vec::new();
        for (hop, of_hop) in path.hops.iter().zip(&latency.hops) {
            let outcome = &of_hop.outcome;
            let ended = outcome.sent - outcome.arrived - outcome.lost();
            stages.push(Stage {
                kind: "communication",
                name: hop.topic.clone(),
                topic: Some(hop.topic.clone()),
                node: Some(hop.node.clone()),
                duration: numbers(self.subject, of_hop.communication.as_ref()),
                sent: Some(outcome.sent),
                arrived: Some(outcome.arrived),
                lost: Some(outcome.lost()),
                ended: Some(ended),
            });
            if of_hop.node.is_some() {
                stages.push(Stage {
                    kind: "node",
                    name: hop.callback.clone(),
                    topic: None,
                    node: Some(hop.node.clone()),
                    duration: numbers(self.subject, of_hop.node.as_ref()),
                    sent: None,
                    arrived: None,
                    lost: None,
                    ended: Some(outcome.not_passed_on),
                });
            }
        }
        stages
    }

    /// All messages of the path, from the start of the callback that sent the first one, if there is one, to the end of the last callback.
    fn messages(&self, path: &FlowPath) -> Messages {
        let analysis = self.subject.analysis;
        let callbacks = |name: &str| self.lives.get(name).cloned().unwrap_or_default();
        let mut instants = Vec::new();
        let instant = |kind, of: &str, coarse| Instant {
            kind,
            of: of.to_owned(),
            coarse,
            callbacks: Vec::new(),
        };
        if let Origin::Callback { name, .. } = &path.origin {
            instants.push(Instant {
                callbacks: callbacks(name),
                ..instant("start", name, true)
            });
        }
        // Messages inside a process are not taken.
        let mut taken = vec![false; path.hops.len()];
        for flow in &path.flows {
            for (taken, id) in taken.iter_mut().zip(&flow.deliveries) {
                *taken |= analysis.arrival(*id).is_some_and(|it| it.taken.is_some());
            }
        }
        for (hop, taken) in path.hops.iter().zip(&taken) {
            instants.push(instant("publish", &hop.topic, true));
            instants.push(instant("handed", &hop.topic, false));
            if *taken {
                instants.push(instant("take", &hop.topic, false));
            }
            instants.push(Instant {
                callbacks: callbacks(&hop.callback),
                ..instant("start", &hop.callback, true)
            });
        }
        if let Some(last) = path.hops.last() {
            instants.push(instant("end", &last.callback, true));
        }
        let names = instants.iter().map(|it| format!("{} {}", it.kind, it.of));
        let mut messages = Records::new(names);
        let from_callback = matches!(path.origin, Origin::Callback { .. });
        let mut ends = Vec::new();
        let width = messages.columns.len();
        let whole = path.flows.iter();
        let ended = ended_flows(analysis, path);
        let ended = ended.iter().map(|ended| {
            let end = ended.cause.map_or(NOT_PASSED_ON, |cause| cause as u8 + 1);
            (&ended.deliveries, end)
        });
        let mut all: Vec<(&Vec<DeliveryId>, u8)> = whole
            .map(|flow| (&flow.deliveries, CAME_THROUGH))
            .chain(ended)
            .collect();
        let begin = |deliveries: &[DeliveryId]| {
            let first = analysis.delivery(*deliveries.first()?);
            let publication = analysis.publication(first.publication);
            let origin = publication.instance.filter(|_| from_callback);
            let origin = origin.map(|origin| analysis.instance(origin).start);
            Some((origin.unwrap_or(publication.publish), publication.publish))
        };
        all.sort_by_key(|(deliveries, _)| begin(deliveries));
        let candidates: Vec<Candidate> = all
            .iter()
            .map(|(deliveries, end)| Candidate {
                latency: latency(analysis, deliveries).filter(|_| *end == CAME_THROUGH),
                lost: *end != CAME_THROUGH && *end != NOT_PASSED_ON,
            })
            .collect();
        for place in sample(&candidates, MOST_MESSAGES) {
            let (deliveries, end) = all[place];
            let mut row = self.instants_of(deliveries, from_callback, &taken);
            row.truncate(width);
            row.resize(width, None);
            messages.rows.push(row);
            ends.push(end);
        }
        Messages {
            instants,
            rows: messages,
            ends,
            of: all.len(),
        }
    }

    fn instants_of(
        &self,
        deliveries: &[DeliveryId],
        from_callback: bool,
        taken: &[bool],
    ) -> Vec<Cell> {
        let analysis = self.subject.analysis;
        let mut row: Vec<Cell> = Vec::new();
        let mut end = None;
        for (number, (id, taken)) in deliveries.iter().zip(taken).enumerate() {
            let delivery = analysis.delivery(*id);
            let publication = analysis.publication(delivery.publication);
            if number == 0 && from_callback {
                let instance = publication.instance;
                row.push(instance.map(|it| analysis.instance(it).start.0));
            }
            let arrival: Option<&Arrival> = analysis.arrival(*id);
            let (publish, handed) = match arrival {
                Some(arrival) => (arrival.publish, arrival.handed),
                None => {
                    let publish = publish_instant(publication, delivery.kind);
                    (publish, handed(publication).max(publish))
                }
            };
            row.extend([Some(publish.0), Some(handed.0)]);
            if *taken {
                row.push(arrival.and_then(|arrival| arrival.taken).map(|it| it.0));
            }
            row.push(arrival.map(|arrival| arrival.received.0));
            let instance = delivery.instance.map(|it| analysis.instance(it));
            end = instance.and_then(|instance| instance.end);
        }
        if deliveries.len() == taken.len() {
            row.push(end.map(|end| end.0));
        }
        row
    }

    fn worst(&self, path: &FlowPath) -> Vec<Explained> {
        let analysis = self.subject.analysis;
        let mut why = Why::new(analysis);
        let mut slowest: Vec<(i64, usize)> = path
            .flows
            .iter()
            .enumerate()
            .filter_map(|(number, flow)| {
                let times = FlowTimes::of(analysis, flow, Include::default())?;
                Some((times.latency(), number))
            })
            .collect();
        slowest.sort_by_key(|(latency, number)| (Reverse(*latency), *number));
        let slowest = slowest.iter().take(WORST);
        slowest
            .filter_map(|(_, number)| {
                let explanation = why.flow(&path.flows[*number])?;
                Some(worst(self.subject, &explanation))
            })
            .collect()
    }
}

/// From the first publication to the start of the last callback.
fn latency(analysis: &Analysis<'_>, deliveries: &[DeliveryId]) -> Option<i64> {
    let first = analysis.arrival(*deliveries.first()?)?;
    let last = analysis.arrival(*deliveries.last()?)?;
    Some(last.received.0 - first.publish.0)
}

fn responses_of(responses: &ResponseTimes, case: Case) -> Vec<Response> {
    let rows = responses.rows(case).into_iter();
    rows.map(|response| Response {
        from: response.from,
        time: response.end - response.from,
        row: response.row,
    })
    .collect()
}

/// The first node, then communications and nodes in turn; last the whole.
fn chain(path: &FlowPath, stages: &[Stage], whole: Option<&Statistics>) -> Vec<Link> {
    let mut chain = Vec::new();
    let node = |name: &str, spread| Link {
        kind: "node",
        name: name.to_owned(),
        spread,
    };
    if let Some(first) = path.hops.first() {
        chain.push(node(&first.publishing_node, None));
    }
    for stage in stages {
        let spread = stage.duration.as_ref().map(Spread::from);
        let kind = stage.kind;
        let name = match kind {
            "node" => stage.node.clone().unwrap_or_default(),
            _ => stage.name.clone(),
        };
        chain.push(Link { kind, name, spread });
    }
    if let Some(last) = path.hops.last() {
        chain.push(node(&last.node, None));
    }
    chain.push(Link {
        kind: "whole",
        name: String::new(),
        spread: whole.map(Spread::from),
    });
    chain
}
