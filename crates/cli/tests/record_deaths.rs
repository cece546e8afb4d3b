//! Processes that become another program while they are recorded, and what is said of those that die by a signal while they are recorded: which one, by what, and whether the tracer was at work in it.

use crate::support::Says;
use crate::support::place::{Place, finished, ticker, wait_for_ready};

const OWN: &str = "; none of its threads was running code of the tracer\n";

/// Records a ticker for so many milliseconds; returns what was printed and said.
fn record(place: &Place, milliseconds: &str, variables: &[(&str, &str)]) -> (String, String) {
    let mut command = place.command(&["record", "--no-report", "-o", "trace", "--"]);
    command.args([ticker(), milliseconds]);
    command.envs(variables.iter().copied());
    finished(command.output().unwrap(), 0)
}

/// Records a ticker that dies, and returns what was said.
fn reported(place: &Place, variables: &[(&str, &str)]) -> String {
    let (out, err) = record(place, "600", variables);
    out.says("lost: 0");
    err
}

#[test]
fn a_crash_in_code_of_the_program_is_not_ours() {
    let err = reported(&Place::new(), &[("TICKER_DEATH", "own")]);
    assert!(err.starts_with("rostrace: note: `ticker` (pid ") || err.contains("`ticker` (pid "));
    err.says(") was ended by SIGSEGV");
    assert!(err.ends_with(OWN), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
}

#[test]
fn a_crash_in_the_tracer_is_reported_as_such() {
    let err = reported(&Place::new(), &[("TICKER_DEATH", "tracer")]);
    let expected = ") was ended by SIGSEGV; one of its threads was running code of the tracer\n";
    assert!(err.ends_with(expected), "{err}");
}

#[test]
fn a_child_that_aborts_is_reported_although_the_command_ends_well() {
    let err = reported(
        &Place::new(),
        &[("TICKER_DEATH", "abort"), ("TICKER_CHILD", "1")],
    );
    err.says_all(&["`ticker` (pid ", ") was ended by SIGABRT"]);
    assert!(err.ends_with(OWN), "{err}");
}

#[test]
fn a_process_that_is_killed_while_it_emits_is_reported() {
    let place = Place::new();
    let mut child = place
        .command(&format!(
            "record --no-report --limit 1M -o trace -- {} 600000",
            ticker()
        ))
        .env("TICKER_FLOOD", "1")
        .spawn()
        .unwrap();
    let rest = wait_for_ready(&mut child);
    let sessions = place
        .until(|all| all.len() == 1 && all[0]["processes"][0]["events"].as_u64().unwrap_or(0) > 20);
    let pid = sessions[0]["processes"][0]["pid"].as_i64().unwrap();
    // SAFETY: a plain system call, on a process that the test has started.
    unsafe { libc::kill(i32::try_from(pid).unwrap(), libc::SIGKILL) };
    std::io::copy(&mut { rest }, &mut std::io::sink()).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    let expected = format!("`ticker` (pid {pid}) was ended by SIGKILL; ");
    err.says_all(&[&expected, "of its threads was running code of the tracer"]);
}

#[test]
fn a_process_that_dies_while_others_record_it_is_reported() {
    let place = Place::new();
    let mut run = place
        .command(&["run", "--", ticker(), "3000"])
        .env("TICKER_DEATH", "own")
        .spawn()
        .unwrap();
    let _rest = wait_for_ready(&mut run);
    let (_, err) = place.run(&["record", "--no-report", "--attach", "-o", "trace"], 0);
    err.says(") was ended by SIGSEGV");
    run.wait().unwrap();
}

/// How often a ticker says that it ticked, and how often it did so in its trace, each in the order of size.
fn ticks(variables: &[(&str, &str)]) -> (Vec<u64>, Vec<u64>) {
    let place = Place::new();
    let (out, _) = record(&place, "300", variables);
    let said = out.lines().filter_map(|line| line.strip_prefix("ticks "));
    let mut said: Vec<u64> = said.map(|it| it.parse().unwrap()).collect();
    let recorded = place.callbacks("trace");
    let recorded = recorded.iter().map(|it| it["count"].as_u64().unwrap());
    let mut recorded: Vec<u64> = recorded.collect();
    said.sort_unstable();
    recorded.sort_unstable();
    (said, recorded)
}

/// Long enough that the memory of each program is gone before the one after the next begins.
#[test]
fn a_process_that_becomes_another_program_again_and_again_is_recorded_to_the_end() {
    let (said, recorded) = ticks(&[("TICKER_EXEC", "4")]);
    assert_eq!(said.len(), 5);
    assert_eq!(said, recorded);
}

#[test]
fn a_process_whose_first_thread_ended_is_recorded_to_the_end() {
    let (said, recorded) = ticks(&[("TICKER_EXEC", "0"), ("TICKER_LEADER", "1")]);
    assert_eq!(said.len(), 1);
    assert_eq!(said, recorded);
}
