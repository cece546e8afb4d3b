//! What can be recorded on this machine: each check says what it found and, where something is amiss, the line that mends it.

mod lttng;
mod machine;
mod ros;
mod tracer;

use serde::Serialize;

use crate::error::Error;
use crate::library::TracerLibrary;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    /// Recording works, but something is not as good as it could be.
    Warning,
    /// Something is not there that only some recordings need.
    Missing,
    /// Nothing can be recorded.
    Broken,
}

/// One line of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// `tracer`, `ros`, `lttng`, `machine`.
    pub group: &'static str,
    pub name: String,
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to type or to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Check {
    fn new(
        group: &'static str,
        name: impl Into<String>,
        verdict: Verdict,
        found: impl Into<String>,
    ) -> Check {
        Check {
            group,
            name: name.into(),
            verdict,
            found: found.into(),
            fix: None,
        }
    }

    fn fix(mut self, fix: impl Into<String>) -> Check {
        self.fix = Some(fix.into());
        self
    }
}

/// All checks, the most important first; `library` is what [`crate::TracerLibrary::find`] says.
pub fn checks(library: &Result<TracerLibrary, Error>) -> Vec<Check> {
    let mut checks = tracer::checks(library);
    checks.extend(ros::checks());
    checks.extend(machine::checks());
    checks.extend(lttng::checks());
    checks
}

/// Whether anything can be recorded.
pub fn can_record(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.verdict != Verdict::Broken)
}

/// A program in the folders of PATH.
fn program(name: &str) -> Option<std::path::PathBuf> {
    let search = std::env::var_os("PATH")?;
    std::env::split_paths(&search)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
