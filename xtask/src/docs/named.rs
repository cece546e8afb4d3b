//! Every file and every symbol that the pages for contributors name exists.
//!
//! What stands between backticks is looked at: paths must lead to a file or folder, and `name()`, `a::b`, `CamelCase` and `SCREAMING_CASE`
//! must be defined in the sources; to occur there is not enough. Where a page says "`symbol` in `file`", that file must define it. Blocks of
//! code and other words are not checked.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{files, prose, read};

/// Beginnings of paths that are made when something runs, or lie outside of the repository.
const ELSEWHERE: &[&str] = &[
    "target/",
    "fuzz/corpus/",
    "fuzz/artifacts/",
    "../shared",
    "/",
    "~/",
];
const ENDINGS: &[&str] = &[
    ".rs", ".js", ".py", ".c", ".h", ".css", ".html", ".md", ".toml", ".yaml", ".json", ".svg",
];
/// Names of others: of the standard library, of the system.
const OF_OTHERS: &[&str] = &["std", "core", "libc", "Release", "Relaxed", "Acquire"];

/// What a definition begins with, in Rust, and in JavaScript and Python.
const RUST: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "trait",
    "type",
    "const",
    "static",
    "mod",
    "union",
    "macro_rules!",
];
const SCRIPT: &[&str] = &["function", "const", "let", "class", "def"];

fn is_letter(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

fn is_word(text: &str) -> bool {
    text.starts_with(|it: char| is_letter(it) && !it.is_ascii_digit())
        && text.chars().all(is_letter)
}

fn first_word(text: &str) -> &str {
    let end = text.find(|it| !is_letter(it));
    &text[..end.unwrap_or(text.len())]
}

/// What the sources define, with the files that do.
#[derive(Default)]
struct Definitions(BTreeMap<String, BTreeSet<String>>);

impl Definitions {
    fn of(files: &[String]) -> Definitions {
        let mut found = Definitions::default();
        for path in files {
            let is_rust = path.ends_with(".rs");
            let is_script = path.ends_with(".js") || path.ends_with(".py");
            // Not this file, which has names that are invented.
            if (is_rust || is_script) && path != "xtask/src/docs/named.rs" {
                found.read(path, if is_rust { RUST } else { SCRIPT });
            }
        }
        found
    }

    fn add(&mut self, name: &str, path: &str) {
        let files = self.0.entry(name.to_owned()).or_default();
        files.insert(path.to_owned());
    }

    fn read(&mut self, path: &str, keywords: &[&str]) {
        // Modules are named by their files and folders.
        for part in path.split('/') {
            self.add(part.split('.').next().unwrap_or(part), path);
        }
        // How deep in the braces of an enum a line is: its variants are at 1.
        let mut depth = 0;
        for line in read(path).lines().map(str::trim) {
            if line.starts_with("//") {
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            for pair in words.windows(2).filter(|pair| keywords.contains(&pair[0])) {
                self.add(first_word(pair[1]), path);
            }
            if depth == 1 && line.starts_with(|it: char| it.is_ascii_uppercase()) {
                self.add(first_word(line), path);
            }
            self.read_tracepoint(line, path);
            // A variable of the environment is a literal.
            for literal in line.split('"').skip(1).step_by(2) {
                if is_word(literal) && literal.contains('_') && literal == literal.to_uppercase() {
                    self.add(literal, path);
                }
            }
            let (opens, closes) = (line.matches('{').count(), line.matches('}').count());
            if depth > 0 {
                depth = (depth + opens).saturating_sub(closes);
            } else if words.contains(&"enum") && opens > closes {
                depth = 1;
            }
        }
    }

    /// `CallbackStart = callback_start: Run, …` in the table of tracepoints, `run EVENT name: function, function;` in the tracer.
    fn read_tracepoint(&mut self, line: &str, path: &str) {
        let Some((head, rest)) = line.split_once(": ") else {
            return;
        };
        if let Some((kind, module)) = head.split_once(" = ")
            && path.starts_with("crates/tracepoints/src/table/")
            && is_word(module)
        {
            self.add(kind, path);
        }
        if head.starts_with("run ") || head.starts_with("init ") {
            for function in rest.trim_end_matches(';').split(", ") {
                self.add(function, path);
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name) || name.starts_with("rostrace_")
    }

    /// Whether a file defines it, or one in a folder.
    fn has_in(&self, name: &str, place: &str) -> bool {
        let mut files = self.0.get(name).into_iter().flatten();
        files.any(|file| is_tail(file, place))
    }
}

/// Whether a path, from the root or from a folder below it, means this file or a folder that it is in. `*` stands for anything.
fn is_tail(file: &str, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let mut starts = std::iter::once(0).chain(file.match_indices('/').map(|(at, _)| at + 1));
    starts.any(|at| match path.split_once('*') {
        Some((begin, end)) => (file[at..].strip_prefix(begin)).is_some_and(|it| it.ends_with(end)),
        None => {
            (file[at..].strip_prefix(path)).is_some_and(|it| it.is_empty() || it.starts_with('/'))
        }
    })
}

fn is_path(span: &str) -> bool {
    let is_plain = |it: char| is_letter(it) || "-./*{},".contains(it);
    let is_file = ENDINGS
        .iter()
        .any(|it| span.len() > it.len() && span.ends_with(it));
    span.chars().all(is_plain) && (span.contains('/') || is_file)
}

/// `a/{b,c}.rs` is two paths, and what stands behind a word for people to fill in (`fuzz/regressions/TARGET`) is not looked at.
fn paths(span: &str) -> Vec<String> {
    let is_variable = |it: &&str| it.len() > 2 && it.chars().all(|it| it.is_ascii_uppercase());
    let parts: Vec<&str> = span.split('/').take_while(|it| !is_variable(it)).collect();
    let path = parts.join("/");
    let expanded = path.split_once('{').and_then(|(before, rest)| {
        let (choices, after) = rest.split_once('}')?;
        let each = choices.split(',').map(|it| format!("{before}{it}{after}"));
        Some(each.collect())
    });
    expanded.unwrap_or_else(|| vec![path])
}

/// The parts of a symbol, if a span is one.
fn symbol(span: &str) -> Option<Vec<&str>> {
    let name = span.strip_suffix("()").or_else(|| span.strip_suffix('!'));
    let parts: Vec<&str> = name.unwrap_or(span).split("::").collect();
    let is_capital = span.len() > 1 && span.starts_with(|it: char| it.is_ascii_uppercase());
    let is_symbol = name.is_some() || parts.len() > 1 || is_capital;
    let is_ours = !OF_OTHERS.contains(&parts[0]) && parts.iter().all(|it| is_word(it));
    (is_symbol && is_ours).then_some(parts)
}

/// What is wrong with a page, by lines.
fn problems(text: &str, files: &[String], defined: &Definitions) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in prose(text) {
        let pieces: Vec<&str> = line.split('`').collect();
        for at in (1..pieces.len()).step_by(2) {
            let span = pieces[at];
            let problem = if is_path(span) {
                let is_elsewhere = ELSEWHERE.iter().any(|it| span.starts_with(it));
                let is_lost = |it: &String| !files.iter().any(|file| is_tail(file, it));
                let lost = paths(span)
                    .into_iter()
                    .filter(|_| !is_elsewhere)
                    .find(is_lost);
                lost.map(|it| format!("there is no file `{it}`"))
            } else if let Some(parts) = symbol(span) {
                let place = match pieces[at + 1..] {
                    [" in ", file, ..] if is_path(file) => Some(file),
                    _ => None,
                };
                let last = parts[parts.len() - 1];
                let unknown = parts.into_iter().find(|it| !defined.has(it));
                match (unknown, place) {
                    (Some(unknown), _) => Some(format!("nothing is called `{unknown}`")),
                    (None, Some(place)) if !defined.has_in(last, place) => {
                        Some(format!("`{last}` is not defined in `{place}`"))
                    }
                    (None, _) => None,
                }
            } else {
                None
            };
            wrong.extend(problem.map(|it| format!("{}: {it}", number + 1)));
        }
    }
    wrong
}

#[test]
fn every_file_and_symbol_that_pages_for_contributors_name_exists() {
    let files = files();
    let defined = Definitions::of(&files);
    let is_page = |path: &&String| {
        matches!(path.as_str(), "ARCHITECTURE.md" | "CONTRIBUTING.md")
            || (path.starts_with("docs/contributing/") && path.ends_with(".md"))
    };
    let wrong: Vec<String> = (files.iter().filter(is_page))
        .flat_map(|page| {
            let problems = problems(&read(page), &files, &defined);
            problems.into_iter().map(move |it| format!("{page}:{it}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_invented_is_noticed() {
    let files = files();
    let defined = Definitions::of(&files);
    let is_wrong = |text: &str| !problems(text, &files, &defined).is_empty();
    for real in [
        "`crates/ctf/src/walk/mod.rs`",
        "`hooks/timer_clock.rs`",
        "`crates/ctf`",
        "`docs/reference/{lists,tables}.md`",
        "`xtask/torture/*.c`",
        "`fuzz/regressions/TARGET/`",
        "`Walker`",
        "`Model::load`",
        "`Kind::CallbackStart`",
        "`Metric::Latency`",
        "`ros_trace_callback_start()`",
        "`callbackTable()`",
        "`TABLES`",
        "`ROSTRACE_SHARED`",
        "`interpose!`",
        "`Walker::next_event` in `crates/ctf/src/walk/mod.rs`",
        "```\n`Invented`\n```",
    ] {
        assert!(!is_wrong(real), "{real}");
    }
    for invented in [
        "`crates/ctf/src/stroll.rs`",
        "`crates/nothing`",
        "`docs/reference/{lists,chairs}.md`",
        "`Stroller`",
        "`Model::invent`",
        "`ros_trace_never()`",
        "`INVENTED_TABLES`",
        "`imagine!`",
        "`Walker::next_event` in `crates/ctf/src/walk/cursor.rs`",
    ] {
        assert!(is_wrong(invented), "{invented}");
    }
}
