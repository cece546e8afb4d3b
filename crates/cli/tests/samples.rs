//! Samples of call stacks: `why` and `flame` name the function that a planted loop is in, however the program was built.
//!
//! Where the system refuses `perf_event_open`, these tests have nothing to say, and say so.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::place::{
    Place, compile, finished, kill, pid_of, processes, ticker, wait_for_ready,
};

const HOT: &str = "filter::VoxelGrid<float>::applyFilter";
const USUAL: &str = "filter::PassThrough<float>::apply";

/// The program of `tests/programs`, built with these options, in the folder of the test.
fn hot(place: &Place, options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/hot.cpp");
    let library = Path::new(ticker()).with_file_name("libtracetools.so");
    let folder = format!("-Wl,-rpath,{}", library.parent().unwrap().display());
    let program = place.path("hot");
    let options = [options, &["-Wl,--build-id", &folder, "-o"]].concat();
    compile(&options, &program, &[&source, &library]);
    program
}

/// Whether samples can be taken here, which is so where context switches are recorded; says so loudly if not.
fn is_allowed(place: &Place) -> bool {
    let (doctor, _) = place.run(&["doctor", "--format", "json"], 0);
    let answer: Value = serde_json::from_str(&doctor).unwrap();
    let checks = answer["checks"].as_array().unwrap();
    let check = checks.iter().find(|it| it["name"] == "context switches");
    let is_allowed = check.unwrap()["verdict"] == "ok";
    if !is_allowed {
        eprintln!("SKIPPED: {}", check.unwrap()["found"]);
    }
    is_allowed
}

/// Records the program, and returns when its slow executions were.
fn recorded(place: &Place, program: &Path, milliseconds: &str, options: &[&str]) -> Vec<String> {
    let program = program.to_str().unwrap();
    let arguments = ["record", "--no-report", "--sample", "-o", "trace"];
    let arguments = [&arguments[..], options, &["--", program, milliseconds]].concat();
    let (said, _) = place.run(&arguments, 0);
    assert!(said.contains(" samples in "), "{said}");
    let slow = said.lines().filter_map(|line| line.strip_prefix("slow "));
    slow.map(str::to_owned).collect()
}

/// The function with most samples in each of these executions, as `why` tells it.
fn named(place: &Place, slow: &[String], options: &[&str]) -> Vec<String> {
    let names = slow.iter().map(|at| {
        let arguments = ["why", "trace", "--callback", "/hot*", "--at", at];
        let why = place.json(&[&arguments[..], options].concat(), 0);
        let parts = why["parts"].as_array().unwrap().iter();
        let mut samples: Vec<(i64, String)> = Vec::new();
        for part in parts.filter(|part| part["cause"] == "execution") {
            for function in part["functions"].as_array().into_iter().flatten() {
                let name = function["name"].as_str().unwrap().to_owned();
                let number = function["samples"].as_i64().unwrap();
                match samples.iter_mut().find(|(_, it)| *it == name) {
                    Some((sum, _)) => *sum += number,
                    None => samples.push((number, name)),
                }
            }
        }
        samples.into_iter().max().map_or(String::new(), |it| it.1)
    });
    names.collect()
}

#[track_caller]
fn assert_right(names: &[String], is_right: impl Fn(&str) -> bool) {
    assert!(names.len() >= 20, "{names:?}");
    let right = names.iter().filter(|name| is_right(name)).count();
    assert!(right * 20 >= names.len() * 19, "{names:?}");
}

#[test]
fn the_function_that_makes_an_execution_slow_is_named_however_the_program_was_built() {
    for options in [
        &["-O2", "-fomit-frame-pointer"][..],
        &[
            "-O2",
            "-fno-omit-frame-pointer",
            "-fno-asynchronous-unwind-tables",
            "-fno-exceptions",
        ],
        &["-O0"],
        &["-O2", "-g", "-DINLINED"],
    ] {
        let place = Place::new();
        if !is_allowed(&place) {
            return;
        }
        let slow = recorded(&place, &hot(&place, options), "1700", &[]);
        assert_right(&named(&place, &slow, &[]), |name| name == HOT);
        let at = slow.last().unwrap();
        let (told, _) = place.run(&["why", "trace", "--callback", "/hot*", "--at", at], 0);
        assert!(told.contains(&format!("of it in {HOT} (")), "{told}");
    }
}

#[test]
fn a_stripped_program_has_places_and_with_its_symbols_names() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let program = hot(&place, &["-O2"]);
    let apart = place.path("symbols");
    std::fs::create_dir(&apart).unwrap();
    let run = |words: &[&str]| {
        let output = Command::new(words[0]).args(&words[1..]).output();
        finished(output.unwrap(), 0);
    };
    let debug = apart.join("anything.debug");
    let (path, debug) = (program.to_str().unwrap(), debug.to_str().unwrap());
    run(&["objcopy", "--only-keep-debug", path, debug]);
    run(&["strip", path]);
    let slow = recorded(&place, &program, "1700", &[]);
    assert_right(&named(&place, &slow, &[]), |name| {
        name.starts_with("hot+0x")
    });
    let (_, notes) = place.run(&["flame", "trace"], 0);
    assert!(notes.contains("--symbols"), "{notes}");
    let symbols = ["--symbols", "symbols"];
    assert_right(&named(&place, &slow, &symbols), |name| name == HOT);
    // As on another machine: the program is not there, or another one is in its place.
    std::fs::copy("/bin/true", &program).unwrap();
    assert_right(&named(&place, &slow, &symbols), |name| name == HOT);
    let is_nameless = |name: &str| name.starts_with("hot+0x");
    assert_right(&named(&place, &slow, &[]), is_nameless);
}

#[test]
fn the_difference_between_slow_and_usual_executions_adds_up() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    recorded(&place, &hot(&place, &["-O2"]), "2000", &[]);
    let flames = place.json(&["flame", "trace", "--callback", "/hot*"], 0);
    let flame = &flames[0];
    assert_eq!(flames.as_array().unwrap().len(), 1);
    let functions = flame["functions"].as_array().unwrap();
    let samples = functions.iter().map(|it| it["samples"].as_u64().unwrap());
    assert_eq!(Some(samples.sum()), flame["samples"].as_u64());
    let difference = &flame["difference"];
    let rows = difference["functions"].as_array().unwrap();
    assert_eq!(rows[0]["name"], HOT);
    assert!(rows.iter().any(|it| it["name"] == USUAL));
    for side in ["slow", "usual"] {
        let number = |of: &Value, name: &str| of[format!("{side}_{name}")].as_f64().unwrap();
        let sum: f64 = rows.iter().map(|it| number(it, "ns")).sum();
        let all = sum + number(difference, "unsampled_ns");
        assert!((all - number(difference, "ns")).abs() < 1.0, "{difference}");
    }
    let (told, _) = place.run(&["flame", "trace"], 0);
    for words in [
        "called by",
        "on_timer",
        HOT,
        USUAL,
        "slowest executions do more",
    ] {
        assert!(told.contains(words), "no {words} in {told}");
    }
}

#[test]
fn a_flame_graph_is_a_picture_a_page_and_a_file_for_others() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    recorded(&place, &hot(&place, &["-O2"]), "600", &[]);
    for name in ["flame.svg", "flame.html", "flame.json", "flame.folded"] {
        place.run(&["flame", "trace", "--rank", "1", "-o", name], 0);
    }
    let read = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    let escaped = USUAL.replace('<', "&lt;").replace('>', "&gt;");
    for name in ["flame.svg", "flame.html"] {
        assert!(read(name).contains(&escaped), "{}", read(name));
    }
    assert!(read("flame.folded").contains(&format!(";{USUAL} ")));
    let speedscope: Value = serde_json::from_str(&read("flame.json")).unwrap();
    let frames = speedscope["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().any(|it| it["name"] == USUAL));
    let profile = &speedscope["profiles"][0];
    let weights = profile["weights"].as_array().unwrap();
    let sum: i64 = weights.iter().map(|it| it.as_i64().unwrap()).sum();
    assert_eq!(Some(sum), profile["endValue"].as_i64());
    let samples = profile["samples"].as_array().unwrap();
    assert_eq!(samples.len(), weights.len());
}

#[test]
fn threads_that_run_already_are_sampled_too() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let program = hot(&place, &["-O2"]);
    let arguments = ["run", "--", program.to_str().unwrap(), "600000"];
    let mut running = place.command(&arguments).spawn().unwrap();
    let _rest = wait_for_ready(&mut running);
    let sessions = place.until(|all| all.len() == 1 && processes(&all[0]) == 1);
    let arguments = [
        "record",
        "--attach",
        "--no-report",
        "--duration",
        "2s",
        "--sample",
        "499",
    ];
    let (said, _) = place.run(&[&arguments[..], &["-o", "trace"]].concat(), 0);
    assert!(said.contains(" samples in "), "{said}");
    kill(pid_of(&sessions), libc::SIGINT);
    drop(_rest);
    running.wait().unwrap();
    let flames = place.json(&["flame", "trace"], 0);
    let names = flames[0]["functions"].as_array().unwrap();
    assert!(names.iter().any(|it| it["name"] == USUAL), "{flames}");
}

#[test]
fn nothing_is_sampled_unless_it_is_asked_for() {
    let place = Place::new();
    let program = hot(&place, &["-O2"]);
    let arguments = ["record", "--no-report", "-o", "trace", "--"];
    let arguments = [&arguments[..], &[program.to_str().unwrap(), "200"]].concat();
    let (said, _) = place.run(&arguments, 0);
    assert!(!said.contains("samples"), "{said}");
    assert!(!place.path("trace").join("samples").exists());
    let (_, error) = place.run(&["flame", "trace"], 1);
    assert!(error.contains("record --sample"), "{error}");
}

#[test]
fn babeltrace2_reads_the_same() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    recorded(&place, &hot(&place, &["-O2"]), "300", &[]);
    let folder = place.path("trace").join("samples");
    let Ok(output) = Command::new("babeltrace2").arg(&folder).output() else {
        eprintln!("SKIPPED: there is no babeltrace2; nothing was compared");
        return;
    };
    let (theirs, notes) = finished(output, 0);
    assert_eq!(notes, "");
    let (ours, _) = place.run(&["dump", folder.to_str().unwrap()], 0);
    assert_eq!(theirs.lines().count(), ours.lines().count());
    for event in ["source", "mapping", "sample"] {
        let name = format!("rostrace_sample:{event}: ");
        assert!(theirs.contains(&name), "no {name}");
    }
}

/// As an ordinary user, whatever this test runs as; without the right to become one that is said.
#[test]
fn an_ordinary_user_has_them_too() {
    let place = Place::new();
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let level: Option<i32> = level.ok().and_then(|it| it.trim().parse().ok());
    // SAFETY: a plain question.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root || level.is_none_or(|level| level > 2) || !is_allowed(&place) {
        eprintln!(
            "SKIPPED: this needs root, and a system that allows ordinary users to follow their processes"
        );
        return;
    }
    let (command, ticker) = place.open_to_all(&["record"]);
    let mode = |path: &Path, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(place.folder.path(), 0o777);
    let rostrace = place.path("rostrace");
    std::fs::copy(command.get_program(), &rostrace).unwrap();
    mode(&rostrace, 0o755);
    let program = hot(&place, &["-O2", "-Wl,-rpath,$ORIGIN"]);
    mode(&program, 0o755);
    assert!(ticker.with_file_name("libtracetools.so").is_file());
    let runtime = place.path("theirs");
    std::fs::create_dir(&runtime).unwrap();
    mode(&runtime, 0o700);
    std::os::unix::fs::chown(&runtime, Some(65534), None).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups", "--bounding-set=-all"])
        .args(["--inh-caps=-all", "--"])
        .arg(&rostrace)
        .args([
            "record",
            "--no-report",
            "--sample",
            "-o",
            "theirs-trace",
            "--",
        ])
        .arg(&program)
        .arg("600")
        .current_dir(place.folder.path())
        .env("XDG_RUNTIME_DIR", &runtime)
        .env("ROSTRACE_TRACER", place.path("librostrace_tracer.so"))
        .env_remove("LD_PRELOAD")
        .output()
        .unwrap();
    let (said, notes) = finished(output, 0);
    assert!(said.contains(" samples in "), "{said}\n{notes}");
    assert!(
        said.contains(" context switches, "),
        "both have room: {said}\n{notes}"
    );
    let (told, _) = place.run(&["flame", "theirs-trace"], 0);
    assert!(told.contains(USUAL), "{told}");
}

/// The fields of a message of Protocol Buffers: numbers and bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        number
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        match key & 7 {
            0 => fields.push((key >> 3, varint(&mut bytes), Vec::new())),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                fields.push((key >> 3, 0, content.to_vec()));
            }
            other => panic!("wire type {other}"),
        }
    }
    fields
}

#[test]
fn a_file_for_pprof_has_samples_with_functions_and_their_names() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    recorded(&place, &hot(&place, &["-O2"]), "600", &[]);
    place.run(&["flame", "trace", "-o", "flame.pb.gz"], 0);
    let file = std::fs::File::open(place.path("flame.pb.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    let profile = fields(&bytes);
    let of = |number: u64| profile.iter().filter(move |it| it.0 == number);
    let texts: Vec<&str> = of(6)
        .map(|it| std::str::from_utf8(&it.2).unwrap())
        .collect();
    assert_eq!(texts[0], "");
    let number = |message: &[u8], field: u64| {
        let fields = fields(message);
        fields.iter().find(|it| it.0 == field).unwrap().1
    };
    let names: Vec<&str> = of(5).map(|it| texts[number(&it.2, 2) as usize]).collect();
    assert!(names.contains(&HOT) && names.contains(&USUAL), "{names:?}");
    assert_eq!(of(4).count(), names.len());
    // The values of each sample: how many, and nanoseconds.
    let flames = place.json(&["flame", "trace"], 0);
    let samples = of(2).map(|it| {
        let values = fields(&it.2).into_iter().find(|it| it.0 == 2).unwrap().2;
        u64::from(values[0] & 0x7f) + u64::from(values[0] >> 7) * (u64::from(values[1]) << 7)
    });
    assert_eq!(Some(samples.sum()), flames[0]["samples"].as_u64());
}

#[test]
fn a_process_whose_first_thread_has_ended_is_sampled_further() {
    let place = Place::new();
    if !is_allowed(&place) {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/first_ends.c");
    let library = Path::new(ticker()).with_file_name("libtracetools.so");
    let folder = format!("-Wl,-rpath,{}", library.parent().unwrap().display());
    let program = place.path("first_ends");
    let options = ["-O1", "-pthread", &folder, "-o"];
    compile(&options, &program, &[&source, &library]);
    let program = program.to_str().unwrap();
    let arguments = [
        "record",
        "--no-report",
        "--sample",
        "1000",
        "-o",
        "trace",
        "--",
        program,
    ];
    let (said, _) = place.run(&arguments, 0);
    let (before, _) = said.split_once(" samples in ").expect(&said);
    let samples: u64 = before
        .rsplit(' ')
        .next()
        .unwrap()
        .replace(',', "")
        .parse()
        .unwrap();
    // It computes for 300 milliseconds.
    assert!(samples > 150, "{said}");
}
