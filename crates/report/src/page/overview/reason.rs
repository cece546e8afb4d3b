//! Why something did not come or came late, in names and numbers.

use rostrace_analyze::finding::Reason;
use rostrace_model::describe::names;
use rostrace_model::entity::NodeId;
use serde::Serialize;

use super::finding::Teller;
use super::what::callback_link;

/// So many reasons of one finding are shown.
const MOST: usize = 3;

/// A reason, of so many of those that a finding is about.
#[derive(Debug, Serialize)]
pub(super) struct ReasonRow {
    number: u64,
    reason: &'static str,
    /// The node or callback that it is about.
    name: Option<String>,
    link: Option<String>,
    topic: Option<String>,
    state: Option<String>,
    time: Option<i64>,
}

impl Teller<'_> {
    pub(super) fn reasons(&self, reasons: &[(Reason, u64)]) -> Vec<ReasonRow> {
        let shown = reasons.iter().take(MOST);
        shown
            .map(|(reason, number)| self.reason(reason, *number))
            .collect()
    }

    fn reason(&self, reason: &Reason, number: u64) -> ReasonRow {
        let model = self.subject.analysis.model;
        let about_nothing = |reason: &'static str| ReasonRow {
            number,
            reason,
            name: None,
            link: None,
            topic: None,
            state: None,
            time: None,
        };
        let about_node = |reason: &'static str, node: NodeId| ReasonRow {
            name: Some(names::of_node(model, Some(node)).to_owned()),
            link: Some(format!("#nodes/{}", node.index())),
            ..about_nothing(reason)
        };
        let about_callback = |reason: &'static str, callback| ReasonRow {
            name: Some(self.callback(callback)),
            link: Some(callback_link(callback)),
            ..about_nothing(reason)
        };
        match reason {
            Reason::Inactive { node, state } => ReasonRow {
                state: Some(state.clone()),
                ..about_node("inactive", *node)
            },
            Reason::Upstream { node, topic } => ReasonRow {
                topic: Some(topic.clone()),
                ..about_node("upstream", *node)
            },
            Reason::Unpublished { node, topic } => ReasonRow {
                topic: Some(topic.clone()),
                ..about_node("unpublished", *node)
            },
            Reason::NothingRan { node } => about_node("nothing_ran", *node),
            Reason::RanNoMore { callback } => about_callback("ran_no_more", *callback),
            Reason::WentOn { callback } => about_callback("went_on", *callback),
            Reason::Loading { callback, longest } => ReasonRow {
                time: Some(*longest),
                ..about_callback("loading", *callback)
            },
            Reason::BeganLate { after } => ReasonRow {
                time: Some(*after),
                ..about_nothing("began_late")
            },
        }
    }
}
