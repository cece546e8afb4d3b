//! One map of the file, from which known keys are taken; what remains is unknown and is kept.

use super::extras_of;
use super::problem::Problems;
use crate::model::Extras;
use rostrace_base::similar::most_similar;
use rostrace_base::yaml::{Content, Marked, Position, whole_number};

#[derive(Debug)]
pub(super) struct MapEntry<'d> {
    marked: &'d Marked,
    entries: &'d [(Marked, Marked)],
    /// For messages: `a node`.
    what: &'static str,
    known: Vec<&'static str>,
    problems: &'d Problems,
}

impl<'d> MapEntry<'d> {
    pub(super) fn new(
        marked: &'d Marked,
        what: &'static str,
        problems: &'d Problems,
    ) -> Option<MapEntry<'d>> {
        let Content::Map(entries) = &marked.content else {
            let found = marked.description();
            let message = format!("{what} must have keys and values, found {found}");
            problems.error(Some(marked.at), message);
            return None;
        };
        Some(MapEntry {
            marked,
            entries,
            what,
            known: Vec::new(),
            problems,
        })
    }

    pub(super) fn at(&self) -> Position {
        self.marked.at
    }

    /// The value of a key; null counts as missing.
    pub(super) fn get(&mut self, key: &'static str) -> Option<&'d Marked> {
        self.known.push(key);
        let is_it = |marked: &Marked| matches!(&marked.content, Content::Text(text) if text == key);
        let found = self.entries.iter().find(|(marked, _)| is_it(marked));
        found
            .map(|(_, value)| value)
            .filter(|value| !value.is_null())
    }

    /// A key that must be there.
    pub(super) fn require(&mut self, key: &'static str) -> Option<&'d Marked> {
        let found = self.get(key);
        if found.is_none() {
            let texts = self
                .entries
                .iter()
                .filter_map(|(key, _)| match &key.content {
                    Content::Text(text) => Some(text.as_str()),
                    _ => None,
                });
            let others = texts.filter(|text| *text != key);
            let hint = match most_similar(key, others) {
                Some(similar) => format!("; is `{similar}` meant to be it?"),
                None => String::new(),
            };
            let message = format!("{} must have `{key}`{hint}", self.what);
            self.problems.error(Some(self.at()), message);
        }
        found
    }

    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        let value = self.get(key)?;
        self.as_text(value, key)
    }

    pub(super) fn required_text(&mut self, key: &'static str) -> Option<String> {
        let value = self.require(key)?;
        self.as_text(value, key)
    }

    /// Numbers and words like `yes` are taken as they are spelled.
    pub(super) fn as_text(&self, value: &Marked, key: &str) -> Option<String> {
        match &value.content {
            Content::Text(text) | Content::Literal(text) => Some(text.clone()),
            _ => {
                self.must_be(value, key, "a text");
                None
            }
        }
    }

    pub(super) fn required_number(&mut self, key: &'static str) -> Option<u64> {
        let value = self.require(key)?;
        self.as_number(value, key)
    }

    /// A construction order: 0 unless the file says otherwise.
    pub(super) fn order(&mut self, key: &'static str) -> u32 {
        let Some(value) = self.get(key) else {
            return 0;
        };
        let number = self.as_number(value, key).unwrap_or(0);
        u32::try_from(number).unwrap_or_else(|_| {
            self.must_be(value, key, "less than 4294967296");
            0
        })
    }

    fn as_number(&self, value: &Marked, key: &str) -> Option<u64> {
        let number = match &value.content {
            Content::Literal(text) => whole_number(text),
            _ => None,
        };
        if number.is_none() {
            self.must_be(value, key, "a whole number");
        }
        number
    }

    pub(super) fn must_be(&self, value: &Marked, key: &str, expected: &str) {
        let found = value.description();
        let message = format!("`{key}` must be {expected}, found {found}");
        self.problems.error(Some(value.at), message);
    }

    /// A list; empty if it is not there.
    pub(super) fn list(&mut self, key: &'static str, required: bool) -> &'d [Marked] {
        let found = if required {
            self.require(key)
        } else {
            self.get(key)
        };
        match found {
            None => &[],
            Some(value) => match &value.content {
                Content::List(items) => items,
                _ => {
                    self.must_be(value, key, "a list");
                    &[]
                }
            },
        }
    }

    /// A list of texts, each with its position.
    pub(super) fn texts(&mut self, key: &'static str, required: bool) -> Vec<(String, Position)> {
        let items = self.list(key, required);
        let texts = items.iter().filter_map(|item| {
            if item.is_null() {
                self.must_be(item, key, "a list of texts");
                return None;
            }
            Some((self.as_text(item, key)?, item.at))
        });
        texts.collect()
    }

    /// What nobody asked for.
    pub(super) fn extras(self) -> Extras {
        extras_of(&self.marked.content, &self.known)
    }
}
