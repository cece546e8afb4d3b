//! What can be recorded on this machine: each check says what it found and, where something is amiss, the line that mends it.

mod lttng;
mod machine;
mod ros;
mod tracer;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::bypass::bypassed;
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

/// Libraries of ROS 2 whose calls cannot all be seen. `functions` are those that libraries call themselves, with the names of these libraries;
/// `subjects` says what is missing without some of them.
pub fn hidden_calls(
    functions: &[(&str, &[&str])],
    subjects: &dyn Fn(&[&str]) -> Option<String>,
) -> Vec<Check> {
    let names: BTreeSet<&str> = functions
        .iter()
        .flat_map(|(_, libraries)| libraries.iter().copied())
        .collect();
    let mut checks = Vec::new();
    for name in names {
        let own = functions.iter().filter(|(_, it)| it.contains(&name));
        let own: Vec<&str> = own.map(|(function, _)| *function).collect();
        for library in ros::libraries(name) {
            let Some(bypassed) = bypassed(&library, &own) else {
                continue;
            };
            let bypassed: Vec<&str> = bypassed.into_iter().collect();
            let place = library.display().to_string();
            checks.push(match subjects(&bypassed) {
                Some(subjects) => Check::new(
                    "ros",
                    place,
                    Verdict::Warning,
                    format!(
                        "{subjects} will not all be seen: it was linked so that its calls cannot be observed. Which thread ran which callback is recorded"
                    ),
                )
                .fix(format!(
                    "link {name} without -Bsymbolic-functions, link-time optimisation and -fno-semantic-interposition to see them"
                )),
                None => Check::new("ros", place, Verdict::Ok, "its calls can be observed"),
            });
        }
    }
    checks
}

/// What processes that run under the tracer say, beside the files: a library may be loaded so that calls go past it.
pub fn process(verdict: Verdict, found: String) -> Check {
    Check::new("tracer", "running processes", verdict, found)
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
