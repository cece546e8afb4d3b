//! The path along given nodes, one after the other, if there is only one.

use super::graph::SearchGraph;
use crate::error::{Error, Item};
use crate::model::{Architecture, PathStep};

/// `names` are the nodes of the path in order. Between two of them may stand the topic that joins them; it has to
/// where several do. A name that is a node is taken for the node.
pub fn path_along(
    architecture: &Architecture,
    graph: &SearchGraph<'_>,
    names: &[&str],
) -> Result<Vec<PathStep>, Error> {
    let topics = architecture.topics();
    let mut steps: Vec<PathStep> = Vec::new();
    let mut topic: Option<&str> = None;
    for (index, name) in names.iter().enumerate() {
        let is_node = graph.node_index(name);
        if is_node.is_err() && topics.contains(name) {
            if index == 0 || index + 1 == names.len() || topic.is_some() {
                let message = format!("topic `{name}` must stand between two nodes");
                return Err(Error::Path(message));
            }
            topic = Some(name);
            continue;
        }
        let node = is_node?;
        let mut step = PathStep::new(*name, None, None);
        if let Some(last) = steps.last_mut() {
            let edges = &graph.edges()[graph.outgoing(graph.node_index(&last.node)?)];
            let joining = edges.iter().filter(|edge| edge.to == node);
            let wanted =
                joining.filter(|edge| topic.is_none_or(|topic| edge.publisher.topic == topic));
            let wanted: Vec<_> = wanted.collect();
            match wanted[..] {
                [edge] => {
                    last.publisher = Some(edge.publisher.clone());
                    step.subscription = Some(edge.subscription.clone());
                }
                [] => {
                    let by = topic
                        .map(|topic| format!(" by topic `{topic}`"))
                        .unwrap_or_default();
                    let message = format!("nothing goes from node `{}` to `{name}`{by}", last.node);
                    return Err(Error::Path(message));
                }
                [..] => return Err(several(&last.node, name, topic, &wanted)),
            }
        }
        steps.push(step);
        topic = None;
    }
    if steps.len() < 2 {
        return Err(Error::Path("a path needs two nodes at least".to_owned()));
    }
    Ok(steps)
}

fn several(from: &str, to: &str, topic: Option<&str>, edges: &[&super::Edge]) -> Error {
    let mut topics: Vec<&str> = edges
        .iter()
        .map(|edge| edge.publisher.topic.as_str())
        .collect();
    topics.dedup();
    Error::Path(match topic {
        None if topics.len() > 1 => format!(
            "several topics go from node `{from}` to `{to}`: {}; put the {} between them",
            topics.join(", "),
            Item::Topic
        ),
        _ => format!(
            "node `{from}` has several publishers of {}, or `{to}` several subscriptions to it; write the path into the file, with \
             publisher_construction_order and subscription_construction_order",
            topics.join(", ")
        ),
    })
}
