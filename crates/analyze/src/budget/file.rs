//! From the text of a budget file to budgets, or everything that is wrong with it, with line and column.

use std::fmt;

use glob::Pattern;
use rostrace_base::similar::most_similar;
use rostrace_base::yaml::{Content, Marked, Position, parse};

use super::key::{Bound, MEASURES, Measure, MeasureKey, SubjectKind, known};
use super::limit::{Allowed, Budget, Limit, Target};
use super::quantity::Quantity;

/// `line 12, column 5: what is wrong`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub at: Option<Position>,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{at}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// All budgets of a file, or all its problems.
pub fn read(text: &str) -> Result<Vec<Budget>, Vec<Problem>> {
    let document = parse(text).map_err(|fault| {
        vec![Problem {
            at: fault.at,
            message: fault.message,
        }]
    })?;
    let mut reader = Reader::default();
    let budgets = match document {
        Some(document) => reader.file(&document),
        None => {
            reader.problem(None, "the file is empty; it must have `budgets`, a list");
            Vec::new()
        }
    };
    let mut problems = reader.problems;
    problems.sort_by_key(|problem| problem.at);
    if problems.is_empty() {
        Ok(budgets)
    } else {
        Err(problems)
    }
}

#[derive(Debug, Default)]
struct Reader {
    problems: Vec<Problem>,
}

type Entries = [(Marked, Marked)];

impl Reader {
    fn problem(&mut self, at: Option<Position>, message: impl Into<String>) {
        self.problems.push(Problem {
            at,
            message: message.into(),
        });
    }

    fn file(&mut self, document: &Marked) -> Vec<Budget> {
        let Some(entries) = self.entries(document, "the file") else {
            return Vec::new();
        };
        self.unknown(entries, "the file", &["budgets"]);
        let Some(list) = get(entries, "budgets") else {
            self.problem(Some(document.at), "the file must have `budgets`, a list");
            return Vec::new();
        };
        let Content::List(items) = &list.content else {
            let found = list.description();
            self.problem(
                Some(list.at),
                format!("`budgets` must be a list, found {found}"),
            );
            return Vec::new();
        };
        let budgets = items.iter().filter_map(|item| self.budget(item));
        budgets.collect()
    }

    fn budget(&mut self, item: &Marked) -> Option<Budget> {
        let entries = self.entries(item, "a budget")?;
        let kinds: Vec<(SubjectKind, &Marked)> = SubjectKind::EVERY
            .into_iter()
            .filter_map(|kind| Some((kind, get(entries, kind.name())?)))
            .collect();
        let (kind, subject) = match kinds.as_slice() {
            [one] => *one,
            [] => {
                let keys = entries.iter().filter_map(|(key, _)| text(key));
                let slip = keys
                    .filter_map(|key| most_similar(key, ["callback", "topic", "path"]))
                    .next();
                let hint = slip.map_or(String::new(), |slip| format!("; do you mean `{slip}`?"));
                let message = "a budget must have one of `callback`, `topic` and `path`";
                self.problem(Some(item.at), format!("{message}{hint}"));
                return None;
            }
            [(first, _), (second, at), ..] => {
                let message = format!(
                    "a budget is about a {} or about a {}, not both; write two",
                    first.name(),
                    second.name()
                );
                self.problem(Some(at.at), message);
                return None;
            }
        };
        let what = format!("a budget of a {}", kind.name());
        self.unknown(entries, &what, &known(kind).collect::<Vec<_>>());
        let target = self.target(entries, kind, subject);
        let mut limits = Vec::new();
        // In the order of the file, so that results are in it too.
        for (key, value) in entries {
            let measure = MEASURES
                .iter()
                .find(|it| text(key) == Some(it.name) && it.of.contains(&kind));
            if let Some(measure) = measure {
                self.limits(measure, key.at, value, &mut limits);
            }
        }
        if limits.is_empty() && self.problems.is_empty() {
            let measures = MEASURES.iter().filter(|key| key.of.contains(&kind));
            let names: Vec<&str> = measures.map(|key| key.name).collect();
            let message = format!("a budget must limit something: `{}`", names.join("`, `"));
            self.problem(Some(item.at), message);
        }
        let allowed = get(entries, "allowed").and_then(|value| self.allowed(value));
        if let (Some(_), Some(marked)) = (allowed, get(entries, "allowed")) {
            let ends = [Bound::Min, Bound::Max];
            if !limits.iter().any(|limit| ends.contains(&limit.bound)) {
                let message = "`allowed` says how many values may be beyond `min` or `max`; this budget has neither";
                self.problem(Some(marked.at), message);
            }
            if matches!(target, Some(Target::NamedPath(_))) {
                self.problem(
                    Some(marked.at),
                    "`allowed` is not for paths of an architecture file; use a percentile",
                );
            }
        }
        let optional = match get(entries, "optional") {
            None => false,
            Some(value) => match text(value) {
                Some("true") => true,
                Some("false") => false,
                _ => {
                    let found = value.description();
                    let message = format!("`optional` must be true or false, found {found}");
                    self.problem(Some(value.at), message);
                    false
                }
            },
        };
        let target = target?;
        if matches!(target, Target::Path { .. }) {
            for limit in &limits {
                if matches!(
                    limit.measure,
                    Measure::ResponseTime | Measure::BestResponseTime
                ) {
                    let message = format!(
                        "`{}` needs a path that an architecture file names: write `path: NAME` and use --architecture",
                        limit.measure.name()
                    );
                    self.problem(Some(limit.at), message);
                }
            }
        }
        Some(Budget {
            at: item.at,
            target,
            optional,
            allowed,
            limits,
        })
    }

    fn target(&mut self, entries: &Entries, kind: SubjectKind, subject: &Marked) -> Option<Target> {
        let mut other = |key: &'static str| {
            let value = get(entries, key)?;
            self.pattern(value, key)
        };
        Some(match kind {
            SubjectKind::Callback => {
                let trigger = other("trigger");
                Target::Callback {
                    name: self.pattern(subject, "callback")?,
                    trigger,
                }
            }
            SubjectKind::Topic => {
                let (publisher, subscriber) = (other("publisher"), other("subscriber"));
                Target::Topic {
                    name: self.pattern(subject, "topic")?,
                    publisher,
                    subscriber,
                }
            }
            SubjectKind::Path => match &subject.content {
                Content::Map(ends) => {
                    self.unknown(ends, "a path", &["from", "to"]);
                    let (Some(from), Some(to)) = (get(ends, "from"), get(ends, "to")) else {
                        self.problem(Some(subject.at), "a path must have `from` and `to`");
                        return None;
                    };
                    Target::Path {
                        from: self.pattern(from, "from")?,
                        to: self.pattern(to, "to")?,
                    }
                }
                Content::Text(name) if !name.is_empty() => Target::NamedPath(name.clone()),
                _ => {
                    let found = subject.description();
                    let message =
                        format!("`path` must be `{{ from: …, to: … }}` or a name, found {found}");
                    self.problem(Some(subject.at), message);
                    return None;
                }
            },
        })
    }

    fn limits(&mut self, key: &MeasureKey, at: Position, value: &Marked, limits: &mut Vec<Limit>) {
        let names: Vec<&str> = key.bounds.iter().map(|it| it.name()).collect();
        let Content::Map(entries) = &value.content else {
            let message = format!(
                "`{}` must have limits, such as `{{ {}: {} }}`, found {}",
                key.name,
                names.last().copied().unwrap_or("max"),
                key.values.expected().rsplit(' ').next().unwrap_or_default(),
                value.description()
            );
            self.problem(Some(value.at), message);
            return;
        };
        if entries.is_empty() {
            self.problem(Some(at), format!("`{}` has no limits", key.name));
        }
        self.unknown(entries, &format!("`{}`", key.name), &names);
        for (name, value) in entries {
            let bound = key.bounds.iter().find(|it| text(name) == Some(it.name()));
            let Some(bound) = bound else {
                continue;
            };
            let Some(written) = text(value).filter(|_| !value.is_null()) else {
                let (expected, found) = (key.values.expected(), value.description());
                let message = format!("`{}` must be {expected}, found {found}", bound.name());
                self.problem(Some(value.at), message);
                continue;
            };
            match Quantity::parse(written, key.values) {
                Ok(quantity) => limits.push(Limit {
                    at: name.at,
                    measure: key.measure,
                    bound: *bound,
                    value: quantity,
                }),
                Err(wrong) => {
                    let found = value.description();
                    self.problem(Some(value.at), format!("{found} {wrong}"));
                }
            }
        }
    }

    fn allowed(&mut self, value: &Marked) -> Option<Allowed> {
        let entries = self.entries(value, "`allowed`")?;
        self.unknown(entries, "`allowed`", &["ratio", "run"]);
        let ratio = match get(entries, "ratio") {
            None => 1.0,
            Some(value) => {
                let parsed = text(value).and_then(|text| {
                    Quantity::parse(text, super::key::ValueKind::Share)
                        .ok()
                        .map(Quantity::number)
                });
                parsed.unwrap_or_else(|| {
                    let found = value.description();
                    let message = format!("`ratio` must be a share, such as 20%, found {found}");
                    self.problem(Some(value.at), message);
                    0.0
                })
            }
        };
        let run = get(entries, "run").and_then(|value| {
            let number = text(value).and_then(|text| text.parse::<u64>().ok());
            if number.is_none() {
                let found = value.description();
                let message = format!("`run` must be a whole number, found {found}");
                self.problem(Some(value.at), message);
            }
            number
        });
        if entries.is_empty() {
            self.problem(Some(value.at), "`allowed` must have `ratio`, `run` or both");
        }
        Some(Allowed { ratio, run })
    }

    fn pattern(&mut self, value: &Marked, key: &str) -> Option<Pattern> {
        let Some(written) = text(value).filter(|it| !it.is_empty() && !value.is_null()) else {
            let found = value.description();
            let message = format!("`{key}` must be a name or a pattern, found {found}");
            self.problem(Some(value.at), message);
            return None;
        };
        match Pattern::new(written) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let message = format!("`{key}` is no pattern: {}", error.msg);
                self.problem(Some(value.at), message);
                None
            }
        }
    }

    fn entries<'d>(&mut self, marked: &'d Marked, what: &str) -> Option<&'d Entries> {
        match &marked.content {
            Content::Map(entries) => Some(entries),
            _ => {
                let found = marked.description();
                let message = format!("{what} must have keys and values, found {found}");
                self.problem(Some(marked.at), message);
                None
            }
        }
    }

    fn unknown(&mut self, entries: &Entries, what: &str, known: &[&str]) {
        for (key, _) in entries {
            let name = text(key).unwrap_or_default();
            if known.contains(&name) {
                continue;
            }
            let hint = match most_similar(name, known.iter().copied()) {
                Some(similar) => format!("do you mean `{similar}`?"),
                None => format!("known are `{}`", known.join("`, `")),
            };
            let found = key.description();
            self.problem(Some(key.at), format!("{what} has no key {found}; {hint}"));
        }
    }
}

fn text(marked: &Marked) -> Option<&str> {
    match &marked.content {
        Content::Text(text) | Content::Literal(text) => Some(text),
        _ => None,
    }
}

fn get<'d>(entries: &'d Entries, key: &str) -> Option<&'d Marked> {
    let found = entries.iter().find(|(name, _)| text(name) == Some(key));
    found.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let problems = read(text).unwrap_err();
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_is_read_in_its_order() {
        let text = "\
budgets:
  - callback: /fusion*
    trigger: /points
    lateness: { max: 5 ms }
    duration: { p99: 20ms, max: 50ms }
    optional: true
  - topic: /scan
    rate: { min: 9.5Hz, max: 10.5 Hz }
    drops: { max: 1% }
    allowed: { ratio: 20%, run: 5 }
  - path: { from: /camera, to: /brake }
    latency: { max: 0.3s }
  - path: steering
    response_time: { p99.9: 1 s }
";
        let budgets = read(text).unwrap();
        assert_eq!(budgets.len(), 4);
        assert!(budgets[0].optional);
        let limits: Vec<_> = budgets[0]
            .limits
            .iter()
            .map(|it| it.value.written())
            .collect();
        assert_eq!(limits, ["5ms", "20ms", "50ms"]);
        assert_eq!(budgets[0].limits[1].at.to_string(), "line 5, column 17");
        assert_eq!(
            budgets[1].allowed,
            Some(Allowed {
                ratio: 0.2,
                run: Some(5)
            })
        );
        assert_eq!(
            budgets[2].limits[0].value,
            Quantity::Nanoseconds(300_000_000)
        );
        assert_eq!(budgets[3].target.description(), "path steering");
    }

    #[test]
    fn every_mistake_is_reported_with_its_place() {
        let text = "\
budgets:
  - callback: /fusion
    durations: { p99: 20ms }
    period: { p95: 110 }
  - topc: /scan
  - topic: /scan
    rate: 10Hz
    drops: { max: 1.5 }
  - path: { from: /a }
    latency: { typical: 1ms }
";
        assert_eq!(
            problems(text),
            [
                "line 3, column 5: a budget of a callback has no key `durations`; do you mean `duration`?",
                "line 4, column 20: `110` has no unit; it must be a time with its unit, such as 20ms",
                "line 5, column 5: a budget must have one of `callback`, `topic` and `path`; do you mean `topic`?",
                "line 7, column 11: `rate` must have limits, such as `{ max: 9.5Hz }`, found `10Hz`",
                "line 8, column 19: `1.5` must be a number or a share, such as 0 or 1%",
                "line 9, column 11: a path must have `from` and `to`",
                "line 10, column 16: `latency` has no key `typical`; known are `min`, `mean`, `p50`, `p90`, `p95`, `p99`, `p99.9`, `max`",
            ]
        );
    }

    #[test]
    fn what_is_there_twice_or_makes_no_sense_is_refused() {
        for (text, expected) in [
            ("", "the file is empty"),
            ("budgets: 5\n", "`budgets` must be a list"),
            ("budget: []\n", "do you mean `budgets`?"),
            ("budgets:\n- topic: /a\n  topic: /b\n", "a second time"),
            ("budgets:\n- topic: /a\n", "must limit something"),
            ("budgets:\n- topic: /a\n  path: p\n", "write two"),
            (
                "budgets:\n- topic: '[a'\n  drops: {max: 0}\n",
                "is no pattern",
            ),
            (
                "budgets:\n- topic: /a\n  latency: {p99: 1s}\n  allowed: {run: 2}\n",
                "has neither",
            ),
            (
                "budgets:\n- path: {from: /a, to: /b}\n  response_time: {max: 1s}\n",
                "--architecture",
            ),
        ] {
            let all = problems(text).join("\n");
            assert!(all.contains(expected), "{text}: {all}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "(budgets:\n)?([- ]{0,4}(topic|callback|path|rate|[a-z{}:,*&!%\\[\\]\"']{0,6}): ?\\PC{0,12}\n){0,6}") {
            let _ = read(&text);
        }
    }
}
