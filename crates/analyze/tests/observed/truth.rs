//! The log of what the recorded programs really did, as far as these tests need it.

use std::collections::HashMap;

use rostrace_model::Model;
use rostrace_model::entity::PublicationId;

use super::Recorded;
use crate::support;

/// One message: key of its publisher, and its number.
pub type Message = (String, u64);

#[derive(Debug, Clone)]
pub struct Line {
    /// In the time of the trace.
    pub at: i64,
    pub kind: String,
    pub words: Vec<String>,
}

impl Line {
    pub fn named(&self, name: &str) -> Option<&str> {
        let mut words = self.words.iter();
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    fn number(&self, word: usize) -> i64 {
        self.words[word].parse().unwrap()
    }
}

/// The log of one process.
#[derive(Debug)]
pub struct Log {
    pub pid: i64,
    pub lines: Vec<Line>,
}

pub fn logs(recorded: &Recorded) -> Vec<Log> {
    let folder = rostrace_testkit::recordings::find(&recorded.name).unwrap();
    let clock = &recorded.set.traces[0].schema.clocks[0];
    let offset = clock.offset_seconds * 1_000_000_000 + clock.offset_cycles as i64;
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(folder.join("ground_truth")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let pid = name.strip_suffix(".events.txt").unwrap();
        let pid = pid.rsplit_once('-').unwrap().1.parse().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let lines = lines.map(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            Line {
                at: words.next().unwrap().parse::<i64>().unwrap() + offset,
                kind: words.next().unwrap(),
                words: words.collect(),
            }
        });
        logs.push(Log {
            pid,
            lines: lines.collect(),
        });
    }
    logs
}

/// A call of `publish`: begin, end, topic, message.
type Call<'l> = (i64, i64, &'l str, Message);

/// Which message each publication of the trace was. Publications of ROS 2 itself are in no log.
pub fn messages(model: &Model, logs: &[Log]) -> HashMap<PublicationId, (i64, Message)> {
    let mut of_thread: HashMap<(i64, i64), Vec<Call<'_>>> = HashMap::new();
    for log in logs {
        for line in log.lines.iter().filter(|line| line.kind == "pub") {
            let took: i64 = line.named("ret_ns").unwrap().parse().unwrap();
            let message = (line.words[2].clone(), line.number(1) as u64);
            let calls = of_thread.entry((log.pid, line.number(3))).or_default();
            calls.push((line.at, line.at + took, &line.words[0], message));
        }
    }
    let mut found = HashMap::new();
    for (index, publication) in model.publications.iter().enumerate() {
        let thread = &model.threads[publication.thread.index()];
        let pid = model.processes[thread.process.index()].pid;
        let Some(calls) = of_thread.get(&(pid, thread.tid)) else {
            continue;
        };
        let after = calls.partition_point(|call| call.0 <= publication.publish.0);
        let Some((_, end, topic, message)) = after.checked_sub(1).map(|last| &calls[last]) else {
            continue;
        };
        let is_of = support::topic(model, publication).is_none_or(|it| it == *topic);
        if publication.publish.0 <= *end && is_of {
            found.insert(PublicationId::from_index(index), (pid, message.clone()));
        }
    }
    found
}

/// Output and input of every dependence whose output was published in the very execution that received the input. The others
/// are in the second list: values that were stored for another callback.
pub fn dependences(logs: &[Log]) -> (Vec<[Message; 2]>, Vec<[Message; 2]>) {
    let (mut direct, mut stored) = (Vec::new(), Vec::new());
    for log in logs {
        let of = |kind: &'static str| log.lines.iter().filter(move |line| line.kind == kind);
        let mut published: HashMap<Message, Vec<&Line>> = HashMap::new();
        for line in of("pub") {
            let message = (line.words[2].clone(), line.number(1) as u64);
            published.entry(message).or_default().push(line);
        }
        let mut begins: HashMap<(&str, i64), Vec<i64>> = HashMap::new();
        for line in of("cb_begin") {
            let place = (line.words[0].as_str(), line.number(1));
            begins.entry(place).or_default().push(line.at);
        }
        let mut received: HashMap<(String, Message), Vec<i64>> = HashMap::new();
        for line in of("recv") {
            let message = (
                line.named("from").unwrap().to_owned(),
                line.number(1) as u64,
            );
            let key = (line.words[3].clone(), message);
            received.entry(key).or_default().push(line.at);
        }
        for line in of("dep") {
            let (output, input) = (message(&line.words[1]), message(&line.words[3]));
            let call = published[&output]
                .iter()
                .min_by_key(|call| (call.at - line.at).abs())
                .unwrap();
            let callback = call.named("cb").unwrap();
            let begin = begins
                .get(&(callback, call.number(3)))
                .and_then(|begins| begins.iter().rfind(|begin| **begin <= call.at));
            let receptions = received.get(&(callback.to_owned(), input.clone()));
            let is_direct = begin.is_some_and(|begin| {
                receptions.is_some_and(|at| at.iter().any(|at| (*begin..=call.at).contains(at)))
            });
            let list = if is_direct { &mut direct } else { &mut stored };
            list.push([output, input]);
        }
    }
    (direct, stored)
}

/// `key:number`, as dependences name a message.
pub fn message(text: &str) -> Message {
    let (key, number) = text.rsplit_once(':').unwrap();
    (key.to_owned(), number.parse().unwrap())
}
