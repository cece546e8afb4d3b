//! CARET's filter file: a shell script that does nothing but export its variables.
//!
//! No shell is run. Assignments, quotes, continued lines, comments and the values of other variables are understood, and everything
//! else is refused with its line: a script that does more would not do here what it does there.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

use crate::error::Error;
use crate::filter;

/// The variables that a file sets. `variable` has those that are set already.
pub fn read(
    path: &Path,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, Error> {
    let text = std::fs::read_to_string(path).map_err(|cause| Error::File {
        path: path.to_owned(),
        cause,
    })?;
    parse(&text, variable).map_err(|(line, reason)| Error::FilterFile {
        path: path.to_owned(),
        line,
        reason,
    })
}

/// A line, counted from one, and what is wrong there.
type Complaint = (usize, String);

fn parse(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, Complaint> {
    let mut set = BTreeMap::new();
    let mut reader = Reader {
        rest: text.chars().peekable(),
        line: 1,
    };
    while reader.rest.peek().is_some() {
        let line = reader.line;
        let value_of = |name: &str| set.get(name).cloned().or_else(|| variable(name));
        let words = reader.command(&value_of)?;
        let assignments = match words.split_first() {
            Some((first, others)) if first == "export" => others,
            _ => &words[..],
        };
        for word in assignments {
            let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) else {
                // Of a variable that was set before.
                if assignments.len() < words.len() && is_name(word) {
                    continue;
                }
                let reason = format!(
                    "`{}` is not understood: no shell is run, and only lines of the form `export NAME=value` are read",
                    words.join(" ")
                );
                return Err((line, reason));
            };
            if name.starts_with("CARET_") && !filter::VARIABLES.contains(&name) {
                let known = filter::VARIABLES.join(", ");
                return Err((line, format!("{name} is none of CARET's filters: {known}")));
            }
            if value.contains('\n') {
                let reason = format!(
                    "the value of {name} goes over several lines; end them with a backslash"
                );
                return Err((line, reason));
            }
            set.insert(name.to_owned(), value.to_owned());
        }
    }
    Ok(set)
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(is_in_name)
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.next();
        if c == Some('\n') {
            self.line += 1;
        }
        c
    }

    /// The words of one command, up to the end of its line or a `;`.
    fn command(
        &mut self,
        value_of: &impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<String>, Complaint> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        loop {
            let line = self.line;
            let Some(c) = self.next() else { break };
            match c {
                '\n' | ';' => break,
                ' ' | '\t' | '\r' => words.extend(word.take()),
                '#' if word.is_none() => {
                    while self.rest.peek().is_some_and(|c| *c != '\n') {
                        self.next();
                    }
                }
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => word.get_or_insert_default().push(c),
                },
                '\'' => {
                    let word = word.get_or_insert_default();
                    loop {
                        match self.next() {
                            Some('\'') => break,
                            Some(c) => word.push(c),
                            None => return Err((line, "a quote is not closed".to_owned())),
                        }
                    }
                }
                '"' => self.quoted(line, word.get_or_insert_default(), value_of)?,
                '$' => self.value(word.get_or_insert_default(), value_of)?,
                '`' | '|' | '&' | '<' | '>' | '(' | ')' => {
                    let reason = format!(
                        "`{c}` means something to a shell, which is not run; put the value into quotes"
                    );
                    return Err((line, reason));
                }
                c => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        Ok(words)
    }

    /// Up to the closing quote.
    fn quoted(
        &mut self,
        line: usize,
        word: &mut String,
        value_of: &impl Fn(&str) -> Option<String>,
    ) -> Result<(), Complaint> {
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('\n') | None => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                    // Other backslashes stay: expressions have them.
                    Some(c) => word.extend(['\\', c]),
                },
                Some('$') => self.value(word, value_of)?,
                Some('`') => {
                    return Err((self.line, "no command is run for a value".to_owned()));
                }
                Some(c) => word.push(c),
                None => return Err((line, "a quote is not closed".to_owned())),
            }
        }
    }

    /// What follows a `$`: the name of a variable, or nothing, as at the end of an expression.
    fn value(
        &mut self,
        word: &mut String,
        value_of: &impl Fn(&str) -> Option<String>,
    ) -> Result<(), Complaint> {
        let is_braced = self.rest.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(c) = self.rest.next_if(|c| is_in_name(*c)) {
            name.push(c);
        }
        let is_closed = !is_braced || self.rest.next_if_eq(&'}').is_some();
        if self.rest.peek() == Some(&'(') && name.is_empty() {
            return Err((self.line, "no command is run for a value".to_owned()));
        }
        match (is_braced, name.is_empty()) {
            (false, true) => word.push('$'),
            _ if is_closed && is_name(&name) => word.push_str(&value_of(&name).unwrap_or_default()),
            _ => {
                let reason =
                    format!("`${{{name}…` is not understood: only `$NAME` and `${{NAME}}` are");
                return Err((self.line, reason));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        let set = parse(text, |name| (name == "OUTSIDE").then(|| "/out".to_owned())).unwrap();
        set.get("CARET_IGNORE_NODES").cloned().unwrap_or_default()
    }

    #[test]
    fn values_are_what_a_shell_would_export() {
        for (text, expected) in [
            ("export CARET_IGNORE_NODES=/a:/b", "/a:/b"),
            (
                "#!/bin/bash\n\n# all\nexport CARET_IGNORE_NODES=\"/a:/b\" # two\n",
                "/a:/b",
            ),
            (
                "export CARET_IGNORE_NODES=\\\n\"\\\n/rviz*:\\\n/caret_*\\\n\"\n",
                "/rviz*:/caret_*",
            ),
            (
                "CARET_IGNORE_NODES='^/a$'\r\nexport CARET_IGNORE_NODES\r\n",
                "^/a$",
            ),
            (
                "export CARET_IGNORE_NODES=\"^/a$:^/b\\.c$\"",
                "^/a$:^/b\\.c$",
            ),
            (
                "export CARET_IGNORE_NODES=/a; export CARET_IGNORE_NODES=\"${CARET_IGNORE_NODES}:/b\"",
                "/a:/b",
            ),
            ("export CARET_IGNORE_NODES=$OUTSIDE:$NOT_SET/x", "/out:/x"),
            ("export OTHER=1 CARET_IGNORE_NODES=/a", "/a"),
            ("\texport CARET_IGNORE_NODES=\"a\\\"b\"c'd e'", "a\"bcd e"),
            ("export CARET_IGNORE_NODES=", ""),
            ("", ""),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_a_shell_understands_is_refused_with_its_line() {
        for (text, line, words) in [
            (
                "\n\nsource other.bash\n",
                3,
                "`source other.bash` is not understood",
            ),
            ("if true", 1, "not understood"),
            (
                "export CARET_IGNORE_NODES=\\\n\\\n$(cat list)",
                3,
                "no command is run",
            ),
            (
                "\nexport CARET_IGNORE_NODES=\"`cat list`\"",
                2,
                "no command is run",
            ),
            ("export CARET_IGNORE_NODES=${A:-b}", 1, "only `$NAME`"),
            (
                "export CARET_IGNORE_NODES=a|b",
                1,
                "put the value into quotes",
            ),
            (
                "\nexport CARET_IGNORE_NODES=\"a\n\n",
                2,
                "a quote is not closed",
            ),
            ("export CARET_IGNORE_NODES='a", 1, "a quote is not closed"),
            ("export CARET_IGNORE_NODES=\"a\nb\"", 1, "several lines"),
            (
                "export A=1\nexport CARET_IGNORE_NODE=/a",
                2,
                "CARET_IGNORE_NODE is none",
            ),
            ("export 1A=2", 1, "not understood"),
        ] {
            let (at, reason) = parse(text, |_| None).unwrap_err();
            assert!(
                at == line && reason.contains(words),
                "{text}: {at}: {reason}"
            );
        }
    }

    #[test]
    fn any_text_is_read_without_harm() {
        let text = "export CARET_IGNORE_NODES=\"a\\\n$B${C}\"'d'\\e # f\n;";
        for from in 0..text.len() {
            for to in from..text.len() {
                let _ = parse(&text[from..to], |_| None);
            }
        }
    }
}
