//! Two paths become one: the first ends where the second begins.

use crate::error::Error;
use crate::model::{Architecture, NamedPath, PathStep};
use crate::verify::joined;

impl Architecture {
    /// The path that goes along `left`, then along `right`. It is returned, not added. They fit together if
    /// - the last node of one is the first of the other,
    /// - both have the communication between in common (the last two nodes of one are the first two of the other), or
    /// - the last node of one publishes what the first of the other subscribes to, and both say so.
    pub fn combine_paths(&self, left: &str, right: &str, name: &str) -> Result<NamedPath, Error> {
        let (left, right) = (self.path(left)?, self.path(right)?);
        let failed = |reason: String| Error::Combine {
            left: left.name.clone(),
            right: right.name.clone(),
            reason,
        };
        let (Some(last), Some(first)) = (left.steps.last(), right.steps.first()) else {
            return Err(failed("one of them has no nodes".to_owned()));
        };
        let shared = if last.node == first.node {
            1
        } else if share_communication(&left.steps, &right.steps) {
            2
        } else if joined(last, first).is_ok() {
            0
        } else {
            return Err(failed(format!(
                "the first ends at node `{}`, the second begins at `{}`",
                last.node, first.node
            )));
        };
        let (before, ours) = left.steps.split_at(left.steps.len() - shared);
        let (theirs, after) = right.steps.split_at(shared);
        let mut steps = before.to_vec();
        for (one, other) in ours.iter().zip(theirs) {
            steps.push(merged(one, other).map_err(&failed)?);
        }
        steps.extend_from_slice(after);
        Ok(NamedPath::new(name, steps))
    }
}

fn share_communication(left: &[PathStep], right: &[PathStep]) -> bool {
    let ([.., publishing, subscribing], [first, second, ..]) = (left, right) else {
        return false;
    };
    publishing.node == first.node
        && publishing.publisher == first.publisher
        && subscribing.node == second.node
        && subscribing.subscription == second.subscription
}

/// One node, with the input of the left and the output of the right. What both say must be the same.
fn merged(left: &PathStep, right: &PathStep) -> Result<PathStep, String> {
    let conflict = |what: &str| {
        Err(format!(
            "they name different {what} of node `{}`",
            left.node
        ))
    };
    if left.publisher.is_some() && right.publisher.is_some() && left.publisher != right.publisher {
        return conflict("publishers");
    }
    if left.subscription.is_some()
        && right.subscription.is_some()
        && left.subscription != right.subscription
    {
        return conflict("subscriptions");
    }
    let mut step = left.clone();
    step.subscription = left.subscription.clone().or(right.subscription.clone());
    step.publisher = right.publisher.clone().or(left.publisher.clone());
    step.extras.0.extend(right.extras.0.iter().cloned());
    Ok(step)
}
