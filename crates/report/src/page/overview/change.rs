//! What to change: the first thing that the page says. `rostrace why --all` tells the same.

use rostrace_analyze::finding::Runner;
use rostrace_analyze::why::total::{Change, LostMessages, Total, Wanted};
use serde::Serialize;

use super::finding::Teller;
use crate::page::Subject;

/// So many are shown.
const MOST: usize = 10;

#[derive(Debug, Serialize)]
pub(super) struct Changes {
    /// How many executions were explained, how many of them were late, and by how much together.
    explained: u64,
    late: u64,
    lateness: i64,
    /// Of that, what the recording does not tell the reason of.
    unexplained: i64,
    /// What shows all of it.
    command: String,
    list: Vec<ChangeRow>,
}

#[derive(Debug, Serialize)]
struct ChangeRow {
    action: String,
    evidence: String,
    note: String,
    /// Of all lateness; nothing for what is no time.
    share: Option<f64>,
    gain: i64,
    /// The names in the action, and where they lead.
    links: Vec<(String, String)>,
    /// What else it would help.
    others: Vec<(String, String)>,
    command: String,
}

pub(super) fn changes(subject: Subject<'_>) -> Changes {
    let (analysis, selection) = (subject.analysis, &subject.analysis.selection);
    let model = analysis.model;
    let wanted = Wanted {
        callback: &|id| selection.has_callback(model, id),
        unnamed: &|id| selection.has_unnamed(model, model.process_of(analysis.instance(id).thread)),
        message: &|id| {
            let subscription = analysis.delivery(id).subscription;
            subscription.is_none_or(|id| {
                let subscription = &model.subscriptions[id.index()];
                selection.fits_topic(Some(&subscription.topic))
                    && selection.has_node(model, subscription.node)
            })
        },
    };
    let total = Total::of_executions(analysis, subject.shared.callbacks(), &wanted);
    let teller = Teller::of(subject);
    let changes = total.changes(MOST);
    let lost = LostMessages::of(analysis, subject.shared.pairs(), |id| {
        let callback = model.subscriptions[id.index()].callback;
        callback.is_some_and(|callback| selection.has_callback(model, callback))
    });
    let lost = lost.iter().take(MOST - changes.len());
    let shown = changes.iter().map(|change| teller.change(change, &total));
    Changes {
        explained: total.explained(),
        late: total.late(),
        lateness: total.lateness(),
        unexplained: total.unexplained(),
        command: format!("{} --all", teller.commands.list("why")),
        list: shown
            .chain(lost.map(|lost| teller.lost_messages(lost)))
            .collect(),
    }
}

impl Teller<'_> {
    fn change(&self, change: &Change, total: &Total) -> ChangeRow {
        let analysis = self.subject.analysis;
        let victims = change.victims.iter().map(|number| &total.victims[*number]);
        let victims: Vec<(String, String)> = victims
            .filter_map(|it| {
                let name = it.victim.name(analysis, total).into_owned();
                let runner = match it.victim.callback(analysis.model) {
                    Some(callback) => Runner::callback(analysis.model, callback),
                    None => return None,
                };
                Some((name, self.runner_link(runner)))
            })
            .collect();
        let culprit = change.remedy.runner();
        let culprit = culprit.map(|runner| (self.runner(runner), self.runner_link(runner)));
        let first = victims.first().cloned();
        let question = change.question(analysis, total);
        ChangeRow {
            action: change.action(analysis, total),
            evidence: change.evidence(total),
            note: change.note(analysis, total),
            share: (total.lateness() > 0).then(|| change.gain as f64 / total.lateness() as f64),
            gain: change.gain,
            links: culprit.into_iter().chain(first).collect(),
            others: victims.into_iter().skip(1).collect(),
            command: self.commands.why(&question.options, question.at),
        }
    }

    fn lost_messages(&self, lost: &LostMessages) -> ChangeRow {
        let model = self.subject.analysis.model;
        let subscription = &model.subscriptions[lost.subscription.index()];
        let callback = subscription.callback;
        let callback = callback.map(|id| Runner::callback(model, id));
        let node = model.node_name(subscription.node).unwrap_or_default();
        let links = callback.map(|runner| (node.to_owned(), self.runner_link(runner)));
        let sentence = lost.sentence(self.subject.analysis);
        let (action, evidence) = sentence.split_once(": ").unwrap_or((&sentence, ""));
        ChangeRow {
            action: action.to_owned(),
            evidence: evidence.to_owned(),
            note: LostMessages::NOTE.to_owned(),
            share: None,
            gain: 0,
            links: links.into_iter().collect(),
            others: Vec::new(),
            command: self.commands.topic(&subscription.topic),
        }
    }
}
