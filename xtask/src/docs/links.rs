//! Every link between documents leads to a file that is there, and to a heading that it has.

use std::collections::BTreeSet;

use super::tree::{files, prose, read};

/// Targets of the links in a line: what stands between `](` and `)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

/// As GitHub makes anchors of headings.
fn anchor(heading: &str) -> String {
    let kept = heading
        .trim()
        .chars()
        .filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase)
        .map(|it| if it == ' ' { '-' } else { it })
        .collect()
}

fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page).filter(|(_, line)| line.starts_with('#'));
    headings
        .map(|(_, line)| anchor(line.trim_start_matches('#')))
        .collect()
}

/// A path beside a page, as a path from the root.
fn beside(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let files = files();
    let is_there = |path: &str| {
        let folder = format!("{path}/");
        files.iter().any(|it| it == path || it.starts_with(&folder))
    };
    let mut broken = Vec::new();
    for page in files.iter().filter(|path| path.ends_with(".md")) {
        let text = read(page);
        for (number, line) in prose(&text) {
            for target in targets(line) {
                if target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                let (path, heading) = target.split_once('#').unwrap_or((target, ""));
                let path = match path {
                    "" => page.clone(),
                    path => beside(page, path),
                };
                let leads = is_there(&path)
                    && (heading.is_empty() || anchors(&read(&path)).contains(heading));
                if !leads {
                    broken.push(format!("{page}:{}: {target}", number + 1));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "links to nowhere:\n{}",
        broken.join("\n")
    );
}

#[test]
fn anchors_are_those_of_the_web_page() {
    assert_eq!(anchor(" Findings (severity)"), "findings-severity");
    assert_eq!(
        anchor(" Where CARET's numbers differ"),
        "where-carets-numbers-differ"
    );
    assert_eq!(
        beside("docs/guides/look.md", "../reference/a.md"),
        "docs/reference/a.md"
    );
}
