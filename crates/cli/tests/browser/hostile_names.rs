//! Names that want to be something else: markup, quotes, text from right to left, 5 000 letters.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::browser::driver::Browser;
use crate::support;

const HOSTILE: &[&str] = &[
    "</script><script>window.harmed=true</script>",
    "<img src=x onerror=\"window.harmed=true\">",
    "a\"b'c`d${window.harmed=true}&amp;&lt;\\u0022",
    "\u{202e}gnirts \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{627}\u{644}\u{639}\u{631}\u{628}",
    "=cmd|' /C calc'!A0,\"x\"\n%3Cscript%3E",
];

/// A recording of two nodes, a topic and a symbol with this name.
fn recording(folder: &Path, name: &str) -> std::path::PathBuf {
    let program = folder.join("named");
    let library = folder.join("libtracetools.so");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let compile = |options: &[&str], result: &Path, sources: &[&Path]| {
        let mut command = Command::new("cc");
        command.args(options).arg("-o").arg(result).args(sources);
        assert!(command.status().unwrap().success());
    };
    let stand_in = sources.join("tracetools.c");
    compile(&["-shared", "-fPIC"], &library, &[&stand_in]);
    let search = format!("-Wl,-rpath,{}", folder.display());
    compile(&[&search], &program, &[&sources.join("named.c"), &library]);
    let trace = folder.join("trace");
    let recorded = Command::new(env!("CARGO_BIN_EXE_rostrace"))
        .args(["record", "--no-report", "-o"])
        .arg(&trace)
        .arg("--")
        .arg(&program)
        .args([name, &format!("/{name}"), name])
        .env("XDG_RUNTIME_DIR", folder)
        .output()
        .unwrap();
    assert!(
        recorded.status.success(),
        "{}",
        String::from_utf8_lossy(&recorded.stderr)
    );
    trace
}

#[test]
fn names_do_no_harm() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let long = "x".repeat(5000);
    for name in HOSTILE.iter().copied().chain([long.as_str()]) {
        let folder = tempfile::tempdir().unwrap();
        let trace = recording(folder.path(), name);
        let page = folder.path().join("report.html");
        let written = support::rostrace(&[
            "report",
            trace.to_str().unwrap(),
            "-o",
            page.to_str().unwrap(),
            "--title",
            name,
        ]);
        assert!({ written }.output().unwrap().status.success());
        browser.open_file(&page, "overview");
        browser.wait("document.getElementById('main').dataset.ready === 'overview'");
        for place in [
            "overview",
            "graph",
            "callbacks",
            "callbacks/0",
            "topics",
            "topics/0",
            "nodes/0",
            "paths",
            "paths/0",
            "processes",
            "schedule",
        ] {
            browser.go(place);
            assert_eq!(
                browser.value("window.harmed === undefined"),
                json!(true),
                "{name} in {place}"
            );
            assert_eq!(
                browser.value("document.querySelectorAll('#main script, #main img[src=x]').length"),
                json!(0),
                "{name} in {place}"
            );
            assert_eq!(
                browser.value("document.documentElement.scrollWidth <= innerWidth"),
                json!(true),
                "{name} in {place}"
            );
            assert_eq!(
                browser.problems(),
                Vec::<String>::new(),
                "{name} in {place}"
            );
        }
        // It is there, letter by letter, where there is room for it; the tracer records no text that is longer than its buffer for one event.
        let name: String = name.chars().take(1000).collect();
        browser.go("callbacks/0");
        assert_eq!(
            browser.value(&format!(
                "document.querySelector('#main').textContent.includes({})",
                json!(name)
            )),
            json!(true),
            "{name}"
        );
    }
}
