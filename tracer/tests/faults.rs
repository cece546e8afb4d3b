//! What happens in real life: kill, full disks, small buffers, thousands of threads, forks, signals.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rostrace_session::{Command, Settings};

use crate::support::{
    Recorder, Shown, babeltrace, compile, folder, library, program, quietly, record, source,
    survey, traced,
};

/// Events of initialisation that every run of `emit.c` begins with.
const INITIALISATION: u64 = 5;

fn emit() -> PathBuf {
    program("emit", "8.2.4", &[])
}

/// A recorder that records into a folder.
fn commanded(folder: &Path, settings: Settings) -> Recorder {
    let mut recorder = Recorder::new(folder);
    let mut command = Command::record(folder.join("trace").to_str().unwrap());
    command.settings = settings;
    recorder.issue(&command);
    recorder
}

fn run_with(recorder: &Recorder, arguments: &[&str]) -> std::process::Output {
    traced(&emit())
        .args(arguments)
        .env("ROSTRACE_CONTROL", &recorder.control)
        .output()
        .unwrap()
}

#[test]
fn a_killed_process_loses_nothing_that_it_had_written() {
    let program = emit();
    let rounds = 100;
    let mut random = 0x2545_F491_u64;
    for round in 0..rounds {
        let folder = folder("killed");
        let mut recorder = commanded(&folder, Settings::default());
        let stamp = folder.join("stamp");
        let mut child = traced(&program)
            .arg("until-killed")
            .env("ROSTRACE_CONTROL", &recorder.control)
            .stdout(File::create(&stamp).unwrap())
            .spawn()
            .unwrap();
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(round);
        std::thread::sleep(Duration::from_micros(3000 + (random >> 33) % 20_000));
        // Every other time the recorder is killed before, and its files are what is left.
        if round % 2 == 1 {
            recorder.is_killed();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        match round % 2 {
            0 => recorder.end(),
            _ => recorder.stop_as_another(&folder.join("trace")),
        }
        let mut said = [0; 8];
        // Killed before it had said anything: then there need not be a trace.
        if File::open(&stamp).unwrap().read_exact(&mut said).is_err() {
            continue;
        }
        let said = u64::from_ne_bytes(said);
        let (events, discarded) = survey(&folder.join("trace"));
        let written = events - INITIALISATION + discarded;
        assert!(
            (said..=said + 97).contains(&written),
            "round {round}: {events} + {discarded} of {said}"
        );
        if round % 10 < 2
            && let Some(shown) = babeltrace(&folder.join("trace"))
        {
            assert_eq!(shown.events.len() as u64, events);
            assert_eq!(shown.discarded(), discarded);
        }
    }
}

/// More than the settings have room for: some are discarded, and all are counted.
fn too_many(folder: &Path, settings: Settings, threads: u64, each: u64) -> (u64, u64) {
    let mut recorder = commanded(folder, settings);
    let arguments = ["run", &threads.to_string(), &each.to_string()];
    assert!(run_with(&recorder, &arguments).status.success());
    recorder.end();
    let (events, discarded) = survey(&folder.join("trace"));
    assert!(discarded > 0);
    assert_eq!(events + discarded, threads * each + INITIALISATION);
    (events, discarded)
}

#[test]
fn a_buffer_that_is_too_small_counts_exactly() {
    let folder = folder("small");
    let settings = Settings {
        memory_bytes: 64 << 10,
        ..Settings::default()
    };
    let (events, discarded) = too_many(&folder, settings, 4, 200_000);
    if let Some(shown) = babeltrace(&folder.join("trace")) {
        assert_eq!(shown.discarded(), discarded);
        assert_eq!(shown.events.len() as u64, events);
    }
}

#[test]
fn packets_that_follow_each_other_quickly_stay_in_order() {
    let folder = folder("quick");
    for _ in 0..5 {
        let settings = Settings {
            memory_bytes: 256 << 10,
            ..Settings::default()
        };
        let mut recorder = commanded(&folder, settings);
        // With pauses, so that the keeper and the writers meet at all possible moments.
        let arguments = ["run", "6", "60000", "90", "10"];
        assert!(run_with(&recorder, &arguments).status.success());
        recorder.end();
        let (events, discarded) = survey(&folder.join("trace"));
        assert_eq!(events + discarded, 6 * 60_000 + INITIALISATION);
        std::fs::remove_dir_all(folder.join("trace")).unwrap();
        std::fs::remove_file(&recorder.control).unwrap();
    }
}

#[test]
fn a_limit_of_bytes_is_kept_and_counted() {
    let folder = folder("limit");
    let settings = Settings {
        process_bytes: 1 << 20,
        ..Settings::default()
    };
    too_many(&folder, settings, 2, 100_000);
    let files = walk(&folder.join("trace"));
    let bytes: u64 = files.iter().map(|it| it.metadata().unwrap().len()).sum();
    assert!(bytes < 1_200_000, "{bytes}");
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// A run of `emit.c` that records so many events and loses none.
fn loses_nothing(name: &str, arguments: &[&str], events: u64) -> (PathBuf, Option<Shown>) {
    let output = folder(name);
    let result = record(&emit(), &output, arguments);
    assert!(result.status.success(), "{result:?}");
    assert_eq!(survey(&output), (events + INITIALISATION, 0));
    let shown = quietly(&output);
    (output, shown)
}

#[test]
fn a_thousand_threads_at_once_lose_nothing() {
    // Each waits after each event, so that all live at the same time.
    let arguments = ["run", "1000", "20", "1", "5000"];
    if let (_, Some(shown)) = loses_nothing("threads", &arguments, 20_000) {
        assert_eq!(shown.count("callback_start"), 20_000);
    }
}

#[test]
fn threads_after_each_other_share_a_file() {
    let arguments = ["short-threads", "2000", "3"];
    let (output, _) = loses_nothing("short-threads", &arguments, 6000);
    let files = walk(&output);
    assert!(files.len() <= 6, "{files:?}");
}

/// Events and losses of each process of a run of `emit.c` that forks.
fn of_each_process(mode: &str) -> (PathBuf, Vec<(u64, u64)>) {
    let output = folder(mode);
    assert!(record(&emit(), &output, &[mode, "10"]).status.success());
    crate::support::collect(&output);
    let processes = std::fs::read_dir(&output).unwrap();
    let mut counts: Vec<_> = processes
        .map(|entry| survey(&entry.unwrap().path()))
        .collect();
    counts.sort();
    (output, counts)
}

#[test]
fn a_forked_process_records_by_itself_with_all_names() {
    let (output, counts) = of_each_process("fork");
    // The child and its child know the names too.
    assert_eq!(counts, [(11 + 5, 0), (12 + 5, 0), (20 + 5, 0)]);
    if let Some(shown) = quietly(&output) {
        assert_eq!(shown.count("Talker::tick()"), 3);
    }
}

#[test]
fn a_fork_behind_the_back_of_the_c_library_is_noticed() {
    let (output, counts) = of_each_process("raw-fork");
    assert_eq!(counts, [(11 + 5, 0), (20 + 5, 0)]);
    let _ = quietly(&output);
}

#[test]
fn a_signal_handler_may_emit_events() {
    let output = folder("signals");
    let result = record(&emit(), &output, &["signals", "2000000", "20000", "500"]);
    assert!(result.status.success());
    let emitted: u64 = String::from_utf8(result.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let (events, discarded) = survey(&output);
    assert_eq!(events + discarded, emitted + INITIALISATION);
    let _ = babeltrace(&output);
}

#[test]
fn ends_of_threads_and_static_destructors_may_emit_events() {
    loses_nothing("late", &["late"], 3);
}

#[test]
fn an_exit_without_destructors_loses_nothing() {
    loses_nothing("quick-exit", &["quick-exit", "1000"], 1000);
}

#[test]
fn a_process_that_becomes_another_program_loses_nothing() {
    let output = folder("exec");
    let mut recorder = commanded(&output, Settings::default());
    assert!(run_with(&recorder, &["exec", "1000"]).status.success());
    recorder.end();
    let (events, lost) = survey(&output.join("trace"));
    assert_eq!((events, lost), (2 * (1000 + INITIALISATION), 0));
    assert!(
        recorder.views().is_empty(),
        "nothing of it is left in memory"
    );
    let _ = quietly(&output.join("trace"));
}

#[test]
fn a_library_that_is_unloaded_stays_for_the_threads_that_need_it() {
    let output = folder("unload");
    let program = output.join("unload");
    compile(&source("unload.c"), &program, &["-pthread"], &["-ldl"]);
    let result = std::process::Command::new(&program)
        .arg(library())
        .env("ROSTRACE_OUTPUT", output.join("trace"))
        .env_remove("LD_PRELOAD")
        .output()
        .unwrap();
    assert_eq!(result.status.code(), Some(0), "{result:?}");
    assert_eq!(survey(&output.join("trace")), (3 * 1001, 0));
    let _ = quietly(&output.join("trace"));
}

#[test]
fn a_full_disk_is_counted_and_harms_nobody() {
    let folder = folder("full");
    let output = folder.join("trace");
    let mut command = traced(&emit());
    command
        .args(["run", "4", "50000"])
        .env("ROSTRACE_OUTPUT", &output);
    // No file may be larger than this, which is what a full disk looks like.
    // SAFETY: only a system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit {
                rlim_cur: 200_000,
                rlim_max: 200_000,
            };
            match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    assert!(command.status().unwrap().success());
    let (events, discarded) = survey(&output);
    assert_eq!(events + discarded, 4 * 50_000 + INITIALISATION);
}

#[test]
fn a_small_file_system_that_is_full_is_counted_and_harms_nobody() {
    let folder = folder("tmpfs");
    let place = folder.join("small");
    std::fs::create_dir(&place).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=3m", "rostrace"])
        .arg(&place)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        return;
    }
    let result = record(&emit(), &place.join("trace"), &["run", "4", "50000"]);
    let counts = std::panic::catch_unwind(|| {
        let shown = babeltrace(&place.join("trace"));
        (
            survey(&place.join("trace")),
            shown.map(|shown| shown.discarded()),
        )
    });
    let _ = std::process::Command::new("umount").arg(&place).status();
    assert!(result.status.success());
    let ((events, discarded), shown) = counts.unwrap();
    assert!(discarded > 0);
    assert_eq!(events + discarded, 4 * 50_000 + INITIALISATION);
    if let Some(shown) = shown {
        assert_eq!(shown, discarded);
    }
}

#[test]
fn a_folder_that_cannot_be_written_harms_nobody() {
    let folder = folder("forbidden");
    let file = folder.join("file");
    std::fs::write(&file, "no folder").unwrap();
    let result = record(&emit(), &file.join("trace"), &["run", "2", "1000"]);
    assert!(result.status.success());
    assert!(result.stdout.is_empty() && result.stderr.is_empty());
}

#[test]
fn a_process_that_is_not_recorded_gets_no_thread_and_no_file() {
    let folder = folder("idle");
    let recorder = Recorder::new(&folder);
    let idle = traced(&emit())
        .args(["threads-of-process", "10"])
        .env("ROSTRACE_CONTROL", &recorder.control)
        .output()
        .unwrap();
    let bare = traced(&emit())
        .args(["threads-of-process", "10"])
        .env_remove("LD_PRELOAD")
        .output()
        .unwrap();
    assert_eq!(idle.stdout, bare.stdout);
    assert_eq!(idle.stdout.first(), Some(&b'1'));
}

#[test]
fn a_program_without_events_leaves_no_trace() {
    let output = folder("nothing");
    assert!(
        record(&emit(), &output.join("trace"), &["nothing"])
            .status
            .success()
    );
    assert!(!output.join("trace").exists());
}
