//! From input to output inside one node, as its message context says.
//!
//! A node that lived several times, or in several processes, is joined life by life in our own style: what one of them received
//! is never what another one published.

use std::collections::{HashMap, HashSet};

use rostrace_architecture::node_path::NodePath;
use rostrace_architecture::{Callback, ContextType, Endpoint, Node};
use rostrace_model::entity::{InstanceId, PublicationId, PublisherId};
use rostrace_model::flow::TildeStepKind;

use crate::declared::Style;
use crate::declared::link::publication;
use crate::declared::records::{Event, Follow, Keyed, Records, Stamp};
use crate::declared::tables::{Indexed, Life};

impl Indexed<'_> {
    /// Ends of the writer, and the starts of the reader that follow them.
    pub fn variable_passing(&self, node: &Node, writer: &Callback, reader: &Callback) -> Records {
        let records = self.life_by_life(node, |life| {
            Some(self.variable_passing_in(node, writer, reader, life))
        });
        records.unwrap_or_default().times()
    }

    fn variable_passing_in(
        &self,
        node: &Node,
        writer: &Callback,
        reader: &Callback,
        life: Life,
    ) -> Records<Stamp> {
        let mut ends = self.callback_in(node, writer, life).select(&[1]);
        ends.rows.retain(|row| row[0].is_some());
        let starts = self.callback_in(node, reader, life).select(&[0]);
        let mut records = ends.join_following(0, &starts, Follow::All);
        self.sort(&mut records);
        records
    }

    /// From input to output in a node; nothing if nobody says how one is made from the other.
    pub fn node_path(&self, node: &Node, path: &NodePath<'_>) -> Option<Records> {
        Some(self.input_to_output(node, path)?.times())
    }

    pub(super) fn input_to_output(
        &self,
        node: &Node,
        path: &NodePath<'_>,
    ) -> Option<Records<Stamp>> {
        self.life_by_life(node, |life| self.node_path_in(node, path, life))
    }

    /// Joins what ends and begins with the same event; CARET what does at the same time.
    pub(super) fn join(&self, left: &Records<Stamp>, right: &Records<Stamp>) -> Records<Stamp> {
        match self.style {
            Style::Own => left.join_equal(right),
            Style::Caret => left.join_equal_by(right, |it| it.time),
        }
    }

    /// One table of all lives of a node.
    fn life_by_life(
        &self,
        node: &Node,
        table: impl Fn(Life) -> Option<Records<Stamp>>,
    ) -> Option<Records<Stamp>> {
        let lives = self.objects.lives(node);
        if self.style == Style::Caret || lives.len() < 2 {
            return table(None);
        }
        let mut united: Option<Records<Stamp>> = None;
        for life in lives {
            let of_life = table(Some(*life))?;
            match &mut united {
                None => united = Some(of_life),
                Some(united) => united.rows.extend(of_life.rows),
            }
        }
        united.as_mut().into_iter().for_each(Records::sort_by_first);
        united
    }

    pub(crate) fn node_path_in(
        &self,
        node: &Node,
        path: &NodePath<'_>,
        life: Life,
    ) -> Option<Records<Stamp>> {
        if path.context?.context_type == ContextType::CallbackChain {
            return self.callback_chain(node, path, life);
        }
        let (subscription, publisher) = (path.subscription.as_ref()?, path.publisher.as_ref()?);
        let callback = node.subscription(subscription)?.callback.as_deref()?;
        match path.context?.context_type {
            ContextType::CallbackChain => None,
            ContextType::UseLatestMessage => {
                let published = self.publish_times(node, publisher, life);
                let received = self.subscription_in(node, subscription, callback, life);
                // Messages that are taken by hand: what was taken last is what the output is made from.
                Some(match self.style {
                    Style::Caret if received.is_empty() => {
                        let takes = self.manual_takes(node, subscription);
                        let joined = takes.join_following(1, &published, Follow::All);
                        joined.select(&[0, 2])
                    }
                    Style::Own if self.is_only_taken(node, subscription) => {
                        let takes = self.take_times(node, subscription, life);
                        takes.join_following(0, &published, Follow::All)
                    }
                    _ => received.join_following(0, &published, Follow::All),
                })
            }
            ContextType::InheritUniqueStamp | ContextType::Tilde if self.style == Style::Caret => {
                // CARET's table of the subscription has no stamp to compare: nothing is ever matched.
                let received = self.subscription_in(node, subscription, callback, None);
                let received = received.select(&[0]);
                let nothing =
                    Records::new([format!("{}/rclcpp_publish_timestamp", publisher.topic)]);
                Some(received.join_following(0, &nothing, Follow::First))
            }
            ContextType::InheritUniqueStamp => {
                Some(self.inherited_stamps(node, subscription, callback, publisher, life))
            }
            ContextType::Tilde => {
                Some(self.tilde_steps(node, subscription, callback, publisher, life))
            }
        }
    }

    fn publish_times(&self, node: &Node, publisher: &Endpoint, life: Life) -> Records<Stamp> {
        self.publisher_in(node, publisher, life).select(&[0])
    }

    /// Whether messages are taken by hand: they are taken, and the callback never runs.
    pub(crate) fn is_only_taken(&self, node: &Node, subscription: &Endpoint) -> bool {
        self.receptions(node, subscription, None).next().is_none()
            && self.takes(node, subscription, None).next().is_some()
    }

    fn take_times(&self, node: &Node, subscription: &Endpoint, life: Life) -> Records<Stamp> {
        let mut records = Records::new([format!("{}/rmw_take_timestamp", node.name)]);
        let takes = self.takes(node, subscription, life);
        records.rows = takes.map(|id| vec![Some(self.take(id))]).collect();
        records.sort_by_first();
        records
    }

    /// Start and end of each callback of the chain; instead of the last end what was published.
    fn callback_chain(
        &self,
        node: &Node,
        path: &NodePath<'_>,
        life: Life,
    ) -> Option<Records<Stamp>> {
        let mut chain = path.chain.iter();
        let first = chain.next()?;
        let mut records = self.callback_in(node, first, life);
        let mut last = first;
        for next in chain {
            records = self.join(&records, &self.variable_passing_in(node, last, next, life));
            records = self.join(&records, &self.callback_in(node, next, life));
            last = next;
        }
        let Some(publisher) = &path.publisher else {
            return Some(records);
        };
        let started = records.columns.len() - 2;
        let records = records.select(&(0..=started).collect::<Vec<_>>());
        if self.style == Style::Own
            && let Some(published) = self.published_in(node, last, publisher, life)
        {
            return Some(self.join(&records, &published));
        }
        let published = self.publish_times(node, publisher, life);
        Some(records.join_following(started, &published, Follow::First))
    }

    /// What was published inside the executions of a callback, as the trace shows it; nothing if it never was. Then
    /// a chain that somebody declared all the same can only be followed by time.
    fn published_in(
        &self,
        node: &Node,
        callback: &Callback,
        publisher: &Endpoint,
        life: Life,
    ) -> Option<Records<Stamp>> {
        let instances = self.instances_in(node, callback, life);
        let instances: HashSet<InstanceId> = instances.map(|(id, _)| id).collect();
        let mut records = Records::new([
            format!("{}/callback_start_timestamp", callback.name),
            format!("{}/rclcpp_publish_timestamp", publisher.topic),
        ]);
        for id in self.publishers(node, publisher, life) {
            for (id, publication) in self.publications(id) {
                let instance = publication.instance;
                if let Some(instance) = instance.filter(|id| instances.contains(id)) {
                    let publish = Stamp::of(Event::Publish(id), publication.publish.0);
                    let start = self.start(instance);
                    records.rows.push(vec![Some(start), Some(publish)]);
                }
            }
        }
        records.rows.sort();
        (!records.is_empty()).then_some(records)
    }

    /// An output with the header stamp of an input that was received before it is made from that input. A stamp of zero
    /// means that the message has none.
    fn inherited_stamps(
        &self,
        node: &Node,
        subscription: &Endpoint,
        callback: &str,
        publisher: &Endpoint,
        life: Life,
    ) -> Records<Stamp> {
        let stamp = |publication: PublicationId| {
            let stamp = self.model.publications[publication.index()].message_timestamp;
            stamp.filter(|stamp| *stamp != 0).map(Stamp::key)
        };
        let mut received = Records::new([
            format!("{callback}/callback_start_timestamp"),
            format!("{}/message_timestamp", subscription.topic),
        ]);
        for (id, instance) in self.receptions(node, subscription, life) {
            let taken = || self.model.takes[instance.take?.index()].publication;
            let inherited = instance.source.or_else(taken).and_then(stamp);
            received.rows.push(vec![Some(self.start(id)), inherited]);
        }
        if self.is_only_taken(node, subscription) {
            received.columns[0] = format!("{}/rmw_take_timestamp", node.name);
            let takes = self.takes(node, subscription, life);
            received.rows = takes
                .map(|id| {
                    let publication = self.model.takes[id.index()].publication;
                    vec![Some(self.take(id)), publication.and_then(stamp)]
                })
                .collect();
        }
        received.sort_by_first();
        let mut published = self.publish_times(node, publisher, life);
        published
            .columns
            .push(format!("{}/message_timestamp", publisher.topic));
        for row in &mut published.rows {
            row.push(publication(row).and_then(stamp));
        }
        let by_stamp = Keyed { left: 1, right: 1 };
        let joined = received.join_following_keyed(0, &published, Some(by_stamp), Follow::First);
        joined.select(&[0, 2])
    }

    /// TILDE says with each output which input it was made from.
    fn tilde_steps(
        &self,
        node: &Node,
        subscription: &Endpoint,
        callback: &str,
        publisher: &Endpoint,
        life: Life,
    ) -> Records<Stamp> {
        let model = self.model;
        // Where TILDE's own names are in the trace they must not contradict.
        let fits = |endpoint: Option<usize>, topic: &str| {
            let endpoint = endpoint.map(|endpoint| &model.tilde_endpoints[endpoint]);
            endpoint.is_none_or(|it| it.node == node.name && it.topic == topic)
        };
        let publishers: Vec<PublisherId> = self.publishers(node, publisher, life).collect();
        // By the identity of the input: when the outputs were published.
        let mut outputs: HashMap<u64, Vec<Stamp>> = HashMap::new();
        for step in &model.tilde_steps {
            let TildeStepKind::Publish { input, .. } = step.kind else {
                continue;
            };
            let of_publisher = |id: &PublicationId| {
                let publisher = model.publications[id.index()].publisher;
                publisher.is_some_and(|publisher| publishers.contains(&publisher))
            };
            if let Some(id) = step.publication.filter(of_publisher)
                && fits(step.endpoint, &publisher.topic)
                && fits(input, &subscription.topic)
            {
                let outputs = outputs.entry(step.message_id).or_default();
                let publish = model.publications[id.index()].publish;
                outputs.push(Stamp::of(Event::Publish(id), publish.0));
            }
        }
        let mut inputs: HashMap<InstanceId, u64> = HashMap::new();
        for step in &model.tilde_steps {
            if let (TildeStepKind::Subscribe, Some(instance)) = (step.kind, step.instance)
                && fits(step.endpoint, &subscription.topic)
            {
                inputs.insert(instance, step.message_id);
            }
        }
        let mut records = Records::new([
            format!("{callback}/callback_start_timestamp"),
            format!("{}/rclcpp_publish_timestamp", publisher.topic),
        ]);
        for (id, _) in self.receptions(node, subscription, life) {
            let start = Some(self.start(id));
            let outputs = inputs.get(&id).and_then(|message| outputs.get(message));
            match outputs {
                None => records.rows.push(vec![start, None]),
                Some(outputs) => records
                    .rows
                    .extend(outputs.iter().map(|publish| vec![start, Some(*publish)])),
            }
        }
        records.sort_by_first();
        records
    }
}
