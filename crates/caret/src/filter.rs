//! CARET's filters, `CARET_SELECT_NODES` and its kin: variables of the environment, or of its filter file ([`crate::filter_file`]).
//!
//! They are lists of regular expressions that are searched in names. The tracer knows `*` and `?` only, so expressions that mean
//! the same as such patterns are translated and all others are refused: recording something else silently would be worse.

use rostrace_session::Filters;

use crate::error::Error;

/// All that CARET heeds.
pub const VARIABLES: [&str; 5] = [
    "CARET_SELECT_NODES",
    "CARET_IGNORE_NODES",
    "CARET_SELECT_TOPICS",
    "CARET_IGNORE_TOPICS",
    "CARET_IGNORE_PROCESSES",
];

/// An expression may stand for so many patterns.
const MOST_ALTERNATIVES: usize = 64;

/// What the environment asks for, and the variables that are set.
pub fn from_environment(
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(Filters, Vec<&'static str>), Error> {
    let mut filters = Filters::default();
    let mut set = Vec::new();
    let lists = [
        &mut filters.select_nodes,
        &mut filters.ignore_nodes,
        &mut filters.select_topics,
        &mut filters.ignore_topics,
        &mut filters.ignore_processes,
    ];
    for (name, list) in VARIABLES.into_iter().zip(lists) {
        let Some(value) = variable(name).filter(|value| !value.is_empty()) else {
            continue;
        };
        set.push(name);
        let mut patterns = Vec::new();
        for expression in value.split(':').filter(|expression| !expression.is_empty()) {
            let translated = translate(expression).map_err(|reason| Error::Expression {
                variable: name,
                expression: expression.to_owned(),
                reason,
            })?;
            patterns.extend(translated);
        }
        *list = patterns.join(":").into_bytes();
    }
    Ok((filters, set))
}

/// The patterns that fit the same names as an expression that is searched in them.
fn translate(expression: &str) -> Result<Vec<String>, &'static str> {
    if expression == "*" {
        return Ok(vec!["*".to_owned()]);
    }
    let mut patterns = Vec::new();
    for alternative in alternatives(expression)? {
        patterns.push(pattern(&alternative)?);
        if patterns.len() > MOST_ALTERNATIVES {
            return Err("it stands for too many names");
        }
    }
    Ok(patterns)
}

/// Multiplies out `(a|b)`, also nested.
fn alternatives(expression: &str) -> Result<Vec<String>, &'static str> {
    let mut results = vec![String::new()];
    let mut done = Vec::new();
    let mut rest = expression.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                let next = rest.next().ok_or("it ends with a backslash")?;
                results.iter_mut().for_each(|it| it.extend([c, next]));
            }
            '|' => {
                done.append(&mut results);
                results = vec![String::new()];
            }
            '(' => {
                let mut depth = 1;
                let mut inner = String::new();
                loop {
                    let c = rest.next().ok_or("a parenthesis is not closed")?;
                    match c {
                        '\\' => {
                            inner.push(c);
                            inner.push(rest.next().ok_or("it ends with a backslash")?);
                            continue;
                        }
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    inner.push(c);
                }
                let inner = alternatives(inner.strip_prefix("?:").unwrap_or(&inner))?;
                if results.len() * inner.len() > MOST_ALTERNATIVES {
                    return Err("it stands for too many names");
                }
                results = results
                    .iter()
                    .flat_map(|before| inner.iter().map(move |it| format!("{before}{it}")))
                    .collect();
                if matches!(rest.clone().next(), Some('*' | '+' | '?' | '{')) {
                    return Err("a repeated group cannot be written with * and ?");
                }
            }
            ')' => return Err("a parenthesis is not opened"),
            _ => results.iter_mut().for_each(|it| it.push(c)),
        }
    }
    done.append(&mut results);
    Ok(done)
}

/// One expression without alternatives.
fn pattern(expression: &str) -> Result<String, &'static str> {
    let anchored = expression.strip_prefix('^');
    let mut pattern = match anchored {
        Some(_) => String::new(),
        None => "*".to_owned(),
    };
    let mut rest = anchored.unwrap_or(expression).chars().peekable();
    let mut is_ended = false;
    while let Some(c) = rest.next() {
        if is_ended {
            return Err("something follows the end of the name");
        }
        let literal = match c {
            '$' => {
                is_ended = true;
                continue;
            }
            '.' => None,
            '\\' => match rest.next() {
                Some(c) if c.is_alphanumeric() => {
                    return Err("classes of characters cannot be written with * and ?");
                }
                next => Some(next.ok_or("it ends with a backslash")?),
            },
            '[' => return Err("classes of characters cannot be written with * and ?"),
            '^' => return Err("something precedes the beginning of the name"),
            '*' | '+' | '?' | '{' => return Err("nothing precedes the repetition"),
            c => Some(c),
        };
        match (literal, rest.peek().copied()) {
            (None, Some('*')) => pattern.push('*'),
            (None, Some('+')) => pattern.push_str("?*"),
            // Searched for, not compared: whatever may or may not come last makes no difference.
            (Some(c), Some(repetition @ ('*' | '?' | '+')))
                if !matches!(c, '*' | '?') && is_last(rest.clone()) =>
            {
                if repetition == '+' {
                    pattern.push(c);
                }
                rest.next();
                break;
            }
            (_, Some('*' | '+' | '?' | '{')) => {
                return Err("repeated characters cannot be written with * and ?");
            }
            (Some('*' | '?'), _) => return Err("* and ? are no part of names"),
            (Some(c), _) => {
                pattern.push(c);
                continue;
            }
            (None, _) => {
                pattern.push('?');
                continue;
            }
        }
        rest.next();
    }
    if !is_ended && !pattern.ends_with('*') {
        pattern.push('*');
    }
    Ok(pattern)
}

/// Whether nothing follows the repetition that comes next.
fn is_last(mut rest: std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    rest.next();
    rest.peek().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_become_patterns_that_fit_the_same_names() {
        for (expression, patterns) in [
            ("*", "*"),
            ("/rviz2", "*/rviz2*"),
            ("^/rviz2$", "/rviz2"),
            ("^/sensing/.*", "/sensing/*"),
            (".*points", "**points*"),
            ("^/a.c$", "/a?c"),
            ("^/a\\.c$", "/a.c"),
            ("^/x.+$", "/x?*"),
            ("^/(left|right)/image$", "/left/image /right/image"),
            ("^/a$|^/b$", "/a /b"),
            ("^/(a(b|c)|d)$", "/ab /ac /d"),
            ("/rviz*", "*/rvi*"),
            ("^/rviz+", "/rviz*"),
            ("a?", "*"),
        ] {
            assert_eq!(
                translate(expression).unwrap().join(" "),
                patterns,
                "{expression}"
            );
        }
    }

    #[test]
    fn what_patterns_cannot_say_is_refused() {
        for expression in [
            "[a-z]", "a*b", "a*$", "(a|b)+", "\\d", "a{2}", "(", ")", "a$b", "\\", "+",
        ] {
            assert!(translate(expression).is_err(), "{expression}");
        }
    }

    #[test]
    fn variables_that_are_set_are_named() {
        let variable = |name: &str| match name {
            "CARET_IGNORE_NODES" => Some("/rviz2:^/tf".to_owned()),
            "CARET_SELECT_TOPICS" => Some(String::new()),
            _ => None,
        };
        let (filters, set) = from_environment(variable).unwrap();
        assert_eq!(set, ["CARET_IGNORE_NODES"]);
        assert_eq!(filters.ignore_nodes, b"*/rviz2*:/tf*");
        assert_eq!(filters.select_topics, b"");
    }

    #[test]
    fn an_error_says_which_expression_of_which_variable() {
        let error = from_environment(|_| Some("[ab]".to_owned())).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("CARET_SELECT_NODES") && text.contains("[ab]"),
            "{text}"
        );
    }
}
