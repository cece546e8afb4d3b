//! New names, in every place that the old one stands in.

use crate::error::{Error, Item};
use crate::model::{Architecture, CallbackKind, Endpoint, Node};

impl Architecture {
    /// Renames a node, its callbacks and callback groups that carry its name, and its steps in paths. Topics keep
    /// their names.
    pub fn rename_node(&mut self, old: &str, new: &str) -> Result<(), Error> {
        self.node(old)?;
        if old == new {
            return Ok(());
        }
        if self.node(new).is_ok() {
            return Err(Error::exists(Item::Node, new));
        }
        let renamed = |name: &str| {
            let rest = name.strip_prefix(old)?;
            rest.starts_with('/').then(|| format!("{new}{rest}"))
        };
        let node = self.node(old)?;
        let callbacks: Vec<(String, String)> = (node.callbacks.iter())
            .filter_map(|callback| Some((callback.name.clone(), renamed(&callback.name)?)))
            .collect();
        let groups: Vec<(String, String)> = (node.callback_groups.iter())
            .filter_map(|group| Some((group.name.clone(), renamed(&group.name)?)))
            .collect();
        let taken = (self.callback_groups())
            .find(|(_, group)| groups.iter().any(|(_, name)| *name == group.name));
        if let Some((_, group)) = taken {
            return Err(Error::exists(Item::CallbackGroup, &group.name));
        }
        let node = self.node_mut(old)?;
        new.clone_into(&mut node.name);
        for (old, new) in &callbacks {
            rename_callback_in(node, old, new);
        }
        for (old, new) in &groups {
            self.rename_group_everywhere(old, new);
        }
        for step in self.paths.iter_mut().flat_map(|path| &mut path.steps) {
            replace(&mut step.node, old, new);
        }
        Ok(())
    }

    /// Renames a topic: publishers, subscriptions, callbacks, contexts, paths. The new name must not be a topic yet:
    /// two topics would become one.
    pub fn rename_topic(&mut self, old: &str, new: &str) -> Result<(), Error> {
        let topics = self.topics();
        if !topics.contains(old) {
            return Err(Error::unknown(Item::Topic, old, topics));
        }
        if old == new {
            return Ok(());
        }
        if topics.contains(new) {
            return Err(Error::exists(Item::Topic, new));
        }
        for node in &mut self.nodes {
            for publisher in &mut node.publishers {
                replace(&mut publisher.topic, old, new);
            }
            for subscription in &mut node.subscriptions {
                replace(&mut subscription.topic, old, new);
            }
            for callback in &mut node.callbacks {
                if let CallbackKind::Subscription { topic } = &mut callback.kind {
                    replace(topic, old, new);
                }
            }
            for context in &mut node.message_contexts {
                replace(&mut context.subscription.topic, old, new);
                replace(&mut context.publisher.topic, old, new);
            }
        }
        for step in self.paths.iter_mut().flat_map(|path| &mut path.steps) {
            let ends = [&mut step.subscription, &mut step.publisher];
            for Endpoint { topic, .. } in ends.into_iter().flatten() {
                replace(topic, old, new);
            }
        }
        Ok(())
    }

    /// Renames a callback, whether an executor has it or not. Nodes that share the name (CARET's never do) are all
    /// changed.
    pub fn rename_callback(&mut self, old: &str, new: &str) -> Result<(), Error> {
        if !self.callbacks().any(|(_, callback)| callback.name == old) {
            let known = self.callbacks().map(|(_, callback)| callback.name.as_str());
            return Err(Error::unknown(Item::Callback, old, known));
        }
        if old == new {
            return Ok(());
        }
        if self.callbacks().any(|(_, callback)| callback.name == new) {
            return Err(Error::exists(Item::Callback, new));
        }
        for node in &mut self.nodes {
            if node.callback(old).is_some() {
                rename_callback_in(node, old, new);
            }
        }
        Ok(())
    }

    pub fn rename_executor(&mut self, old: &str, new: &str) -> Result<(), Error> {
        self.executor(old)?;
        if old != new && self.executor(new).is_ok() {
            return Err(Error::exists(Item::Executor, new));
        }
        for executor in &mut self.executors {
            replace(&mut executor.name, old, new);
        }
        Ok(())
    }

    pub fn rename_path(&mut self, old: &str, new: &str) -> Result<(), Error> {
        let index = self.path_index(old)?;
        if old != new && self.path(new).is_ok() {
            return Err(Error::exists(Item::Path, new));
        }
        new.clone_into(&mut self.paths[index].name);
        Ok(())
    }

    fn rename_group_everywhere(&mut self, old: &str, new: &str) {
        let of_nodes = (self.nodes.iter_mut())
            .flat_map(|node| &mut node.callback_groups)
            .map(|group| &mut group.name);
        let executors = self.executors.iter_mut();
        let of_executors = executors.flat_map(|executor| &mut executor.callback_groups);
        for name in of_nodes.chain(of_executors) {
            replace(name, old, new);
        }
    }
}

/// Names of callbacks mean something within their node only.
fn rename_callback_in(node: &mut Node, old: &str, new: &str) {
    let of_callbacks = node.callbacks.iter_mut().map(|it| &mut it.name);
    let of_groups = (node.callback_groups.iter_mut()).flat_map(|it| &mut it.callbacks);
    let of_publishers = node.publishers.iter_mut().flat_map(|it| &mut it.callbacks);
    let of_subscriptions = (node.subscriptions.iter_mut()).flat_map(|it| &mut it.callback);
    let of_passings = (node.variable_passings.iter_mut())
        .flat_map(|it| [&mut it.write, &mut it.read].into_iter().flatten());
    let of_contexts = (node.message_contexts.iter_mut()).flat_map(|it| &mut it.callbacks);
    let all = (of_callbacks.chain(of_groups).chain(of_publishers))
        .chain(of_subscriptions)
        .chain(of_passings)
        .chain(of_contexts);
    for name in all {
        replace(name, old, new);
    }
}

fn replace(name: &mut String, old: &str, new: &str) {
    if name == old {
        new.clone_into(name);
    }
}
