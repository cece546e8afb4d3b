//! Goals of actions: which result belongs to which goal, and whose feedback it is.

use crate::recordings::{everything, rows};
use crate::support::{Flavour, Recording, stamp};

const GOAL: u64 = 0x70;
const RESULT: u64 = 0x78;

/// An action client in process 100 and its server, which publishes feedback, in process 200.
fn system() -> Recording {
    let mut recording = Recording::new(Flavour::Kilted, "robot");
    recording.process_of(100, "client", (0x10, "/c"));
    recording.client(GOAL, 0x10, "/fib/_action/send_goal", 7);
    recording.client(RESULT, 0x10, "/fib/_action/get_result", 8);
    recording.process_of(200, "server", (0x10, "/s"));
    recording.service(0x80, 0x10, "/fib/_action/send_goal", 0x81);
    recording.service(0x88, 0x10, "/fib/_action/get_result", 0x89);
    recording.publisher(0x20, 0x10, "/fib/_action/feedback");
    recording
}

/// The client sends a goal, and a millisecond later it has the answer.
fn goal(recording: &mut Recording, at: u64, number: i64) {
    recording
        .process(100, "client")
        .at(at)
        .send_request(GOAL, number);
    recording.process(200, "server").at(at + 300_000);
    recording.take_request(0x80, 7, number);
    recording.at(at + 600_000).send_response(0x80, 7, number);
    recording.process(100, "client").at(at + 1_000_000);
    recording.take_response(GOAL, number, stamp(at));
}

fn ask(recording: &mut Recording, number: i64) {
    recording
        .process(100, "client")
        .send_request(RESULT, number);
    recording
        .process(200, "server")
        .take_request(0x88, 8, number);
}

fn reach(recording: &mut Recording, at: u64, number: i64) {
    recording
        .process(200, "server")
        .at(at)
        .send_response(0x88, 8, number);
    recording.process(100, "client").at(at + 100_000);
    recording.take_response(RESULT, number, stamp(at));
}

fn feedback(recording: &mut Recording, at: u64) {
    recording.process(200, "server").at(at);
    recording.publish(0x20, 0x5000, stamp(at + 2_500));
}

#[test]
fn one_goal_after_the_other_has_its_result_and_its_feedback() {
    let mut recording = system();
    goal(&mut recording, 10_000_000, 1);
    ask(&mut recording, 1);
    feedback(&mut recording, 12_000_000);
    feedback(&mut recording, 13_000_000);
    reach(&mut recording, 14_000_000, 1);
    goal(&mut recording, 20_000_000, 2);
    ask(&mut recording, 2);
    reach(&mut recording, 24_000_000, 2);
    let model = recording.load();
    let goals = rows(&everything(&model), "actions");
    assert_eq!(goals.len(), 2);
    assert_eq!(
        (goals[0].text("action"), goals[0].text("matched_by")),
        ("/fib", "order")
    );
    assert_eq!(
        (goals[0].text("client_node"), goals[0].text("server_node")),
        ("/c", "/s")
    );
    assert_eq!(goals[0].integer("acceptance_ns"), 1_000_000);
    assert_eq!(goals[0].integer("execution_ns"), 3_400_000);
    assert_eq!(goals[0].integer("duration_ns"), 4_100_000);
    let counts: Vec<i64> = goals.iter().map(|it| it.integer("feedback")).collect();
    assert_eq!(counts, [2, 0]);
}

/// The second goal is sent before the first one is reached; each result is asked for in the callback that got the answer.
#[test]
fn a_result_belongs_to_the_goal_whose_answer_asked_for_it() {
    let mut recording = system();
    for number in [1, 2] {
        goal(&mut recording, 10_000_000 * number as u64, number);
        recording.client_callback_start(GOAL, number);
        ask(&mut recording, number);
        recording
            .process(100, "client")
            .client_callback_end(GOAL, number);
    }
    feedback(&mut recording, 25_000_000);
    reach(&mut recording, 30_000_000, 2);
    reach(&mut recording, 40_000_000, 1);
    let model = recording.load();
    let goals = rows(&everything(&model), "actions");
    let durations: Vec<i64> = goals.iter().map(|it| it.integer("duration_ns")).collect();
    assert_eq!(durations, [30_100_000, 10_100_000]);
    for goal in &goals {
        assert_eq!(goal.text("matched_by"), "callback");
        assert!(!goal.has("feedback"), "it may be the other one's");
    }
}

#[test]
fn of_two_results_that_may_be_meant_none_is_taken() {
    let mut recording = system();
    goal(&mut recording, 10_000_000, 1);
    goal(&mut recording, 20_000_000, 2);
    ask(&mut recording, 1);
    ask(&mut recording, 2);
    reach(&mut recording, 30_000_000, 1);
    reach(&mut recording, 40_000_000, 2);
    let model = recording.load();
    let goals = rows(&everything(&model), "actions");
    assert_eq!(goals.len(), 2);
    for goal in &goals {
        assert_eq!(goal.text("matched_by"), "");
        assert!(!goal.has("duration_ns") && goal.has("acceptance_ns"));
    }
}
