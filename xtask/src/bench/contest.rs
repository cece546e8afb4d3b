//! Who runs against whom, declared once.
//!
//! A contest is one task. Its first program is the base that the others are compared with; `cat` is the limit, as
//! no reader can be faster than reading. Whether the answers are right is checked first, see `answer`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::measure::Program;

pub(super) struct Contest {
    pub(super) title: &'static str,
    entries: &'static [Contestant],
}

struct Contestant {
    name: &'static str,
    program: Which,
    arguments: &'static [&'static str],
    input: Input,
    answer: Answer,
}

/// What a program must print to take part: being fast at the wrong answer is not a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Not looked at: the base, and the limit.
    Any,
    /// Something at all, where every program has its own form.
    NotEmpty,
    /// Byte for byte what the base prints.
    SameAsBase,
}

enum Which {
    /// The release build of this repository.
    Ours,
    Installed(&'static str),
}

enum Input {
    TraceFolder,
    StreamFiles,
}

const fn ours(
    name: &'static str,
    arguments: &'static [&'static str],
    answer: Answer,
) -> Contestant {
    Contestant {
        name,
        program: Which::Ours,
        arguments,
        input: Input::TraceFolder,
        answer,
    }
}

/// A program whose answer is not looked at.
const fn installed(
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    input: Input,
) -> Contestant {
    Contestant {
        name,
        program: Which::Installed(program),
        arguments,
        input,
        answer: Answer::Any,
    }
}

/// Every event is decoded, and nothing is printed.
const BABELTRACE_DUMMY: Contestant = installed(
    "babeltrace2 -o dummy",
    "babeltrace2",
    &["-o", "dummy"],
    Input::TraceFolder,
);

const CAT: Contestant = installed("cat", "cat", &[], Input::StreamFiles);

#[rustfmt::skip]
pub(super) const CONTESTS: &[Contest] = &[
    Contest {
        title: "Print every event as text",
        entries: &[
            installed("babeltrace2", "babeltrace2", &[], Input::TraceFolder),
            ours("rostrace dump", &["dump"], Answer::SameAsBase),
            CAT,
        ],
    },
    Contest {
        title: "Read every event, print nothing but counts",
        entries: &[
            BABELTRACE_DUMMY,
            ours("rostrace info", &["info", "--format", "json"], Answer::NotEmpty),
            CAT,
        ],
    },
    Contest {
        title: "Know every node, callback and message",
        entries: &[
            BABELTRACE_DUMMY,
            ours("rostrace callbacks", &["callbacks", "--format", "json"], Answer::NotEmpty),
            CAT,
        ],
    },
];

impl Contest {
    pub(super) fn programs(&self, ours: &Path, trace: &Path, files: &[PathBuf]) -> Vec<Program> {
        let program = |entry: &Contestant| {
            let mut arguments: Vec<OsString> = entry.arguments.iter().map(OsString::from).collect();
            match entry.input {
                Input::TraceFolder => arguments.push(trace.into()),
                Input::StreamFiles => arguments.extend(files.iter().map(OsString::from)),
            }
            let path = match entry.program {
                Which::Ours => ours.to_owned(),
                Which::Installed(name) => PathBuf::from(name),
            };
            Program {
                answer: entry.answer,
                ..Program::new(entry.name, path, arguments)
            }
        };
        self.entries.iter().map(program).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contest_has_a_base_one_of_ours_and_the_limit() {
        let files = [PathBuf::from("/t/ros2_0"), PathBuf::from("/t/ros2_1")];
        for contest in CONTESTS {
            let programs = contest.programs(Path::new("/bin/rostrace"), Path::new("/t"), &files);
            assert_ne!(
                programs[0].path,
                Path::new("/bin/rostrace"),
                "{}",
                contest.title
            );
            assert!(
                programs
                    .iter()
                    .any(|program| program.path == Path::new("/bin/rostrace"))
            );
            let limit = programs.last().unwrap();
            assert_eq!((limit.name, limit.arguments.len()), ("cat", 2));
        }
    }
}
