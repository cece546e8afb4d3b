//! Hub topics: those that would tie everything to everything in a picture, and so hide what it is about.

use std::collections::HashSet;

use rostrace_model::describe::built_in;

/// Everybody has these, by convention, and what they carry is not the flow of an application.
const BY_CONVENTION: &[(&str, &str)] = &[
    ("/tf", "transforms"),
    ("/tf_static", "transforms"),
    ("/clock", "clock"),
    ("/diagnostics", "diagnostics"),
    ("/diagnostics_agg", "diagnostics"),
];

/// Connections between nodes from which on a topic of many to many is left out at first.
const MANY: usize = 40;

/// Why a topic is not shown at first; nothing if it is. It is published by so many nodes, and received by so many.
pub fn reason(name: &str, publishing: usize, subscribing: usize) -> Option<&'static str> {
    if built_in::topic(name) {
        return Some("built in");
    }
    // Robots that share a system have them below their own namespaces.
    let conventional = BY_CONVENTION
        .iter()
        .find(|(own, _)| name.strip_suffix(own).is_some());
    if let Some((_, reason)) = conventional {
        return Some(reason);
    }
    let is_hub = publishing.min(subscribing) > 2 && publishing * subscribing >= MANY;
    is_hub.then_some("many to many")
}

/// How many different nodes each topic has, of pairs of topic and node.
pub fn nodes_by_topic(topics: usize, ends: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut counts = vec![0; topics];
    for (topic, _) in ends.collect::<HashSet<_>>() {
        counts[topic] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_everybody_has_is_left_out_at_first() {
        assert_eq!(reason("/tf", 1, 1), Some("transforms"));
        assert_eq!(reason("/robot_1/tf_static", 1, 1), Some("transforms"));
        assert_eq!(reason("/rosout", 30, 0), Some("built in"));
        assert_eq!(reason("/events", 5, 8), Some("many to many"));
    }

    #[test]
    fn what_one_node_tells_many_is_shown() {
        assert_eq!(reason("/map", 1, 60), None);
        assert_eq!(reason("/commands", 60, 1), None);
        assert_eq!(reason("/my_tf", 1, 1), None);
    }
}
