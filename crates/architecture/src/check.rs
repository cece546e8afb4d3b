//! Whether an architecture is whole: names that refer to nothing, things that nobody uses, paths that cannot be
//! followed.

use std::collections::{HashMap, HashSet};

use crate::element::Element;
use crate::error::proposal;
use crate::model::{Architecture, Callback, ContextType, Endpoint, Node};
use crate::node_path::{MOST_CHAINS, MOST_CONSTRUCTION_ORDER, NodePaths, node_paths};
use crate::read::Severity;
use crate::verify::{PathFaultKind, Verifier, declaration};
use rostrace_base::similar::most_similar;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// [`Severity::Warning`]: something has no effect. [`Severity::Note`]: something is not said yet.
    pub severity: Severity,
    pub element: Element,
    pub message: String,
}

/// All findings, in the order of the file's parts.
pub fn check(architecture: &Architecture) -> Vec<Finding> {
    let mut findings = Findings(Vec::new());
    check_paths(architecture, &mut findings);
    check_executors(architecture, &mut findings);
    for (index, node) in architecture.nodes.iter().enumerate() {
        NodeCheck {
            node,
            index,
            callbacks: node.callbacks.iter().map(|it| (&*it.name, it)).collect(),
            topics: node.subscriptions.iter().map(|it| &*it.topic).collect(),
            findings: &mut findings,
        }
        .all();
    }
    findings.0.sort_by_key(|finding| finding.element);
    findings.0
}

struct Findings(Vec<Finding>);

/// Who has more to mend than this does not need more help but another file.
const MOST_PROPOSALS: usize = 100;

/// Of the contexts of a node that are not declared.
const MOST_NAMED: usize = 5;

impl Findings {
    fn proposal<'a>(&self, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
        match self.0.len() < MOST_PROPOSALS {
            true => proposal(most_similar(name, known).as_deref()),
            false => String::new(),
        }
    }

    fn warning(&mut self, element: Element, message: String) {
        self.add(Severity::Warning, element, message);
    }

    fn note(&mut self, element: Element, message: String) {
        self.add(Severity::Note, element, message);
    }

    fn add(&mut self, severity: Severity, element: Element, message: String) {
        self.0.push(Finding {
            severity,
            element,
            message,
        });
    }
}

fn check_paths(architecture: &Architecture, findings: &mut Findings) {
    let mut verifier = Verifier::new(architecture);
    for (index, path) in architecture.paths.iter().enumerate() {
        for fault in verifier.verify(path) {
            let element = match path.steps.is_empty() {
                true => Element::Path(index),
                false => Element::PathStep(index, fault.step),
            };
            let message = format!("path `{}`: {}", path.name, fault.message);
            match fault.kind {
                PathFaultKind::Broken => findings.warning(element, message),
                PathFaultKind::Context => findings.note(element, message),
            }
        }
    }
}

fn check_executors(architecture: &Architecture, findings: &mut Findings) {
    let groups: HashSet<&str> = (architecture.callback_groups())
        .map(|(_, group)| group.name.as_str())
        .collect();
    let mut owners: HashMap<&str, &str> = HashMap::new();
    for (index, executor) in architecture.executors.iter().enumerate() {
        for (entry, group) in executor.callback_groups.iter().enumerate() {
            let element = Element::ExecutorGroup(index, entry);
            if !groups.contains(group.as_str()) {
                let hint = findings.proposal(group, groups.iter().copied());
                let message = format!(
                    "executor `{}`: no node has the callback group `{group}`{hint}",
                    executor.name
                );
                findings.warning(element, message);
            } else if let Some(first) = owners.insert(group, &executor.name) {
                let message = format!(
                    "callback group `{group}` belongs to the executors `{first}` and `{}`; it can have one",
                    executor.name
                );
                findings.warning(element, message);
            }
        }
    }
}

struct NodeCheck<'a> {
    node: &'a Node,
    index: usize,
    callbacks: HashMap<&'a str, &'a Callback>,
    /// Those that it subscribes to.
    topics: HashSet<&'a str>,
    findings: &'a mut Findings,
}

impl NodeCheck<'_> {
    fn all(&mut self) {
        self.groups();
        self.callbacks();
        self.passings();
        self.publishers();
        self.subscriptions();
        self.contexts();
    }

    /// A warning if the node has no such callback.
    fn expect_callback(&mut self, name: &str, element: Element, what: &str) -> bool {
        if self.callbacks.contains_key(name) {
            return true;
        }
        let known = self.node.callbacks.iter().map(|it| it.name.as_str());
        let hint = self.findings.proposal(name, known);
        let message = format!(
            "{what}: node `{}` has no callback `{name}`{hint}",
            self.node.name
        );
        self.findings.warning(element, message);
        false
    }

    fn groups(&mut self) {
        let mut owners: HashMap<&str, &str> = HashMap::new();
        for (entry, group) in self.node.callback_groups.iter().enumerate() {
            let element = Element::CallbackGroup(self.index, entry);
            for name in &group.callbacks {
                self.expect_callback(name, element, &format!("callback group `{}`", group.name));
                if let Some(first) = owners.insert(name, &group.name) {
                    let message = format!(
                        "callback `{name}` belongs to the callback groups `{first}` and `{}`; it can have one",
                        group.name
                    );
                    self.findings.warning(element, message);
                }
            }
        }
    }

    fn callbacks(&mut self) {
        let mut seen = HashMap::new();
        for (entry, callback) in self.node.callbacks.iter().enumerate() {
            let element = Element::Callback(self.index, entry);
            let identity = (
                &callback.kind,
                &callback.symbol,
                callback.construction_order,
            );
            if let Some(first) = seen.insert(identity, &callback.name) {
                let message = format!(
                    "callbacks `{first}` and `{}` have equal kind, symbol and construction_order: they cannot be told apart in a trace",
                    callback.name
                );
                self.findings.warning(element, message);
            }
            if let Some(topic) = callback.topic()
                && !self.topics.contains(topic)
            {
                let message = format!(
                    "callback `{}`: node `{}` does not subscribe to {topic}",
                    callback.name, self.node.name
                );
                self.findings.warning(element, message);
            }
        }
    }

    fn passings(&mut self) {
        for (entry, passing) in self.node.variable_passings.iter().enumerate() {
            let element = Element::VariablePassing(self.index, entry);
            if passing.write.is_some() != passing.read.is_some() {
                let message = "a variable passing needs both callbacks; this one has no effect";
                self.findings.warning(element, message.to_owned());
            }
            for name in [&passing.write, &passing.read].into_iter().flatten() {
                self.expect_callback(name, element, "variable passing");
            }
        }
    }

    fn publishers(&mut self) {
        let mut seen = HashSet::new();
        for (entry, publisher) in self.node.publishers.iter().enumerate() {
            let element = Element::Publisher(self.index, entry);
            if !seen.insert(publisher.endpoint()) {
                let message = format!(
                    "a second publisher of {} with construction_order {}",
                    publisher.topic, publisher.construction_order
                );
                self.findings.warning(element, message);
            }
            for name in &publisher.callbacks {
                self.expect_callback(name, element, &format!("publisher of {}", publisher.topic));
            }
            if publisher.callbacks.is_empty() {
                let message = format!(
                    "node `{}`: no callback is said to publish {}",
                    self.node.name,
                    publisher.endpoint()
                );
                self.findings.note(element, message);
            }
        }
    }

    fn subscriptions(&mut self) {
        let mut seen = HashSet::new();
        for (entry, subscription) in self.node.subscriptions.iter().enumerate() {
            let element = Element::Subscription(self.index, entry);
            let topic = &subscription.topic;
            if !seen.insert(subscription.endpoint()) {
                let message = format!(
                    "a second subscription to {topic} with construction_order {}",
                    subscription.construction_order
                );
                self.findings.warning(element, message);
            }
            let Some(name) = &subscription.callback else {
                continue;
            };
            if self.expect_callback(name, element, &format!("subscription to {topic}"))
                && let Some(callback) = self.callbacks.get(name.as_str())
                && callback.topic() != Some(topic)
            {
                let message = format!(
                    "subscription to {topic}: callback `{name}` is a {}",
                    callback.kind
                );
                self.findings.warning(element, message);
            }
        }
    }

    /// What nobody has said yet: one note for the node, for there may be many.
    fn undefined_contexts(&mut self, paths: &NodePaths<'_>) {
        let pairs: Vec<(&Endpoint, &Endpoint)> = (paths.paths.iter())
            .filter(|path| path.context.is_none())
            .filter_map(|path| Some((path.subscription.as_ref()?, path.publisher.as_ref()?)))
            .collect();
        let Some((subscription, publisher)) = pairs.first() else {
            return;
        };
        let named = pairs.iter().take(MOST_NAMED);
        let mut named: Vec<String> = named.map(|(from, to)| format!("{from} to {to}")).collect();
        if pairs.len() > MOST_NAMED {
            named.push(format!("{} more", pairs.len() - MOST_NAMED));
        }
        let message = format!(
            "node `{}`: the message context is UNDEFINED from {}; {}",
            self.node.name,
            named.join(", "),
            declaration(&self.node.name, subscription, publisher)
        );
        self.findings.note(Element::Node(self.index), message);
    }

    fn contexts(&mut self) {
        let paths = node_paths(self.node);
        if paths.left_out_callbacks > 0 {
            let message = format!(
                "node `{}`: {} callbacks with a construction_order above {} take no part in callback chains",
                self.node.name, paths.left_out_callbacks, MOST_CONSTRUCTION_ORDER
            );
            self.findings.note(Element::Node(self.index), message);
        }
        if paths.left_out_chains {
            let message = format!(
                "node `{}`: its variable passings make more than {} chains; the others are left out",
                self.node.name, MOST_CHAINS
            );
            self.findings.warning(Element::Node(self.index), message);
        }
        self.undefined_contexts(&paths);
        let mut seen = HashSet::new();
        for (entry, context) in self.node.message_contexts.iter().enumerate() {
            let element = Element::MessageContext(self.index, entry);
            let about = format!(
                "message context from {} to {}",
                context.subscription, context.publisher
            );
            let pair = (
                Some(context.subscription.clone()),
                Some(context.publisher.clone()),
            );
            let known = paths.between(&pair.0, &pair.1).next().is_some();
            if !known {
                let message = format!(
                    "{about}: node `{}` does not have this subscription and this publisher",
                    self.node.name
                );
                self.findings.warning(element, message);
                continue;
            }
            // Two chains of one pair are two contexts.
            if !seen.insert((
                &context.subscription,
                &context.publisher,
                &context.callbacks,
            )) {
                self.findings
                    .warning(element, format!("{about}: a second one; the last is used"));
            }
            let chains: Vec<Vec<&str>> = (paths.between(&pair.0, &pair.1))
                .filter(|path| !path.chain.is_empty())
                .map(|path| path.chain.iter().map(|it| it.name.as_str()).collect())
                .collect();
            if context.context_type == Some(ContextType::CallbackChain)
                && !context.callbacks.is_empty()
                && !chains.iter().any(|chain| *chain == context.callbacks)
            {
                let message = format!(
                    "{about}: variable passings do not make the chain that `callbacks` lists; the list has no effect"
                );
                self.findings.warning(element, message);
            }
        }
    }
}
