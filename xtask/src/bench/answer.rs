//! Whether the programs of a contest give the right answer, before anybody asks how fast.
//!
//! Checked once, on the recording as it is: what is printed goes through a hash, not into memory.

use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::process::Stdio;

use anyhow::{Context, Result};

use super::contest::Answer;
use super::measure::Program;

#[derive(Debug, PartialEq, Eq)]
struct Printed {
    bytes: u64,
    hash: u64,
}

/// For each program a sentence if its answer is wrong. The first program is the base.
pub(super) fn wrong(programs: &[Program]) -> Result<Vec<Option<String>>> {
    let mut base = None;
    let mut sentences = Vec::new();
    for program in programs {
        let sentence = match program.answer {
            Answer::Any => None,
            Answer::NotEmpty => (printed(program)?.bytes == 0).then(|| "prints nothing".to_owned()),
            Answer::SameAsBase => {
                let expected = match &base {
                    Some(printed) => printed,
                    None => base.insert(printed(&programs[0])?),
                };
                let found = printed(program)?;
                (found != *expected).then(|| {
                    format!(
                        "prints something else ({} bytes) than {} ({} bytes)",
                        found.bytes, programs[0].name, expected.bytes
                    )
                })
            }
        };
        sentences.push(sentence);
    }
    Ok(sentences)
}

fn printed(program: &Program) -> Result<Printed> {
    let mut child = program
        .command()
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{} could not be started", program.name))?;
    let mut output = child.stdout.take().context("the output is piped")?;
    let mut buffer = vec![0; 1 << 16];
    let mut hasher = DefaultHasher::new();
    let mut bytes = 0;
    loop {
        let length = output.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        hasher.write(&buffer[..length]);
        bytes += length as u64;
    }
    child.wait()?;
    Ok(Printed {
        bytes,
        hash: hasher.finish(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printing(text: &str, answer: Answer) -> Program {
        Program {
            name: "printf",
            path: "printf".into(),
            arguments: vec![text.into()],
            answer,
            output: None,
        }
    }

    #[test]
    fn an_answer_that_differs_from_the_base_is_wrong() {
        let programs = [
            printing("one", Answer::Any),
            printing("one", Answer::SameAsBase),
            printing("two", Answer::SameAsBase),
            printing("", Answer::SameAsBase),
        ];
        let wrong = wrong(&programs).unwrap();
        assert_eq!(wrong[..2], [None, None]);
        assert_eq!(
            wrong[2].as_deref(),
            Some("prints something else (3 bytes) than printf (3 bytes)")
        );
        assert!(wrong[3].is_some());
    }

    #[test]
    fn printing_nothing_is_no_answer() {
        let wrong = wrong(&[
            printing("", Answer::NotEmpty),
            printing("{}", Answer::NotEmpty),
        ])
        .unwrap();
        assert_eq!(wrong, [Some("prints nothing".to_owned()), None]);
    }
}
