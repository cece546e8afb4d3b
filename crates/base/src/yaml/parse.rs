//! Text becomes a tree in which every value knows its position.
//!
//! The file may come from anybody, so everything that grows is bounded before it grows: size, depth, and what aliases
//! multiply.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};

use super::implicit::{is_literal, is_null};
use super::{Position, Value};

/// An architecture file needs five levels; unknown keys may bring some of their own.
const MOST_LEVELS: usize = 64;
/// Values of a file after aliases have been replaced. The largest real files have some ten thousand.
const MOST_VALUES: usize = 2_000_000;
const MOST_BYTES: usize = 256 << 20;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct Marked {
    pub at: Position,
    pub content: Content,
}

#[derive(Debug, Clone)]
pub enum Content {
    Text(String),
    /// A plain scalar that YAML takes for a number, boolean, date or null.
    Literal(String),
    List(Vec<Marked>),
    Map(Vec<(Marked, Marked)>),
}

impl Marked {
    pub fn is_null(&self) -> bool {
        matches!(&self.content, Content::Literal(text) if is_null(text))
    }

    /// For a message: what was found.
    pub fn description(&self) -> String {
        match &self.content {
            Content::Text(text) | Content::Literal(text) if text.is_empty() => "nothing".to_owned(),
            Content::Text(text) | Content::Literal(text) => format!("`{}`", shortened(text)),
            Content::List(_) => "a list".to_owned(),
            Content::Map(_) => "keys and values".to_owned(),
        }
    }

    pub fn value(&self) -> Value {
        match &self.content {
            Content::Text(text) => Value::Text(text.clone()),
            Content::Literal(text) if text.is_empty() => Value::Literal("null".to_owned()),
            Content::Literal(text) => Value::Literal(text.clone()),
            Content::List(items) => Value::List(items.iter().map(Marked::value).collect()),
            Content::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| (key.value(), value.value()));
                Value::Map(entries.collect())
            }
        }
    }

    /// This value and all within it; a long text counts as several.
    fn size(&self) -> usize {
        match &self.content {
            Content::Text(text) | Content::Literal(text) => 1 + text.len() / 64,
            Content::List(items) => 1 + items.iter().map(Marked::size).sum::<usize>(),
            Content::Map(entries) => {
                let sizes = entries.iter().map(|(key, value)| key.size() + value.size());
                1 + sizes.sum::<usize>()
            }
        }
    }

    fn levels(&self) -> usize {
        let below = match &self.content {
            Content::Text(_) | Content::Literal(_) => return 0,
            Content::List(items) => items.iter().map(Marked::levels).max(),
            Content::Map(entries) => entries.iter().map(|(_, value)| value.levels()).max(),
        };
        1 + below.unwrap_or(0)
    }
}

/// Names can be as long as a file; a message should not be.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub at: Option<Position>,
    pub message: String,
}

fn fault(at: Position, message: impl Into<String>) -> Fault {
    Fault {
        at: Some(at),
        message: message.into(),
    }
}

/// The one document of a text; nothing if it is empty.
pub fn parse(text: &str) -> Result<Option<Marked>, Fault> {
    if text.len() > MOST_BYTES {
        return Err(Fault {
            at: None,
            message: format!(
                "the file has {} bytes; more than {MOST_BYTES} are not read",
                text.len()
            ),
        });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = TreeBuilder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = position(error.marker());
            fault(at, format!("this is not YAML: {}", error.info()))
        })?;
        builder.take(event, span)?;
    }
    Ok(builder.document)
}

fn position(marker: &Marker) -> Position {
    Position {
        line: marker.line(),
        column: marker.col() + 1,
    }
}

/// Puts the parser's events together.
#[derive(Debug, Default)]
struct TreeBuilder {
    open: Vec<Open>,
    document: Option<Marked>,
    documents: usize,
    /// By the parser's number; none while the value is still open.
    anchors: Vec<Option<Marked>>,
    values: usize,
}

#[derive(Debug)]
struct Open {
    value: Marked,
    anchor: usize,
    /// In a map: the key whose value comes next, and where all keys so far are (`1` and `'1'` are two).
    key: Option<Marked>,
    keys: HashMap<(bool, String), Position>,
}

impl TreeBuilder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let at = position(&span.start);
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(fault(at, "a second document begins here; a file has one"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let content = scalar(text.into_owned(), style, tag.as_deref(), at)?;
                self.count(1, at)?;
                self.finish(Marked { at, content }, anchor)?;
            }
            Event::SequenceStart(anchor, tag) => {
                expect_tag(tag.as_deref(), "seq", at)?;
                self.open(Content::List(Vec::new()), anchor, at)?;
            }
            Event::MappingStart(anchor, tag) => {
                expect_tag(tag.as_deref(), "map", at)?;
                self.open(Content::Map(Vec::new()), anchor, at)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    self.finish(open.value, open.anchor)?;
                }
            }
            Event::Alias(anchor) => {
                let Some(Some(value)) = self.anchors.get(anchor) else {
                    return Err(fault(at, "this alias stands inside of what it refers to"));
                };
                if self.open.len() + value.levels() > MOST_LEVELS {
                    return Err(too_deep(at));
                }
                let size = value.size();
                // Before the copy is made: a few lines of aliases of aliases can stand for gigabytes.
                self.values += size;
                self.count(0, at)?;
                let Some(Some(value)) = self.anchors.get(anchor) else {
                    return Ok(());
                };
                let copy = Marked {
                    at,
                    ..value.clone()
                };
                self.place(copy)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn count(&mut self, values: usize, at: Position) -> Result<(), Fault> {
        self.values += values;
        if self.values > MOST_VALUES {
            return Err(fault(
                at,
                format!("more than {MOST_VALUES} values, counting what aliases stand for"),
            ));
        }
        Ok(())
    }

    fn open(&mut self, content: Content, anchor: usize, at: Position) -> Result<(), Fault> {
        if self.open.len() >= MOST_LEVELS {
            return Err(too_deep(at));
        }
        self.count(1, at)?;
        self.open.push(Open {
            value: Marked { at, content },
            anchor,
            key: None,
            keys: HashMap::new(),
        });
        Ok(())
    }

    /// A value is complete: remember it under its anchor, then put it where it belongs.
    fn finish(&mut self, value: Marked, anchor: usize) -> Result<(), Fault> {
        // The parser numbers anchors from 1; 0 is none.
        if anchor > 0 {
            if self.anchors.len() <= anchor {
                self.anchors.resize(anchor + 1, None);
            }
            self.values += value.size();
            self.count(0, value.at)?;
            self.anchors[anchor] = Some(value.clone());
        }
        self.place(value)
    }

    fn place(&mut self, value: Marked) -> Result<(), Fault> {
        let Some(open) = self.open.last_mut() else {
            self.document = Some(value);
            return Ok(());
        };
        match &mut open.value.content {
            Content::List(items) => items.push(value),
            Content::Map(entries) => match open.key.take() {
                Some(key) => entries.push((key, value)),
                None => match &value.content {
                    Content::Text(text) | Content::Literal(text) => {
                        let is_text = matches!(value.content, Content::Text(_));
                        if let Some(first) = open.keys.insert((is_text, text.clone()), value.at) {
                            return Err(fault(
                                value.at,
                                format!(
                                    "the key {} is here a second time; the first is on line {}",
                                    value.description(),
                                    first.line
                                ),
                            ));
                        }
                        open.key = Some(value);
                    }
                    _ => {
                        return Err(fault(
                            value.at,
                            "a key must be a text, not a list or keys and values",
                        ));
                    }
                },
            },
            Content::Text(_) | Content::Literal(_) => {}
        }
        Ok(())
    }
}

fn too_deep(at: Position) -> Fault {
    fault(at, format!("more than {MOST_LEVELS} levels of nesting"))
}

const SCALAR_TAGS: [&str; 6] = ["str", "int", "float", "bool", "null", "timestamp"];

fn scalar(
    text: String,
    style: ScalarStyle,
    tag: Option<&Tag>,
    at: Position,
) -> Result<Content, Fault> {
    let tag = match tag {
        None => None,
        Some(tag) if tag.is_yaml_core_schema() && SCALAR_TAGS.contains(&&*tag.suffix) => {
            Some(tag.suffix.as_str())
        }
        Some(tag) => return Err(unknown_tag(tag, at)),
    };
    let literal = match tag {
        Some("str") => false,
        Some(_) => is_literal(&text),
        None => style == ScalarStyle::Plain && is_literal(&text),
    };
    Ok(if literal {
        Content::Literal(text)
    } else {
        Content::Text(text)
    })
}

fn expect_tag(tag: Option<&Tag>, suffix: &str, at: Position) -> Result<(), Fault> {
    match tag {
        Some(tag) if !(tag.is_yaml_core_schema() && tag.suffix == suffix) => {
            Err(unknown_tag(tag, at))
        }
        _ => Ok(()),
    }
}

fn unknown_tag(tag: &Tag, at: Position) -> Fault {
    let name = shortened(&format!("{}{}", tag.handle, tag.suffix));
    fault(at, format!("the tag `{name}` means nothing here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let fault = parse(text).unwrap_err();
        format!("{}: {}", fault.at.unwrap(), fault.message)
    }

    #[test]
    fn values_know_where_they_stand() {
        let Content::Map(entries) = parse("a: 1\nb:\n- x\n- y z\n").unwrap().unwrap().content
        else {
            panic!("not a map");
        };
        let Content::List(items) = &entries[1].1.content else {
            panic!("not a list");
        };
        assert_eq!(items[1].at.to_string(), "line 4, column 3");
        assert!(matches!(&entries[0].1.content, Content::Literal(text) if text == "1"));
    }

    #[test]
    fn a_key_twice_is_an_error() {
        assert_eq!(
            message("a: 1\nb: 2\na: 3\n"),
            "line 3, column 1: the key `a` is here a second time; the first is on line 1"
        );
    }

    #[test]
    fn aliases_that_multiply_are_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..30 {
            let below = level - 1;
            text += &format!(
                "a{level}: &a{level} [*a{below}, *a{below}, *a{below}, *a{below}, *a{below}, *a{below}, *a{below}]\n"
            );
        }
        assert!(message(&text).contains("counting what aliases stand for"));
    }

    #[test]
    fn an_alias_of_itself_is_refused() {
        assert!(message("a: &a [*a]\n").contains("inside of what it refers to"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert!(message(&"[".repeat(200)).contains("levels of nesting"));
        assert!(message(&"- ".repeat(100_000)).contains("levels of nesting"));
        assert!(message(&"? ".repeat(100_000)).contains("levels of nesting"));
    }

    #[test]
    fn a_simple_alias_is_its_value() {
        let document = parse("a: &x [1]\nb: *x\n").unwrap().unwrap();
        let Value::Map(entries) = document.value() else {
            panic!("not a map");
        };
        assert_eq!(entries[0].1, entries[1].1);
    }

    #[test]
    fn other_tags_and_documents_are_refused() {
        assert!(message("a: !!python/object:os.system x\n").contains("means nothing here"));
        assert!(message("a: 1\n---\nb: 1\n").contains("second document"));
        assert!(message("a: [1\n").contains("this is not YAML"));
    }
}
