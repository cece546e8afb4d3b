//! From input to output in a node, judged by what the recorded programs logged: a `dep` line says which message an output was made from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::tables::Indexed;
use rostrace_architecture::node_path::{Limits, node_paths};
use rostrace_architecture::{Architecture, read};
use rostrace_ctf::TraceSet;
use rostrace_model::Model;
use rostrace_model::entity::{InstanceId, PublicationId};

/// From, to, name and number of a message.
type Logged = (i64, i64, String);

/// What the programs of a recording logged.
struct Log {
    /// By process, thread and topic.
    published: HashMap<(i64, i64, String), Vec<Logged>>,
    /// Topics and messages: the output, and which input it was made from.
    made_from: BTreeMap<(String, String, String), BTreeSet<String>>,
}

impl Log {
    fn load(set: &TraceSet, recording: &str) -> Option<Log> {
        let clock = &set.traces[0].schema.clocks[0];
        let offset = clock.offset_seconds * 1_000_000_000 + clock.offset_cycles as i64;
        let mut log = Log {
            published: HashMap::new(),
            made_from: BTreeMap::new(),
        };
        let folder = rostrace_testkit::recordings::find(&format!("{recording}/ground_truth"))?;
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let pid = name
                .split(['-', '.'])
                .rev()
                .find_map(|it| it.parse::<i64>().ok());
            for line in fs::read_to_string(&path).unwrap().lines() {
                let words: Vec<&str> = line.split(' ').collect();
                match words.as_slice() {
                    [at, "pub", topic, number, key, thread, rest @ ..] => {
                        let at: i64 = at.parse::<i64>().unwrap() + offset;
                        let took = rest.iter().find_map(|it| it.strip_prefix("ret_ns="));
                        let until = at + took.unwrap().parse::<i64>().unwrap();
                        let place = (pid.unwrap(), thread.parse().unwrap(), (*topic).to_owned());
                        let message = format!("{key}:{number}");
                        log.published
                            .entry(place)
                            .or_default()
                            .push((at, until, message));
                    }
                    [_, "dep", topic, output, input_topic, input] => {
                        let key = (
                            (*topic).to_owned(),
                            (*output).to_owned(),
                            (*input_topic).to_owned(),
                        );
                        log.made_from
                            .entry(key)
                            .or_default()
                            .insert((*input).to_owned());
                    }
                    _ => {}
                }
            }
        }
        Some(log)
    }

    /// Which message of the log a publication is, and its topic.
    fn message(&self, model: &Model, id: PublicationId) -> Option<(String, &str)> {
        let publication = &model.publications[id.index()];
        let topic = &model.publishers[publication.publisher?.index()].topic;
        let thread = &model.threads[publication.thread.index()];
        let pid = model.processes[thread.process.index()].pid;
        let logged = self.published.get(&(pid, thread.tid, topic.clone()))?;
        let at = publication.publish.0;
        let found = logged
            .iter()
            .find(|(from, to, _)| (*from..=*to).contains(&at))?;
        Some((topic.clone(), &found.2))
    }

    /// Whether an output was made from an input; nothing if the log does not say what of this topic it was made from.
    fn judge(&self, model: &Model, output: PublicationId, input: PublicationId) -> Option<bool> {
        let ((topic, output), (input_topic, input)) =
            (self.message(model, output)?, self.message(model, input)?);
        let inputs = self
            .made_from
            .get(&(topic, output.to_owned(), input_topic))?;
        Some(inputs.contains(input))
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

fn load(recording: &str) -> Option<(Model, Log)> {
    let path = rostrace_testkit::recordings::find(recording)?;
    let set = TraceSet::open(&[path]).unwrap();
    let log = Log::load(&set, recording)?;
    Some((crate::support::model_of(&set), log))
}

#[test]
fn what_is_published_inside_a_callback_was_made_from_what_it_received() {
    for recording in RECORDINGS {
        let Some((model, log)) = load(recording) else {
            return;
        };
        let (mut right, mut wrong) = (0, Vec::new());
        for (index, publication) in model.publications.iter().enumerate() {
            let output = PublicationId(index as u32);
            let input = publication
                .instance
                .and_then(|instance| received(&model, instance));
            match input.and_then(|input| log.judge(&model, output, input)) {
                Some(true) => right += 1,
                Some(false) => wrong.push((log.message(&model, output), input)),
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
        let Some((model, log)) = load(recording) else {
            return;
        };
        // The chain is the same application with either middleware; CARET's results exist for one of them.
        let described = recording.replace("_fastdds", "");
        let file = format!("{described}/expected/edited_architecture.yaml");
        let Some(file) = rostrace_testkit::recordings::find(&file) else {
            return;
        };
        let architecture: Architecture = read(&fs::read_to_string(file).unwrap())
            .unwrap()
            .architecture;
        let indexed = Indexed::new(&model, Style::Own);
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
            for path in &node_paths(node, Limits::default()).paths {
                let (Some(input), Some(output)) = (&path.subscription, &path.publisher) else {
                    continue;
                };
                let Some(table) = indexed.node_path(node, path) else {
                    continue;
                };
                let topics = (input.topic.as_str(), output.topic.as_str());
                for (input, output) in pairs(&model, &table, &publications, &starts, topics) {
                    match log.judge(&model, output, input) {
                        Some(true) => {
                            right.insert((input, output));
                        }
                        Some(false) => {
                            wrong.push((log.message(&model, input), log.message(&model, output)))
                        }
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
        let part = if recording.ends_with("late_caret") {
            2
        } else {
            1
        };
        assert!(right.len() >= logged / part, "{recording}: {}", right.len());
    }
}
