//! Everything about one execution: its facts, the messages that led to it, those that it led to, and why it took so long.

use std::borrow::Cow;

use rostrace_analyze::execution_time::{ExecutionTime, Source};
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::names;
use rostrace_model::entity::{DeliveryId, InstanceId, PublicationId};
use serde::Serialize;

use super::Answer;
use super::arrow::Arrow;
use super::occurrence::InstancePlace;
use crate::explained::Explained;
use crate::served::http::Query;
use crate::served::timeline::ServedTimeline;
use crate::served::track::span;

/// Callbacks that publish to each other could lead upstream for ever.
const MOST_HOPS: usize = 32;
/// What one execution leads to can be half of the trace.
const MOST_DOWNSTREAM: usize = 60;
const DEEPEST_DOWNSTREAM: usize = 6;

#[derive(Debug, Serialize)]
struct Facts<'a> {
    place: InstancePlace,
    name: &'a str,
    node: &'a str,
    kind: &'a str,
    topic: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    period_ns: Option<i64>,
    symbol: &'a str,
    host: &'a str,
    process: &'a str,
    pid: i64,
    tid: i64,
    start_ns: String,
    /// Nothing if the end is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<i64>,
    /// What is usual for this callback: the median of its durations.
    #[serde(skip_serializing_if = "Option::is_none")]
    usual: Option<i64>,
    /// How many executions of it took longer, and of how many the duration is known.
    longer: usize,
    of: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    lateness: Option<i64>,
    /// Since the start of the execution before.
    #[serde(skip_serializing_if = "Option::is_none")]
    since_previous: Option<i64>,
    intra_process: bool,
    /// Events were lost meanwhile.
    damaged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<OnCpu>,
    /// The message that it received first, then the one that led to that.
    upstream: Vec<Message<'a>>,
    downstream: Vec<Message<'a>>,
    /// Not all of it is shown.
    downstream_is_cut: bool,
    /// How many messages it published, and whether one of them has a publisher that the trace does not describe.
    published: usize,
    published_by_unknown: bool,
    arrows: Vec<Arrow>,
    why: Explained<InstancePlace>,
}

/// Where the time of the execution went, as the kernel saw it.
#[derive(Debug, Serialize)]
struct OnCpu {
    running: i64,
    waiting: i64,
    blocked: i64,
    /// By the clock of the thread: waiting or blocked.
    waiting_or_blocked: i64,
    preemptions: u64,
    source: &'static str,
}

/// A message, and the execution at its other end.
#[derive(Debug, Serialize)]
struct Message<'a> {
    /// How many messages away.
    depth: usize,
    topic: Cow<'a, str>,
    /// Who sent it (upstream), who received it (downstream).
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<InstancePlace>,
    published: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<i64>,
    status: &'a str,
}

impl ServedTimeline<'_> {
    pub(super) fn instance(&self, query: &Query) -> Option<Answer> {
        let analysis = self.analysis;
        let model = analysis.model;
        let id = InstanceId(u32::try_from(query.integer("id")?).ok()?);
        let row = model.instances.get(id.index())?;
        let number = self.subjects.number_of(analysis, id);
        let subject = self.subjects.list.get(number as usize)?;
        if !subject.shown || !analysis.counts(row.start) {
            return None;
        }
        let process = &model.processes[subject.process.index()];
        let instances = self.subjects.instances(analysis, number);
        let before = instances.partition_point(|other| *other < id);
        let previous = before.checked_sub(1).map(|place| instances[place]);
        let callback = subject.callback.map(|id| &model.callbacks[id.index()]);
        let end = row.end.map(|end| end.max(row.start));
        let duration = end.map(|end| end.0.saturating_sub(row.start.0));
        let (usual, longer, of) = self.beside_others(instances, duration);
        let publications = analysis.publications_in(id);
        let upstream = self.upstream(id);
        let (downstream, downstream_is_cut) = self.downstream(id);
        let deliveries = upstream.iter().chain(&downstream).map(|(_, id)| *id);
        let (asked, answered) = self.request(id);
        Some(Answer::json(&Facts {
            place: self.place(id),
            name: &subject.name,
            node: &subject.node,
            kind: subject.kind,
            topic: &subject.topic,
            period_ns: subject.period.map(|period| period.0),
            symbol: (callback.and_then(|it| it.symbol.as_deref())).unwrap_or_default(),
            host: model.host_name(subject.process),
            process: &process.name,
            pid: process.pid,
            tid: model.threads[row.thread.index()].tid,
            start_ns: row.start.0.to_string(),
            duration,
            usual,
            longer,
            of,
            lateness: self.lateness(id),
            since_previous: previous.map(|it| row.start.0 - analysis.instance(it).start.0),
            intra_process: row.intra_process,
            damaged: analysis.is_execution_damaged(id),
            cpu: self.on_cpu(id),
            arrows: deliveries.filter_map(|id| self.arrow(id)).collect(),
            upstream: (upstream.iter())
                .map(|(depth, id)| self.message(*depth, *id, true))
                .chain(asked)
                .collect(),
            downstream: (downstream.iter())
                .map(|(depth, id)| self.message(*depth, *id, false))
                .chain(answered)
                .collect(),
            downstream_is_cut,
            published: publications.len(),
            published_by_unknown: (publications.iter())
                .any(|id| analysis.publication(*id).publisher.is_none()),
            why: self.why(id),
        }))
    }

    /// The median of durations, how many are longer than one of them, and how many are known.
    fn beside_others(
        &self,
        instances: &[InstanceId],
        duration: Option<i64>,
    ) -> (Option<i64>, usize, usize) {
        let known = instances
            .iter()
            .filter(|id| self.analysis.instance(**id).end.is_some());
        let mut durations: Vec<i64> = known.map(|id| span(self.analysis, *id).1).collect();
        let longer = durations.iter().filter(|it| Some(**it) > duration).count();
        let number = durations.len();
        if number == 0 {
            return (None, 0, 0);
        }
        let (_, median, _) = durations.select_nth_unstable((number - 1) / 2);
        (Some(*median), longer, number)
    }

    fn on_cpu(&self, id: InstanceId) -> Option<OnCpu> {
        let time = ExecutionTime::of(self.analysis, id)?;
        let by_clock = time.source == Source::ThreadClock;
        let scheduling = self.analysis.scheduling.as_ref();
        let timeline = scheduling.and_then(|it| it.timeline(self.analysis.instance(id).thread));
        (by_clock || timeline.is_some()).then_some(OnCpu {
            running: time.running.0,
            waiting: time.waiting.0,
            blocked: time.blocked.0,
            waiting_or_blocked: if by_clock { time.unknown.0 } else { 0 },
            preemptions: time.preemptions,
            source: time.source.name(),
        })
    }

    /// The message that an execution received, the one that the execution which published it received, and so on.
    fn upstream(&self, id: InstanceId) -> Vec<(usize, DeliveryId)> {
        let analysis = self.analysis;
        let mut found = Vec::new();
        let mut at = Some(id);
        while let Some(delivery) = at.and_then(|id| analysis.received_by(id)) {
            if found.len() == MOST_HOPS {
                break;
            }
            found.push((found.len(), delivery));
            let publication = analysis.delivery(delivery).publication;
            at = analysis.publication(publication).instance;
        }
        found
    }

    /// What an execution published, what the receivers published, and so on; what is near comes first if it is too much, and is then put
    /// in the order of a tree.
    fn downstream(&self, id: InstanceId) -> (Vec<(usize, DeliveryId)>, bool) {
        let analysis = self.analysis;
        let mut found: Vec<(usize, DeliveryId)> = Vec::new();
        let mut parents: Vec<Option<usize>> = Vec::new();
        let mut edge = vec![(id, None)];
        let mut is_cut = false;
        for depth in 0..DEEPEST_DOWNSTREAM {
            let mut next = Vec::new();
            for (instance, parent) in edge {
                let publications: &[PublicationId] = analysis.publications_in(instance);
                for delivery in publications
                    .iter()
                    .flat_map(|id| analysis.deliveries_of(*id))
                {
                    if found.len() == MOST_DOWNSTREAM {
                        is_cut = true;
                        break;
                    }
                    if let Some(receiver) = analysis.delivery(*delivery).instance {
                        next.push((receiver, Some(found.len())));
                    }
                    found.push((depth, *delivery));
                    parents.push(parent);
                }
            }
            edge = next;
        }
        let is_more = |(id, _): &(InstanceId, _)| !analysis.publications_in(*id).is_empty();
        is_cut |= edge.iter().any(is_more);
        (as_tree(&found, &parents), is_cut)
    }

    /// The request that an execution of a service answered, and its response.
    fn request(&self, id: InstanceId) -> (Option<Message<'_>>, Option<Message<'_>>) {
        let model = self.analysis.model;
        let Some(row) = self.requests.get(&id).map(|row| &model.requests[*row]) else {
            return (None, None);
        };
        let Some((client, service)) = row.client.zip(row.service) else {
            return (None, None);
        };
        let message = |sent: Option<Nanos>, received: Option<Nanos>| {
            let sent = sent?;
            Some(Message {
                depth: 0,
                topic: model.services[service.index()].name.as_str().into(),
                name: self.analysis.names.client(client).to_owned(),
                instance: None,
                published: self.since(sent.0),
                latency: received.map(|received| received.0.saturating_sub(sent.0)),
                status: "delivered",
            })
        };
        let start = self.analysis.instance(id).start;
        (
            message(row.sent, Some(start)),
            message(row.answered, row.received),
        )
    }

    fn message(&self, depth: usize, id: DeliveryId, is_upstream: bool) -> Message<'_> {
        let analysis = self.analysis;
        let model = analysis.model;
        let delivery = analysis.delivery(id);
        let publication = analysis.publication(delivery.publication);
        let subscription = delivery
            .subscription
            .map(|id| &model.subscriptions[id.index()]);
        let other = match is_upstream {
            true => publication.instance,
            false => delivery.instance,
        };
        let node = match is_upstream {
            true => (publication.publisher).and_then(|id| model.publishers[id.index()].node),
            false => subscription.and_then(|it| it.node),
        };
        let shown = other.filter(|id| self.subjects.is_shown(analysis, *id));
        let arrival = analysis.arrival(id);
        Message {
            depth,
            topic: names::topic(model, delivery),
            name: match other {
                Some(other) => self.name(other).to_owned(),
                None => names::of_node(model, node).to_owned(),
            },
            instance: shown.map(|id| self.place(id)),
            published: self.since(publication.publish.0),
            latency: arrival.map(|arrival| arrival.stages.latency()),
            status: match analysis.drop_cause(id) {
                Some(cause) => cause.name(),
                None => delivery.status.name(),
            },
        }
    }
}

/// Each message followed by those that it led to.
fn as_tree(found: &[(usize, DeliveryId)], parents: &[Option<usize>]) -> Vec<(usize, DeliveryId)> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); found.len()];
    let mut open: Vec<usize> = Vec::new();
    for (place, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(place),
            None => open.push(place),
        }
    }
    open.reverse();
    let mut ordered = Vec::new();
    while let Some(place) = open.pop() {
        ordered.push(found[place]);
        open.extend(children[place].iter().rev());
    }
    ordered
}
