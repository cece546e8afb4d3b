//! Changes to an architecture, and what follows from them.

use rostrace_architecture::binding::guess_publisher_callbacks;
use rostrace_architecture::communication::communications;
use rostrace_architecture::node_path::node_paths;
use rostrace_architecture::{
    Architecture, Callback, CallbackKind, Change, ContextType, Endpoint, Extras, Finding,
    NamedPath, PathFaultKind, PathStep, Severity, Subject, VariablePassing, check, diff, read,
    verify, write,
};

fn rover() -> Architecture {
    read(include_str!("files/rover.yaml")).unwrap().architecture
}

fn text_after(change: impl FnOnce(&mut Architecture)) -> String {
    let mut architecture = rover();
    change(&mut architecture);
    let text = write(&architecture);
    // Whatever was changed can be read again and is still whole.
    let again = read(&text).unwrap().architecture;
    let findings = check(&again);
    let is_warning = |it: &Finding| it.severity == Severity::Warning;
    assert!(!findings.iter().any(is_warning), "{findings:?}");
    text
}

#[test]
fn a_renamed_node_leaves_no_trace_of_its_old_name() {
    let text = text_after(|it| it.rename_node("/driver", "/steering").unwrap());
    assert!(!text.contains("/driver"), "{text}");
    assert_eq!(text.matches("node_name: /steering").count(), 3);
    assert!(text.contains("- /steering/callback_group_0"));
}

#[test]
fn names_of_other_nodes_that_begin_alike_stay() {
    let mut architecture = rover();
    architecture
        .rename_node("/motors", "/driver/motors")
        .unwrap();
    architecture.rename_node("/driver", "/steering").unwrap();
    assert!(architecture.node("/driver/motors").is_ok());
    assert!(write(&architecture).contains("- /driver/motors/callback_group_0"));
}

#[test]
fn a_renamed_topic_is_renamed_in_contexts_and_paths_too() {
    let text = text_after(|it| it.rename_topic("/scan", "/laser").unwrap());
    assert!(!text.contains("/scan\n"), "{text}");
    assert_eq!(text.matches("subscription_topic_name: /laser").count(), 2);
    assert!(text.contains("subscribe_topic_name: /laser"));
}

#[test]
fn a_renamed_callback_is_renamed_everywhere() {
    let text = text_after(|it| it.rename_callback("/driver/callback_0", "tick").unwrap());
    assert!(!text.contains("/driver/callback_0"));
    assert_eq!(text.matches(" tick\n").count(), 5);
}

#[test]
fn executors_and_paths_are_renamed() {
    let text = text_after(|it| {
        it.rename_executor("executor_1", "fast").unwrap();
        it.rename_path("scan_to_wheels", "all").unwrap();
    });
    assert!(text.contains("executor_name: fast") && text.contains("path_name: all"));
}

#[test]
fn unknown_and_taken_names_are_errors() {
    let mut it = rover();
    let said = [
        it.rename_node("/drivr", "/x"),
        it.rename_node("/driver", "/motors"),
        it.rename_topic("/zzz", "/x"),
        it.rename_topic("/scan", "/map"),
        it.rename_callback("/driver/callback_9", "x"),
        it.rename_executor("executor_0", "executor_1"),
        it.rename_path("x", "y"),
    ]
    .map(|result| result.unwrap_err().to_string());
    let expected = [
        "there is no node `/drivr`; do you mean `/driver`?",
        "there is a node `/motors` already",
        "there is no topic `/zzz`",
        "there is a topic `/map` already",
        "there is no callback `/driver/callback_9`; do you mean `/driver/callback_0`?",
        "there is an executor `executor_1` already",
        "there is no path `x`",
    ];
    assert_eq!(said, expected);
    assert_eq!(it, rover());
}

#[test]
fn paths_are_added_and_removed() {
    let mut it = rover();
    let steps = vec![
        PathStep::new("/scanner", None, Some(Endpoint::new("/scan", 0))),
        PathStep::new("/mapper", Some(Endpoint::new("/scan", 0)), None),
    ];
    it.add_path(NamedPath::new("short", steps.clone())).unwrap();
    let error = it.add_path(NamedPath::new("short", steps)).unwrap_err();
    assert_eq!(error.to_string(), "there is a path `short` already");
    it.remove_path("short").unwrap();
    assert_eq!(it, rover());
    let step = PathStep::new("/scanner", None, Some(Endpoint::new("/scann", 0)));
    let broken = NamedPath::new("broken", vec![step]);
    let error = it.add_path(broken).unwrap_err().to_string();
    assert_eq!(
        error,
        "path `broken`: node `/scanner` does not publish /scann; do you mean `/scan`?"
    );
}

#[test]
fn paths_are_combined_at_a_node_at_a_communication_and_side_by_side() {
    let mut it = rover();
    let scan = Some(Endpoint::new("/scan", 1));
    let map = || Some(Endpoint::new("/map", 0));
    let first = PathStep::new("/scanner", None, Some(Endpoint::new("/scan", 0)));
    let to_mapper = vec![first.clone(), PathStep::new("/mapper", scan.clone(), None)];
    let to_map = vec![first.clone(), PathStep::new("/mapper", scan.clone(), map())];
    let to_driver = [to_map.clone(), vec![PathStep::new("/driver", map(), None)]].concat();
    it.add_path(NamedPath::new("to_mapper", to_mapper)).unwrap();
    it.add_path(NamedPath::new("to_map", to_map)).unwrap();
    it.add_path(NamedPath::new("to_driver", to_driver)).unwrap();
    let whole = it.path("scan_to_wheels").unwrap().steps.clone();
    let mut from_driver = whole[2..].to_vec();
    from_driver[0].subscription = map();
    it.add_path(NamedPath::new("from_map", from_driver))
        .unwrap();
    for (left, right) in [
        ("to_mapper", "map_to_wheels"),
        ("to_driver", "map_to_wheels"),
        ("to_map", "from_map"),
        ("to_driver", "from_map"),
    ] {
        assert_eq!(
            it.combine_paths(left, right, "x").unwrap().steps,
            whole,
            "{left} {right}"
        );
    }
    let error = it
        .combine_paths("map_to_wheels", "to_mapper", "x")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the paths `map_to_wheels` and `to_mapper` cannot be combined: the first ends at node `/motors`, the second begins at `/scanner`"
    );
}

#[test]
fn a_callback_that_publishes_ends_a_chain() {
    let mut it = rover();
    let node = it.node_mut("/mapper").unwrap();
    let map = Endpoint::new("/map", 0);
    let mut publishers = node.publishers.iter_mut();
    let publisher = publishers.find(|it| it.endpoint() == map).unwrap();
    publisher.callbacks.push("/mapper/callback_0".to_owned());
    let paths = node_paths(it.node("/mapper").unwrap()).paths;
    let chained: Vec<_> = paths
        .iter()
        .filter(|path| !path.chain.is_empty() && path.publisher.is_some())
        .collect();
    assert_eq!(chained.len(), 1);
    let context = chained[0].context.unwrap();
    assert_eq!(context.context_type, ContextType::CallbackChain);
    assert!(!context.declared);
}

#[test]
fn contexts_are_declared_for_one_order_or_for_all() {
    let mut it = rover();
    it.update_message_context("/mapper", Some(ContextType::Tilde), "/scan", "/map")
        .unwrap();
    assert_eq!(write(&it).matches("context_type: tilde").count(), 2);
    let second = Endpoint::new("/scan", 1);
    it.update_message_context("/mapper", None, &second, "/map")
        .unwrap();
    assert_eq!(write(&it).matches("context_type: tilde").count(), 1);
    let error = it
        .update_message_context("/mapper", None, "/scn", "/map")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "node `/mapper` does not subscribe to /scn; do you mean `/scan`?"
    );
}

#[test]
fn ways_through_a_node_are_chains_then_pairs_then_ends() {
    let it = rover();
    let driver = node_paths(it.node("/driver").unwrap()).paths;
    let said: Vec<String> = (driver.iter())
        .map(|path| {
            let end = |end: &Option<Endpoint>| {
                let end = end.as_ref().map(ToString::to_string);
                end.unwrap_or("-".to_owned())
            };
            let (from, to) = (end(&path.subscription), end(&path.publisher));
            format!("{from} {to} {}", path.chain.len())
        })
        .collect();
    assert_eq!(said, ["- /wheels 1", "/map /wheels 2", "/map - 1"]);
    let mapper = node_paths(it.node("/mapper").unwrap()).paths;
    // Two callbacks without publishers, two pairs, the publisher alone.
    assert_eq!(mapper.len(), 5);
}

#[test]
fn callbacks_beyond_the_limit_take_no_part_in_chains() {
    let mut it = rover();
    it.node_mut("/driver").unwrap().callbacks[1].construction_order = 11;
    let paths = node_paths(it.node("/driver").unwrap());
    assert_eq!(paths.left_out_callbacks, 1);
    assert!(paths.paths.iter().all(|path| path.chain.len() < 2));
}

#[test]
fn variable_passings_in_all_directions_come_to_an_end() {
    let mut it = rover();
    let node = it.node_mut("/driver").unwrap();
    for number in 2..40 {
        let kind = CallbackKind::Timer { period_ns: number };
        node.callbacks
            .push(Callback::new(format!("c{number}"), kind, "s", 0));
    }
    let names: Vec<String> = node.callbacks.iter().map(|it| it.name.clone()).collect();
    for write in &names {
        for read in &names {
            node.variable_passings.push(VariablePassing {
                write: Some(write.clone()),
                read: Some(read.clone()),
                extras: Extras::default(),
            });
        }
    }
    let paths = node_paths(it.node("/driver").unwrap());
    assert!(paths.left_out_chains);
    let reported = |finding: &Finding| finding.message.contains("more than 10000 chains");
    assert!(check(&it).iter().any(reported));
}

#[test]
fn a_path_is_verified_node_by_node() {
    let mut it = rover();
    let path = it.path("scan_to_wheels").unwrap().clone();
    assert_eq!(verify(&it, &path), []);
    it.update_message_context("/mapper", Some(ContextType::CallbackChain), "/scan", "/map")
        .unwrap();
    let faults = verify(&it, &path);
    assert_eq!(
        faults[0].message,
        "node `/mapper`, from /scan #1 to /map: callback_chain, but no callback is said to publish /map"
    );
    it.update_message_context("/mapper", None, "/scan", "/map")
        .unwrap();
    let faults = verify(&it, &path);
    let (step, kind) = (faults[0].step, faults[0].kind);
    assert_eq!((step, kind), (1, PathFaultKind::Context));
    assert_eq!(
        faults[0].message,
        "node `/mapper`, from /scan #1 to /map: the message context is UNDEFINED; `rostrace architecture set-context FILE /mapper /scan /map \
         use_latest_message` declares that the newest message is used"
    );
    let stamps = Some(ContextType::InheritUniqueStamp);
    it.update_message_context("/mapper", stamps, "/scan", "/map")
        .unwrap();
    // Stamps are followed where a trace tells them.
    assert_eq!(verify(&it, &path), []);
}

#[test]
fn the_guess_about_publishers_is_made_on_request_and_reported() {
    let mut it = rover();
    it.node_mut("/scanner").unwrap().publishers[0]
        .callbacks
        .clear();
    let guesses = guess_publisher_callbacks(&mut it);
    assert_eq!(guesses.len(), 1);
    assert_eq!(
        (guesses[0].node.as_str(), guesses[0].callback.as_str()),
        ("/scanner", "/scanner/callback_0")
    );
    assert_eq!(it, rover());
}

#[test]
fn communications_are_all_pairs_of_one_topic() {
    let it = rover();
    let said: Vec<String> = (communications(&it).iter())
        .map(|it| {
            let (from, to) = (&it.publishing_node.name, &it.subscribing_node.name);
            format!("{from} {} {to}", it.subscription.endpoint())
        })
        .collect();
    let expected = [
        "/driver /wheels /motors",
        "/mapper /map /driver",
        "/scanner /scan /mapper",
        "/scanner /scan #1 /mapper",
    ];
    assert_eq!(said, expected);
}

#[test]
fn references_to_nothing_are_found() {
    let text = include_str!("files/rover.yaml")
        .replacen(
            "  - /driver/callback_group_0\n",
            "  - /driver/callback_group_1\n",
            1,
        )
        .replacen(
            "callback_name_read: /driver/callback_0",
            "callback_name_read: /driver/callback_7",
            1,
        )
        .replacen("  - node_name: /motors\n", "  - node_name: /motor\n", 1);
    let reading = read(&text).unwrap();
    let said: Vec<String> = (check(&reading.architecture).iter())
        .filter(|it| it.severity == Severity::Warning)
        .map(|it| format!("{} {}", reading.positions[&it.element].line, it.message))
        .collect();
    assert_eq!(
        said,
        [
            "14 path `scan_to_wheels`: there is no node `/motor`; do you mean `/motors`?",
            "32 executor `executor_0`: no node has the callback group `/driver/callback_group_1`; do you mean `/driver/callback_group_0`?",
            "57 variable passing: node `/driver` has no callback `/driver/callback_7`; do you mean `/driver/callback_0`?",
            "67 message context from /map to /wheels: variable passings do not make the chain that `callbacks` lists; the list has no effect",
        ]
    );
}

#[test]
fn differences_are_reported_in_a_fixed_order() {
    let before = rover();
    assert_eq!(diff(&before, &before), []);
    let mut after = rover();
    after.rename_node("/motors", "/engine").unwrap();
    after.rename_topic("/map", "/grid").unwrap();
    after.nodes[0].callbacks[0].kind = CallbackKind::Timer { period_ns: 1 };
    let (tilde, second) = (Some(ContextType::Tilde), Endpoint::new("/scan", 1));
    after
        .update_message_context("/mapper", tilde, &second, "/grid")
        .unwrap();
    let all = diff(&before, &after);
    let subjects: Vec<Subject> = all.iter().map(|it| it.subject).collect();
    assert!(subjects.is_sorted());
    let find = |subject, name: &str| {
        all.iter()
            .find(|it| it.subject == subject && it.name == name)
            .map(|it| &it.change)
    };
    assert_eq!(find(Subject::Node, "/engine"), Some(&Change::Added));
    assert_eq!(find(Subject::Topic, "/map"), Some(&Change::Removed));
    let Some(Change::Changed(fields)) = find(Subject::Callback, "/driver/callback_0") else {
        panic!("{all:?}");
    };
    let (field, after) = (fields[0].field, fields[0].after.as_str());
    assert_eq!((field, after), ("callback_type", "timer of 1 ns"));
    for (subject, name) in [
        (Subject::Path, "scan_to_wheels"),
        (Subject::Executor, "executor_0"),
    ] {
        assert!(matches!(find(subject, name), Some(Change::Changed(_))));
    }
}

#[test]
fn services_can_be_left_out() {
    let mut it = rover();
    let kind = CallbackKind::Service {
        service: "/reset".to_owned(),
    };
    let node = it.node_mut("/motors").unwrap();
    let name = "/motors/service_callback_0".to_owned();
    let callback = Callback::new(&name, kind, "Motors::reset()", 0);
    node.callbacks.push(callback);
    node.callback_groups[0].callbacks.push(name);
    let text = write(&it);
    assert!(text.contains("callback_type: service_callback\n    service_name: /reset"));
    let again = read(&text).unwrap().architecture;
    assert_eq!(again.node("/motors").unwrap().callbacks.len(), 1);
}
