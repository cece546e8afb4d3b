//! What is explained: by default the worst execution of the worst callback.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use anyhow::bail;
use glob::Pattern;
use rostrace_analyze::Analysis;
use rostrace_analyze::callback::{self, CallbackSummary, InstanceTiming};
use rostrace_analyze::clocks::UnsynchronisedHosts;
use rostrace_analyze::communication::Arrival;
use rostrace_analyze::declared::path_instance::PathInstance;
use rostrace_analyze::declared::summary::title;
use rostrace_analyze::finding::{Delayed, Ranking, Runner, delayed_by};
use rostrace_analyze::flow_latency::{FlowTimes, Include};
use rostrace_analyze::flow_path::{Ends as PathEnds, Flow, FlowPath, FlowPaths};
use rostrace_analyze::lost_message::{LostMessage, lost_messages};
use rostrace_analyze::timer::Firing;
use rostrace_analyze::why::{Explanation, Why};
use rostrace_architecture::{Architecture, NamedPath};
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::{built_in, names};
use rostrace_model::entity::{CallbackId, DeliveryId, InstanceId};
use rostrace_model::flow::DeliveryStatus;

use super::not_arrived::NotArrived;
use super::{WhyArguments, named_path};
use crate::capabilities;
use crate::commands::latency::{self, Ends};
use crate::name;
use crate::outcome::wrong_usage;
use crate::render::diagnostic;
use crate::view::View;
use rostrace_base::units;

#[derive(Debug)]
pub(super) enum Subject {
    Execution(InstanceId, Option<Firing>),
    Message(DeliveryId, Option<NotArrived>),
    /// A message that did not arrive.
    Lost(LostMessage, Option<NotArrived>),
    Path(FlowPath, Flow),
    /// With the nodes that are taken to have used the newest input.
    NamedPath(NamedPath, PathInstance, Vec<String>),
}

impl Subject {
    pub(super) fn find(
        analysis: &Analysis<'_>,
        view: &View<'_>,
        arguments: &WhyArguments,
        architecture: Option<&Architecture>,
        (from, to): (&Ends, &Ends),
        at: Option<Nanos>,
    ) -> anyhow::Result<Subject> {
        let choice = Choice {
            at,
            rank: arguments.rank as usize,
        };
        if let (Some(architecture), Some(file)) = (architecture, &arguments.architecture) {
            let (ends, names) = ((from, to), &arguments.paths);
            return named_path::find(analysis, view, (architecture, file), names, ends, choice);
        }
        if !from.names.is_empty() || !to.names.is_empty() {
            if arguments.callback.is_some() {
                wrong_usage!("--callback cannot be used together with the ends of a path");
            }
            return path(analysis, view, arguments, (from, to), choice);
        }
        if arguments.callback.is_none() && !arguments.filter.entities.topics.is_empty() {
            return message(analysis, view, arguments, choice);
        }
        execution(analysis, view, arguments, choice)
    }

    pub(super) fn explain(&self, why: &mut Why<'_>) -> Option<Explanation> {
        match self {
            Subject::Execution(instance, firing) => Some(why.instance(*instance, firing.as_ref())),
            Subject::Message(delivery, _) => why.communication(*delivery),
            Subject::Lost(lost, _) => Some(why.lost(lost)),
            Subject::Path(_, flow) => why.flow(flow),
            Subject::NamedPath(_, path_instance, _) => Some(why.path_instance(path_instance)),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Subject::Execution(..) => "callback",
            Subject::Message(..) | Subject::Lost(..) => "communication",
            Subject::Path(..) | Subject::NamedPath(..) => "path",
        }
    }

    pub(super) fn title(&self, analysis: &Analysis<'_>) -> String {
        match self {
            Subject::Execution(instance, _) => execution_name(analysis, *instance),
            Subject::Message(delivery, _) => message_name(analysis, *delivery),
            Subject::Lost(lost, _) => message_name(analysis, lost.delivery),
            Subject::Path(path, _) => path.title(),
            Subject::NamedPath(path, ..) => title(path),
        }
    }

    /// What its time begins with.
    pub(super) fn begin(&self, analysis: &Analysis<'_>, begin: Nanos) -> &'static str {
        match self {
            Subject::Execution(_, Some(_)) => "when the timer was due",
            Subject::Execution(instance, None) if analysis.instance(*instance).start == begin => {
                "its start"
            }
            Subject::Execution(instance, None) if analysis.asked_by(*instance).is_some() => {
                "the sending of its request"
            }
            Subject::Execution(_, None) => "the publication of its message",
            Subject::Message(..) | Subject::Lost(..) | Subject::Path(..) => "the publication",
            Subject::NamedPath(_, path_instance, _) => named_path::begin(path_instance),
        }
    }

    pub(super) fn end(&self, analysis: &Analysis<'_>) -> &'static str {
        match self {
            Subject::Execution(instance, _) if analysis.instance(*instance).end.is_none() => {
                "its start; the trace does not have its end"
            }
            Subject::Execution(..) => "the end of the callback",
            Subject::Message(..) => "the start of the callback",
            Subject::Lost(lost, _) => lost.end_name(),
            Subject::Path(..) => "the start of the last callback",
            Subject::NamedPath(_, path_instance, _) => named_path::end(analysis, path_instance),
        }
    }

    /// The nodes that are taken to have used the newest input, although another one made them publish.
    pub(super) fn assumed(&self, analysis: &Analysis<'_>) -> Vec<String> {
        match self {
            Subject::NamedPath(_, _, assumed) => assumed.clone(),
            Subject::Path(path, flow) => {
                let hops = path.hops.iter().zip(flow.assumed(analysis));
                let stored = hops.filter(|(_, assumed)| *assumed);
                stored.map(|(hop, _)| hop.node.clone()).collect()
            }
            Subject::Execution(..) | Subject::Message(..) | Subject::Lost(..) => Vec::new(),
        }
    }

    /// Two hosts on its way whose clocks are not known to agree.
    pub(super) fn unsynchronised_hosts<'m>(
        &self,
        analysis: &Analysis<'m>,
    ) -> Option<UnsynchronisedHosts<'m>> {
        match self {
            Subject::Message(delivery, _) => {
                UnsynchronisedHosts::on_the_way(analysis, &[*delivery])
            }
            Subject::Lost(lost, _) => UnsynchronisedHosts::on_the_way(analysis, &[lost.delivery]),
            Subject::Path(_, flow) => UnsynchronisedHosts::on_the_way(analysis, &flow.deliveries),
            Subject::NamedPath(path, ..) => {
                UnsynchronisedHosts::on_declared_path(analysis.model, path)
            }
            Subject::Execution(..) => None,
        }
    }

    /// What began late because of it; only an execution keeps others waiting.
    pub(super) fn delayed(&self, analysis: &Analysis<'_>) -> Vec<Delayed> {
        match self {
            Subject::Execution(instance, _) => {
                delayed_by(analysis, &callback::summaries(analysis), *instance)
            }
            Subject::Message(..)
            | Subject::Lost(..)
            | Subject::Path(..)
            | Subject::NamedPath(..) => Vec::new(),
        }
    }

    /// The messages that did not arrive, among those that it was chosen from.
    pub(super) fn not_arrived(&self) -> Option<&NotArrived> {
        match self {
            Subject::Message(_, not_arrived) | Subject::Lost(_, not_arrived) => {
                not_arrived.as_ref()
            }
            Subject::Execution(..) | Subject::Path(..) | Subject::NamedPath(..) => None,
        }
    }

    pub(super) fn hops(&self) -> usize {
        match self {
            Subject::Path(path, _) => path.hops.len(),
            Subject::NamedPath(path, ..) => named_path::hops(path).count(),
            _ => 1,
        }
    }

    pub(super) fn hop(&self, analysis: &Analysis<'_>, hop: usize) -> String {
        match self {
            Subject::Path(_, flow) => message_name(analysis, flow.deliveries[hop]),
            Subject::NamedPath(path, ..) => named_path::hops(path).nth(hop).unwrap_or_default(),
            _ => String::new(),
        }
    }
}

/// Which one of many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    at: Option<Nanos>,
    rank: usize,
}

impl Choice {
    /// Fails where there are some, but not as many as `--rank` counts.
    fn within(self, rows: usize, noun: &str) -> anyhow::Result<()> {
        if self.at.is_none() && rows > 0 && self.rank > rows {
            let found = units::counted(rows as u64, noun);
            bail!(
                "--rank {}: there are only {found} to choose from",
                self.rank
            );
        }
        Ok(())
    }

    /// The message that did not arrive, if it is the one that is meant: it was published last of those in progress, or nothing was in progress
    /// and it is the next one; or none arrived at all.
    fn lost(self, lost: &[LostMessage], arrived: &[(DeliveryId, Arrival)]) -> Option<LostMessage> {
        let Some(at) = self.at else {
            let mut lost = lost.iter().filter(|_| arrived.is_empty());
            return lost.nth(self.rank - 1).copied();
        };
        let times = |arrival: &Arrival| (arrival.publish, arrival.received);
        let arrived = arrived.iter().map(|(_, arrival)| (times(arrival), None));
        let lost = lost.iter().map(|it| ((it.begin, it.end), Some(*it)));
        let both = arrived.chain(lost).filter(|((_, end), _)| *end >= at);
        let (running, later): (Vec<_>, Vec<_>) = both.partition(|((begin, _), _)| *begin <= at);
        let order = |row: &((Nanos, Nanos), Option<LostMessage>)| (row.0, row.1.is_some());
        let meant = match running.is_empty() {
            true => later.into_iter().min_by_key(order),
            false => running.into_iter().max_by_key(order),
        };
        meant.and_then(|(_, lost)| lost)
    }

    /// `times` tells begin, end and how bad it is.
    pub(super) fn pick<T>(
        self,
        mut rows: Vec<T>,
        times: impl Fn(&T) -> (Nanos, Nanos, i64),
    ) -> Option<T> {
        match self.at {
            Some(at) => {
                rows.sort_by_key(|row| times(row).0);
                rows.into_iter().find(|row| times(row).1 >= at)
            }
            None => {
                rows.sort_by_key(|row| (Reverse(times(row).2), times(row).0));
                rows.into_iter().nth(self.rank - 1)
            }
        }
    }
}

fn execution(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    arguments: &WhyArguments,
    choice: Choice,
) -> anyhow::Result<Subject> {
    let mut summaries = callback::summaries(analysis);
    let ranking = match arguments.callback {
        Some(_) => None,
        // Of all, whatever is chosen from: a report has this order too.
        None => Some(Ranking::of(analysis, &summaries)),
    };
    let mut unnamed = unnamed_executions(analysis);
    let pattern = (arguments.callback.as_ref())
        .map(|pattern| meant_callback(analysis, pattern))
        .transpose()?;
    if let Some(pattern) = &pattern {
        summaries.retain(|summary| {
            let node = analysis.model.node_of_callback(summary.callback);
            let node = analysis.model.node_name(node).unwrap_or("");
            let name = analysis.names.callback(summary.callback);
            pattern.matches(name) || pattern.matches(node)
        });
        unnamed.retain(|it| pattern.matches(&execution_name(analysis, it.instance)));
    }
    summaries.retain(|summary| view.has_callback(summary.callback));
    let thread = |it: &InstanceTiming| analysis.instance(it.instance).thread;
    unnamed.retain(|it| view.has_unnamed(analysis.model.process_of(thread(it))));
    if summaries.is_empty()
        && unnamed.is_empty()
        && let Some(sentence) = arguments.filter.entities.nothing_fits("such callback")
    {
        bail!("{sentence}; `rostrace callbacks` lists them with their nodes and processes");
    }
    let model = analysis.model;
    let runner = |summary: &CallbackSummary| Runner::callback(model, summary.callback);
    let wanted: Vec<&CallbackSummary> = match &ranking {
        None => summaries.iter().collect(),
        Some(ranking) => {
            let worst = summaries.iter().filter(|summary| {
                let callback = summary.callback;
                !built_in::callback(model, callback) || ranking.is_notable(runner(summary))
            });
            let worst = worst.min_by(|a, b| ranking.order(runner(a), runner(b)));
            if worst.is_some_and(|worst| ranking.caused(runner(worst)) > 0) {
                diagnostic::note(
                    "this callback is first because it made others late; `rostrace report` shows which, and --callback explains one of them",
                );
            }
            worst.into_iter().collect()
        }
    };
    // Without a name nothing is known that could be ranked, so they are chosen where nothing else is.
    let has_named = wanted.iter().any(|summary| summary.count > 0);
    unnamed.retain(|_| arguments.callback.is_some() || !has_named);
    if let Some(ranking) = &ranking {
        let runner = |it: &InstanceTiming| Runner::of(model, analysis.instance(it.instance));
        let worst = unnamed.iter().map(runner);
        let worst = worst.min_by(|a, b| ranking.order(*a, *b));
        unnamed.retain(|it| Some(runner(it)) == worst);
    }
    let named = wanted
        .iter()
        .flat_map(|it| callback::instance_timings(analysis, it.callback));
    let mut executions = Vec::new();
    for execution in named.chain(unnamed) {
        let instance = analysis.instance(execution.instance);
        let end = instance.end.unwrap_or(instance.start);
        let due = execution.due(analysis).unwrap_or(instance.start);
        executions.push((execution, due, end));
    }
    choice.within(executions.len(), "execution")?;
    let picked = choice.pick(executions, |(_, begin, end)| {
        (*begin, *end, end.0 - begin.0)
    });
    match picked {
        Some((execution, ..)) => Ok(Subject::Execution(execution.instance, execution.firing)),
        None => match capabilities::CALLBACKS.lack(&analysis.model.kinds) {
            Some(lack) => bail!("{lack}"),
            None => bail!("there is no such execution in this part of the trace"),
        },
    }
}

/// The executions of callbacks that the trace does not name.
fn unnamed_executions(analysis: &Analysis<'_>) -> Vec<InstanceTiming> {
    let instances = analysis.model.instances.iter().enumerate();
    let unnamed = instances.filter(|(_, it)| it.callback.is_none() && analysis.counts(it.start));
    let execution = |(index, _)| InstanceTiming {
        instance: InstanceId::from_index(index),
        period: None,
        gap: None,
        firing: None,
    };
    unnamed.map(execution).collect()
}

/// What `--callback` means: a callback or a node.
pub(crate) fn meant_callback(
    analysis: &Analysis<'_>,
    pattern: &Pattern,
) -> anyhow::Result<Pattern> {
    let model = analysis.model;
    let callbacks = (0..model.callbacks.len()).map(CallbackId::from_index);
    let callbacks = callbacks.map(|callback| analysis.names.callback(callback));
    let unnamed: BTreeSet<String> = unnamed_executions(analysis)
        .iter()
        .map(|it| execution_name(analysis, it.instance))
        .collect();
    let nodes = model.nodes.iter().map(|node| node.name.as_str());
    let unnamed = unnamed.iter().map(String::as_str);
    let names: BTreeSet<&str> = callbacks.chain(nodes).chain(unnamed).collect();
    let noun = "callback and no node of this trace";
    // `fusion <- points` has two names without their slashes.
    let slashed = pattern.as_str().replace("← ", "← /").replace("← //", "← /");
    let slashed = Pattern::new(&slashed).unwrap_or_else(|_| pattern.clone());
    name::meant("--callback", noun, &slashed, &names)
        .or_else(|_| name::meant("--callback", noun, pattern, &names))
}

fn message(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    arguments: &WhyArguments,
    choice: Choice,
) -> anyhow::Result<Subject> {
    let mut rows = Vec::new();
    let mut missing = Vec::new();
    let mut known = false;
    let mut is_arrival_unknown = true;
    for index in 0..analysis.model.deliveries.len() {
        let id = DeliveryId::from_index(index);
        if !view.has_message(id) {
            continue;
        }
        known = true;
        is_arrival_unknown &= analysis.delivery(id).status == DeliveryStatus::Unknown;
        let publication = analysis.delivery(id).publication;
        if !analysis.counts(analysis.publication(publication).publish) {
            continue;
        }
        match analysis.arrival(id) {
            Some(arrival) if !arrival.historical => rows.push((id, *arrival)),
            Some(_) => {}
            None => missing.push(id),
        }
    }
    if !known {
        bail!(
            "no message that was to arrive fits {}; `rostrace topics` lists who sends and who receives",
            arguments.filter.entities
        );
    }
    let lost = lost_messages(analysis, &missing);
    let not_arrived = NotArrived::of(&lost);
    if let Some(lost) = choice.lost(&lost, &rows) {
        return Ok(Subject::Lost(lost, not_arrived));
    }
    choice.within(rows.len(), "message")?;
    let picked = choice.pick(rows, |(_, arrival)| {
        (arrival.publish, arrival.received, arrival.stages.latency())
    });
    match picked {
        Some((id, _)) => Ok(Subject::Message(id, not_arrived)),
        None if is_arrival_unknown => bail!(
            "whether these messages arrived is not known: {}",
            capabilities::TAKE
                .lack(&analysis.model.kinds)
                .unwrap_or("the trace tells of none of them whether it did")
        ),
        None => bail!("no such message arrived in this part of the trace"),
    }
}

fn path(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    arguments: &WhyArguments,
    (from, to): (&Ends, &Ends),
    choice: Choice,
) -> anyhow::Result<Subject> {
    let is_from = |name: &str| from.has(name);
    let is_to = |name: &str| to.has(name);
    let ends = PathEnds {
        from: (!from.names.is_empty()).then_some(&is_from as &dyn Fn(&str) -> bool),
        to: (!to.names.is_empty()).then_some(&is_to as &dyn Fn(&str) -> bool),
    };
    diagnostic::notes(&latency::shared_names(analysis, from, to));
    let paths = FlowPaths::of(analysis).paths(&ends);
    let mut rows = Vec::new();
    let mut found = false;
    for (number, path) in paths.iter().enumerate() {
        if path.hops.iter().any(|hop| built_in::topic(&hop.topic)) {
            continue;
        }
        found = true;
        for flow in path.flows.iter().filter(|flow| view.has_flow(flow)) {
            let times = FlowTimes::of(analysis, flow, Include::default());
            rows.extend(times.map(|times| (number, flow.clone(), times)));
        }
    }
    if rows.is_empty()
        && let Some(subject) = named_path::between(analysis, view, (from, to), choice)
    {
        return Ok(subject);
    }
    if rows.is_empty()
        && found
        && let Some(sentence) = arguments
            .filter
            .entities
            .nothing_fits("path with these ends")
    {
        bail!("{sentence}; `rostrace latency` with the same ends lists them");
    }
    choice.within(rows.len(), "message")?;
    let picked = choice.pick(rows, |(_, _, times)| {
        (times.begin, times.end, times.latency())
    });
    match picked {
        Some((number, flow, _)) => {
            let mut path = paths[number].clone();
            path.flows.clear();
            Ok(Subject::Path(path, flow))
        }
        None => bail!(
            "no message was seen to go this way; `rostrace latency` with the same ends says why"
        ),
    }
}

pub(super) fn execution_name(analysis: &Analysis<'_>, instance: InstanceId) -> String {
    match analysis.instance(instance).callback {
        Some(callback) => analysis.names.callback(callback).to_owned(),
        None => names::unnamed_callback(analysis.instance(instance).address),
    }
}

/// `/sensor → /points → /fusion`
pub(super) fn message_name(analysis: &Analysis<'_>, delivery: DeliveryId) -> String {
    let model = analysis.model;
    let delivery = analysis.delivery(delivery);
    let publication = analysis.publication(delivery.publication);
    let sender = names::sender(model, publication);
    let topic = names::topic(model, delivery);
    let receiver = names::receiver(model, delivery);
    format!("{sender} → {topic} → {receiver}")
}
