//! What the tests of the program share: how it is started, the recordings, and a trace made by hand.

// Each test file uses its own part of this.
#![allow(dead_code, unreachable_pub)]

pub mod http;
pub mod place;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// The program, with a fixed time zone and without what the tester's terminal wants.
pub fn rostrace(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("rostrace").unwrap();
    command
        .args(arguments)
        .env("TZ", "UTC")
        .env_remove("NO_COLOR");
    command
}

/// Starts a pipe-friendly process, for tests that talk to it while it runs.
pub fn spawn(arguments: &[&str]) -> std::process::Child {
    std::process::Command::new(assert_cmd::cargo::cargo_bin("rostrace"))
        .args(arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

pub fn recording(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata")
        .join(name);
    path.to_str().unwrap().to_owned()
}

/// The folder of larger recordings, `shared/traces`. Says so loudly if there is none.
pub fn shared_recordings() -> Option<PathBuf> {
    rostrace_testkit::recordings::shared_folder("traces")
}

/// Compares with a file in `tests/expected` that was reviewed by eye. `ROSTRACE_BLESS=1` writes it anew: look at the difference.
pub fn assert_expected(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/expected")
        .join(name);
    if std::env::var_os("ROSTRACE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(
        expected == found,
        "{name} differs (ROSTRACE_BLESS=1 writes it anew)\n--- expected\n{expected}\n--- found\n{found}"
    );
}

/// Standard output, after the exit status was checked.
pub fn stdout_of(arguments: &[&str], status: i32) -> String {
    let output = rostrace(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Standard error of a command that must end with this status.
pub fn stderr_of(arguments: &[&str], status: i32) -> String {
    let output = rostrace(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A folder with a trace of two events, made by hand for what no recording shows.
#[derive(Debug)]
pub struct HandMade {
    folder: tempfile::TempDir,
}

/// `NAME` stands for the event's name.
const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 8; align = 8; signed = true; } := int8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
    major = 1; minor = 8; byte_order = le;
    packet.header := struct { uint32_t magic; };
};
env { hostname = "robot"; tracer_name = "by hand"; };
clock { name = "clock"; freq = 1000000000; offset_s = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.clock.value; } := time_t;
stream {
    packet.context := struct { time_t timestamp_begin; time_t timestamp_end; uint32_t cpu_id; };
    event.header := struct { time_t timestamp; };
    event.context := struct { uint32_t vpid; string procname; };
};
event {
    name = "NAME";
    fields := struct {
        uint64_t big;
        int8_t small;
        floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = le; } number;
        enum kind : uint8_t { one = 1, few = 1 ... 3 } kind;
        string text;
        struct { uint8_t x; uint8_t list[2]; } inner;
    };
};
"#;

impl HandMade {
    pub const BEGIN: i64 = 1_000_000_000_000_000_000;

    /// The strings go into the trace as they are.
    pub fn new(event_name: &str, process_name: &[u8], text: &[u8]) -> HandMade {
        let folder = tempfile::tempdir().unwrap();
        let metadata = METADATA.replace("NAME", event_name);
        std::fs::write(folder.path().join("metadata"), metadata).unwrap();
        let mut bytes = Vec::new();
        bytes.extend(0xC1FC_1FC1u32.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.extend(3_000_000_000u64.to_le_bytes());
        bytes.extend(5u32.to_le_bytes());
        for (time, vpid, number) in [
            (1_000_000_000u64, 41u32, f64::NAN),
            (2_000_000_000, 42, 0.5),
        ] {
            bytes.extend(time.to_le_bytes());
            bytes.extend(vpid.to_le_bytes());
            bytes.extend(process_name);
            bytes.push(0);
            bytes.extend(u64::MAX.to_le_bytes());
            bytes.push(0xFF);
            bytes.extend(number.to_le_bytes());
            bytes.push(1);
            bytes.extend(text);
            bytes.push(0);
            bytes.extend([7, 8, 9]);
        }
        std::fs::write(folder.path().join("stream"), bytes).unwrap();
        HandMade { folder }
    }

    pub fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
