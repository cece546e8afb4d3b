//! Which callback publishes: the one guess that CARET makes, here only on request and never silently.

use crate::model::{Architecture, Endpoint};

/// A publisher that was given to the only callback of its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    pub node: String,
    pub publisher: Endpoint,
    pub callback: String,
}

/// Gives every publisher that nobody is said to use to the callback of its node, if the node has exactly one besides
/// services. Often right, but `main` may publish as well: whoever calls this should tell what was guessed.
pub fn guess_publisher_callbacks(architecture: &mut Architecture) -> Vec<Guess> {
    let mut guesses = Vec::new();
    for node in &mut architecture.nodes {
        let mut callbacks = node.callbacks.iter().filter(|it| !it.is_service());
        let (Some(only), None) = (callbacks.next(), callbacks.next()) else {
            continue;
        };
        for publisher in &mut node.publishers {
            if publisher.callbacks.is_empty() {
                publisher.callbacks.push(only.name.clone());
                guesses.push(Guess {
                    node: node.name.clone(),
                    publisher: publisher.endpoint(),
                    callback: only.name.clone(),
                });
            }
        }
    }
    guesses
}
