//! Every message along a path of nodes, one row each.

use std::collections::HashMap;

use rostrace_architecture::node_path::{NodePath, node_paths};
use rostrace_architecture::{
    Architecture, CallbackGroupType, ContextType, Endpoint, NamedPath, Node,
};

use crate::declared::Style;
use crate::declared::chain::PartKind;
use crate::declared::records::{Follow, Records, Stamp};
use crate::declared::tables::{Indexed, Link};

/// Which ends of a path belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ends {
    /// Begin with the callback in which the first message was published.
    pub first_callback: bool,
    /// End with the end of the last callback.
    pub last_callback: bool,
}

impl Ends {
    pub const EVERY: [Ends; 4] = [
        Ends::of(false, false),
        Ends::of(true, false),
        Ends::of(false, true),
        Ends::of(true, true),
    ];

    const fn of(first_callback: bool, last_callback: bool) -> Ends {
        Ends {
            first_callback,
            last_callback,
        }
    }
}

/// Why a path cannot be followed from its beginning to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path {path} goes through the node {node}, which the architecture does not have")]
    UnknownNode { path: String, node: String },
    #[error(
        "the path {path} enters the node {node} by {subscription}, to which it does not subscribe with a callback"
    )]
    NoSubscription {
        path: String,
        node: String,
        subscription: Endpoint,
    },
    #[error("the path {path} begins in the node {node}, but does not say what is published there")]
    NoPublisher { path: String, node: String },
    #[error("the path {path} has no communication: at least two nodes are needed")]
    NoCommunication { path: String },
    #[error(
        "the path {path} cannot be followed through the node {node}: nothing says how {output} is made from {input}; \
         `rostrace architecture set-context FILE {node} {input} {output} use_latest_message` declares that it is made from the newest one, or \
         declare variable passings"
    )]
    NoContext {
        path: String,
        node: String,
        input: String,
        output: String,
    },
    #[error(
        "two stages of the path {path} do not fit together: one ends with {left}, the next one begins with {right}"
    )]
    Disjoint {
        path: String,
        left: String,
        right: String,
    },
}

impl Indexed<'_> {
    /// Every message along a path, one row each; a row that ends early was lost where it ends. In CARET's style a path that cannot be
    /// followed to its end is silently a shorter one; in ours it is an error.
    pub fn path(
        &self,
        architecture: &Architecture,
        path: &NamedPath,
        ends: Ends,
    ) -> Result<Records, PathError> {
        Ok(self.stamped_path(architecture, path, ends)?.times())
    }

    /// The same with what happened at each instant.
    pub(super) fn stamped_path(
        &self,
        architecture: &Architecture,
        path: &NamedPath,
        ends: Ends,
    ) -> Result<Records<Stamp>, PathError> {
        let joined = self.joined(architecture, path, ends)?;
        Ok(self.finished(joined, ends.last_callback))
    }

    /// The path with every combination of ends, in the order of [`Ends::EVERY`]. What they have in common is joined once.
    pub fn path_with_every_end(
        &self,
        architecture: &Architecture,
        path: &NamedPath,
    ) -> [Result<Records, PathError>; 4] {
        let [neither, first, last, both] = Ends::EVERY;
        let pair = |without: Ends, with: Ends| {
            let joined = self.joined(architecture, path, without);
            let with = match &joined {
                // Where messages are taken by hand the last stage is another one.
                Ok(joined) if joined.last_is_by_hand => self.path(architecture, path, with),
                Ok(joined) => Ok(self.finished(joined.clone(), true).times()),
                Err(_) => self.path(architecture, path, with),
            };
            let without = joined.map(|joined| self.finished(joined, false).times());
            (without, with)
        };
        let (neither, last) = pair(neither, last);
        let (first, both) = pair(first, both);
        [neither, first, last, both]
    }

    fn finished(&self, joined: Joined<'_>, last_callback: bool) -> Records<Stamp> {
        let Joined {
            stages,
            mut names,
            mut records,
            whole,
            ..
        } = joined;
        if last_callback && whole {
            self.add_last_callback(&stages, &mut names, &mut records);
        }
        self.sort(&mut records);
        self.without_keys(&records)
    }

    /// The stages of a path joined, without its last callback.
    fn joined<'a>(
        &self,
        architecture: &'a Architecture,
        path: &NamedPath,
        ends: Ends,
    ) -> Result<Joined<'a>, PathError> {
        let stages = stages(architecture, path)?;
        let named = || path.name.clone();
        let mut names = Names::default();
        let mut left: Option<Records<Stamp>> = None;
        let mut after_chain = false;
        let last_link = stages
            .iter()
            .rposition(|stage| matches!(stage, Stage::Communication(_)))
            .ok_or_else(|| PathError::NoCommunication { path: named() })?;
        let mut whole = true;
        for (number, stage) in stages.iter().enumerate() {
            let is_last_link = number == last_link;
            let right = match self.stage(stage, number == 0, is_last_link, ends) {
                Right::Records(right) => Some(right),
                Right::Skip => continue,
                Right::NoPublisher(node) => {
                    let (path, node) = (named(), node.name.clone());
                    return Err(PathError::NoPublisher { path, node });
                }
                Right::Nothing => None,
            };
            let Some(mut right) = right.filter(|records| !records.columns.is_empty()) else {
                if let Some(error) = self.why_cut(path, stage) {
                    return Err(error);
                }
                whole = number + 1 == stages.len();
                break;
            };
            names.rename(&mut right.columns);
            left = Some(match left {
                None => right,
                Some(left) => {
                    let joints = (left.columns.last(), right.columns.first());
                    if joints.0 != joints.1 {
                        return Err(PathError::Disjoint {
                            path: named(),
                            left: joints.0.cloned().unwrap_or_default(),
                            right: joints.1.cloned().unwrap_or_default(),
                        });
                    }
                    let is_link = matches!(stage, Stage::Communication(_));
                    if after_chain && is_link && self.style == Style::Caret {
                        follow(&left, &right)
                    } else {
                        self.join(&left, &right)
                    }
                }
            });
            after_chain = matches!(stage, Stage::Node(_, _, Some(path))
                if path.context.is_some_and(|it| it.context_type == ContextType::CallbackChain));
        }
        let last_is_by_hand = match &stages[last_link] {
            Stage::Communication(link) => self.ends_with_take(link, true, Ends::EVERY[3]),
            Stage::Node(..) => false,
        };
        Ok(Joined {
            records: left.unwrap_or_default(),
            stages,
            names,
            whole,
            last_is_by_hand,
        })
    }

    /// The nodes and communications of a path, each with its own table if it has one.
    pub(crate) fn parts(
        &self,
        architecture: &Architecture,
        path: &NamedPath,
        ends: Ends,
    ) -> Result<Vec<(String, PartKind, Option<Records>)>, PathError> {
        let stages = stages(architecture, path)?;
        let last = stages.len().saturating_sub(1);
        let mut parts = Vec::new();
        for (number, stage) in stages.iter().enumerate() {
            parts.push(match stage {
                Stage::Node(node, (None, Some(publisher)), _) if number == 0 => {
                    let records = ends
                        .first_callback
                        .then(|| self.path_beginning(node, publisher).times());
                    (node.name.clone(), PartKind::Node, records)
                }
                Stage::Node(node, (Some(subscription), None), _) if number == last => {
                    let callback = node.subscription(subscription);
                    let callback = callback.and_then(|it| node.callback(it.callback.as_deref()?));
                    let callback = callback.filter(|_| ends.last_callback);
                    let records = callback.map(|callback| self.callback(node, callback));
                    (node.name.clone(), PartKind::Node, records)
                }
                Stage::Node(node, _, path) => {
                    let records = path.as_ref().and_then(|path| self.node_path(node, path));
                    (node.name.clone(), PartKind::Node, records)
                }
                Stage::Communication(link) => {
                    let records = if self.ends_with_take(link, number + 1 == last, ends) {
                        self.communication_to_take(link)
                    } else {
                        self.communication(link)
                    };
                    let topic = link.publisher.topic.clone();
                    (topic, PartKind::Communication, Some(records))
                }
            });
        }
        Ok(parts)
    }

    /// The table of one stage.
    fn stage<'a>(
        &self,
        stage: &Stage<'a>,
        is_first: bool,
        is_last_link: bool,
        ends: Ends,
    ) -> Right<'a> {
        let records = match stage {
            Stage::Node(node, step, path) if is_first => {
                let publisher = match self.style {
                    Style::Caret => path.as_ref().and_then(|path| path.publisher.clone()),
                    Style::Own => step.1.clone(),
                };
                let Some(publisher) = publisher else {
                    return Right::NoPublisher(node);
                };
                // A path that begins with an input of its first node has no callback before that.
                let begins = step.0.is_none() || self.style == Style::Caret;
                if ends.first_callback && begins {
                    Some(self.path_beginning(node, &publisher))
                } else {
                    let records = path.as_ref();
                    let records = records.and_then(|path| self.input_to_output(node, path));
                    if self.style == Style::Own && step.0.is_some() {
                        records
                    } else {
                        match records.filter(|records| !records.is_empty()) {
                            None => return Right::Skip,
                            records => records,
                        }
                    }
                }
            }
            Stage::Node(node, _, path) => {
                let path = path.as_ref();
                path.and_then(|path| self.input_to_output(node, path))
            }
            Stage::Communication(link) if self.ends_with_take(link, is_last_link, ends) => {
                Some(self.publish_to_take(link))
            }
            Stage::Communication(link) => Some(self.publish_to_start(link)),
        };
        records.map_or(Right::Nothing, Right::Records)
    }

    /// Whether a message's way ends where it is taken by hand. CARET asks only where the end of a callback was to be the end of the path,
    /// and judges by the callback's group; we judge by what happened.
    fn ends_with_take(&self, link: &Link<'_>, is_last_link: bool, ends: Ends) -> bool {
        match self.style {
            Style::Own => self.is_only_taken(link.subscribing_node, &link.subscription),
            Style::Caret => ends.last_callback && is_last_link && self.is_taken_by_hand(link),
        }
    }

    /// In our own style only the last stage may have no table, and only if it has no output.
    fn why_cut(&self, path: &NamedPath, stage: &Stage<'_>) -> Option<PathError> {
        let Stage::Node(node, (input, output), _) = stage else {
            return None;
        };
        if self.style == Style::Caret || output.is_none() {
            return None;
        }
        let named = |end: &Option<Endpoint>| {
            let end = end.as_ref();
            end.map_or_else(|| "nothing".to_owned(), Endpoint::to_string)
        };
        Some(PathError::NoContext {
            path: path.name.clone(),
            node: node.name.clone(),
            input: named(input),
            output: named(output),
        })
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

    fn add_last_callback(
        &self,
        stages: &[Stage<'_>],
        names: &mut Names,
        records: &mut Records<Stamp>,
    ) {
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
        let mut end = self.callback_in(link.subscribing_node, callback, None);
        if end.is_empty() {
            return;
        }
        names.rename(&mut end.columns);
        if records.columns.last() == end.columns.first() {
            *records = self.join(records, &end);
        }
    }

    /// Without the columns that only served to match. CARET also leaves out takes on the way.
    fn without_keys(&self, records: &Records<Stamp>) -> Records<Stamp> {
        let last = records.columns.len().saturating_sub(1);
        let kept = (0..records.columns.len()).filter(|number| {
            let name = records.columns[*number]
                .rsplit_once('/')
                .map_or("", |(name, _)| name);
            let served_to_match = name.ends_with("source_timestamp");
            let on_the_way = name.ends_with("rmw_take_timestamp") && *number != last;
            !(served_to_match || on_the_way && self.style == Style::Caret)
        });
        records.select(&kept.collect::<Vec<_>>())
    }
}

/// A path whose stages were joined.
#[derive(Clone)]
struct Joined<'a> {
    stages: Vec<Stage<'a>>,
    names: Names,
    records: Records<Stamp>,
    /// It was followed to its end.
    whole: bool,
    last_is_by_hand: bool,
}

/// What a stage adds to a path.
enum Right<'a> {
    Records(Records<Stamp>),
    /// Nobody says what happens there.
    Nothing,
    /// The path begins behind it.
    Skip,
    NoPublisher(&'a Node),
}

/// One part of a path.
#[derive(Clone)]
enum Stage<'a> {
    /// With its input and output.
    Node(
        &'a Node,
        (Option<Endpoint>, Option<Endpoint>),
        Option<NodePath<'a>>,
    ),
    Communication(Link<'a>),
}

fn stages<'a>(
    architecture: &'a Architecture,
    path: &NamedPath,
) -> Result<Vec<Stage<'a>>, PathError> {
    let mut stages = Vec::new();
    let mut before: Option<(&Node, Endpoint)> = None;
    for step in &path.steps {
        let node = architecture
            .node(&step.node)
            .map_err(|_| PathError::UnknownNode {
                path: path.name.clone(),
                node: step.node.clone(),
            })?;
        if let (Some((publishing_node, publisher)), Some(subscription)) =
            (&before, &step.subscription)
        {
            let callback = node
                .subscription(subscription)
                .and_then(|it| it.callback.clone())
                .ok_or_else(|| PathError::NoSubscription {
                    path: path.name.clone(),
                    node: node.name.clone(),
                    subscription: subscription.clone(),
                })?;
            stages.push(Stage::Communication(Link {
                publishing_node,
                publisher: publisher.clone(),
                subscribing_node: node,
                subscription: subscription.clone(),
                callback,
            }));
        }
        let found = node_paths(node);
        let through = found
            .between(&step.subscription, &step.publisher)
            .next()
            .cloned();
        let ends = (step.subscription.clone(), step.publisher.clone());
        stages.push(Stage::Node(node, ends, through));
        before = step.publisher.clone().map(|publisher| (node, publisher));
    }
    Ok(stages)
}

/// The messages that were published in each execution: all publications up to the next row.
fn follow(left: &Records<Stamp>, right: &Records<Stamp>) -> Records<Stamp> {
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
#[derive(Clone, Default)]
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
