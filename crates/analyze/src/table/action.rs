//! Goals of actions.

use rostrace_ctf::schema::Nanos;

use super::{Cell, Table, cells, columns};
use crate::action::{self, Goal};
use crate::analysis::Analysis;
use crate::list::{List, titles};

pub(super) const ACTIONS: Table = Table {
    name: "actions",
    about: "One goal of an action: sent, answered (accepted or refused: the trace does not have what the answer says) and its result, as far as the trace has the steps of requests: Kilted and later, and recordings of rostrace's own tracer.",
    columns: columns! {
        text "action" "Name of the action.",
        pid? "client_pid" "Process of the client.",
        node "client_node" "Node of the client; empty if the trace does not name it.",
        pid? "server_pid" "Process of the server.",
        node "server_node" "Node of the server; empty if the trace does not name it.",
        time? "sent_ns" "The client sent the goal.",
        time? "taken_ns" "The server took it.",
        time? "answered_ns" "The server accepted or refused it.",
        time? "received_ns" "The client took this answer.",
        time? "result_requested_ns" "The client asked for the result.",
        time? "result_sent_ns" "The server sent the result.",
        time? "result_received_ns" "The client took it.",
        duration? "acceptance_ns" "Sent to answer received.",
        duration? "execution_ns" "Goal answered to result sent: what the server took for it.",
        duration? "duration_ns" "Sent to result received.",
        count? "feedback" "Messages of feedback; nothing if the server had another goal meanwhile, or if its result is not in the trace.",
        text "matched_by" "What ties the result to the goal: `callback` (asked for in the callback that got the answer), or `order` (the only one that was asked for before the next goal); empty if there is none, or if several may be it.",
        flag "damaged" "Whether events were lost between the first known step and the last.",
    },
    rows: |analysis, take| {
        let rows = ActionRow::all(analysis);
        rows.iter().try_for_each(|row| take(&row.cells()))
    },
};

pub const ACTION_LIST: List = List {
    verb: "actions",
    noun: "goal",
    columns: ACTIONS.columns,
    table: titles! {
        "action": "action", "client": "client_node", "server": "server_node", "sent": "sent_ns",
        "accepted after": "acceptance_ns", "executed": "execution_ns", "duration": "duration_ns",
        "feedback": "feedback",
    },
    dispensable: &["feedback", "accepted after", "client"],
};

/// One goal.
#[derive(Debug)]
pub struct ActionRow<'m> {
    goal: Goal<'m>,
    client: (Option<i64>, &'m str),
    server: (Option<i64>, &'m str),
    /// Of the goal: sent, taken, answered, received.
    steps: [Option<Nanos>; 4],
    /// Of the result: requested, sent, received.
    result: [Option<Nanos>; 3],
    damaged: bool,
}

impl<'m> ActionRow<'m> {
    pub fn all(analysis: &Analysis<'m>) -> Vec<ActionRow<'m>> {
        let model = analysis.model;
        let goals = action::goals(analysis).into_iter();
        let rows = goals.filter_map(|goal| {
            let request = analysis.request(goal.goal);
            let client = request.client.map(|id| &model.clients[id.index()]);
            let service = request.service.map(|id| &model.services[id.index()]);
            let pid =
                |process: rostrace_model::entity::ProcessId| model.processes[process.index()].pid;
            let ends = [client.map(|it| it.process), service.map(|it| it.process)];
            let nodes = [
                client.and_then(|it| it.node),
                service.and_then(|it| it.node),
            ];
            let nodes = nodes.map(|node| model.node_name(node));
            let selection = &analysis.selection;
            let fits = selection.is_everything()
                || selection.fits_any_node(nodes)
                    && selection.fits_any_pid(ends.into_iter().flatten().map(pid));
            if !fits {
                return None;
            }
            let result = goal.result.map(|id| analysis.request(id));
            let steps = [
                request.sent,
                request.taken,
                request.answered,
                request.received,
            ];
            let result = [
                result.and_then(|it| it.sent),
                result.and_then(|it| it.answered),
                result.and_then(|it| it.received),
            ];
            let known = || steps.iter().chain(&result).flatten().copied();
            let damaged = known()
                .min()
                .zip(known().max())
                .is_some_and(|(first, last)| analysis.is_lossy(first, last));
            Some(ActionRow {
                goal,
                client: (ends[0].map(pid), nodes[0].unwrap_or_default()),
                server: (ends[1].map(pid), nodes[1].unwrap_or_default()),
                steps,
                result,
                damaged,
            })
        });
        rows.collect()
    }

    pub fn cells(&self) -> Vec<Cell<'_>> {
        let [sent, taken, answered, received] = self.steps;
        let [requested, result_sent, result_received] = self.result;
        let between =
            |from: Option<Nanos>, to: Option<Nanos>| from.zip(to).map(|(from, to)| to.0 - from.0);
        Vec::from(cells! {
            self.goal.action, self.client.0, self.client.1, self.server.0, self.server.1,
            sent, taken, answered, received, requested, result_sent, result_received,
            between(sent, received), between(answered, result_sent), between(sent, result_received),
            self.goal.feedback, self.goal.by.name(), self.damaged,
        })
    }
}
