//! From an [`Architecture`] to a file, byte for byte as CARET writes it, except where CARET loses something:
//! construction orders of declared contexts, unknown keys, half-finished entries.

use std::collections::HashMap;

use crate::model::{
    Architecture, Callback, CallbackGroup, CallbackKind, Endpoint, Executor, Extras,
    MessageContext, NamedPath, Node, PathStep, Publisher, Subscription, UNDEFINED, VariablePassing,
};
use crate::node_path::{NodePath, node_paths};
use rostrace_base::yaml::{Value, emit};

/// The text of the file.
pub fn write(architecture: &Architecture) -> String {
    let mut executors: Vec<&Executor> = architecture.executors.iter().collect();
    executors.sort_by_key(|executor| &executor.name);
    let mut nodes: Vec<&Node> = architecture.nodes.iter().collect();
    nodes.sort_by_key(|node| &node.name);
    let mut top = Keys::default();
    top.list("named_paths", architecture.paths.iter().map(path));
    top.list("executors", executors.into_iter().map(executor));
    top.list("nodes", nodes.into_iter().map(node));
    emit(&top.with(&architecture.extras))
}

/// The keys of a map, in order.
#[derive(Default)]
struct Keys(Vec<(Value, Value)>);

impl Keys {
    fn value(&mut self, key: &str, value: Value) {
        self.0.push((Value::text(key), value));
    }

    fn text(&mut self, key: &str, text: &str) {
        self.value(key, Value::text(text));
    }

    fn text_or_undefined(&mut self, key: &str, text: Option<&str>) {
        self.text(key, text.unwrap_or(UNDEFINED));
    }

    fn list(&mut self, key: &str, items: impl Iterator<Item = Value>) {
        self.value(key, Value::List(items.collect()));
    }

    fn sorted_texts(&mut self, key: &str, texts: &[String]) {
        let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        texts.sort_unstable();
        self.value(key, Value::texts(texts));
    }

    /// The first of its kind is not counted.
    fn order(&mut self, key: &str, order: u32) {
        if order > 0 {
            self.value(key, Value::number(order));
        }
    }

    fn with(mut self, extras: &Extras) -> Value {
        extras.place(&mut self.0);
        Value::Map(self.0)
    }
}

fn path(path: &NamedPath) -> Value {
    let mut keys = Keys::default();
    keys.text("path_name", &path.name);
    keys.list("node_chain", path.steps.iter().map(step));
    keys.with(&path.extras)
}

fn step(step: &PathStep) -> Value {
    let topic = |endpoint: &'_ Option<Endpoint>| endpoint.as_ref().map(|it| it.topic.clone());
    let order = |endpoint: &Option<Endpoint>| {
        let endpoint = endpoint.as_ref();
        endpoint.map_or(0, |endpoint| endpoint.construction_order)
    };
    let mut keys = Keys::default();
    keys.text("node_name", &step.node);
    keys.text_or_undefined("publish_topic_name", topic(&step.publisher).as_deref());
    keys.text_or_undefined("subscribe_topic_name", topic(&step.subscription).as_deref());
    keys.order("publisher_construction_order", order(&step.publisher));
    keys.order("subscription_construction_order", order(&step.subscription));
    keys.with(&step.extras)
}

fn executor(executor: &Executor) -> Value {
    let mut keys = Keys::default();
    keys.text("executor_type", &executor.executor_type);
    keys.text("executor_name", &executor.name);
    keys.sorted_texts("callback_group_names", &executor.callback_groups);
    keys.with(&executor.extras)
}

fn node(node: &Node) -> Value {
    let mut keys = Keys::default();
    keys.text("node_name", &node.name);
    keys.list(
        "callback_groups",
        node.callback_groups.iter().map(callback_group),
    );
    if !node.callbacks.is_empty() {
        let mut callbacks: Vec<&Callback> = node.callbacks.iter().collect();
        callbacks.sort_by_key(|callback| &callback.name);
        keys.list("callbacks", callbacks.into_iter().map(callback));
    }
    let passable = node.callbacks.iter().filter(|it| !it.is_service()).count();
    if !node.variable_passings.is_empty() {
        let passings = node.variable_passings.iter().map(variable_passing);
        keys.list("variable_passings", passings);
    } else if passable >= 2 {
        // An invitation to fill in.
        let nothing = VariablePassing {
            write: None,
            read: None,
            extras: Extras::default(),
        };
        keys.list(
            "variable_passings",
            std::iter::once(variable_passing(&nothing)),
        );
    }
    if !node.publishers.is_empty() {
        let mut publishers: Vec<&Publisher> = node.publishers.iter().collect();
        publishers.sort_by_key(|publisher| &publisher.topic);
        keys.list("publishes", publishers.into_iter().map(publisher));
    }
    if !node.subscriptions.is_empty() {
        let mut subscriptions: Vec<&Subscription> = node.subscriptions.iter().collect();
        subscriptions.sort_by_key(|subscription| &subscription.topic);
        keys.list("subscribes", subscriptions.into_iter().map(subscription));
    }
    let contexts = message_contexts(node);
    if !contexts.is_empty() {
        keys.list("message_contexts", contexts.into_iter());
    }
    keys.with(&node.extras)
}

fn callback_group(group: &CallbackGroup) -> Value {
    let mut keys = Keys::default();
    keys.text("callback_group_type", group.group_type.keyword());
    keys.text("callback_group_name", &group.name);
    keys.sorted_texts("callback_names", &group.callbacks);
    keys.with(&group.extras)
}

fn callback(callback: &Callback) -> Value {
    let mut keys = Keys::default();
    keys.text("callback_name", &callback.name);
    keys.text("callback_type", callback.kind.keyword());
    match &callback.kind {
        CallbackKind::Timer { period_ns } => keys.value("period_ns", Value::number(period_ns)),
        CallbackKind::Subscription { topic } => keys.text("topic_name", topic),
        CallbackKind::Service { service } => keys.text("service_name", service),
    }
    keys.text("symbol", &callback.symbol);
    keys.order("construction_order", callback.construction_order);
    keys.with(&callback.extras)
}

fn variable_passing(passing: &VariablePassing) -> Value {
    let mut keys = Keys::default();
    keys.text_or_undefined("callback_name_write", passing.write.as_deref());
    keys.text_or_undefined("callback_name_read", passing.read.as_deref());
    keys.with(&passing.extras)
}

fn publisher(publisher: &Publisher) -> Value {
    let mut keys = Keys::default();
    keys.text("topic_name", &publisher.topic);
    let names = publisher.callbacks.iter().map(String::as_str);
    let undefined = publisher.callbacks.is_empty().then_some(UNDEFINED);
    keys.value("callback_names", Value::texts(names.chain(undefined)));
    keys.order("construction_order", publisher.construction_order);
    keys.with(&publisher.extras)
}

fn subscription(subscription: &Subscription) -> Value {
    let mut keys = Keys::default();
    keys.text("topic_name", &subscription.topic);
    keys.text_or_undefined("callback_name", subscription.callback.as_deref());
    keys.order("construction_order", subscription.construction_order);
    keys.with(&subscription.extras)
}

/// One for each way through the node that has both topics, and what was declared about topics that the node does not
/// have.
fn message_contexts(node: &Node) -> Vec<Value> {
    let paths = node_paths(node);
    let mut declared: HashMap<(&Endpoint, &Endpoint), Vec<&MessageContext>> = HashMap::new();
    for context in &node.message_contexts {
        let of_pair = declared.entry((&context.subscription, &context.publisher));
        of_pair.or_default().push(context);
    }
    let mut lines: Vec<((&str, &str), Value)> = Vec::new();
    for path in &paths.paths {
        if let (Some(subscription), Some(publisher)) = (&path.subscription, &path.publisher) {
            let of_pair = declared.get(&(subscription, publisher));
            let own = of_pair.and_then(|contexts| {
                let chain = || path.chain.iter().map(|callback| callback.name.as_str());
                let has_chain =
                    |it: &MessageContext| chain().eq(it.callbacks.iter().map(String::as_str));
                let rank = |it: &&&MessageContext| (it.context_type.is_some(), has_chain(it));
                contexts.iter().max_by_key(rank).copied()
            });
            let value = message_context(path, subscription, publisher, own);
            lines.push(((&subscription.topic, &publisher.topic), value));
        }
    }
    for context in &node.message_contexts {
        let (subscription, publisher) = (&context.subscription, &context.publisher);
        let path = NodePath {
            subscription: Some(subscription.clone()),
            publisher: Some(publisher.clone()),
            chain: Vec::new(),
            context: None,
        };
        let mut known = paths.between(&path.subscription, &path.publisher);
        if known.next().is_none() {
            let value = message_context(&path, subscription, publisher, Some(context));
            lines.push(((&subscription.topic, &publisher.topic), value));
        }
    }
    lines.sort_by_key(|(topics, _)| *topics);
    lines.into_iter().map(|(_, value)| value).collect()
}

fn message_context(
    path: &NodePath<'_>,
    subscription: &Endpoint,
    publisher: &Endpoint,
    declared: Option<&MessageContext>,
) -> Value {
    let of_path = path.context.map(|context| context.context_type);
    let context_type = of_path.or(declared.and_then(|context| context.context_type));
    let mut keys = Keys::default();
    let keyword = context_type.map(crate::ContextType::keyword);
    keys.text_or_undefined("context_type", keyword);
    keys.text("subscription_topic_name", &subscription.topic);
    keys.text("publisher_topic_name", &publisher.topic);
    keys.order("publisher_construction_order", publisher.construction_order);
    keys.order(
        "subscription_construction_order",
        subscription.construction_order,
    );
    if context_type == Some(crate::ContextType::CallbackChain) && !path.chain.is_empty() {
        let names = path.chain.iter().map(|callback| callback.name.as_str());
        keys.value("callbacks", Value::texts(names));
    }
    match declared {
        Some(declared) => keys.with(&declared.extras),
        None => Value::Map(keys.0),
    }
}
