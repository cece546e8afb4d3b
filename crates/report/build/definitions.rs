//! `docs/concepts/latency.md` as HTML for the report: headings have the anchors that metrics link to, pictures are part of the page, once for a light
//! ground and once for a dark one, and links lead to other definitions.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

const DARK: &str = "@media (prefers-color-scheme:dark){";

pub(crate) fn rendered() -> String {
    let folder = PathBuf::from("../../docs/concepts");
    let document = folder.join("latency.md");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed={}", document.display());
    println!("cargo::rerun-if-changed=../../docs/concepts/pictures");
    let text = fs::read_to_string(&document).expect("the definitions are beside the crates");
    let events: Vec<Event<'_>> = Parser::new_ext(&text, Options::ENABLE_TABLES).collect();
    let mut written = Vec::with_capacity(events.len());
    let mut events = events.into_iter();
    // Whether the links that are open are kept.
    let mut links = Vec::new();
    while let Some(event) = events.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let content: Vec<Event<'_>> = events
                    .by_ref()
                    .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))))
                    .collect();
                let anchor = slug(&plain(&content));
                written.push(raw(format!("<{level} id=\"{anchor}\">")));
                written.extend(content);
                written.push(raw(format!("</{level}>\n")));
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                let content: Vec<Event<'_>> = events
                    .by_ref()
                    .take_while(|event| !matches!(event, Event::End(TagEnd::Image)))
                    .collect();
                written.push(raw(picture(&folder.join(&*dest_url), &plain(&content))));
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                // Other documents are not in the report.
                let anchor = dest_url.strip_prefix('#');
                links.push(anchor.is_some());
                if let Some(anchor) = anchor {
                    written.push(raw(format!("<a href=\"#definitions/{anchor}\">")));
                }
            }
            Event::End(TagEnd::Link) => {
                if links.pop() == Some(true) {
                    written.push(raw("</a>".to_owned()));
                }
            }
            other => written.push(other),
        }
    }
    let mut page = String::new();
    html::push_html(&mut page, written.into_iter());
    page
}

fn raw(html: String) -> Event<'static> {
    Event::InlineHtml(CowStr::from(html))
}

fn plain(events: &[Event<'_>]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// The anchor of a heading, as code hosts make it.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' | '-' => Some('-'),
        _ if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Styles of drawings reach all around them, so that drawings become images; the page chooses between light and dark.
fn picture(path: &Path, description: &str) -> String {
    let drawing = fs::read_to_string(path).expect("the pictures are beside the definitions");
    let (before, dark, after) = dark_rules(&drawing);
    let image = |class: &str, drawing: String| {
        let data = base64::engine::general_purpose::STANDARD.encode(drawing);
        format!(
            "<img class=\"picture {class}\" alt=\"{description}\" src=\"data:image/svg+xml;base64,{data}\">"
        )
    };
    image("light", format!("{before}{after}")) + &image("dark", format!("{before}{dark}{after}"))
}

/// What stands before the rules for a dark ground, these rules, and what stands behind them.
fn dark_rules(drawing: &str) -> (&str, &str, &str) {
    let Some((before, rest)) = drawing.split_once(DARK) else {
        return (drawing, "", "");
    };
    let mut open = 1;
    let end = rest.find(|letter| {
        open += match letter {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        open == 0
    });
    let end = end.expect("the rules for a dark ground end");
    (before, &rest[..end], &rest[end + 1..])
}
