//! From input to output: inside one node, and along a path of nodes.

use std::collections::HashMap;

use rostrace_architecture::node_path::{Limits, NodePath, node_paths};
use rostrace_architecture::{
    Architecture, Callback, CallbackGroupType, ContextType, Endpoint, NamedPath, Node,
};

use crate::records::{Follow, Records};
use crate::tables::{Indexed, Link};

/// Which ends of a path belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ends {
    /// Begin with the callback in which the first message was published.
    pub first_callback: bool,
    /// End with the end of the last callback.
    pub last_callback: bool,
}

impl Indexed<'_> {
    /// Ends of the writer, and the starts of the reader that follow them.
    pub fn variable_passing(&self, node: &Node, writer: &Callback, reader: &Callback) -> Records {
        let ends = self.callback(node, writer).select(&[1]);
        let starts = self.callback(node, reader).select(&[0]);
        let mut records = ends.join_following(0, &starts, Follow::All);
        records.sort_by_first();
        records
    }

    /// From input to output in a node; nothing if nobody says how one is made from the other.
    pub fn node_path(&self, node: &Node, path: &NodePath<'_>) -> Option<Records> {
        let context = path.context?.context_type;
        let publish = |publisher: &Endpoint| self.publisher(node, publisher).select(&[0]);
        match context {
            ContextType::UseLatestMessage => {
                let (subscription, publisher) =
                    (path.subscription.as_ref()?, path.publisher.as_ref()?);
                let callback = node.subscription(subscription)?.callback.as_deref()?;
                let received = self.subscription(node, subscription, callback);
                if received.is_empty() {
                    // Messages are taken by hand: what was taken last is what the output is made from.
                    let takes = self.manual_takes(node, subscription);
                    let joined = takes.join_following(1, &publish(publisher), Follow::All);
                    return Some(joined.select(&[0, 2]));
                }
                Some(received.join_following(0, &publish(publisher), Follow::All))
            }
            ContextType::CallbackChain => {
                let mut chain = path.chain.iter();
                let first = chain.next()?;
                let mut records = self.callback(node, first);
                let mut before = first;
                for next in chain {
                    records = records.join_equal(&self.variable_passing(node, before, next));
                    records = records.join_equal(&self.callback(node, next));
                    before = next;
                }
                let Some(publisher) = &path.publisher else {
                    return Some(records);
                };
                let started = records.columns.len() - 2;
                let columns: Vec<usize> = (0..=started).collect();
                Some(records.select(&columns).join_following(
                    started,
                    &publish(publisher),
                    Follow::First,
                ))
            }
            ContextType::InheritUniqueStamp | ContextType::Tilde => {
                let (subscription, publisher) =
                    (path.subscription.as_ref()?, path.publisher.as_ref()?);
                let callback = node.subscription(subscription)?.callback.as_deref()?;
                let received = self.subscription(node, subscription, callback).select(&[0]);
                // Header stamps and TILDE's ids are not in the flows: nothing can be matched, and nothing is.
                let nothing =
                    Records::new([format!("{}/rclcpp_publish_timestamp", publisher.topic)]);
                Some(received.join_following(0, &nothing, Follow::First))
            }
        }
    }

    /// Every message along a path, one row each; a row that ends early was lost where it ends.
    pub fn path(
        &self,
        architecture: &Architecture,
        path: &NamedPath,
        ends: Ends,
    ) -> Option<Records> {
        let stages = stages(architecture, path)?;
        let mut names = Names::default();
        let mut left: Option<Records> = None;
        let mut after_chain = false;
        let last_link = stages
            .iter()
            .rposition(|stage| matches!(stage, Stage::Communication(_)))?;
        let mut whole = true;
        for (number, stage) in stages.iter().enumerate() {
            let right = match stage {
                Stage::Node(node, path) if number == 0 => {
                    let publisher = path.as_ref().and_then(|path| path.publisher.clone())?;
                    if ends.first_callback {
                        Some(self.path_beginning(node, &publisher))
                    } else {
                        let records = path.as_ref().and_then(|path| self.node_path(node, path));
                        match records.filter(|records| !records.is_empty()) {
                            Some(records) => Some(records),
                            None => continue,
                        }
                    }
                }
                Stage::Node(node, path) => {
                    path.as_ref().and_then(|path| self.node_path(node, path))
                }
                // A path to the end of a callback that never ran ends where its messages are taken by hand.
                Stage::Communication(link)
                    if ends.last_callback && number == last_link && self.is_taken_by_hand(link) =>
                {
                    Some(self.communication_to_take(link))
                }
                Stage::Communication(link) => Some(self.communication(link)),
            };
            let Some(mut right) = right.filter(|records| !records.columns.is_empty()) else {
                whole = number + 1 == stages.len();
                break;
            };
            names.rename(&mut right.columns);
            left = Some(match left {
                None => right,
                Some(left) => {
                    if left.columns.last() != right.columns.first() {
                        return None;
                    }
                    let is_link = matches!(stage, Stage::Communication(_));
                    if after_chain && is_link {
                        follow(&left, &right)
                    } else {
                        left.join_equal(&right)
                    }
                }
            });
            after_chain = matches!(stage, Stage::Node(_, Some(path))
                if path.context.is_some_and(|it| it.context_type == ContextType::CallbackChain));
        }
        let mut records = left?;
        if ends.last_callback && whole {
            self.add_last_callback(&stages, &mut names, &mut records);
        }
        records.sort_by_first();
        Some(without_keys(&records))
    }

    /// No executor has the group of its callback, and it never ran.
    fn is_taken_by_hand(&self, link: &Link<'_>) -> bool {
        let node = link.subscribing_node;
        let of_nobody = node.callback_groups.iter().any(|group| {
            group.group_type == CallbackGroupType::Undefined
                && group.callbacks.contains(&link.callback)
        });
        let callback = node.callback(&link.callback);
        of_nobody && callback.is_some_and(|callback| self.callback(node, callback).is_empty())
    }

    fn add_last_callback(&self, stages: &[Stage<'_>], names: &mut Names, records: &mut Records) {
        let Some(Stage::Communication(link)) = stages
            .iter()
            .rev()
            .find(|stage| matches!(stage, Stage::Communication(_)))
        else {
            return;
        };
        let Some(callback) = link.subscribing_node.callback(&link.callback) else {
            return;
        };
        let mut end = self.callback(link.subscribing_node, callback);
        if end.is_empty() {
            return;
        }
        names.rename(&mut end.columns);
        if records.columns.last() == end.columns.first() {
            *records = records.join_equal(&end);
        }
    }
}

/// One part of a path.
enum Stage<'a> {
    Node(&'a Node, Option<NodePath<'a>>),
    Communication(Link<'a>),
}

fn stages<'a>(architecture: &'a Architecture, path: &NamedPath) -> Option<Vec<Stage<'a>>> {
    let mut stages = Vec::new();
    let mut before: Option<(&Node, Endpoint)> = None;
    for step in &path.steps {
        let node = architecture.node(&step.node).ok()?;
        if let (Some((publishing_node, publisher)), Some(subscription)) =
            (&before, &step.subscription)
        {
            let callback = node.subscription(subscription)?.callback.clone()?;
            stages.push(Stage::Communication(Link {
                publishing_node,
                publisher: publisher.clone(),
                subscribing_node: node,
                subscription: subscription.clone(),
                callback,
            }));
        }
        let found = node_paths(node, Limits::default());
        let through = found
            .between(&step.subscription, &step.publisher)
            .next()
            .cloned();
        stages.push(Stage::Node(node, through));
        before = step.publisher.clone().map(|publisher| (node, publisher));
    }
    Some(stages)
}

/// The messages that were published in each execution: all publications up to the next row.
fn follow(left: &Records, right: &Records) -> Records {
    let joint = left.columns.len() - 1;
    let joined = left.join_following(joint, right, Follow::All);
    let mut records = Records::new(
        left.columns
            .iter()
            .chain(right.columns.iter().skip(1))
            .cloned(),
    );
    for row in joined.rows {
        let shared = row[joint + 1].or(row[joint]);
        let kept = row[..joint].iter().copied().chain([shared]);
        records
            .rows
            .push(kept.chain(row[joint + 2..].iter().copied()).collect());
    }
    records
}

/// Columns are numbered: a topic that is passed twice has two.
#[derive(Default)]
struct Names {
    given: HashMap<String, usize>,
}

impl Names {
    /// The first column of a stage is the joint with the stage before, if there was one of that name.
    fn rename(&mut self, columns: &mut [String]) {
        for (number, column) in columns.iter_mut().enumerate() {
            let index = match self.given.get(column) {
                Some(newest) if number == 0 => *newest,
                Some(newest) => newest + 1,
                None => 0,
            };
            self.given.insert(column.clone(), index);
            *column = format!("{column}/{index}");
        }
    }
}

/// Without the columns that only served to match.
fn without_keys(records: &Records) -> Records {
    let last = records.columns.len().saturating_sub(1);
    let kept = (0..records.columns.len()).filter(|number| {
        let name = records.columns[*number]
            .rsplit_once('/')
            .map_or("", |(name, _)| name);
        let served_to_match = name.ends_with("source_timestamp");
        let on_the_way = name.ends_with("rmw_take_timestamp") && *number != last;
        !served_to_match && !on_the_way
    });
    records.select(&kept.collect::<Vec<_>>())
}
