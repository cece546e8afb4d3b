//! The folder `shared` beside the repository, with files that CARET itself wrote. Tests that want it do nothing
//! without it, and say so.

use std::path::PathBuf;

/// All architecture files there; none if the folder is not on this machine.
pub(crate) fn architecture_files() -> Vec<PathBuf> {
    let Some(folder) = rostrace_testkit::recordings::shared("traces") else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for family in ["jazzy", "humble", "public"] {
        let recordings = std::fs::read_dir(folder.join("traces").join(family));
        for recording in recordings.into_iter().flatten().flatten() {
            for name in ["architecture.yaml", "edited_architecture.yaml"] {
                let file = recording.path().join("expected").join(name);
                if file.is_file() {
                    files.push(file);
                }
            }
        }
    }
    files.sort();
    assert!(
        files.len() > 20,
        "only {} architecture files in {}",
        files.len(),
        folder.display()
    );
    files
}

pub(crate) fn first_difference(one: &str, other: &str) -> String {
    for (number, (left, right)) in one.lines().zip(other.lines()).enumerate() {
        if left != right {
            return format!("line {}:\n- {left}\n+ {right}", number + 1);
        }
    }
    format!(
        "{} lines, {} lines",
        one.lines().count(),
        other.lines().count()
    )
}

/// Numbers below a limit, the same in every run.
pub fn random_numbers(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    }
}
