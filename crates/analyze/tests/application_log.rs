//! From input to output in a node, judged by what the recorded programs logged: a `dep` line says which message an output was made from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::tables::Indexed;
use rostrace_architecture::node_path::node_paths;
use rostrace_architecture::{Architecture, read};
use rostrace_model::Model;
use rostrace_model::entity::{InstanceId, PublicationId};

use crate::observed::Recorded;
use crate::observed::truth::{Message, logs, message, messages};
use crate::support::topic;

/// What the programs of a recording logged.
struct Judge {
    recorded: Recorded,
    messages: HashMap<PublicationId, (i64, Message)>,
    /// By output and topic: the inputs that it was made from.
    made_from: BTreeMap<(Message, String), BTreeSet<Message>>,
}

impl Judge {
    fn open(name: &str) -> Option<Judge> {
        let recorded = Recorded::open(name)?;
        let logs = logs(&recorded);
        let mut made_from: BTreeMap<_, BTreeSet<Message>> = BTreeMap::new();
        let lines = logs.iter().flat_map(|log| &log.lines);
        for words in lines.filter(|it| it.kind == "dep").map(|it| &it.words) {
            let key = (message(&words[1]), words[2].clone());
            made_from.entry(key).or_default().insert(message(&words[3]));
        }
        let messages = messages(&recorded.model, &logs);
        Some(Judge {
            recorded,
            messages,
            made_from,
        })
    }

    /// Whether an output was made from an input; nothing if the log does not say what of this topic it was made from.
    fn judge(&self, output: PublicationId, input: PublicationId) -> Option<bool> {
        let model = &self.recorded.model;
        let topic = topic(model, &model.publications[input.index()])?;
        let [output, input] = [output, input].map(|id| Some(&self.messages.get(&id)?.1));
        let inputs = self.made_from.get(&(output?.clone(), topic.to_owned()))?;
        Some(inputs.contains(input?))
    }
}

fn received(model: &Model, instance: InstanceId) -> Option<PublicationId> {
    let instance = &model.instances[instance.index()];
    instance
        .source
        .or_else(|| model.takes[instance.take?.index()].publication)
}

const RECORDINGS: [&str; 7] = [
    "jazzy/pingpong",
    "jazzy/chain",
    "jazzy/chain_fastdds",
    "jazzy/intra",
    "humble/pingpong",
    "humble/chain",
    "humble/intra",
];

#[test]
fn what_is_published_inside_a_callback_was_made_from_what_it_received() {
    for recording in RECORDINGS {
        let Some(log) = Judge::open(recording) else {
            return;
        };
        let model = &log.recorded.model;
        let (mut right, mut wrong) = (0, Vec::new());
        for (index, publication) in model.publications.iter().enumerate() {
            let output = PublicationId(index as u32);
            let input = publication.instance.and_then(|it| received(model, it));
            match input.and_then(|input| log.judge(output, input)) {
                Some(true) => right += 1,
                Some(false) => wrong.push((&log.messages[&output], input)),
                None => {}
            }
        }
        eprintln!("{recording}: {right} observed dependencies confirmed");
        assert!(wrong.is_empty(), "{recording}: {wrong:?}");
        assert!(right > 50, "{recording}: {right}");
    }
}

/// Rows of a way through a node as input and output.
fn pairs(
    model: &Model,
    table: &Records,
    publications: &HashMap<(&str, i64), PublicationId>,
    starts: &HashMap<i64, Vec<InstanceId>>,
    (input_topic, output_topic): (&str, &str),
) -> Vec<(PublicationId, PublicationId)> {
    let mut pairs = Vec::new();
    for row in &table.rows {
        let (Some(start), Some(publish)) = (row[0], row[row.len() - 1]) else {
            continue;
        };
        let output = publications.get(&(output_topic, publish));
        let inputs = starts.get(&start).into_iter().flatten();
        for input in inputs.filter_map(|instance| received(model, *instance)) {
            let publisher = model.publications[input.index()].publisher;
            let topic = publisher.map(|it| model.publishers[it.index()].topic.as_str());
            if let Some(output) = output.filter(|_| topic == Some(input_topic)) {
                pairs.push((input, *output));
            }
        }
    }
    pairs
}

#[test]
fn declared_ways_through_nodes_join_what_the_programs_joined() {
    let caret = RECORDINGS.map(|recording| format!("{recording}_caret"));
    for recording in caret.iter().map(String::as_str).chain(["jazzy/late_caret"]) {
        let Some(log) = Judge::open(recording) else {
            return;
        };
        let model = &log.recorded.model;
        // The chain is the same application with either middleware; CARET's results exist for one of them.
        let described = recording.replace("_fastdds", "");
        let file = format!("{described}/expected/edited_architecture.yaml");
        let Some(file) = rostrace_testkit::recordings::find(&file) else {
            return;
        };
        let architecture: Architecture = read(&fs::read_to_string(file).unwrap())
            .unwrap()
            .architecture;
        let indexed = Indexed::new(model, Style::Own);
        let mut publications = HashMap::new();
        for (index, publication) in model.publications.iter().enumerate() {
            if let Some(publisher) = publication.publisher {
                let topic = model.publishers[publisher.index()].topic.as_str();
                publications.insert((topic, publication.publish.0), PublicationId(index as u32));
            }
        }
        let mut starts: HashMap<i64, Vec<InstanceId>> = HashMap::new();
        for (index, instance) in model.instances.iter().enumerate() {
            starts
                .entry(instance.start.0)
                .or_default()
                .push(InstanceId(index as u32));
        }
        let (mut right, mut wrong) = (BTreeSet::new(), Vec::new());
        for node in &architecture.nodes {
            for path in &node_paths(node).paths {
                let (Some(input), Some(output)) = (&path.subscription, &path.publisher) else {
                    continue;
                };
                let Some(table) = indexed.node_path(node, path) else {
                    continue;
                };
                let topics = (input.topic.as_str(), output.topic.as_str());
                for pair in pairs(model, &table, &publications, &starts, topics) {
                    match log.judge(pair.1, pair.0) {
                        Some(true) => drop(right.insert(pair)),
                        Some(false) => wrong.push([pair.0, pair.1].map(|it| &log.messages[&it])),
                        None => {}
                    }
                }
            }
        }
        let logged: usize = log.made_from.values().map(BTreeSet::len).sum();
        eprintln!(
            "{recording}: {} of {logged} logged dependencies found",
            right.len()
        );
        assert!(wrong.is_empty(), "{recording}: {wrong:?}");
        // What was late has only a part of them in the trace.
        let part = 1 + usize::from(recording.ends_with("late_caret"));
        assert!(right.len() >= logged / part, "{recording}: {}", right.len());
    }
}
