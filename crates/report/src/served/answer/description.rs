//! What the page needs once: the names of everything, and which lanes there are. Its size grows with the application, not with the time.

use std::collections::BTreeMap;

use rostrace_analyze::communication::DropCause;
use rostrace_model::describe::names;
use serde::Serialize;

use super::Answer;
use super::dropped::in_few_words;
use super::occurrence::InstancePlace;
use crate::served::lane::Group;
use crate::served::timeline::ServedTimeline;

#[derive(Debug, Serialize)]
struct Description<'a> {
    title: &'a str,
    /// A text, since numbers of a browser have 53 bits.
    begin_ns: String,
    /// What is shown begins so long after that, and is so long.
    from_ns: i64,
    length_ns: i64,
    executions: usize,
    has_scheduling: bool,
    threads: &'a [Group],
    callbacks: &'a [Group],
    subjects: Vec<SubjectRow<'a>>,
    topics: Vec<TopicRow<'a>>,
    losses: Vec<(i64, i64)>,
    /// Why messages are dropped, in a few words, as views number it.
    drop_causes: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<At>,
}

#[derive(Debug, Serialize)]
struct SubjectRow<'a> {
    name: &'a str,
    node: &'a str,
    kind: &'a str,
    topic: &'a str,
    count: usize,
    shown: bool,
    built_in: bool,
}

/// Who sends and who receives a topic.
#[derive(Debug, Default, Serialize)]
struct TopicRow<'a> {
    name: &'a str,
    publishers: Vec<&'a str>,
    /// The callbacks that receive it.
    subjects: Vec<u32>,
}

#[derive(Debug, Serialize)]
struct At {
    time: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<InstancePlace>,
}

impl ServedTimeline<'_> {
    pub(super) fn description(&self) -> Answer {
        let analysis = self.analysis;
        let model = analysis.model;
        let mut topics: BTreeMap<&str, TopicRow<'_>> = BTreeMap::new();
        for publisher in &model.publishers {
            let node = names::of_node(model, publisher.node);
            let row = topics.entry(&publisher.topic).or_default();
            if !row.publishers.contains(&node) {
                row.publishers.push(node);
            }
        }
        for subscription in &model.subscriptions {
            let row = topics.entry(&subscription.topic).or_default();
            row.subjects.extend(subscription.callback.map(|id| id.0));
        }
        let subjects: Vec<SubjectRow<'_>> = (self.subjects.list.iter().enumerate())
            .map(|(number, subject)| SubjectRow {
                name: &subject.name,
                node: &subject.node,
                kind: subject.kind,
                topic: &subject.topic,
                count: self.subjects.instances(analysis, number as u32).len(),
                shown: subject.shown,
                built_in: subject.built_in,
            })
            .collect();
        let shown = subjects.iter().filter(|subject| subject.shown);
        Answer::json(&Description {
            title: &self.options.title,
            begin_ns: self.origin.to_string(),
            from_ns: self.since(self.begin),
            length_ns: self.end.saturating_sub(self.begin),
            executions: shown.map(|subject| subject.count).sum(),
            has_scheduling: analysis.scheduling.is_some(),
            threads: &self.lanes.threads,
            callbacks: &self.lanes.callbacks,
            subjects,
            topics: topics
                .into_iter()
                .map(|(name, row)| TopicRow { name, ..row })
                .collect(),
            losses: (self.options.losses.iter())
                .map(|(from, to)| (self.since(from.0), self.since(to.0)))
                .collect(),
            drop_causes: DropCause::EVERY.map(in_few_words).into(),
            at: self.options.at.map(|at| At {
                time: self.since(at.0),
                instance: self.instance_at(at).map(|id| self.place(id)),
            }),
        })
    }
}
