//! Asks babeltrace2, if it is installed, what it makes of a trace folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What babeltrace2 printed.
#[derive(Debug)]
pub struct Printed {
    pub lines: Vec<String>,
    pub errors: String,
}

/// Nothing if babeltrace2 is not on the `PATH`. Times are raw cycles, and there are no time differences.
pub fn babeltrace(folder: &Path) -> Option<Printed> {
    let output = Command::new("babeltrace2")
        .args(["--no-delta", "--clock-cycles"])
        .arg(folder)
        .output()
        .ok()?;
    Some(Printed {
        // Bytes that are not UTF-8 are printed as they are.
        lines: (output.stdout.split_inclusive(|byte| *byte == b'\n'))
            .map(|line| {
                String::from_utf8_lossy(line)
                    .trim_end_matches('\n')
                    .to_owned()
            })
            .collect(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// An empty folder for one test, where the build puts its temporary files.
pub fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
