//! What is in the folder afterwards: complete files or those from before, whatever goes wrong.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::export::{exported, files};
use crate::support::{Folder, Says, recording, spawn, stderr_of};

#[test]
fn files_of_the_same_name_are_replaced_and_others_are_left_alone() {
    let folder = Folder::new();
    folder.write("deliveries.csv", "old");
    folder.write("notes.txt", "mine");
    let trace = recording("pingpong");
    let export = [
        "export",
        &trace,
        "--tables",
        "deliveries",
        "-o",
        folder.here(),
    ];
    stderr_of(&export, 0);
    let files = files(folder.path());
    assert!(files.keys().eq(["deliveries.csv", "notes.txt"]));
    assert!(files["deliveries.csv"].len() > 1_000);
    assert_eq!(files["notes.txt"], b"mine");
}

#[test]
fn where_no_file_can_be_made_that_is_said() {
    let trace = recording("pingpong");
    // A folder in which not even root can make files.
    let error = stderr_of(&["export", &trace, "-o", "/proc"], 1);
    error.says("/proc: no file can be made in this folder");
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let error = stderr_of(&["export", &trace, "-o", path], 1);
    error.says("this is a file, not a folder");
}

#[test]
fn an_export_that_fails_leaves_everything_as_it_was() {
    for format in ["csv", "json", "parquet", "arrow"] {
        let folder = Folder::new();
        let old = folder.write(&format!("deliveries.{format}"), "old");
        // Files may have 8 KiB at most, and who writes more gets an error instead of being killed.
        let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
        for target in [folder.path().to_owned(), folder.join("new/inner")] {
            let output = std::process::Command::new("sh")
                .args(["-c", script])
                .arg(assert_cmd::cargo::cargo_bin("rostrace"))
                .args(["export", &recording("pingpong"), "--format", format, "-o"])
                .arg(target)
                .output()
                .unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{error}");
            error.says("cannot be written: File too large");
        }
        let files = files(folder.path());
        assert_eq!(files.len(), 1, "{:?}", files.keys());
        assert_eq!(fs::read(&old).unwrap(), b"old");
    }
}

#[test]
fn an_export_that_is_stopped_shows_no_partial_file() {
    let complete = files(exported("lossy", "", 3).path());
    for (signal, waits) in [("INT", [1, 20, 60, 120]), ("KILL", [5, 30, 80, 150])] {
        for wait in waits {
            let folder = Folder::new();
            let mut child = spawn(&["export", &recording("lossy"), "-o", folder.here()]);
            std::thread::sleep(Duration::from_millis(wait));
            let kill = format!("kill -{signal} {}", child.id());
            let _ = std::process::Command::new("sh")
                .args(["-c", &kill])
                .output();
            let status = child.wait().unwrap();
            for (name, bytes) in files(folder.path()) {
                // Who is killed cannot clean up, but what is left is hidden.
                if signal == "KILL" && name.starts_with(".rostrace-") {
                    continue;
                }
                assert!(bytes == complete[&name], "{name} after {wait} ms, {status}");
            }
        }
    }
}

#[test]
fn the_guide_lists_the_files_that_are_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_to_string(root.join("docs/guides/export.md")).unwrap();
    let (_, listing) = guide.split_once("$ ls tables\n").unwrap();
    let (listing, _) = listing.split_once("\n…\n").unwrap();
    let folder = exported("pingpong", "--format parquet", 0);
    let written: Vec<String> = files(folder.path()).into_keys().collect();
    let shown: Vec<&str> = listing.lines().collect();
    assert_eq!(written[..shown.len()], shown);
}
