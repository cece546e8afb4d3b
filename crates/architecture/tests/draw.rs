//! Pictures: complete, harmless whatever the names, and finished in reasonable time for large applications.

#![allow(clippy::unwrap_used)]

use rostrace_architecture::draw::{Picture, dot, mermaid, svg};
use rostrace_architecture::{Architecture, Node, Publisher, Subscription};

fn node(name: &str, publishes: &[&str], subscribes: &[&str]) -> Node {
    let mut node = Node::new(name);
    let publisher = |topic: &&str| Publisher::new(*topic, vec![], 0);
    node.publishers = publishes.iter().map(publisher).collect();
    let subscription = |topic: &&str| Subscription::new(*topic, None, 0);
    node.subscriptions = subscribes.iter().map(subscription).collect();
    node
}

fn small() -> Architecture {
    Architecture {
        nodes: vec![
            node("/perception/lidar", &["/points"], &[]),
            node("/perception/filter", &["/objects"], &["/points"]),
            node("/planner", &["/plan"], &["/objects", "/plan"]),
        ],
        ..Architecture::default()
    }
}

#[test]
fn graphviz_gets_nodes_topics_and_arrows() {
    assert_eq!(
        dot(&Picture::new(&small(), true)),
        r#"digraph architecture {
  rankdir=LR;
  node [fontname="sans-serif", fontsize=11];
  edge [arrowsize=0.7];
  subgraph cluster_0 {
    label="/perception";
    f0 [label="/perception/filter", shape=box, style=rounded];
    f1 [label="/perception/lidar", shape=box, style=rounded];
    f5 [label="/points", shape=ellipse];
  }
  f2 [label="/planner", shape=box, style=rounded];
  f3 [label="/objects", shape=ellipse];
  f4 [label="/plan", shape=ellipse];
  f0 -> f3;
  f1 -> f5;
  f2 -> f4;
  f3 -> f2;
  f4 -> f2;
  f5 -> f0;
}
"#
    );
}

#[test]
fn mermaid_gets_the_same() {
    let text = mermaid(&Picture::new(&small(), false));
    assert!(
        text.starts_with("flowchart LR\n  f0[\"/perception/filter\"]\n"),
        "{text}"
    );
    assert!(
        text.contains("f5([\"/points\"])") && text.contains("f5 --> f0"),
        "{text}"
    );
    assert!(!text.contains("subgraph"));
}

#[test]
fn svg_shows_every_name_and_every_arrow() {
    for clusters in [false, true] {
        let text = svg(&Picture::new(&small(), clusters));
        for name in [
            "/perception/lidar",
            "/perception/filter",
            "/planner",
            "/points",
            "/objects",
            "/plan",
        ] {
            assert!(text.contains(&format!(">{name}</text>")), "{name}");
        }
        assert_eq!(text.matches("marker-end").count(), 6);
        assert_eq!(text.matches("class=\"c\"").count(), usize::from(clusters));
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}

#[test]
fn nasty_names_do_no_harm() {
    let name = "/<script>alert(\"1\")</script>&'\u{202e}\u{0}\n]]>--";
    let architecture = Architecture {
        nodes: vec![node(name, &[name], &[name])],
        ..Architecture::default()
    };
    for clusters in [false, true] {
        let picture = Picture::new(&architecture, clusters);
        let text = svg(&picture);
        assert!(
            !text.contains("<script") && !text.contains(['\u{202e}', '\0']),
            "{text}"
        );
        for text in [dot(&picture), mermaid(&picture)] {
            assert!(!text.contains(['\u{202e}', '\0']), "{text}");
            assert_eq!(
                text.lines().filter(|line| line.contains("alert")).count(),
                2 + usize::from(clusters),
                "{text}"
            );
        }
    }
}

#[test]
fn an_empty_architecture_has_an_empty_picture() {
    let picture = Picture::new(&Architecture::default(), true);
    assert!(svg(&picture).ends_with("</svg>\n"));
    assert!(dot(&picture).ends_with("}\n"));
}

/// 300 nodes with ten publishers each, many of them in cycles.
#[test]
fn a_large_application_is_drawn() {
    let name = |number: usize| format!("/ns{}/node_{number}", number % 7);
    let nodes = (0..300).map(|number| {
        let topics: Vec<String> = (0..10)
            .map(|topic| format!("/topic_{}_{topic}", number))
            .collect();
        let inputs: Vec<String> = (0..10)
            .map(|topic| format!("/topic_{}_{topic}", (number * 7 + topic * 31 + 1) % 300))
            .collect();
        node(
            &name(number),
            &topics.iter().map(String::as_str).collect::<Vec<_>>(),
            &inputs.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    });
    let architecture = Architecture {
        nodes: nodes.collect(),
        ..Architecture::default()
    };
    for clusters in [false, true] {
        let text = svg(&Picture::new(&architecture, clusters));
        assert_eq!(text.matches("marker-end").count(), 6000);
        assert!(text.len() < 20_000_000);
    }
}
