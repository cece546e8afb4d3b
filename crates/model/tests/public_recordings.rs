//! Other people's recordings, of several distributions and tools: all load, and what they say adds up.
//!
//! They are not part of the repository; see `rostrace_testkit::recordings`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rostrace_model::Model;
use rostrace_model::flow::{DeliveryKind, DeliveryStatus, Match, Publication};
use rostrace_tracepoints::Kind;

use rostrace_testkit::recordings;

/// What holds for every recording in which nothing is announced twice.
fn check(name: &str, model: &Model) {
    let count = |kind: Kind| model.count(kind) as usize;
    assert_eq!(
        model.instances.len(),
        count(Kind::CallbackStart),
        "{name}: callback_start"
    );
    let ends = model
        .instances
        .iter()
        .filter(|instance| instance.end.is_some())
        .count();
    assert!(ends <= count(Kind::CallbackEnd), "{name}: callback_end");
    for (kind, rows) in [
        (Kind::RclNodeInit, model.nodes.len()),
        (Kind::RclPublisherInit, model.publishers.len()),
        (Kind::RclSubscriptionInit, model.subscriptions.len()),
        (Kind::RclTimerInit, model.timers.len()),
        (Kind::RclServiceInit, model.services.len()),
        (Kind::RclClientInit, model.clients.len()),
        (Kind::RclLifecycleTransition, model.transitions.len()),
    ] {
        assert_eq!(rows, count(kind), "{name}: {kind:?}");
    }
    for instance in &model.instances {
        assert!(
            instance.end.is_none_or(|end| end >= instance.start),
            "{name}: {instance:?}"
        );
    }
    for row in &model.deliveries {
        let publication = &model.publications[row.publication.index()];
        if let Some(instance) = row.instance {
            let instance = &model.instances[instance.index()];
            assert!(instance.start > publication.publish, "{name}: {row:?}");
        }
        let Some((publisher, subscription)) = publication.publisher.zip(row.subscription) else {
            assert_eq!(row.by, Match::Stamp, "{name}: {row:?}");
            continue;
        };
        let publisher = &model.publishers[publisher.index()];
        let subscription = &model.subscriptions[subscription.index()];
        assert_eq!(publisher.topic, subscription.topic, "{name}: {row:?}");
        if let Some(instance) = row.instance {
            let callback = model.instances[instance.index()].callback;
            assert_eq!(callback, subscription.callback, "{name}: {row:?}");
        }
    }
    assert!(
        model.publications.is_sorted_by_key(|row| row.publish),
        "{name}: order"
    );
    assert!(
        model.instances.is_sorted_by_key(|row| row.start),
        "{name}: order"
    );
}

fn delivered(model: &Model, kind: DeliveryKind) -> usize {
    let rows = model.deliveries.iter();
    rows.filter(|row| (row.status, row.kind) == (DeliveryStatus::Delivered, kind))
        .count()
}

#[test]
fn all_recordings_of_ros_load_and_add_up() {
    for name in recordings::OF_OTHERS {
        let Some(model) = recordings::load(&format!("public/{name}")) else {
            continue;
        };
        check(name, &model);
        assert!(
            !model.nodes.is_empty() && !model.instances.is_empty(),
            "{name}"
        );
    }
}

#[test]
fn every_message_that_galactics_dispatch_announces_is_found() {
    for name in [
        "caret-demos-end-to-end-galactic",
        "caret-end-to-end-fastdds-galactic",
    ] {
        let Some(model) = recordings::load(&format!("public/{name}")) else {
            continue;
        };
        let dispatched = model.count(Kind::DispatchSubscriptionCallback) as usize;
        assert_eq!(model.takes.len(), dispatched, "{name}");
        assert_eq!(delivered(&model, DeliveryKind::Inter), dispatched, "{name}");
    }
}

#[test]
fn messages_inside_galactics_processes_are_found_by_their_addresses() {
    let Some(model) = recordings::load("public/caret-cyclic-intra-galactic") else {
        return;
    };
    let dispatched = model.count(Kind::DispatchIntraProcessSubscriptionCallback) as usize;
    assert_eq!(delivered(&model, DeliveryKind::Intra), dispatched);
    let mut deliveries = model.deliveries.iter();
    assert!(deliveries.all(|row| row.by == Match::MessageAddress));
}

#[test]
fn the_stamps_of_patched_middleware_name_the_publication_of_every_take() {
    let Some(model) = recordings::load("public/tracecompass-ros2-humble") else {
        return;
    };
    let last_of = |topic: &str| {
        let of_topic =
            |row: &&Publication| rostrace_testkit::made_up::topic(&model, row) == Some(topic);
        let last = model.publications.iter().rev().find(of_topic);
        last.and_then(|row| row.source_timestamp).unwrap_or(0)
    };
    // Takes without a subscription of ROS are the middleware's own.
    for take in model
        .takes
        .iter()
        .filter(|take| take.subscription.is_some())
    {
        let subscription = &model.subscriptions[take.subscription.unwrap().index()];
        // The recording of the last publishing process ends a little before that of the receiver.
        let recorded = take.source_timestamp <= last_of(&subscription.topic);
        assert_eq!(take.publication.is_some(), recorded, "{take:?}");
    }
    let mut publications = model.publications.iter();
    assert!(publications.all(|row| row.source_timestamp.is_some()));
    let delivered = model.deliveries.iter().filter(|row| row.instance.is_some());
    assert!(delivered.clone().count() > 3_900);
    let mut delivered = delivered;
    assert!(delivered.all(|row| row.by == Match::SourceTimestamp));
}

#[test]
fn recordings_without_ros_are_empty_models() {
    for name in [
        "many-threads",
        "context-switches",
        "cyg-profile",
        "perf-taskset2",
        "papi_counters",
        "mpi_pthread",
        "flipping-endianness",
        "ctf-sequence-empty",
    ] {
        let Some(model) = recordings::load(&format!("public/trace-compass/{name}")) else {
            continue;
        };
        check(name, &model);
        assert!(
            model.nodes.is_empty() && model.publications.is_empty(),
            "{name}"
        );
        assert!(
            model.deliveries.is_empty() && model.callbacks.is_empty(),
            "{name}"
        );
    }
}

#[test]
fn in_autoware_without_takes_every_message_between_processes_is_unknown() {
    let Some(model) = recordings::load_packed("public/autoware-carla-galactic.tar.zst") else {
        return;
    };
    check("autoware", &model);
    assert_eq!(model.events, 683_756);
    assert!(model.takes.is_empty());
    assert_eq!(model.kinds.iter().sum::<u64>(), model.events);
    assert!(!model.deliveries.is_empty());
    for row in &model.deliveries {
        assert_eq!(
            (row.kind, row.status),
            (DeliveryKind::Inter, DeliveryStatus::Unknown)
        );
    }
    let named = model
        .instances
        .iter()
        .filter(|instance| instance.callback.is_some())
        .count();
    assert!(
        named * 10 > model.instances.len() * 9,
        "{named} of {}",
        model.instances.len()
    );
}

/// The times in two columns of a table of CARET.
fn times(path: &Path, first: &str, last: &str) -> BTreeSet<(i64, i64)> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |end: &str| head.iter().position(|name| name.ends_with(end)).unwrap();
    let (first, last) = (column(first), column(last));
    lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| (cells[first].parse().unwrap(), cells[last].parse().unwrap()))
        .collect()
}

#[test]
fn executions_and_communications_are_those_that_caret_finds() {
    let recording = "public/caret-demos-end-to-end-humble";
    let (Some(model), Some(folder)) = (
        recordings::load(recording),
        recordings::find(&format!("{recording}/expected")),
    ) else {
        return;
    };
    let mut executions = vec![BTreeSet::new(); model.callbacks.len()];
    for instance in &model.instances {
        let end = instance.end.unwrap();
        executions[instance.callback.unwrap().index()].insert((instance.start.0, end.0));
    }
    let (mut callbacks, mut communications) = (0, 0);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let parts: Vec<&str> = name.split("__").collect();
        match parts.as_slice() {
            ["callbacks", _] => {
                let expected = times(&path, "callback_start_timestamp", "callback_end_timestamp");
                assert!(executions.contains(&expected), "{name}");
                callbacks += 1;
            }
            ["comm", _, topic, node, _] => {
                let expected = times(
                    &path,
                    "rclcpp_publish_timestamp",
                    "callback_start_timestamp",
                );
                let found: BTreeSet<(i64, i64)> = (model.deliveries.iter())
                    .filter(|row| row.status == DeliveryStatus::Delivered)
                    .filter(|row| {
                        let subscription = &model.subscriptions[row.subscription.unwrap().index()];
                        subscription.topic == format!("/{topic}")
                            && model.node_name(subscription.node) == Some(&format!("/{node}"))
                    })
                    .map(|row| {
                        let publication = &model.publications[row.publication.index()];
                        let instance = &model.instances[row.instance.unwrap().index()];
                        (publication.rclcpp.unwrap().0, instance.start.0)
                    })
                    .collect();
                assert_eq!(found, expected, "{name}");
                communications += 1;
            }
            _ => {}
        }
    }
    assert_eq!((callbacks, communications), (8, 5));
}
