//! Sessions and recordings without any process in them: what is made, locked, refused and cleaned up.

#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rostrace_record::{
    Error, Launch, Plan, Recording, RuntimeFolder, Session, SessionState, Settings, Switches,
    snapshot,
};

/// A new folder, removed in the end.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new(name: &str) -> TestFolder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        TestFolder(folder)
    }

    fn runtime(&self) -> RuntimeFolder {
        RuntimeFolder::at(self.0.join("runtime")).unwrap()
    }

    fn plan(&self, name: &str) -> Plan {
        Plan::to(self.0.join(name))
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command() -> Vec<OsString> {
    vec!["ros2".into(), "launch".into()]
}

#[test]
fn a_session_is_found_until_it_is_closed() {
    let place = TestFolder::new("found");
    let runtime = place.runtime();
    assert!(matches!(
        Session::find(&runtime, None),
        Err(Error::NoSession)
    ));
    let session = Session::create(&runtime, &command()).unwrap();
    let found = Session::find(&runtime, None).unwrap();
    assert_eq!(found.id, session.id);
    assert_eq!(found.command(), ["ros2", "launch"]);
    assert!(found.has_owner() && !found.has_recorder());
    assert!(found.started_ns() > 0 && found.processes().is_empty());
    assert!(matches!(
        Session::find(&runtime, Some("other")),
        Err(Error::NoSuchSession(_))
    ));
    session.close();
    assert!(Session::all(&runtime).unwrap().is_empty());
    assert_eq!(std::fs::read_dir(runtime.path()).unwrap().count(), 0);
}

#[test]
fn one_of_several_sessions_must_be_chosen() {
    let place = TestFolder::new("several");
    let runtime = place.runtime();
    let one = Session::create(&runtime, &command()).unwrap();
    let two = Session::create(&runtime, &command()).unwrap();
    assert_ne!(one.id, two.id);
    let error = Session::find(&runtime, None).unwrap_err().to_string();
    assert!(
        error.contains(&one.id) && error.contains(&two.id),
        "{error}"
    );
    assert_eq!(Session::find(&runtime, Some(&two.id)).unwrap().id, two.id);
    one.close();
    two.close();
}

#[test]
fn a_session_whose_owner_is_gone_is_removed() {
    let place = TestFolder::new("stale");
    let runtime = place.runtime();
    // Dropped without being closed, as when its process is killed.
    drop(Session::create(&runtime, &command()).unwrap());
    assert_eq!(std::fs::read_dir(runtime.path()).unwrap().count(), 1);
    assert!(Session::all(&runtime).unwrap().is_empty());
    assert_eq!(std::fs::read_dir(runtime.path()).unwrap().count(), 0);
}

#[test]
fn a_session_has_one_recording_at_a_time() {
    let place = TestFolder::new("one");
    let runtime = place.runtime();
    let session = Session::create(&runtime, &command()).unwrap();
    let recording = Recording::start(&session, &place.plan("trace")).unwrap();
    let output = recording.output().to_owned();
    assert_eq!(
        session.state(),
        SessionState::Recording {
            output,
            is_flight: false
        }
    );
    let other = Session::find(&runtime, None).unwrap();
    let refused = Recording::start(&other, &place.plan("other"));
    assert!(matches!(refused, Err(Error::BeingRecorded(_))));
    assert!(!place.0.join("other").exists());
    assert!(other.stop() && !recording.is_standing());
    let summary = recording.finish();
    assert_eq!((summary.processes, summary.events), (0, 0));
    assert_eq!(session.state(), SessionState::Idle);
    Recording::start(&session, &place.plan("later"))
        .unwrap()
        .finish();
    session.close();
}

#[test]
fn what_cannot_be_recorded_leaves_nothing_behind() {
    let place = TestFolder::new("refused");
    let session = Session::create(&place.runtime(), &command()).unwrap();
    let start = |plan: &Plan| Recording::start(&session, plan).map(Recording::finish);
    let full = Plan {
        settings: Settings {
            keep_free: u64::MAX,
            ..Settings::default()
        },
        ..place.plan("full")
    };
    assert!(matches!(start(&full), Err(Error::NoSpace { .. })));
    let nobody = Plan {
        pids: vec![1],
        ..place.plan("nobody")
    };
    assert!(matches!(
        start(&nobody),
        Err(Error::NoSuchProcess { pid: 1, .. })
    ));
    std::fs::write(place.0.join("file"), "").unwrap();
    assert!(matches!(
        start(&place.plan("file")),
        Err(Error::Exists { .. })
    ));
    assert!(matches!(
        start(&place.plan("file/trace")),
        Err(Error::File { .. })
    ));
    for name in ["full", "nobody"] {
        assert!(!place.0.join(name).exists(), "{name}");
    }
    let copy = snapshot::take(&session, &place.0.join("copy"));
    assert!(matches!(copy, Err(Error::NothingRecorded(_))));
    session.close();
}

#[test]
fn a_control_file_by_hand_is_a_session_too() {
    let place = TestFolder::new("control");
    let control = place.0.join("control");
    let session = Session::create_at(&control, &command()).unwrap();
    let again = Session::create_at(&control, &command());
    assert!(again.is_err(), "nobody takes it over");
    assert_eq!(
        Session::open(&control).unwrap().command(),
        ["ros2", "launch"]
    );
    session.close();
    assert_eq!(std::fs::read_dir(&place.0).unwrap().count(), 0);
    std::fs::write(&control, "something else").unwrap();
    let error = Session::open(&control).unwrap_err().to_string();
    assert!(error.contains("not a control file"), "{error}");
}

/// For the kernel it is the parent: a command that asked to be ended with its parent would be ended with this thread.
#[test]
fn the_thread_that_starts_a_command_is_there_as_long_as_the_recorder() {
    let place = TestFolder::new("starter");
    let session = Session::create(&place.runtime(), &command()).unwrap();
    let mut plan = place.plan("trace");
    plan.switches = Switches::Perf;
    let mut recording = Recording::start(&session, &plan).unwrap();
    let words = ["true".into()];
    let launch = Launch::new(&words, &session, None);
    let mut running = recording.launch(&launch).unwrap();
    assert!(running.wait().unwrap().success());
    if recording.finish().switch_scope.is_some() {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.map(|task| std::fs::read_to_string(task.path().join("comm")));
        let mut names = names.map_while(Result::ok);
        assert!(names.any(|name| name == "starter\n"));
    }
    session.close();
}
