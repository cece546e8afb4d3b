//! Tracepoints that a program itself calls are asked about beside the program, and go on to the library if something is to be done.

#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

mod support;

use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use rostrace_session::{ControlFile, Order, State};
use support::told::Told;
use support::{folder, installation, survey, traced};

/// The functions that `near.c` calls again and again.
const RUNNING: [&str; 3] = [
    "ros_trace_callback_start",
    "ros_trace_do_callback_end",
    "ros_trace_enabled_callback_start",
];
const INITIALISING: &str = "ros_trace_rcl_node_init";

/// Ways to link a program; in some the table is read-only once it was filled in, and in some it is filled in call by call.
const FORMS: [(&str, &[&str]); 5] = [
    ("now", &["-pie", "-fPIE", "-Wl,-z,relro,-z,now"]),
    ("lazy", &["-pie", "-fPIE", "-Wl,-z,relro,-z,lazy"]),
    ("open", &["-pie", "-fPIE", "-Wl,-z,norelro,-z,now"]),
    ("fixed", &["-no-pie", "-fno-pie", "-Wl,-z,relro,-z,now"]),
    ("fixed_lazy", &["-no-pie", "-fno-pie", "-Wl,-z,lazy"]),
];

/// `near.c` beside a stock libtracetools.
fn program(name: &str, options: &[&str], libraries: &[&str]) -> PathBuf {
    let prefix = installation("8.2.4");
    let program = prefix.join(format!("near_{name}"));
    let found = prefix.join("lib");
    let (search, run) = (
        format!("-L{}", found.display()),
        format!("-Wl,-rpath,{}", found.display()),
    );
    let mut all = vec![search.as_str(), &run, "-Wl,--no-as-needed", "-ltracetools"];
    all.extend(libraries);
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include");
    let options = [options, &[include]].concat();
    support::compile(&support::source("near.c"), &program, &options, &all);
    program
}

/// A recorder that has ordered nothing yet, and where it would record to.
struct Recorder {
    control: PathBuf,
    file: ControlFile,
    trace: PathBuf,
}

impl Recorder {
    fn new(place: &Path) -> Recorder {
        let control = place.join("control");
        Recorder {
            file: ControlFile::create(&control).unwrap(),
            trace: place.join("trace"),
            control,
        }
    }

    /// To record everything.
    fn order(&self) -> Order {
        Order::record(self.trace.to_str().unwrap())
    }
}

/// The program while it waits for its next line.
struct Running {
    told: Told,
    program: PathBuf,
}

impl Running {
    fn start(program: &Path, command: &mut Command) -> Running {
        Running {
            told: Told::start(command),
            program: program.to_owned(),
        }
    }

    fn tell(&mut self, line: &str) -> usize {
        self.calls(line).0
    }

    /// The answer, and what the library behind ours was called for.
    fn calls(&mut self, line: &str) -> (usize, Vec<String>) {
        self.told
            .tell(line, |line| usize::from_str_radix(line, 16).ok())
    }

    /// Mapped memory: where, with which rights, of which file.
    fn maps(&self) -> Vec<(Range<usize>, String, String)> {
        let text = std::fs::read_to_string(format!("/proc/{}/maps", self.told.pid())).unwrap();
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let (start, end) = words.next().unwrap().split_once('-').unwrap();
            let number = |text| usize::from_str_radix(text, 16).unwrap();
            let rights = words.next().unwrap().to_owned();
            let file = words.nth(3).unwrap_or("").to_owned();
            (number(start)..number(end), rights, file)
        };
        text.lines().map(line).collect()
    }

    /// What is mapped of the program.
    fn own_maps(&self) -> Vec<(Range<usize>, String, String)> {
        let own = self.program.to_str().unwrap();
        let maps = self.maps().into_iter();
        maps.filter(|(_, _, file)| file == own).collect()
    }

    /// Where a call of the program goes.
    fn called(&mut self, function: &str) -> usize {
        let output = Command::new("readelf")
            .args(["--relocs", "--wide"])
            .arg(&self.program)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text
            .lines()
            .find(|line| line.contains("JUMP_SLO") && line.contains(&format!(" {function} ")))
            .unwrap_or_else(|| panic!("{function} is not called: {text}"));
        let offset = usize::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
        let start = self.own_maps()[0].0.start;
        // Addresses of programs that cannot be moved are said as they are.
        let slot = if offset > start {
            offset
        } else {
            start + offset
        };
        self.tell(&format!("slot {slot:#x}"))
    }

    /// The calls that go to a place beside the program.
    fn near(&mut self) -> Vec<&'static str> {
        let start = self.own_maps()[0].0.start;
        let mut functions = RUNNING.to_vec();
        functions.push(INITIALISING);
        functions.retain(|function| {
            (start.saturating_sub(64 << 20)..start).contains(&self.called(function))
        });
        functions
    }

    fn end(self) {
        self.told.end();
    }
}

#[test]
fn a_program_asks_beside_itself_whatever_its_form() {
    for (form, options) in FORMS {
        let program = program(form, options, &[]);
        let place = folder(&format!("near-{form}"));
        let recorder = Recorder::new(&place);
        let mut running = Running::start(
            &program,
            traced(&program).env("ROSTRACE_CONTROL", &recorder.control),
        );
        running.tell("emit 0");
        let (before, all_before) = (running.own_maps(), running.maps().len());
        assert!(running.near().is_empty(), "{form}");
        running.tell("start");
        assert_eq!(running.near(), RUNNING, "{form}");
        // What was protected is again, and nothing can be both written and run.
        assert_eq!(running.own_maps(), before, "{form}");
        let maps = running.maps();
        assert!(maps.len() > all_before, "{form}");
        let is_open = |rights: &str| rights.contains('w') && rights.contains('x');
        assert!(maps.iter().all(|(_, rights, _)| !is_open(rights)), "{form}");
        let files = std::fs::read_dir(format!("/proc/{}/fd", running.told.pid())).unwrap();
        let library = support::library();
        assert!(
            files
                .flatten()
                .all(|fd| std::fs::read_link(fd.path()).ok() != Some(library.clone())),
            "{form}"
        );

        running.tell("emit 1000");
        assert_eq!(running.tell("enabled"), 0, "{form}");
        let mut order = recorder.order();
        recorder.file.order(&order).unwrap();
        running.tell("emit 100");
        assert_eq!(running.tell("enabled"), 1, "{form}");
        running.tell("fork 10");
        order.state = State::Idle;
        recorder.file.order(&order).unwrap();
        running.tell("emit 1000");
        assert_eq!(running.tell("enabled"), 0, "{form}");
        assert_eq!(running.near(), RUNNING, "{form}");
        running.end();
        // The node, in the child's trace too, and the callbacks.
        assert_eq!(survey(&recorder.trace), (1 + 200 + 1 + 20, 0), "{form}");
        if let Some(shown) = support::quietly(&recorder.trace) {
            assert_eq!(shown.count("is_intra_process = 1"), 50 + 5, "{form}");
            assert_eq!(shown.count("callback = 0x1063"), 2, "{form}");
        }
    }
}

#[test]
fn an_event_that_is_not_wanted_is_not_recorded() {
    let program = program("light", FORMS[0].1, &[]);
    let recorder = Recorder::new(&folder("near-light"));
    let mut running = Running::start(
        &program,
        traced(&program).env("ROSTRACE_CONTROL", &recorder.control),
    );
    running.tell("start");
    let mut order = recorder.order();
    order.vocabulary = rostrace_tracepoints::vocabulary();
    let number = rostrace_tracepoints::recorded()
        .position(|event| event.full_name == "ros2:callback_start")
        .unwrap();
    order.mask[number / 64] &= !(1 << (number % 64));
    recorder.file.order(&order).unwrap();
    running.tell("emit 100");
    assert_eq!(running.tell("enabled"), 0);
    running.end();
    assert_eq!(survey(&recorder.trace), (1 + 100, 0));
}

#[test]
fn calls_stay_as_they_are_where_that_is_wanted() {
    let program = program("as_is", FORMS[0].1, &[]);
    let place = folder("near-as-is");
    for variable in ["ROSTRACE", "ROSTRACE_NEAR"] {
        let mut running = Running::start(&program, traced(&program).env(variable, "off"));
        running.tell("emit 0");
        let before = running.maps();
        running.tell("start");
        running.tell("emit 10");
        assert!(running.near().is_empty(), "{variable}");
        if variable == "ROSTRACE" {
            let of_files = |maps: Vec<(Range<usize>, String, String)>| -> Vec<_> {
                maps.into_iter()
                    .filter(|map| map.2.starts_with('/'))
                    .collect()
            };
            assert_eq!(of_files(running.maps()), of_files(before));
        }
        running.end();
    }
    // A file that is not there any more, or that is another one by now, as after an update of the package.
    for replaced in [None, Some(10), Some(8 << 20)] {
        let copy = place.join("copy.so");
        std::fs::copy(support::library(), &copy).unwrap();
        let trace = place.join(format!("trace-{replaced:?}"));
        let mut running = Running::start(
            &program,
            traced(&program)
                .env("LD_PRELOAD", &copy)
                .env("ROSTRACE_OUTPUT", &trace),
        );
        running.tell("emit 0");
        std::fs::remove_file(&copy).unwrap();
        if let Some(bytes) = replaced {
            std::fs::write(&copy, vec![0xcc; bytes]).unwrap();
        }
        running.tell("start");
        running.tell("emit 10");
        assert!(running.near().is_empty(), "replaced: {replaced:?}");
        running.end();
        assert_eq!(survey(&trace), (1 + 20, 0), "replaced: {replaced:?}");
    }
}

#[test]
fn what_the_kernel_refuses_costs_no_event() {
    let program = program("refused", FORMS[0].1, &[]);
    for refused in ["no-mprotect", "no-code"] {
        let trace = folder(&format!("near-{refused}")).join("trace");
        let mut running = Running::start(
            &program,
            traced(&program).arg(refused).env("ROSTRACE_OUTPUT", &trace),
        );
        running.tell("start");
        running.tell("emit 10");
        assert!(running.near().is_empty(), "{refused}");
        // Nothing is left of the try.
        let start = running.own_maps()[0].0.start;
        let beside = start - (64 << 20)..start;
        let is_beside = |range: &Range<usize>| beside.contains(&range.start);
        assert!(
            !running.maps().iter().any(|map| is_beside(&map.0)),
            "{refused}"
        );
        running.end();
        assert_eq!(survey(&trace), (1 + 20, 0), "{refused}");
    }
}

#[test]
fn calls_of_another_library_are_left_alone() {
    let place = folder("near-behind");
    std::os::unix::fs::symlink(support::library(), place.join("librostrace_tracer.so")).unwrap();
    let search = format!("-L{}", place.display());
    let run = format!("-Wl,-rpath,{}", place.display());
    let program = program("behind", FORMS[1].1, &[&search, &run, "-lrostrace_tracer"]);
    let trace = place.join("trace");
    let mut running = Running::start(
        &program,
        traced(&program)
            .env("LD_PRELOAD", "")
            // Cargo's would lead to a library of an earlier build.
            .env("LD_LIBRARY_PATH", &place)
            .env("ROSTRACE_OUTPUT", &trace),
    );
    running.tell("start");
    running.tell("emit 10");
    // The tracer looks around, too, but not for them.
    running.tell("user");
    assert!(running.near().is_empty());
    running.end();
    assert_eq!(survey(&trace), (1, 0));
}

/// A libtracetools that says as LTTng does what is recorded, or in a way that is not known.
fn with_lttng(name: &str, options: &[&str]) -> PathBuf {
    let place = folder(&format!("near-lttng-{name}"));
    let mut all = vec!["-shared", "-fPIC"];
    all.extend(options);
    let library = place.join("libtracetools.so");
    support::compile(&support::source("lttng_state.c"), &library, &all, &[]);
    library
}

#[test]
fn lttng_is_called_while_it_records() {
    let program = program("lttng", FORMS[0].1, &[]);
    let library = with_lttng("known", &[]);
    let place = library.parent().unwrap();
    let recorder = Recorder::new(place);
    let mut running = Running::start(
        &program,
        traced(&program)
            .env("LD_LIBRARY_PATH", place)
            .env("ROSTRACE_CONTROL", &recorder.control),
    );
    let started = |(_, calls): (usize, Vec<String>)| {
        calls.iter().filter(|it| *it == "callback_start").count()
    };
    running.tell("start");
    assert_eq!(running.near(), RUNNING);
    assert_eq!(started(running.calls("emit 10")), 0);
    assert_eq!(running.tell("enabled"), 0);
    running.tell("lttng 1");
    assert_eq!(started(running.calls("emit 10")), 10);
    assert_eq!(running.tell("enabled"), 1);
    // Both.
    recorder.file.order(&recorder.order()).unwrap();
    assert_eq!(started(running.calls("emit 10")), 10);
    running.tell("lttng 0");
    assert_eq!(started(running.calls("emit 10")), 0);
    assert_eq!(running.tell("enabled"), 1);
    running.end();
    assert_eq!(survey(&recorder.trace), (1 + 40, 0));
}

#[test]
fn every_call_is_passed_on_where_lttng_looks_otherwise() {
    let program = program("other_lttng", FORMS[0].1, &[]);
    for (name, options) in [
        ("hidden", "-fvisibility=hidden"),
        ("smaller", "-DSIZE=16"),
        ("renamed", "-DEVENT=\"callback_end\""),
    ] {
        let library = with_lttng(name, &[options]);
        every_call_arrives(&program, &library, name, "UNUSED", "1".as_ref());
    }
    let library = with_lttng("wanted", &[]);
    for (variable, value) in [("ROSTRACE", "off"), ("ROSTRACE_LTTNG", "1")] {
        every_call_arrives(&program, &library, variable, variable, value.as_ref());
    }
    // Of two variables with the same name, which one is it?
    let second = with_lttng("second", &[]).with_file_name("libsecond.so");
    std::fs::rename(second.with_file_name("libtracetools.so"), &second).unwrap();
    let mut both = support::library().into_os_string();
    both.push(":");
    both.push(second);
    every_call_arrives(&program, &library, "two", "LD_PRELOAD", &both);
}

/// Also while LTTng seems to record nothing.
fn every_call_arrives(program: &Path, library: &Path, what: &str, variable: &str, value: &OsStr) {
    let mut running = Running::start(
        program,
        traced(program)
            .env("LD_LIBRARY_PATH", library.parent().unwrap())
            .env(variable, value),
    );
    running.tell("start");
    running.tell("lttng 0");
    let (_, calls) = running.calls("emit 10");
    assert_eq!(calls.len(), 20, "{what}: {calls:?}");
    running.end();
}
