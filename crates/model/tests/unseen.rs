//! What our own tracer says that it could not see.

use rostrace_testkit::made_up::{Flavour, Recording};

fn with_hooks(states: &[(&str, &str)]) -> Vec<String> {
    let mut recording = Recording::client_and_service(Flavour::Jazzy);
    recording.process(100, "client");
    for (hook, state) in states {
        recording.hook_state(hook, state, "librclcpp.so");
    }
    let model = recording.load();
    let process = model.processes.iter().find(|it| it.pid == 100).unwrap();
    let unseen = process.unseen.iter();
    unseen
        .map(|it| format!("{} of {}", it.function, it.library))
        .collect()
}

#[test]
fn a_process_knows_the_functions_that_were_not_seen() {
    let states = [("one", "bypassed"), ("two", "bypassed")];
    assert_eq!(
        with_hooks(&states),
        ["one of librclcpp.so", "two of librclcpp.so"]
    );
}

#[test]
fn a_function_that_was_seen_after_all_is_not_among_them() {
    let states = [("one", "bypassed"), ("two", "bypassed"), ("one", "on")];
    assert_eq!(with_hooks(&states), ["two of librclcpp.so"]);
}
