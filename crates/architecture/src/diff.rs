//! What differs between two architectures: things added, removed and changed, by name, always in the same order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::model::{
    Architecture, Callback, CallbackGroup, Endpoint, Executor, NamedPath, Node, PathStep, UNDEFINED,
};
use crate::node_path::node_paths;

/// The kinds of things that are compared, in the order of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    Node,
    Topic,
    Publisher,
    Subscription,
    Callback,
    VariablePassing,
    CallbackGroup,
    Executor,
    MessageContext,
    Path,
}

impl Subject {
    pub fn word(self) -> &'static str {
        match self {
            Subject::Node => "node",
            Subject::Topic => "topic",
            Subject::Publisher => "publisher",
            Subject::Subscription => "subscription",
            Subject::Callback => "callback",
            Subject::VariablePassing => "variable passing",
            Subject::CallbackGroup => "callback group",
            Subject::Executor => "executor",
            Subject::MessageContext => "message context",
            Subject::Path => "path",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub subject: Subject,
    /// The node that it belongs to; empty for things of the whole application.
    pub node: String,
    /// Its name within the node or the application.
    pub name: String,
    pub change: Change,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Added,
    Removed,
    /// At least one.
    Changed(Vec<FieldChange>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// The file's word.
    pub field: &'static str,
    pub before: String,
    pub after: String,
}

/// All differences, from `before` to `after`: by subject, then node, then name.
pub fn diff(before: &Architecture, after: &Architecture) -> Vec<Difference> {
    let (before, after) = (inventory(before), inventory(after));
    let keys: BTreeSet<&DifferenceKey> = before.keys().chain(after.keys()).collect();
    let difference = |key: &DifferenceKey| {
        let change = match (before.get(key), after.get(key)) {
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
            (Some(before), Some(after)) => {
                let pairs = before.iter().zip(after);
                let changed = pairs.filter(|((_, before), (_, after))| before != after);
                let changes: Vec<FieldChange> = changed
                    .map(|((field, before), (_, after))| FieldChange {
                        field,
                        before: before.clone(),
                        after: after.clone(),
                    })
                    .collect();
                if changes.is_empty() {
                    return None;
                }
                Change::Changed(changes)
            }
        };
        let (subject, node, name) = key.clone();
        Some(Difference {
            subject,
            node,
            name,
            change,
        })
    };
    keys.into_iter().filter_map(difference).collect()
}

type DifferenceKey = (Subject, String, String);
/// The same fields, in the same order, for things of one subject.
type Fields = Vec<(&'static str, String)>;

/// Everything that an architecture has, under what it is recognised by.
fn inventory(architecture: &Architecture) -> BTreeMap<DifferenceKey, Fields> {
    let mut all = BTreeMap::new();
    for topic in architecture.topics() {
        all.insert(
            (Subject::Topic, String::new(), topic.to_owned()),
            Vec::new(),
        );
    }
    for executor in &architecture.executors {
        let key = (Subject::Executor, String::new(), executor.name.clone());
        all.insert(key, executor_fields(executor));
    }
    for path in &architecture.paths {
        let key = (Subject::Path, String::new(), path.name.clone());
        all.insert(key, path_fields(path));
    }
    for node in &architecture.nodes {
        all.insert(
            (Subject::Node, String::new(), node.name.clone()),
            Vec::new(),
        );
        add_node(node, &mut all);
    }
    all
}

fn add_node(node: &Node, all: &mut BTreeMap<DifferenceKey, Fields>) {
    let mut add = |subject, name, fields| all.insert((subject, node.name.clone(), name), fields);
    for publisher in &node.publishers {
        let callbacks = sorted(&publisher.callbacks);
        let fields = vec![("callback_names", callbacks)];
        add(Subject::Publisher, publisher.endpoint().to_string(), fields);
    }
    for subscription in &node.subscriptions {
        let callback = subscription
            .callback
            .clone()
            .unwrap_or(UNDEFINED.to_owned());
        let fields = vec![("callback_name", callback)];
        add(
            Subject::Subscription,
            subscription.endpoint().to_string(),
            fields,
        );
    }
    for callback in &node.callbacks {
        add(
            Subject::Callback,
            callback.name.clone(),
            callback_fields(callback),
        );
    }
    for (write, read) in node.passings() {
        add(
            Subject::VariablePassing,
            format!("{write} → {read}"),
            Vec::new(),
        );
    }
    for group in &node.callback_groups {
        add(
            Subject::CallbackGroup,
            group.name.clone(),
            group_fields(group),
        );
    }
    let mut contexts: BTreeMap<(&Endpoint, &Endpoint), Vec<String>> = BTreeMap::new();
    let paths = node_paths(node).paths;
    for path in &paths {
        if let (Some(subscription), Some(publisher), Some(context)) =
            (&path.subscription, &path.publisher, path.context)
        {
            let chain: Vec<&str> = path.chain.iter().map(|it| it.name.as_str()).collect();
            let mut text = context.context_type.keyword().to_owned();
            if context.context_type == crate::ContextType::CallbackChain {
                text += &format!(" ({})", chain.join(", "));
            }
            let of_pair = contexts.entry((subscription, publisher)).or_default();
            of_pair.push(text);
        }
    }
    for ((subscription, publisher), mut texts) in contexts {
        texts.sort();
        texts.dedup();
        let fields = vec![("context_type", texts.join("; "))];
        add(
            Subject::MessageContext,
            format!("{subscription} → {publisher}"),
            fields,
        );
    }
}

fn sorted(names: &[String]) -> String {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    match names.is_empty() {
        true => UNDEFINED.to_owned(),
        false => names.join(", "),
    }
}

fn executor_fields(executor: &Executor) -> Fields {
    vec![
        ("executor_type", executor.executor_type.clone()),
        ("callback_group_names", sorted(&executor.callback_groups)),
    ]
}

fn callback_fields(callback: &Callback) -> Fields {
    vec![
        ("callback_type", callback.kind.to_string()),
        ("symbol", callback.symbol.clone()),
        (
            "construction_order",
            callback.construction_order.to_string(),
        ),
    ]
}

fn group_fields(group: &CallbackGroup) -> Fields {
    vec![
        ("callback_group_type", group.group_type.keyword().to_owned()),
        ("callback_names", sorted(&group.callbacks)),
    ]
}

fn path_fields(path: &NamedPath) -> Fields {
    let step = |step: &PathStep| {
        let end = |endpoint: &Option<Endpoint>| {
            let endpoint = endpoint.as_ref();
            endpoint.map(Endpoint::to_string).unwrap_or_default()
        };
        let text = format!(
            "{} {} {}",
            end(&step.subscription),
            step.node,
            end(&step.publisher)
        );
        text.trim().to_owned()
    };
    let steps: Vec<String> = path.steps.iter().map(step).collect();
    vec![("node_chain", steps.join(" → "))]
}
