//! Recordings begin and end while the process runs, as the recorder says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rostrace_session::keep::snapshot;
use rostrace_session::{Command, Flight, ProcessState, ProcessView};
use rostrace_tracer::events;

use crate::support::{Recorder, Shown, folder, program, quietly, survey, traced};

/// Events of a message on its way from one end to the other, in their order.
const OF_MESSAGE: [&str; 6] = [
    "rclcpp_publish:",
    "rcl_publish:",
    "rmw_publish:",
    "rmw_take:",
    "rcl_take:",
    "rclcpp_take:",
];

/// A process that emits an event every millisecond until its standard input ends.
struct Running {
    child: Child,
    recorder: Recorder,
}

impl Running {
    fn doing(mode: &str, folder: &Path) -> Running {
        let recorder = Recorder::new(folder);
        let child = traced(&program("emit", "8.2.4", &[]))
            .arg(mode)
            .env("ROSTRACE_CONTROL", &recorder.control)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        Running { child, recorder }
    }

    /// Waits until the process has said something of itself.
    fn until(&self, is_so: impl Fn(&ProcessView) -> bool) -> ProcessView {
        let begin = Instant::now();
        loop {
            let views = self.recorder.views().into_iter();
            let found = views
                .filter(|view| view.generation > 0 || view.state == ProcessState::Idle)
                .find(|view| view.identity.pid == self.child.id() && is_so(view));
            if let Some(view) = found {
                return view;
            }
            assert!(begin.elapsed() < Duration::from_secs(120));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn issue(&mut self, command: &Command) -> ProcessView {
        let generation = self.recorder.issue(command);
        self.until(|view| view.generation == generation)
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
        self.recorder.end();
    }
}

fn to(folder: &Path) -> Command {
    Command {
        vocabulary: events::VOCABULARY,
        ..Command::record(folder.to_str().unwrap())
    }
}

/// What a program records until it ends, as it is commanded.
fn recorded(
    folder: &Path,
    program: &Path,
    arguments: &[&str],
    change: impl FnOnce(&mut Command),
) -> PathBuf {
    let trace = folder.join("trace");
    let mut recorder = Recorder::new(folder);
    let mut command = to(&trace);
    change(&mut command);
    recorder.issue(&command);
    let status = traced(program)
        .args(arguments)
        .env("ROSTRACE_CONTROL", &recorder.control)
        .status()
        .unwrap();
    assert!(status.success());
    recorder.end();
    trace
}

#[test]
fn every_recording_of_a_running_process_has_all_names() {
    let folder = folder("orders");
    let mut running = Running::doing("wait", &folder);
    running.until(|view| view.state == ProcessState::Idle && view.remembered == 5);
    for name in ["first", "second"] {
        let target = folder.join(name);
        let view = running.issue(&to(&target));
        assert_eq!(view.state, ProcessState::Recording);
        let view = running.until(|view| view.events > 50);
        assert_eq!((view.discarded, view.remembered), (0, 5));
        running.issue(&Command::idle());
        let (events, discarded) = survey(&target);
        assert!(events > 50 && discarded == 0, "{events}");
        if let Some(shown) = quietly(&target) {
            assert_eq!(shown.events.len() as u64, events);
            assert_eq!(shown.count("rcl_node_init"), 1);
            assert_eq!(shown.count("symbol = \"Talker::tick()\""), 1);
        }
    }
    running.end();
    assert!(!folder.join("third").exists());
}

/// As programs with real-time priority do.
#[test]
fn a_process_that_has_locked_its_memory_is_recorded_as_any_other() {
    let folder = folder("orders_locked");
    let mut running = Running::doing("locked", &folder);
    running.until(|view| view.state == ProcessState::Idle);
    std::thread::sleep(Duration::from_millis(200));
    let target = folder.join("trace");
    running.issue(&to(&target));
    running.until(|view| view.events + view.discarded > 500);
    running.issue(&Command::idle());
    let (events, discarded) = survey(&target);
    running.end();
    assert!(events > 500 && discarded == 0, "{events} {discarded}");
}

/// rcl makes the publisher of `/rosout` on the stack, so that several nodes' have the same handle.
#[test]
fn a_late_recording_knows_the_publisher_of_rosout_of_every_node_that_is_left() {
    let folder = folder("orders-rosout");
    let mut running = Running::doing("rosout", &folder);
    running.until(|view| view.state == ProcessState::Idle);
    std::thread::sleep(Duration::from_millis(50));
    let target = folder.join("trace");
    running.issue(&to(&target));
    running.until(|view| view.events > 50);
    running.end();
    if let Some(shown) = quietly(&target) {
        assert_eq!(shown.count("topic_name = \"/rosout\""), 2);
        assert_eq!(shown.count("rmw_publisher_handle = 0x202"), 1);
        assert_eq!(shown.count("rmw_publisher_handle = 0x402"), 1);
    }
}

#[test]
fn a_snapshot_is_taken_while_the_process_goes_on() {
    let folder = folder("snapshot");
    let mut running = Running::doing("wait", &folder);
    let mut command = to(&folder.join("trace"));
    command.settings.flight = Some(Flight::Bytes(u64::MAX));
    running.issue(&command);
    running.until(|view| view.events > 50);
    let has_folder = || {
        folder
            .join("trace")
            .read_dir()
            .is_ok_and(|mut all| all.next().is_some())
    };
    while !has_folder() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let process = std::fs::read_dir(folder.join("trace"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    for number in 0..20 {
        let copy = folder.join(format!("copy-{number}"));
        running.recorder.flush();
        snapshot::copy(&process, &copy).unwrap();
        let (events, discarded) = survey(&copy);
        assert!(events > 50 && discarded == 0);
        let _ = quietly(&copy);
        std::thread::sleep(Duration::from_millis(3));
    }
    running.end();
}

#[test]
fn only_the_events_of_the_mask_are_recorded() {
    let folder = folder("mask");
    let mut running = Running::doing("wait", &folder);
    let mut command = to(&folder.join("trace"));
    command.mask = [0; 4];
    for event in [events::RCL_NODE_INIT, events::CALLBACK_END] {
        command.mask[usize::from(event) / 64] |= 1 << (event % 64);
    }
    running.issue(&command);
    std::thread::sleep(Duration::from_millis(50));
    running.end();
    assert_eq!(survey(&folder.join("trace")), (1, 0));
}

#[test]
fn what_happens_in_ignored_nodes_is_not_recorded() {
    let program = program("abi", "8.2.4", &[]);
    let trace = recorded(&folder("filter"), &program, &[], |command| {
        command.settings.filters.ignore_nodes = b"/space/*".to_vec();
    });
    if let Some(shown) = quietly(&trace) {
        let others = ["callback_start", "ring_buffer_enqueue"];
        for gone in OF_MESSAGE.iter().chain(&others) {
            assert_eq!(shown.count(gone), 0, "{gone}");
        }
        for kept in [
            "rcl_node_init",
            "rcl_publisher_init",
            "executor_wait_for_work",
        ] {
            assert_eq!(shown.count(kept), 1, "{kept}");
        }
    }
}

/// The events of the program `abi`, recorded with a filter of topics, with the metadata beside them.
fn filtered(
    name: &str,
    version: &str,
    options: &[&str],
    ignored: &[u8],
) -> Option<(Shown, String)> {
    let program = program("abi", version, options);
    let trace = recorded(&folder(name), &program, &[], |command| {
        command.settings.filters.ignore_topics = ignored.to_vec();
    });
    let shown = quietly(&trace)?;
    let process = fs::read_dir(trace).unwrap().next().unwrap();
    let metadata = fs::read_to_string(process.unwrap().path().join("metadata")).unwrap();
    Some((shown, metadata))
}

#[test]
fn nothing_is_left_of_the_messages_of_an_ignored_topic() {
    for (version, options) in [("8.2.4", &[][..]), ("4.1.1", &["-DHUMBLE"][..])] {
        let name = format!("ignored-topic-{version}");
        let Some((shown, metadata)) = filtered(&name, version, options, b"/other:/topic") else {
            return;
        };
        for gone in OF_MESSAGE.iter().chain(&["rclcpp_intra_publish:"]) {
            assert_eq!(shown.count(gone), 0, "{version}: {gone}");
        }
        assert_eq!(shown.count("rcl_publisher_init"), 1, "{version}");
        assert!(metadata.contains("rostrace_ignore_topics = \"/other:/topic\";"));
    }
}

#[test]
fn a_filter_leaves_everything_else_as_it_is() {
    for (version, options) in [("8.2.4", &[][..]), ("4.1.1", &["-DHUMBLE"][..])] {
        let name = format!("other-topic-{version}");
        let Some((shown, _)) = filtered(&name, version, options, b"/other") else {
            return;
        };
        let places: Vec<usize> = OF_MESSAGE
            .iter()
            .map(|event| {
                assert_eq!(shown.count(event), 1, "{version}: {event}");
                let mut events = shown.events.iter();
                events.position(|it| it.contains(event)).unwrap()
            })
            .collect();
        assert!(places.is_sorted(), "{version}: {places:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_reported() {
    let folder = folder("refused");
    let mut running = Running::doing("wait", &folder);
    std::fs::write(folder.join("file"), "").unwrap();
    running.issue(&to(&folder.join("file/trace")));
    let view = running.until(|view| view.state == ProcessState::Failed);
    assert_eq!(view.errno as i32, libc::ENOTDIR);
    running.end();
}

#[test]
fn a_flight_recorder_keeps_the_newest() {
    let program = program("emit", "8.2.4", &[]);
    let arguments = ["run", "2", "200000", "200", "500"];
    let trace = recorded(&folder("flight"), &program, &arguments, |command| {
        command.settings.flight = Some(Flight::Bytes(4 << 20));
    });
    let (events, discarded) = survey(&trace);
    assert_eq!(discarded, 0);
    assert!((20_000..120_000).contains(&events), "{events}");
    if let Some(shown) = quietly(&trace) {
        assert_eq!(shown.count("symbol = \"Talker::tick()\""), 1);
    }
}
