//! Actions: a goal, its acceptance, its feedback and its result as one thing.
//!
//! An action is three services and two topics. The trace has no goal ids, so a goal and its result are tied by what the client did: it asked for the
//! result in the callback that got the goal's response, or between this goal and the next one it asked for one result only.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{ClientId, NodeId, ProcessId, PublisherId, RequestId};

use crate::analysis::Analysis;

const SEND_GOAL: &str = "/_action/send_goal";
const GET_RESULT: &str = "/_action/get_result";
const FEEDBACK: &str = "/_action/feedback";

named! {
    /// What ties a result to its goal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ResultMatch {
        /// It was asked for in the callback that got the goal's response.
        Callback = "callback",
        /// It is the only one that was asked for before the next goal.
        Order = "order",
        /// There is none, or several may be it.
        Nothing = "",
    }
}

/// A goal that a client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal<'m> {
    /// The action's name.
    pub action: &'m str,
    pub goal: RequestId,
    pub result: Option<RequestId>,
    pub by: ResultMatch,
    /// Messages of feedback until the result was sent; nothing if the server had another goal meanwhile, whose they may be.
    pub feedback: Option<u64>,
}

/// The goals that were sent, or taken, in the order of time.
pub fn goals<'m>(analysis: &Analysis<'m>) -> Vec<Goal<'m>> {
    let model = analysis.model;
    let mut goals: Vec<Goal<'m>> = Vec::new();
    // By client of goals: what it sent, and by client of results what was asked for.
    let mut asked: BTreeMap<Owner<'m>, Vec<RequestId>> = BTreeMap::new();
    for index in 0..model.requests.len() {
        let id = RequestId::from_index(index);
        let Some(name) = name(model, id) else {
            continue;
        };
        if let Some(action) = name.strip_suffix(SEND_GOAL) {
            goals.push(Goal {
                action,
                goal: id,
                result: None,
                by: ResultMatch::Nothing,
                feedback: None,
            });
        } else if let Some(action) = name.strip_suffix(GET_RESULT)
            && let Some(client) = model.requests[index].client
        {
            asked
                .entry(owner(model, action, client))
                .or_default()
                .push(id);
        }
    }
    for place in 0..goals.len() {
        let (result, by) = result_of(analysis, &goals, place, &asked);
        goals[place].result = result;
        goals[place].by = by;
    }
    let feedback: Vec<Option<u64>> = (0..goals.len())
        .map(|place| feedback_of(analysis, &goals, place))
        .collect();
    for (goal, feedback) in goals.iter_mut().zip(feedback) {
        goal.feedback = feedback;
    }
    goals.retain(|goal| first(analysis, goal.goal).is_some_and(|first| analysis.counts(first)));
    goals
}

/// The name of the service of a request.
fn name(model: &Model, id: RequestId) -> Option<&str> {
    let request = &model.requests[id.index()];
    let service = request.service.map(|id| &model.services[id.index()].name);
    let client = || request.client.map(|id| &model.clients[id.index()].name);
    service.or_else(client).map(String::as_str)
}

/// The action's client: a node of a process, and the action.
type Owner<'m> = (ProcessId, Option<NodeId>, &'m str);

fn owner<'m>(model: &Model, action: &'m str, client: ClientId) -> Owner<'m> {
    let client = &model.clients[client.index()];
    (client.process, client.node, action)
}

/// The first known step.
pub fn first(analysis: &Analysis<'_>, id: RequestId) -> Option<Nanos> {
    let request = analysis.request(id);
    request.sent.or(request.taken)
}

fn result_of<'m>(
    analysis: &Analysis<'m>,
    goals: &[Goal<'m>],
    place: usize,
    asked: &BTreeMap<Owner<'m>, Vec<RequestId>>,
) -> (Option<RequestId>, ResultMatch) {
    let model = analysis.model;
    let nothing = (None, ResultMatch::Nothing);
    let goal = analysis.request(goals[place].goal);
    let Some(client) = goal.client else {
        return nothing;
    };
    let owner = owner(model, goals[place].action, client);
    let Some(asked) = asked.get(&owner) else {
        return nothing;
    };
    if let Some(callback) = goal.client_callback {
        let mut inside = asked
            .iter()
            .filter(|id| analysis.request(**id).sent_by_client == Some(callback));
        if let (Some(id), None) = (inside.next(), inside.next()) {
            return (Some(*id), ResultMatch::Callback);
        }
    }
    let Some(answered) = goal.received else {
        return nothing;
    };
    let next = goals[place + 1..].iter().find_map(|other| {
        let request = analysis.request(other.goal);
        let same = request
            .client
            .map(|id| self::owner(model, other.action, id))
            == Some(owner);
        request.sent.filter(|_| same)
    });
    let mut between = asked.iter().filter(|id| {
        let sent = analysis.request(**id).sent;
        sent.is_some_and(|sent| sent >= answered && next.is_none_or(|next| sent < next))
    });
    // With an earlier goal under way, a result that was asked for may be its.
    let is_alone = goals[..place].iter().all(|other| {
        let request = analysis.request(other.goal);
        let same = request
            .client
            .map(|id| self::owner(model, other.action, id))
            == Some(owner);
        !same || other.result.is_some()
    });
    match (between.next(), between.next()) {
        (Some(id), None) if is_alone => (Some(*id), ResultMatch::Order),
        _ => nothing,
    }
}

/// How often the server published feedback for a goal, if it had no other one meanwhile.
fn feedback_of(analysis: &Analysis<'_>, goals: &[Goal<'_>], place: usize) -> Option<u64> {
    let model = analysis.model;
    let goal = &goals[place];
    let server = |goal: &Goal<'_>| {
        let service = analysis.request(goal.goal).service?;
        let service = &model.services[service.index()];
        Some((service.process, service.node))
    };
    let span = |goal: &Goal<'_>| {
        let taken = analysis.request(goal.goal).taken?;
        let answered = goal.result.and_then(|id| analysis.request(id).answered);
        Some((taken, answered.unwrap_or(Nanos(i64::MAX))))
    };
    let (from, to) = span(goal)?;
    let of = server(goal)?;
    goal.result.and_then(|id| analysis.request(id).answered)?;
    let is_shared = goals.iter().enumerate().any(|(other, row)| {
        other != place
            && row.action == goal.action
            && server(row) == Some(of)
            && span(row).is_some_and(|(begin, end)| begin < to && from < end)
    });
    if is_shared {
        return None;
    }
    let topic = format!("{}{FEEDBACK}", goal.action);
    let publishers = model.publishers.iter().enumerate();
    let publishers = publishers.filter(|(_, it)| it.topic == topic && (it.process, it.node) == of);
    let sent = publishers
        .flat_map(|(index, _)| analysis.publications_of(PublisherId::from_index(index)))
        .filter(|id| (from..=to).contains(&analysis.publication(**id).publish));
    Some(sent.count() as u64)
}
