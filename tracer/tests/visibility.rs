//! The tracer says which of its hooks calls go past, and no others.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rostrace_session::Command;

use crate::support::stand_ins::{CANARY, Place, hooks};
use crate::support::{Recorder, folder, quietly, traced};

/// As the control page has them.
const ON: u8 = 1;
const BYPASSED: u8 = 5;

/// What a process is, which has loaded something and then the canary.
struct Running {
    child: Child,
    recorder: Recorder,
    trace: PathBuf,
}

impl Running {
    fn start(name: &str, program: &str, steps: &str) -> Running {
        let place = Place::get("visibility");
        let folder = folder(&format!("visibility-{name}"));
        let mut recorder = Recorder::new(&folder);
        let trace = folder.join("trace");
        recorder.issue(&Command::record(trace.to_str().unwrap()));
        let mut command = traced(&place.path(program));
        let steps = format!("{steps} local @canary event wait");
        let child = place
            .steps(&mut command, &steps)
            .env("ROSTRACE_CONTROL", &recorder.control)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Running {
            child,
            recorder,
            trace,
        }
    }

    /// States of the hooks, once the canary is known to be bypassed, without it.
    fn states(&self) -> BTreeMap<&'static str, u8> {
        self.states_when(|_| true)
    }

    /// The same, once something is true of them.
    fn states_when(
        &self,
        is_so: impl Fn(&BTreeMap<&'static str, u8>) -> bool,
    ) -> BTreeMap<&'static str, u8> {
        let begin = Instant::now();
        loop {
            for view in self.recorder.views() {
                let names = rostrace_tracer::hooks::names().zip(view.hooks);
                let mut states: BTreeMap<&str, u8> = names.collect();
                if states.remove(CANARY) == Some(BYPASSED) {
                    states.retain(|_, state| *state != 0);
                    if is_so(&states) {
                        return states;
                    }
                }
            }
            assert!(begin.elapsed() < Duration::from_secs(120));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn end_without_trace(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends it; the hooks that the trace says something of, and what.
    fn end(mut self) -> Option<BTreeMap<String, String>> {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        self.recorder.end();
        let shown = quietly(&self.trace)?;
        let states = shown.events.iter().filter_map(|event| {
            let (_, fields) = event.split_once("hook_state: ")?;
            let text = |name: &str| {
                let (_, rest) = fields.split_once(&format!("{name} = \""))?;
                rest.split('"').next()
            };
            let hook = text(" hook")?.to_owned();
            Some((hook, format!("{} {}", text("state")?, text("library")?)))
        });
        let mut states: BTreeMap<String, String> = states.collect();
        let canary = states.remove(CANARY);
        assert_eq!(canary.as_deref(), Some("bypassed libcanary.so"));
        Some(states)
    }
}

/// Functions that their library calls itself in every version of ROS 2.
fn called_within(hook: &str) -> bool {
    let by_applications = [
        "MultiThreadedExecutorC1",
        "StaticSingleThreadedExecutorC1",
        "EventsExecutorC1",
        "EventsCBGExecutorC1",
    ];
    hook.starts_with("_ZN") && !by_applications.iter().any(|name| hook.contains(name))
}

fn bypassed(is_so: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let mut names = hooks();
    names.retain(|hook| *hook != CANARY && is_so(hook));
    names.sort_unstable();
    names
}

/// These hooks are bypassed, and control page and trace say so; the trace names the library.
fn are_bypassed(name: &str, program: &str, steps: &str, expected: &[&str], library: &str) {
    let running = Running::start(name, program, steps);
    let states = running.states();
    let found: Vec<&str> = states.keys().copied().collect();
    assert_eq!(found, expected, "{name}");
    assert!(states.values().all(|state| *state == BYPASSED), "{name}");
    if let Some(reported) = running.end() {
        let names: Vec<&str> = reported.keys().map(String::as_str).collect();
        assert_eq!(names, expected, "{name}");
        let said = format!("bypassed {library}");
        assert!(reported.values().all(|it| *it == said), "{reported:?}");
    }
}

#[test]
fn a_library_that_is_linked_as_usual_is_seen() {
    are_bypassed("usual", "plain", "local @itself_usual", &[], "");
    are_bypassed("usual-lazy", "plain", "lazy @itself_usual", &[], "");
}

/// Of functions that others call nothing is known: nobody is loaded yet who would.
#[test]
fn a_library_that_does_not_ask_for_its_own_functions_is_not_seen() {
    for way in ["symbolic_functions", "symbolic", "not_semantic"] {
        let library = format!("itself_{way}");
        are_bypassed(
            way,
            "plain",
            &format!("local @{library}"),
            &bypassed(called_within),
            &format!("lib{library}.so"),
        );
    }
}

#[test]
fn callers_that_were_loaded_to_see_their_own_libraries_first_are_not_seen() {
    are_bypassed(
        "deep",
        "plain",
        "deep @itself_usual",
        &bypassed(|_| true),
        "libitself_usual.so",
    );
}

#[test]
fn functions_that_the_program_has_itself_are_not_seen() {
    let running = Running::start("program", "defining", "local @bare");
    // The program has the canary's function, too, so that one is known before the rest.
    let all = bypassed(|_| true).len();
    let states = running.states_when(|states| states.len() == all);
    assert!(states.values().all(|state| *state == BYPASSED));
    running.end_without_trace();
}

#[test]
fn a_hook_that_was_called_is_not_bypassed() {
    let steps = "event global @itself_symbolic_functions local @others call";
    let running = Running::start("called", "plain", steps);
    let states = running.states();
    assert!(states.values().all(|state| *state == ON), "{states:?}");
    assert_eq!(states.len(), bypassed(|_| true).len());
    if let Some(reported) = running.end() {
        assert!(
            reported.values().all(|it| it.starts_with("on ")),
            "{reported:?}"
        );
    }
}
