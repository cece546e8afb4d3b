//! Pictures: complete, harmless whatever the names, and finished in reasonable time for large applications.

use rostrace_architecture::draw::{Folding, LeftOut, Picture, dot, mermaid, svg};
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

/// Nothing is left out of it.
const EVERYTHING: Folding<'static> = Folding {
    all_open: false,
    is_hidden: &|_, _, _| false,
};

#[test]
fn topics_can_be_arrows_between_nodes() {
    let (picture, left_out) = Picture::folded(&small(), &EVERYTHING);
    let text = dot(&picture);
    assert!(text.contains("f1 -> f0 [label=\"/points\"];"), "{text}");
    // Who talks to itself needs no arrow.
    assert_eq!(text.matches("->").count(), 2, "{text}");
    assert_eq!(left_out, LeftOut::default());
    let text = mermaid(&picture);
    assert!(text.contains("f1 -->|\"/points\"| f0"), "{text}");
    let text = svg(&picture);
    assert!(text.contains(">/points</text>"), "{text}");
}

#[test]
fn what_is_left_out_is_reported() {
    let hidden = Folding {
        is_hidden: &|topic, _, _| topic == "/points",
        ..EVERYTHING
    };
    let (picture, left_out) = Picture::folded(&small(), &hidden);
    assert!(!svg(&picture).contains("/perception/lidar"));
    assert_eq!(
        (left_out.nodes, left_out.topics),
        (1, vec!["/points".to_owned()])
    );
}

/// As large as Autoware: 300 nodes in nested namespaces, each with ten outputs.
#[test]
fn a_large_application_is_folded_into_a_readable_picture() {
    let name = |number: usize| format!("/ns{}/inner{}/node_{number}", number % 5, number % 4);
    let nodes = (0..300).map(|number| {
        let outputs: Vec<String> = (0..10).map(|it| format!("/topic_{number}_{it}")).collect();
        let inputs: Vec<String> = (0..10)
            .map(|it| format!("/topic_{}_{it}", (number * 7 + it * 31 + 1) % 300))
            .collect();
        let texts = |all: &[String]| -> Vec<&'static str> {
            let texts = all.iter().map(|it| &*it.clone().leak());
            texts.collect()
        };
        node(&name(number), &texts(&outputs), &texts(&inputs))
    });
    let architecture = Architecture {
        nodes: nodes.collect(),
        ..Architecture::default()
    };
    let (picture, left_out) = Picture::folded(&architecture, &EVERYTHING);
    let text = dot(&picture);
    let boxes = text.lines().filter(|line| line.contains("shape=box3d"));
    let members: usize = boxes
        .clone()
        .filter_map(|line| {
            line.split_once(" · ")?
                .1
                .split(' ')
                .next()?
                .parse::<usize>()
                .ok()
        })
        .sum();
    assert!((5..=24).contains(&boxes.count()), "{text}");
    assert_eq!(members + left_out.nodes, 300);
    let width = svg(&picture)
        .split_once("width=\"")
        .and_then(|(_, it)| it.split('"').next()?.parse::<u32>().ok());
    assert!(width.is_some_and(|width| width < 8000), "{width:?}");
    let all = Folding {
        all_open: true,
        ..EVERYTHING
    };
    let (picture, _) = Picture::folded(&architecture, &all);
    assert_eq!(
        dot(&picture).matches("shape=box, ").count() + left_out.nodes,
        300
    );
}
