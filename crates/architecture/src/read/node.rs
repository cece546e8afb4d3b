//! Nodes of a file and everything that belongs to one.

use super::entry::MapEntry;
use super::{Reader, defined};
use crate::element::Element;
use crate::error::{Item, proposal};
use crate::model::{
    Architecture, Callback, CallbackGroup, CallbackGroupType, CallbackKind, ContextType, Endpoint,
    MessageContext, Node, Publisher, Subscription, UNDEFINED, VariablePassing, is_hidden_topic,
};
use rostrace_base::similar::most_similar;
use rostrace_base::yaml::{Content, Marked, Position};

/// Every pair is a way through the node. Real nodes have hundreds.
const MOST_PAIRS: usize = 1_000_000;

impl Reader<'_> {
    pub(super) fn node(&mut self, item: &Marked, architecture: &mut Architecture) {
        let Some(mut entry) = MapEntry::new(item, "a node", self.problems) else {
            return;
        };
        let name = entry.required_text("node_name");
        let index = architecture.nodes.len();
        if let Some(name) = &name
            && !self.is_new(Item::Node, name)
        {
            let message = format!("a second node `{name}`; names of nodes must be unique");
            self.problems.error(Some(entry.at()), message);
        }
        let mut node = Node::new(name.unwrap_or_default());
        self.found(Element::Node(index), entry.at());
        type Part<'r> = fn(&mut Reader<'r>, &Marked, usize, &mut Node);
        let parts: [(&str, Part<'_>); 6] = [
            ("callback_groups", Self::callback_group),
            ("callbacks", Self::callback),
            ("variable_passings", Self::variable_passing),
            ("publishes", Self::publisher),
            ("subscribes", Self::subscription),
            ("message_contexts", Self::message_context),
        ];
        for (key, part) in parts {
            for item in entry.list(key, false) {
                part(self, item, index, &mut node);
            }
        }
        let (inputs, outputs) = (node.subscriptions.len(), node.publishers.len());
        let pairs = inputs.saturating_mul(outputs);
        if pairs > MOST_PAIRS {
            let message = format!(
                "node `{}` has {pairs} pairs of a subscription and a publisher; more than {MOST_PAIRS} are not handled",
                node.name
            );
            self.problems.error(Some(entry.at()), message);
        }
        node.extras = entry.extras();
        architecture.nodes.push(node);
    }

    fn callback_group(&mut self, item: &Marked, index: usize, node: &mut Node) {
        let Some(mut entry) = MapEntry::new(item, "a callback group", self.problems) else {
            return;
        };
        let group_type = entry.require("callback_group_type").and_then(|value| {
            let found = match &value.content {
                Content::Text(text) => (CallbackGroupType::ALL.into_iter())
                    .find(|group_type| group_type.keyword() == text),
                _ => None,
            };
            if found.is_none() {
                let expected = "mutually_exclusive, reentrant or UNDEFINED";
                entry.must_be(value, "callback_group_type", expected);
            }
            found
        });
        let name = entry.required_text("callback_group_name");
        let callbacks = entry.texts("callback_names", true);
        let at = entry.at();
        let extras = entry.extras();
        let (Some(group_type), Some(name)) = (group_type, name) else {
            return;
        };
        if !self.is_new(Item::CallbackGroup, &name) {
            let message = format!("a second callback group `{name}`; only the first is used");
            self.problems.warning(at, message);
            return;
        }
        self.found(
            Element::CallbackGroup(index, node.callback_groups.len()),
            at,
        );
        node.callback_groups.push(CallbackGroup {
            group_type,
            name,
            callbacks: callbacks.into_iter().map(|(name, _)| name).collect(),
            extras,
        });
    }

    fn callback(&mut self, item: &Marked, index: usize, node: &mut Node) {
        let Some(mut entry) = MapEntry::new(item, "a callback", self.problems) else {
            return;
        };
        let name = entry.required_text("callback_name");
        let kind = callback_kind(&mut entry, self);
        let symbol = entry.required_text("symbol");
        let construction_order = entry.order("construction_order");
        let at = entry.at();
        let extras = entry.extras();
        let (Some(name), Some(kind), Some(symbol)) = (name, kind, symbol) else {
            return;
        };
        // Unique within the node.
        if !self.is_new(Item::Callback, &format!("{index} {name}")) {
            let message = format!(
                "a second callback `{name}` in node `{}`; names of callbacks must be unique",
                node.name
            );
            self.problems.error(Some(at), message);
            return;
        }
        let callback = Callback {
            name,
            kind,
            symbol,
            construction_order,
            extras,
        };
        if self.is_hidden(callback.topic(), at) {
            for group in &mut node.callback_groups {
                group.callbacks.retain(|name| *name != callback.name);
            }
            return;
        }
        self.found(Element::Callback(index, node.callbacks.len()), at);
        node.callbacks.push(callback);
    }

    fn variable_passing(&mut self, item: &Marked, index: usize, node: &mut Node) {
        let Some(mut entry) = MapEntry::new(item, "a variable passing", self.problems) else {
            return;
        };
        let write = defined(entry.text("callback_name_write"));
        let read = defined(entry.text("callback_name_read"));
        let at = entry.at();
        let extras = entry.extras();
        if write.is_none() && read.is_none() && extras.is_empty() {
            return;
        }
        let element = Element::VariablePassing(index, node.variable_passings.len());
        self.found(element, at);
        node.variable_passings.push(VariablePassing {
            write,
            read,
            extras,
        });
    }

    fn publisher(&mut self, item: &Marked, index: usize, node: &mut Node) {
        let Some(mut entry) = MapEntry::new(item, "a publisher", self.problems) else {
            return;
        };
        let topic = entry.required_text("topic_name");
        let callbacks = entry.texts("callback_names", true);
        let construction_order = entry.order("construction_order");
        let at = entry.at();
        let extras = entry.extras();
        let Some(topic) = topic else {
            return;
        };
        if self.is_hidden(Some(&topic), at) {
            return;
        }
        self.found(Element::Publisher(index, node.publishers.len()), at);
        let callbacks = callbacks.into_iter().map(|(name, _)| name);
        node.publishers.push(Publisher {
            topic,
            callbacks: callbacks.filter(|name| name != UNDEFINED).collect(),
            construction_order,
            extras,
        });
    }

    fn subscription(&mut self, item: &Marked, index: usize, node: &mut Node) {
        let Some(mut entry) = MapEntry::new(item, "a subscription", self.problems) else {
            return;
        };
        let topic = entry.required_text("topic_name");
        let callback = defined(entry.required_text("callback_name"));
        let construction_order = entry.order("construction_order");
        let at = entry.at();
        let extras = entry.extras();
        let Some(topic) = topic else {
            return;
        };
        if self.is_hidden(Some(&topic), at) {
            return;
        }
        self.found(Element::Subscription(index, node.subscriptions.len()), at);
        node.subscriptions.push(Subscription {
            topic,
            callback,
            construction_order,
            extras,
        });
    }

    fn message_context(&mut self, item: &Marked, index: usize, node: &mut Node) {
        let Some(mut entry) = MapEntry::new(item, "a message context", self.problems) else {
            return;
        };
        let word = entry.required_text("context_type");
        let subscription = entry.required_text("subscription_topic_name");
        let publisher = entry.required_text("publisher_topic_name");
        let publisher_order = entry.order("publisher_construction_order");
        let subscription_order = entry.order("subscription_construction_order");
        let callbacks = entry.texts("callbacks", false);
        let at = entry.at();
        let extras = entry.extras();
        let (Some(word), Some(subscription), Some(publisher)) = (word, subscription, publisher)
        else {
            return;
        };
        let context_type = ContextType::from_keyword(&word);
        if context_type.is_none() && word != UNDEFINED {
            let known = ContextType::ALL.map(ContextType::keyword);
            let message = format!(
                "`context_type` must be {} or UNDEFINED, found `{word}`{}; the context is left out",
                known.join(", "),
                proposal(most_similar(&word, known).as_deref())
            );
            self.problems.warning(at, message);
            return;
        }
        if context_type.is_none() && extras.is_empty() {
            return;
        }
        if self.is_hidden(Some(&subscription), at) || self.is_hidden(Some(&publisher), at) {
            return;
        }
        let element = Element::MessageContext(index, node.message_contexts.len());
        self.found(element, at);
        node.message_contexts.push(MessageContext {
            context_type,
            subscription: Endpoint::new(subscription, subscription_order),
            publisher: Endpoint::new(publisher, publisher_order),
            callbacks: callbacks.into_iter().map(|(name, _)| name).collect(),
            extras,
        });
    }

    /// Whether a topic is one of those that are left out everywhere.
    fn is_hidden(&self, topic: Option<&str>, at: Position) -> bool {
        let Some(topic) = topic.filter(|topic| is_hidden_topic(topic)) else {
            return false;
        };
        let message =
            format!("topic `{topic}` is left out: every application has it and nobody measures it");
        self.problems.warning(at, message);
        true
    }
}

/// The kind, by `callback_type` or, as CARET's documents have it, `type`.
fn callback_kind(entry: &mut MapEntry<'_>, reader: &Reader<'_>) -> Option<CallbackKind> {
    let short = entry.get("type");
    let (key, value) = match entry.get("callback_type") {
        Some(value) => ("callback_type", Some(value)),
        None if short.is_some() => ("type", short),
        None => ("callback_type", entry.require("callback_type")),
    };
    let value = value?;
    let word = entry.as_text(value, key)?;
    if let Some(short) = short
        && key == "callback_type"
        && entry
            .as_text(short, "type")
            .is_some_and(|other| other != word)
    {
        let message = format!(
            "`type` and `callback_type` say different things: {} and `{word}`",
            short.description()
        );
        reader.problems.error(Some(short.at), message);
    }
    match word.as_str() {
        "timer_callback" => {
            let period_ns = entry.required_number("period_ns")?;
            Some(CallbackKind::Timer { period_ns })
        }
        "subscription_callback" => {
            let topic = entry.required_text("topic_name")?;
            Some(CallbackKind::Subscription { topic })
        }
        "service_callback" => {
            let service = entry.required_text("service_name")?;
            Some(CallbackKind::Service { service })
        }
        _ => {
            entry.must_be(value, key, "timer_callback or subscription_callback");
            None
        }
    }
}
