//! Applications say something of themselves, in C, C++ and Rust.

use rostrace_tracer::{Value, counter, instant, ros, span};

use crate::support::{folder, program, python, quietly, record, source, survey, traced};

/// What babeltrace2 shows behind the contexts, in the order of time.
fn events(output: &std::path::Path) -> Option<Vec<String>> {
    let shown = quietly(output)?;
    let own = (shown.events.iter()).filter(|event| event.contains("rostrace:"));
    let texts = own.map(|event| {
        let (head, values) = event.split_once(" }, {").unwrap();
        let name = head.split_once("rostrace:").unwrap().1.split(": {").next();
        format!("{}:{}", name.unwrap(), values.trim_end_matches(" }"))
    });
    Some(texts.collect())
}

const NO_FIELDS: &str = "_integer_names_length = 0, integer_names = [ ], _integers_length = 0, integers = [ ], \
    _real_names_length = 0, real_names = [ ], _reals_length = 0, reals = [ ], _text_names_length = 0, \
    text_names = [ ], _texts_length = 0, texts = [ ]";

fn expected() -> Vec<String> {
    vec![
        format!("instant: name = \"bare\", {NO_FIELDS}"),
        "instant: name = \"full\", _integer_names_length = 2, integer_names = [ [0] = \"obstacles\", [1] = \"lanes\" ], \
         _integers_length = 2, integers = [ [0] = -3, [1] = 4 ], _real_names_length = 1, \
         real_names = [ [0] = \"speed\" ], _reals_length = 1, reals = [ [0] = 2.5 ], _text_names_length = 1, \
         text_names = [ [0] = \"reason\" ], _texts_length = 1, texts = [ [0] = \"blocked\" ]"
            .to_owned(),
        "counter: name = \"queue\", value = 7".to_owned(),
        format!("span_begin: name = \"outer\", span = 1, {NO_FIELDS}")
            .replace(
                "_integer_names_length = 0, integer_names = [ ], _integers_length = 0, integers = [ ]",
                "_integer_names_length = 1, integer_names = [ [0] = \"depth\" ], _integers_length = 1, \
                 integers = [ [0] = 1 ]",
            ),
        format!("span_begin: name = \"inner\", span = 2, {NO_FIELDS}"),
        "span_end: name = \"inner\", span = 2".to_owned(),
        "span_end: name = \"outer\", span = 1".to_owned(),
    ]
}

fn include() -> String {
    format!("-I{}/include", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_program_in_c_says_what_it_does() {
    let output = folder("user-c");
    let program = program("user", "8.2.4", &[&include()]);
    assert!(record(&program, &output, &[]).status.success());
    if let Some(events) = events(&output) {
        assert_eq!(events, expected());
    }
    assert_eq!(survey(&output), (7, 0));
}

#[test]
fn a_program_in_cpp_says_what_it_does() {
    let output = folder("user-cpp");
    let program = program(
        "user",
        "8.2.0",
        &[&include(), "-x", "c++", "-std=c++14", "-fno-exceptions"],
    );
    assert!(record(&program, &output, &[]).status.success());
    let mut expected = expected();
    expected.push(format!(
        "span_begin: name = \"scope\", span = 3, {NO_FIELDS}"
    ));
    expected.push("span_end: name = \"scope\", span = 3".to_owned());
    if let Some(events) = events(&output) {
        assert_eq!(events, expected);
    }
}

#[test]
fn a_program_in_python_says_what_it_does() {
    let Some(python) = python() else {
        return;
    };
    let output = folder("user-python");
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
    let run = |command: &mut std::process::Command| {
        command
            .arg(source("user.py"))
            .env("PYTHONPATH", module)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap()
    };
    let result = run(traced(python).env("ROSTRACE_OUTPUT", &output));
    assert!(result.status.success(), "{result:?}");
    if let Some(events) = events(&output) {
        assert_eq!(events, expected());
    }
    let alone = run(&mut std::process::Command::new(python));
    assert!(alone.status.success(), "{alone:?}");
}

/// A program with a copy of the tracer in it.
#[test]
#[ignore = "the next test runs it in a process of its own"]
fn says_what_it_does_in_rust() {
    instant("bare", &[]);
    let fields = [
        ("obstacles", Value::Integer(-3)),
        ("speed", Value::Real(2.5)),
        ("reason", Value::Text("blocked")),
        ("lanes", Value::Integer(4)),
    ];
    instant("full", &fields);
    counter("queue", 7.0);
    let _outer = span("outer", &[("depth", Value::Integer(1))]);
    drop(span("inner", &[]));
    ros::callback_end(std::ptr::null());
}

#[test]
fn a_program_in_rust_is_recorded_once_also_with_the_library_preloaded() {
    for is_preloaded in [false, true] {
        let output = folder(&format!("user-rust-{is_preloaded}"));
        let mut command = traced(&std::env::current_exe().unwrap());
        if !is_preloaded {
            command.env_remove("LD_PRELOAD");
        }
        let result = command
            .args([
                "--ignored",
                "--exact",
                "user_events::says_what_it_does_in_rust",
            ])
            .env("ROSTRACE_OUTPUT", &output)
            .output()
            .unwrap();
        assert!(result.status.success(), "{result:?}");
        if let Some(events) = events(&output) {
            assert_eq!(events, expected());
        }
        // With the tracepoint of a client library.
        assert_eq!(survey(&output), (8, 0));
        assert_eq!(std::fs::read_dir(&output).unwrap().count(), 1);
    }
}

#[test]
fn without_the_library_the_program_runs_as_it_is() {
    let program = program("user", "8.2.2", &[&include()]);
    let mut command = std::process::Command::new(program);
    assert!(command.env("LD_PRELOAD", "").status().unwrap().success());
}
