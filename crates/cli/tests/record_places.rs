//! Recording where it is not easy: on a disk that fills up, for processes of other users, in containers.
//!
//! Disks and containers are made with name spaces of Linux, as root or, where the system lets them, as anybody.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::Says;
use crate::support::place::{Place, finished, signal, ticker, wait_for_ready};

/// What makes name spaces in which file systems can be mounted; None, with the reason printed, if this user may not.
fn isolation() -> Option<Vec<&'static str>> {
    for way in [vec!["unshare", "-m"], vec!["unshare", "-Urm"]] {
        let mut command = Command::new(way[0]);
        command.args(&way[1..]).args(["sh", "-c", MOUNTS]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if command.status().is_ok_and(|status| status.success()) {
            return Some(way);
        }
    }
    skipped("`unshare` may not make name spaces in which `mount` works");
    None
}

const MOUNTS: &str = "mount -t tmpfs -o size=64k none /mnt";

fn is_root() -> bool {
    // SAFETY: a plain system call.
    unsafe { libc::geteuid() == 0 }
}

/// Not `eprintln`: the test harness would keep that to itself.
fn skipped(reason: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {reason}. Nothing was tested.");
}

/// Runs a script of the shell; `$ROSTRACE` and `$TICKER` name the programs.
fn script(place: &Place, way: &[&str], script: &str, status: i32) -> (String, String) {
    let mut command = place.command(&[]);
    let program = command.get_program().to_owned();
    let variables: Vec<_> = command
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    command = Command::new(way[0]);
    command
        .args(&way[1..])
        .args(["sh", "-c", script])
        .current_dir(place.folder.path());
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("ROSTRACE", program).env("TICKER", ticker());
    finished(command.output().unwrap(), status)
}

/// What `rostrace info` says of a trace that has lost events.
fn damaged(place: &Place, trace: &str) -> Value {
    let (out, _) = place.run(&["info", trace, "--format", "json"], 3);
    serde_json::from_str(&out).unwrap()
}

fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn a_disk_that_fills_up_costs_events_which_are_counted() {
    let Some(way) = isolation() else { return };
    let place = Place::new();
    std::fs::create_dir(place.path("disk")).unwrap();
    // Nobody else sees the disk, so what is on it is copied before it is gone.
    let steps = "mount -t tmpfs -o size=6m none disk || exit 99
        TICKER_FLOOD=1 $ROSTRACE record --keep-free 0 -o disk/trace -- $TICKER 800; status=$?
        cp -r disk/trace trace
        exit $status";
    let (out, err) = script(&place, &way, steps, 3);
    let lost = out.rsplit_once("lost: ").unwrap().1.lines().next().unwrap();
    let lost: u64 = lost.replace(',', "").parse().unwrap();
    assert!(lost > 100, "{out}");
    err.says_all(&["could not write everything", "No space left on device"]);
    let info = damaged(&place, "trace");
    assert_eq!(info["discarded_events"].as_u64(), Some(lost));
    assert!(info["events"].as_u64().unwrap() > 10_000, "{info}");
}

#[test]
fn recording_ends_before_a_disk_is_full() {
    let Some(way) = isolation() else { return };
    let place = Place::new();
    std::fs::create_dir(place.path("disk")).unwrap();
    // Something else takes the room.
    let steps = "mount -t tmpfs -o size=96m none disk || exit 99
        (sleep 0.5; head -c 70M /dev/zero > disk/other) &
        $ROSTRACE record --keep-free 32M -o disk/trace -- $TICKER 3000; status=$?
        cp -r disk/trace trace
        exit $status";
    let (out, err) = script(&place, &way, steps, 0);
    out.says("lost: 0");
    err.says("left on the disk: the recording was ended");
    assert_eq!(place.nodes("trace"), ["/ticker"]);
}

#[test]
fn what_must_stay_free_stays_free_when_the_recorder_is_killed() {
    let Some(way) = isolation() else { return };
    let place = Place::new();
    std::fs::create_dir(place.path("disk")).unwrap();
    // The recorder is killed at once, the memory of the process fills up, and something else takes the room: 20 MB are left.
    let steps = "mount -t tmpfs -o size=96m none disk || exit 99
        TICKER_FLOOD=1 $ROSTRACE record --keep-free 32M -o disk/trace -- $TICKER 2000 &
        recorder=$!
        until ls disk/trace/*/thread_1_0 > ready 2> ready; do sleep 0.01; done
        kill -9 $recorder
        sleep 1
        $ROSTRACE status >&2
        free=$(df --output=avail -B1 disk | tail -1)
        head -c $((free - 20000000)) /dev/zero > disk/other
        $ROSTRACE stop
        df --output=avail -B1 disk | tail -1 > free
        cp -r disk/trace trace
        wait
        sleep 2";
    script(&place, &way, steps, 0);
    let free = std::fs::read_to_string(place.path("free")).unwrap();
    let free: u64 = free.trim().parse().unwrap();
    assert!(free > 15 << 20, "{free} bytes are free");
    let info = damaged(&place, "trace");
    assert!(info["discarded_events"].as_u64().unwrap() > 0, "{info}");
}

#[test]
fn processes_of_other_users_record_where_they_may() {
    if !is_root() {
        return skipped("only root can start processes of other users");
    }
    let place = Place::new();
    open_to_all(place.folder.path());
    let control = place.path("control");
    let (mut command, program) = place.open_to_all(&["record", "-o", "trace", "--control"]);
    command
        .arg(&control)
        .args(["--", "setpriv", "--reuid=65534", "--clear-groups"]);
    command.arg(program).arg("100");
    let (out, err) = finished(command.output().unwrap(), 0);
    assert!(out.contains("1 process"), "{out}\n{err}");
    assert_eq!(place.nodes("trace"), ["/ticker"]);
}

#[test]
fn a_process_of_another_user_that_may_not_record_is_reported() {
    if !is_root() {
        return skipped("only root can start processes of other users");
    }
    let place = Place::new();
    // The folder of the session is root's alone.
    std::fs::set_permissions(place.folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = ["record", "-o", "trace", "--", "setpriv", "--reuid=65534"];
    let (mut command, program) = place.open_to_all(&arguments);
    command.arg("--clear-groups").arg(program).arg("100");
    let (_, err) = finished(command.output().unwrap(), 1);
    err.says_all(&["nothing was recorded", "processes of other users"]);
}

#[test]
fn a_folder_that_another_user_cannot_reach_is_named() {
    if !is_root() {
        return skipped("only root can start processes of other users");
    }
    let place = Place::new();
    open_to_all(place.folder.path());
    let private = place.path("private");
    std::fs::create_dir(&private).unwrap();
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).unwrap();
    let (mut command, program) =
        place.open_to_all(&["record", "-o", "private/trace", "--control", "control"]);
    command.args(["--", "setpriv", "--reuid=65534", "--clear-groups"]);
    command.arg(program).arg("100");
    let (_, err) = finished(command.output().unwrap(), 1);
    err.says_all(&["could not", "Permission denied"]);
}

#[test]
fn a_container_with_a_read_only_root_and_no_home_is_recorded_from_outside() {
    let Some(way) = isolation() else { return };
    let place = Place::new();
    let shared = place.path("shared");
    std::fs::create_dir(&shared).unwrap();
    open_to_all(&shared);
    let control = shared.join("control");
    let shown = shared.display();
    // Its own processes, a root that cannot be written, an empty environment, and one folder in common with the outside.
    let inside = format!(
        "mount --bind {shown} {shown} && mount -o remount,bind,ro / && ! touch /etc/written 2>/dev/null &&
         exec env -i LD_PRELOAD=$LD_PRELOAD ROSTRACE_CONTROL=$ROSTRACE_CONTROL {} 6000000",
        ticker()
    );
    let mut run = place.command(&["run", "--control"]);
    run.arg(&control).arg("--").args(&way);
    run.args([
        "-p",
        "--fork",
        "--mount-proc",
        "--kill-child",
        "sh",
        "-c",
        &inside,
    ]);
    let mut child = run.spawn().unwrap();
    let _rest = wait_for_ready(&mut child);
    let mut attach = place.command(&["record", "--attach", "--duration", "300ms", "--control"]);
    attach.arg(&control).arg("-o").arg(shared.join("trace"));
    let (out, err) = finished(attach.output().unwrap(), 0);
    assert!(out.contains("1 process"), "{out}\n{err}");
    assert_eq!(place.nodes("shared/trace"), ["/ticker"]);
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
}

/// Neither sees the other's processes: reader and process are in name spaces of their own.
#[test]
fn a_process_that_was_killed_where_its_pid_means_nothing_is_known_to_be_gone() {
    let Some(way) = isolation() else { return };
    let mut probe = Command::new(way[0]);
    probe
        .args(&way[1..])
        .args(["unshare", "-p", "-f", "--mount-proc", "true"]);
    if !probe.status().is_ok_and(|status| status.success()) {
        return skipped("`unshare` may not make name spaces of pids");
    }
    let place = Place::new();
    let steps = "$ROSTRACE record --no-report -o trace -- unshare -p -f \\
          sh -c 'read pid rest < /proc/self/stat; echo $pid > pid; exec $TICKER 600000' > log 2>&1 &
        recorder=$!
        until ls trace/*/thread_1_0 > ready 2>&1; do sleep 0.01; done
        kill -9 $recorder
        inside='unshare -p -f --mount-proc'
        $inside $ROSTRACE info trace --format json > alive || exit 98
        ls trace/*/.memory || exit 97
        sleep 0.3
        kill -9 $(cat pid)
        while kill -0 $(cat pid) 2> ready; do sleep 0.01; done
        $inside $ROSTRACE info trace --format json > gone
        if ls trace/*/.memory 2> ready; then exit 96; fi";
    script(&place, &way, steps, 0);
    let events = |name: &str| {
        let info = std::fs::read_to_string(place.path(name)).unwrap();
        let info: Value = serde_json::from_str(&info).unwrap();
        info["events"].as_u64().unwrap()
    };
    // What happened in the last moments was only in memory.
    assert!(events("gone") > events("alive") + 100);
}

#[test]
fn programs_that_caret_ignores_are_not_recorded() {
    let place = Place::new();
    let mut command = place.command(&["record", "-o", "trace", "--", "sh", "-c"]);
    let other = place.path("other_program");
    std::os::unix::fs::symlink(ticker(), &other).unwrap();
    let both = format!(
        "TICKER_NODE=other {} 50 & {} 50; wait",
        other.display(),
        ticker()
    );
    command.arg(both).env("CARET_IGNORE_PROCESSES", "^other");
    let (_, err) = finished(command.output().unwrap(), 0);
    err.says("filtered as CARET_IGNORE_PROCESSES says");
    assert_eq!(place.nodes("trace"), ["/ticker"]);
}

#[test]
fn hundreds_of_processes_are_recorded_at_once() {
    let place = Place::new();
    let many = format!(
        "for i in $(seq 300); do {} 300 > /dev/null & done; wait",
        ticker()
    );
    // A recorder that gets no processor for long loses context switches; this is about processes.
    let options = ["record", "--no-switches", "-o", "trace", "--"];
    let mut command = place.command(&options);
    command.args(["sh", "-c", &many]);
    let (out, err) = finished(command.output().unwrap(), 0);
    assert!(out.contains("300 processes"), "{out}\n{err}");
    assert!(out.contains("lost: 0"), "{out}\n{err}");
    assert_eq!(place.nodes("trace").len(), 300);
}
