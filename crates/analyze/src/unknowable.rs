//! What cannot be known from a recording although nothing of it was lost: it began too late, or its recorder does not tell. Said first, with the command that
//! records it, since a page of empty tables looks like a system that does nothing.

use rostrace_model::Model;
use rostrace_model::describe::built_in;
use rostrace_model::entity::{CallbackId, CallbackOwner};
use rostrace_model::flow::{DeliveryKind, DeliveryStatus};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknowable {
    /// A sentence without its full stop.
    pub what: String,
    /// When the command is to be used, to be followed by it.
    pub remedy: &'static str,
    pub command: &'static str,
}

const FROM_THE_BEGINNING: &str =
    "Start the application with the recording, so that it sees the nodes being created:";
const WITH_OUR_TRACER: &str = "rostrace's own tracer tells, on a stock ROS 2:";
const RECORD: &str = "rostrace record -- ros2 launch …";

/// From here on names are missing, not just that of a tool.
const MANY: f64 = 0.05;

pub fn unknowable(model: &Model) -> Vec<Unknowable> {
    let mut unknown = Vec::new();
    let mut add = |what: String, remedy: &'static str| {
        unknown.push(Unknowable {
            what,
            remedy,
            command: RECORD,
        });
    };
    let executions = model.instances.len();
    let unnamed = model.instances.iter().filter(|it| it.callback.is_none());
    let unnamed = unnamed.count();
    let nameless = executions > 0 && model.nodes.is_empty();
    if nameless {
        add(
            format!(
                "No node is known, though there were {}: the recording began after the nodes were created. What ran has no name, and how late timers were is not known",
                counted(executions, "execution", "executions")
            ),
            FROM_THE_BEGINNING,
        );
    } else if unnamed as f64 > MANY * executions as f64 {
        add(
            format!(
                "{} of {} have no name: these processes were there before the recording",
                grouped(unnamed),
                counted(executions, "execution", "executions")
            ),
            FROM_THE_BEGINNING,
        );
    }
    if executions == 0 && (!model.publications.is_empty() || !model.takes.is_empty()) {
        add(
            "What ran, and how long, is not known: the recording has no callback events".to_owned(),
            WITH_OUR_TRACER,
        );
    }
    if model.publications.is_empty() && !model.takes.is_empty() {
        add(
            "Which messages were sent is not known, and so no latency: the recording has no publish events".to_owned(),
            WITH_OUR_TRACER,
        );
    }
    if let Some(messages) = messages_without_arrival(model).filter(|_| !nameless) {
        add(
            format!(
                "Whether {} arrived is not known, and so no latency: the recording has no take events",
                counted(
                    messages,
                    "message between processes",
                    "messages between processes"
                )
            ),
            WITH_OUR_TRACER,
        );
    }
    let purposeless = purposeless(model);
    if purposeless > 0 && !nameless {
        add(
            format!(
                "What {} called for is not known: if it is a timer, neither is how late it was",
                counted(purposeless, "callback is", "callbacks are")
            ),
            FROM_THE_BEGINNING,
        );
    }
    unknown
}

/// How many messages of the application went to other processes, if of none of them is known whether it arrived.
fn messages_without_arrival(model: &Model) -> Option<usize> {
    let mut messages = 0;
    for delivery in &model.deliveries {
        let subscription = delivery.subscription;
        let topic = subscription.map(|id| model.subscriptions[id.index()].topic.as_str());
        if delivery.kind == DeliveryKind::Intra || topic.is_none_or(built_in::topic) {
            continue;
        }
        if delivery.status != DeliveryStatus::Unknown {
            return None;
        }
        messages += 1;
    }
    (messages > 0).then_some(messages)
}

/// Callbacks of the application that ran, and of which nothing tells what they are called for.
fn purposeless(model: &Model) -> usize {
    let mut ran = vec![false; model.callbacks.len()];
    for instance in &model.instances {
        if let Some(callback) = instance.callback {
            ran[callback.index()] = true;
        }
    }
    let callbacks = model.callbacks.iter().enumerate();
    let callbacks = callbacks.filter(|(index, callback)| {
        ran[*index]
            && callback.owner == CallbackOwner::Unknown
            && !built_in::callback(model, CallbackId::from_index(*index))
    });
    callbacks.count()
}

fn counted(number: usize, one: &str, several: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{} {several}", grouped(number)),
    }
}

/// `1,345`
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
