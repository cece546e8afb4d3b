//! What a process is called: by its nodes. The name that the kernel keeps has fifteen letters, and all containers share one.

use rostrace_model::Model;
use rostrace_model::describe::built_in;
use rostrace_model::entity::ProcessId;

/// So many nodes are named; the others are counted.
const MOST_NODES: usize = 3;
/// The service by which a container of components is told what to load, below its node.
const LOADS_COMPONENTS: &str = "/_container/load_node";

/// A name for people, and what else is to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessName {
    pub(crate) name: String,
    /// The components of a container, the name that the kernel has and the number.
    pub(crate) note: String,
}

/// By [`ProcessId`].
pub(crate) fn process_names(model: &Model) -> Vec<ProcessName> {
    let mut nodes: Vec<Vec<&str>> = vec![Vec::new(); model.processes.len()];
    for node in &model.nodes {
        let of_process = &mut nodes[node.process.index()];
        if !built_in::node(&node.name) && !is_tf_listener(&node.name) {
            of_process.push(&node.name);
        }
    }
    let mut containers: Vec<Option<&str>> = vec![None; model.processes.len()];
    for service in &model.services {
        let node = model.node_name(service.node);
        if let Some(node) =
            node.filter(|node| service.name.strip_prefix(node) == Some(LOADS_COMPONENTS))
        {
            containers[service.process.index()] = Some(node);
        }
    }
    let ids = (0..model.processes.len()).map(ProcessId::from_index);
    ids.map(|id| {
        let nodes = &nodes[id.index()];
        let kernel = of_kernel(model, id);
        match containers[id.index()] {
            Some(container) => {
                let others: Vec<&str> = nodes
                    .iter()
                    .copied()
                    .filter(|node| *node != container)
                    .collect();
                let loaded = match others.is_empty() {
                    true => "no components".to_owned(),
                    false => listed(&others),
                };
                ProcessName {
                    name: container.to_owned(),
                    note: format!("{loaded} · {kernel}"),
                }
            }
            None if nodes.is_empty() => unknown(model, id),
            None => ProcessName {
                name: listed(nodes),
                note: kernel,
            },
        }
    })
    .collect()
}

/// Nodes that every buffer of transforms makes for itself.
pub(crate) fn is_tf_listener(node: &str) -> bool {
    let last = node.rsplit('/').next().unwrap_or(node);
    last.starts_with("transform_listener_impl_")
}

/// Topics of transforms, also under a namespace.
pub(crate) fn is_tf_topic(topic: &str) -> bool {
    matches!(topic.rsplit('/').next(), Some("tf" | "tf_static"))
}

/// `/planner, /fusion and 3 more`.
pub(crate) fn listed(nodes: &[&str]) -> String {
    let named = nodes[..nodes.len().min(MOST_NODES)].join(", ");
    match nodes.len().saturating_sub(MOST_NODES) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn of_kernel(model: &Model, id: ProcessId) -> String {
    let process = &model.processes[id.index()];
    let host = model.host_name(id);
    let place = match model.hosts.len() > 1 && !host.is_empty() {
        true => format!(" on {host}"),
        false => String::new(),
    };
    format!("{} {}{place}", process.name, process.pid)
        .trim()
        .to_owned()
}

/// A process of which no node is known.
fn unknown(model: &Model, id: ProcessId) -> ProcessName {
    let process = &model.processes[id.index()];
    match process.name.is_empty() {
        true => ProcessName {
            name: format!("process {}", process.pid),
            note: of_kernel(model, id),
        },
        false => ProcessName {
            name: process.name.clone(),
            note: of_kernel(model, id),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_nodes_are_named_and_the_others_counted() {
        assert_eq!(listed(&["/a", "/b"]), "/a, /b");
        assert_eq!(
            listed(&["/a", "/b", "/c", "/d", "/e"]),
            "/a, /b, /c and 2 more"
        );
    }

    #[test]
    fn listeners_of_transforms_are_known_by_their_names() {
        assert!(is_tf_listener(
            "/control/transform_listener_impl_55d0c0ffee"
        ));
        assert!(!is_tf_listener("/control/transform_listener"));
        assert!(is_tf_topic("/tf") && is_tf_topic("/robot_1/tf_static"));
        assert!(!is_tf_topic("/tf_monitor"));
    }
}
