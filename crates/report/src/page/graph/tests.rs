//! What the page has of real recordings is what the analysis says. Where the recordings are absent, that is said.

use rostrace_testkit::logged::{self as recordings, everything};

use super::*;
use crate::page::Options;
use crate::page::shared::Shared;
use rostrace_analyze::selection::{Pattern, Selection};
use rostrace_analyze::{Analysis, communication};

fn with_graph(name: &str, selection: Selection, check: impl FnOnce(&Analysis<'_>, Graph<'_>)) {
    let Some(model) = recordings::model(name) else {
        return;
    };
    let mut analysis = everything(&model);
    analysis.selection = selection;
    let subject = Subject {
        analysis: &analysis,
        options: &Options::default(),
        shared: &Shared::new(&analysis),
        origin: model.begin.unwrap().0,
        begin: model.begin.unwrap().0,
        end: model.end.unwrap().0,
    };
    check(&analysis, graph(subject));
}

#[test]
fn every_communication_of_a_shown_topic_is_shown_with_its_numbers() {
    with_graph(
        "jazzy/multi_caret",
        Selection::default(),
        |analysis, graph| {
            let model = analysis.model;
            let shown = |topic: &str| {
                graph
                    .topics
                    .iter()
                    .any(|it| it.name == topic && it.hidden.is_none())
            };
            let pairs = communication::pairs(analysis);
            let expected: Vec<_> = pairs
                .iter()
                .filter(|pair| shown(&model.subscriptions[pair.subscription.index()].topic))
                .map(|pair| (pair.messages, pair.arrived, pair.latency.map(|it| it.p99)))
                .collect();
            let shown = graph.communications.iter();
            let shown: Vec<_> = shown
                .filter(|it| it.publisher.is_some())
                .map(|it| (it.messages, it.arrived, it.p99))
                .collect();
            assert!(!shown.is_empty());
            assert_eq!(shown, expected);
            for communication in &graph.communications {
                let subscription = &graph.subscriptions[communication.subscription];
                if let Some(publisher) = communication.publisher {
                    assert_eq!(graph.publishers[publisher].topic, subscription.topic);
                }
            }
        },
    );
}

#[test]
fn a_callback_is_the_cause_of_what_it_published() {
    with_graph("jazzy/chain", Selection::default(), |_, graph| {
        let caused = graph.causes.iter().filter(|cause| cause.callback.is_some());
        let mut number = 0;
        for cause in caused {
            let callback = &graph.callbacks[cause.callback.unwrap()];
            assert_eq!(callback.node, graph.publishers[cause.publisher].node);
            number += 1;
        }
        assert!(number > 0);
        let published: u64 = graph.publishers.iter().map(|it| it.messages).sum();
        let shown: u64 = graph.causes.iter().map(|cause| cause.messages).sum();
        assert_eq!(shown, published);
    });
}

#[test]
fn a_node_that_lives_twice_is_one_node() {
    with_graph(
        "jazzy/churn_caret",
        Selection::default(),
        |analysis, graph| {
            let mut names: Vec<&str> = graph.nodes.iter().map(|node| node.name).collect();
            let lives: usize = graph.nodes.iter().map(|node| node.lives.len()).sum();
            let all = analysis.model.nodes.iter();
            let expected = all.filter(|node| !built_in::node(&node.name)).count();
            assert_eq!(lives, expected);
            assert!(names.len() < lives, "{names:?}");
            names.sort_unstable();
            assert!(names.windows(2).all(|two| two[0] != two[1]));
        },
    );
}

#[test]
fn only_what_is_wanted_is_shown() {
    let wanted = ["/ns1/talker", "/ns1/listener"];
    let selection = Selection {
        nodes: wanted.map(|name| Pattern::new(name).unwrap()).into(),
        ..Selection::default()
    };
    with_graph("jazzy/multi_caret", selection, |_, graph| {
        assert_eq!(graph.nodes.len(), 2);
        assert!(!graph.communications.is_empty());
    });
}
