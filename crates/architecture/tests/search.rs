//! Path search against a search that is slow and obvious, and on a graph that is large.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rostrace_architecture::search::{
    EdgeFilter, Ending, Search, SearchGraph, SearchOptions, Total, path_along,
};
use rostrace_architecture::{Architecture, Endpoint, Node, Publisher, Subscription};

use crate::shared::random_numbers;

/// An edge: from node, to node, and the topic between.
type Link = (usize, usize, usize);

fn architecture(nodes: usize, links: &[Link]) -> Architecture {
    let mut architecture = Architecture::default();
    for number in 0..nodes {
        let mut node = Node::new(name(number));
        let topics = |end: fn(&Link) -> usize| -> BTreeSet<String> {
            let of_node = links.iter().filter(|link| end(link) == number);
            of_node.map(topic).collect()
        };
        node.publishers = (topics(|link| link.0).into_iter())
            .map(|topic| Publisher::new(topic, vec![], 0))
            .collect();
        node.subscriptions = (topics(|link| link.1).into_iter())
            .map(|topic| Subscription::new(topic, None, 0))
            .collect();
        architecture.nodes.push(node);
    }
    architecture
}

fn name(node: usize) -> String {
    format!("/n{node:03}")
}

fn topic(&(from, to, number): &Link) -> String {
    format!("/t{from:03}_{to:03}_{number}")
}

/// What CARET's search finds: depth first, each ordered pair of nodes once, the goal only at the end.
fn slowly(
    links: &BTreeSet<Link>,
    start: usize,
    goal: usize,
    depth: usize,
    repeat: bool,
) -> Vec<Vec<Link>> {
    fn go(
        links: &BTreeSet<Link>,
        node: usize,
        goal: usize,
        most: usize,
        repeat: bool,
        path: &mut Vec<Link>,
        all: &mut Vec<Vec<Link>>,
    ) {
        if node == goal && !path.is_empty() {
            all.push(path.clone());
            return;
        }
        if path.len() == most {
            return;
        }
        for link in links.iter().filter(|link| link.0 == node) {
            let used = match repeat {
                true => (path.iter()).any(|other| (other.0, other.1) == (link.0, link.1)),
                false => {
                    let met = |other: &Link| other.0 == link.1 || other.1 == link.1;
                    link.1 != goal && (link.1 == node || path.iter().any(met))
                }
            };
            if !used {
                path.push(*link);
                go(links, link.1, goal, most, repeat, path, all);
                path.pop();
            }
        }
    }
    let mut all = Vec::new();
    let path = &mut Vec::new();
    go(links, start, goal, depth + 1, repeat, path, &mut all);
    // The ranking: length, then the names of nodes and topics along the way.
    all.sort_by_key(|path| {
        let names = path.iter().map(|link| (link.1, link.2));
        (path.len(), names.collect::<Vec<_>>())
    });
    all
}

fn topics_of(path: &rostrace_architecture::search::FoundPath<'_>) -> Vec<String> {
    let edges = path.edges().iter();
    edges.map(|edge| edge.publisher.topic.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_search_finds_what_a_slow_one_finds_in_the_order_of_the_ranking(
        links in prop::collection::btree_set((0usize..5, 0usize..5, 0usize..2), 0..11),
        start in 0usize..5,
        goal in 0usize..5,
        depth in 0usize..9,
        repeat in any::<bool>(),
    ) {
        let list: Vec<Link> = links.iter().copied().collect();
        let architecture = architecture(5, &list);
        let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
        let options = SearchOptions { max_depth: depth, repeat_nodes: repeat, ..Default::default() };
        let names = [name(start), name(goal)];
        let mut search = Search::new(&graph, &[&names[0], &names[1]], options).unwrap();
        let total = search.total();
        let found: Vec<Vec<String>> = search.by_ref().map(|path| topics_of(&path)).collect();
        let expected = slowly(&links, start, goal, depth, repeat);
        let expected: Vec<Vec<String>> = expected.iter().map(|path| path.iter().map(topic).collect()).collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(search.ending(), Some(Ending::Complete));
        match total {
            Total::Exactly(count) => prop_assert_eq!(count, expected.len() as u128),
            Total::AtLeast(count) => prop_assert!(count <= expected.len() as u128),
        }
    }

    #[test]
    fn a_search_via_a_node_finds_every_combination_of_its_segments(
        links in prop::collection::btree_set((0usize..4, 0usize..4, 0usize..2), 0..8),
        ends in (0usize..4, 0usize..4, 0usize..4),
        depth in 0usize..4,
        repeat in any::<bool>(),
    ) {
        let list: Vec<Link> = links.iter().copied().collect();
        let architecture = architecture(4, &list);
        let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
        let options = SearchOptions { max_depth: depth, repeat_nodes: repeat, ..Default::default() };
        let names = [name(ends.0), name(ends.1), name(ends.2)];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let search = Search::new(&graph, &names, options).unwrap();
        let total = search.total();
        let found: Vec<Vec<String>> = search.map(|path| topics_of(&path)).collect();
        let mut expected = Vec::new();
        for first in slowly(&links, ends.0, ends.1, depth, repeat) {
            for second in slowly(&links, ends.1, ends.2, depth, repeat) {
                expected.push(first.iter().chain(&second).map(topic).collect::<Vec<String>>());
            }
        }
        // Paths that visit the node in the middle at two moments are two combinations; the topics are the same.
        expected.sort_by_key(|path| (path.len(), path.clone()));
        let mut sorted = found.clone();
        sorted.sort_by_key(|path| (path.len(), path.clone()));
        prop_assert_eq!(&sorted, &expected);
        prop_assert!(found.is_sorted_by_key(|path| path.len()));
        match total {
            Total::Exactly(count) => prop_assert_eq!(count, expected.len() as u128),
            Total::AtLeast(count) => prop_assert!(count <= expected.len() as u128),
        }
    }
}

fn example() -> Architecture {
    let links = [(0, 1), (0, 2), (1, 3), (3, 4), (3, 2), (2, 1), (2, 4)];
    architecture(5, &links.map(|(from, to)| (from, to, 0)))
}

#[test]
fn nodes_may_repeat_but_pairs_of_nodes_may_not() {
    let architecture = example();
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    let search = Search::new(&graph, &["/n000", "/n004"], SearchOptions::default()).unwrap();
    let found = search.map(|path| {
        let nodes: Vec<&str> = path.nodes().iter().map(|node| &node[4..]).collect();
        nodes.join("-")
    });
    let expected = ["0-2-4", "0-1-3-4", "0-1-3-2-4", "0-2-1-3-4", "0-2-1-3-2-4"];
    assert_eq!(found.collect::<Vec<String>>(), expected);
}

#[test]
fn the_depth_counts_the_nodes_between() {
    let links: Vec<Link> = (0..9).map(|node| (node, node + 1, 0)).collect();
    let architecture = architecture(10, &links);
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    let reaches = |max_depth, goal: usize| {
        let options = SearchOptions {
            max_depth,
            ..Default::default()
        };
        let search = Search::new(&graph, &["/n000", &name(goal)], options);
        search.unwrap().next().is_some()
    };
    assert!(reaches(0, 1) && !reaches(0, 2));
    assert!(reaches(4, 5) && !reaches(4, 6));
}

/// 300 nodes, 3 000 edges, forward and back.
fn large() -> Architecture {
    let mut random = random_numbers(7);
    let mut links = BTreeSet::new();
    while links.len() < 3000 {
        links.insert((random(300), random(300), 0));
    }
    architecture(300, &links.into_iter().collect::<Vec<_>>())
}

#[test]
fn a_large_graph_is_searched_in_few_steps() {
    let architecture = large();
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    assert_eq!(graph.edges().len(), 3000);
    let each_once = SearchOptions {
        repeat_nodes: false,
        ..Default::default()
    };
    let deep = SearchOptions {
        max_depth: 100,
        ..Default::default()
    };
    let usual = SearchOptions::default();
    for (options, via) in [
        (usual, None),
        (each_once, None),
        (deep, None),
        (usual, Some("/n123")),
    ] {
        let names: Vec<&str> = ["/n000"].into_iter().chain(via).chain(["/n299"]).collect();
        let mut search = Search::new(&graph, &names, options).unwrap();
        let total = search.total();
        let found: Vec<_> = search.by_ref().take(1000).collect();
        assert_eq!(found.len(), 1000);
        assert!(found.is_sorted_by_key(|path| path.nodes().len()));
        assert!(search.steps() < 100_000, "{} steps", search.steps());
        assert!(
            matches!(total, Total::AtLeast(count) if count > 1),
            "{total:?}"
        );
    }
}

#[test]
fn a_goal_that_cannot_be_reached_costs_nothing() {
    let mut architecture = large();
    architecture.nodes.push(Node::new("/island"));
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    let mut search = Search::new(&graph, &["/n000", "/island"], SearchOptions::default()).unwrap();
    assert_eq!(search.total(), Total::Exactly(0));
    assert!(search.next().is_none());
    assert_eq!(search.steps(), 0);
    assert_eq!(search.ending(), Some(Ending::Complete));
}

#[test]
fn paths_of_a_graph_without_cycles_are_counted_exactly() {
    // Twenty times two ways: a million paths.
    let mut links = Vec::new();
    for layer in 0..20 {
        links.extend([(layer, layer + 1, 0), (layer, layer + 1, 1)]);
    }
    let architecture = architecture(21, &links);
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    let options = SearchOptions {
        max_depth: 30,
        ..Default::default()
    };
    let search = Search::new(&graph, &["/n000", "/n020"], options).unwrap();
    assert_eq!(search.total(), Total::Exactly(1 << 20));
}

#[test]
fn a_search_that_may_try_little_says_that_it_gave_up() {
    let architecture = large();
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    let options = SearchOptions {
        max_steps: 50,
        ..Default::default()
    };
    let mut search = Search::new(&graph, &["/n000", "/n299"], options).unwrap();
    assert!(search.by_ref().count() < 50);
    assert_eq!(search.ending(), Some(Ending::GaveUp));
}

#[test]
fn filters_and_the_limit_of_construction_orders_remove_edges() {
    let mut architecture = example();
    let keep_node = |node: &str| node != "/n002";
    let filter = EdgeFilter {
        keep_node: &keep_node,
        ..Default::default()
    };
    assert_eq!(SearchGraph::new(&architecture, &filter).edges().len(), 3);
    let keep_topic = |topic: &str| topic.starts_with("/t00");
    let filter = EdgeFilter {
        keep_topic: &keep_topic,
        ..Default::default()
    };
    assert_eq!(SearchGraph::new(&architecture, &filter).edges().len(), 7);

    let kind = rostrace_architecture::CallbackKind::Subscription {
        topic: "/t000_001_0".into(),
    };
    let callback = rostrace_architecture::Callback::new("/n001/callback_0", kind, "s", 11);
    architecture.nodes[1].callbacks.push(callback);
    architecture.nodes[1].subscriptions[0].callback = Some("/n001/callback_0".into());
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    assert_eq!((graph.edges().len(), graph.left_out), (6, 1));
}

#[test]
fn an_unknown_node_is_an_error_with_a_proposal() {
    let architecture = example();
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    let error = Search::new(&graph, &["/n000", "/n0044"], SearchOptions::default()).unwrap_err();
    let sentence = "there is no node `/n0044`; do you mean `/n004`?";
    assert_eq!(error.to_string(), sentence);
}

#[test]
fn a_path_along_nodes_is_unique_or_asks_for_the_topic() {
    let architecture = architecture(3, &[(0, 1, 0), (1, 2, 0), (1, 2, 1)]);
    let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
    let along = |names: &[&str]| path_along(&architecture, &graph, names);
    let error = along(&["/n000", "/n001", "/n002"]).unwrap_err().to_string();
    assert!(
        error.contains("several topics go from node `/n001` to `/n002`: /t001_002_0, /t001_002_1"),
        "{error}"
    );
    let steps = along(&["/n000", "/n001", "/t001_002_1", "/n002"]).unwrap();
    assert_eq!(steps[1].publisher, Some(Endpoint::new("/t001_002_1", 0)));
    assert_eq!(steps[2].subscription, Some(Endpoint::new("/t001_002_1", 0)));
    assert_eq!(steps[0].subscription, None);
    let error = along(&["/n000", "/n002"]).unwrap_err().to_string();
    assert_eq!(error, "nothing goes from node `/n000` to `/n002`");
}
