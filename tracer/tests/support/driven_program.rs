//! A program that does what it is told, line by line, and answers each line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The program while it waits for its next line.
#[derive(Debug)]
pub struct DrivenProgram {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl DrivenProgram {
    pub fn start(command: &mut Command) -> DrivenProgram {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        DrivenProgram { child, output }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The answer, and the lines before it that are none.
    pub fn tell<T>(&mut self, line: &str, parse: impl Fn(&str) -> Option<T>) -> (T, Vec<String>) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        let mut others = Vec::new();
        loop {
            let mut answer = String::new();
            let read = self.output.read_line(&mut answer).unwrap();
            assert!(read > 0, "it ended when it was told `{line}`");
            match parse(answer.trim_end()) {
                Some(answer) => return (answer, others),
                None => others.push(answer.trim_end().to_owned()),
            }
        }
    }

    pub fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}
