//! JSON values that know where they stand in the text.
//!
//! `serde_json` checks the grammar and finds the ends of values. It is asked for one level at a time, so that the place of
//! each value is known, integers stay exact, a repeated key is an error and depth is bounded.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::super::error::{MetadataError, Position, Result};

/// A field class takes about three levels of JSON.
const MAX_NESTING: usize = 400;

#[derive(Debug)]
pub(super) struct Value {
    pub(super) at: Position,
    pub(super) kind: ValueKind,
}

#[derive(Debug)]
pub(super) enum ValueKind {
    Null,
    Boolean,
    Integer(i128),
    /// A number that is no integer of up to 128 bits.
    Real,
    Text(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// One fragment of a text sequence.
#[derive(Debug)]
pub(super) enum Fragment {
    Complete(Value),
    /// The text ends inside of it.
    Unfinished(MetadataError),
}

/// Reads texts and knows where their lines start.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Reader {
            text,
            lines: std::iter::once(0).chain(starts).collect(),
        }
    }

    /// `piece` is a part of the reader's text.
    pub(super) fn fragment(&self, piece: &'t str) -> Result<Fragment> {
        let raw: &RawValue = match serde_json::from_str(piece) {
            Ok(raw) => raw,
            Err(error) if error.is_eof() => {
                return Ok(Fragment::Unfinished(self.syntax_error(piece, &error)));
            }
            Err(error) => return Err(self.syntax_error(piece, &error)),
        };
        self.value(raw.get(), 0).map(Fragment::Complete)
    }

    fn value(&self, raw: &'t str, nesting: usize) -> Result<Value> {
        let at = self.position(raw);
        if nesting == MAX_NESTING {
            return Err(at.error(format!(
                "this is nested in more than {MAX_NESTING} others, which no tracer writes"
            )));
        }
        let failed = |error| self.syntax_error(raw, &error);
        let kind = match raw.as_bytes().first() {
            Some(b'{') => {
                let object: RawObject = serde_json::from_str(raw).map_err(failed)?;
                let mut properties = Vec::with_capacity(object.0.len());
                for (name, raw) in object.0 {
                    properties.push((name, self.value(raw.get(), nesting + 1)?));
                }
                ValueKind::Object(properties)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(raw).map_err(failed)?;
                let items = items
                    .into_iter()
                    .map(|raw| self.value(raw.get(), nesting + 1));
                ValueKind::Array(items.collect::<Result<_>>()?)
            }
            Some(b'"') => ValueKind::Text(serde_json::from_str(raw).map_err(failed)?),
            Some(b't' | b'f') => ValueKind::Boolean,
            Some(b'n') => ValueKind::Null,
            _ => raw.parse().map_or(ValueKind::Real, ValueKind::Integer),
        };
        Ok(Value { at, kind })
    }

    fn position(&self, part: &str) -> Position {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(offset - start + 1).unwrap_or(u32::MAX),
        }
    }

    /// What `serde_json` says, with its place in the file instead of in `part`.
    fn syntax_error(&self, part: &str, error: &serde_json::Error) -> MetadataError {
        let start = self.position(part);
        let (line, column) = (error.line().max(1) as u32, error.column() as u32);
        let place = Position {
            line: start.line.saturating_add(line - 1),
            column: match line {
                1 => start.column.saturating_add(column.saturating_sub(1)),
                _ => column,
            },
        };
        let message = error.to_string();
        let message = match message.rfind(" at line ") {
            Some(end) => &message[..end],
            None => &message,
        };
        place.error(message)
    }
}

struct RawObject<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for RawObject<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Properties;

        impl<'t> Visitor<'t> for Properties {
            type Value = RawObject<'t>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut names = HashSet::new();
                let mut properties = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if !names.insert(name.clone()) {
                        return Err(A::Error::custom(format!(
                            "the object has the property '{name}' twice"
                        )));
                    }
                    properties.push((name, value));
                }
                Ok(RawObject(properties))
            }
        }

        deserializer.deserialize_map(Properties)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value> {
        match Reader::new(text).fragment(text)? {
            Fragment::Complete(value) => Ok(value),
            Fragment::Unfinished(error) => Err(error),
        }
    }

    #[test]
    fn values_know_their_place() {
        let value = read("\n {\"a\": 1,\n  \"b\": [true, null]}\n").unwrap();
        assert_eq!(value.at, Position { line: 2, column: 2 });
        let ValueKind::Object(properties) = value.kind else {
            panic!("should be an object")
        };
        assert_eq!(properties[0].1.at, Position { line: 2, column: 8 });
        assert_eq!(properties[1].1.at, Position { line: 3, column: 8 });
    }

    #[test]
    fn integers_are_exact() {
        for (text, expected) in [
            ("18446744073709551615", i128::from(u64::MAX)),
            ("-9223372036854775808", i128::from(i64::MIN)),
        ] {
            assert!(
                matches!(read(text).unwrap().kind, ValueKind::Integer(value) if value == expected)
            );
        }
        assert!(matches!(read("1.0").unwrap().kind, ValueKind::Real));
        assert!(matches!(read("1e3").unwrap().kind, ValueKind::Real));
    }

    #[test]
    fn a_repeated_key_is_an_error() {
        let error = read("{\n\"a\": {\"b\": 1, \"b\": 2}}").unwrap_err();
        assert!(error.message.contains("'b' twice"), "{error}");
        assert_eq!(error.line, 2);
    }

    #[test]
    fn a_syntax_error_has_its_place_in_the_file() {
        let text = "{}\n\n  {\"a\" 1}";
        let error = Reader::new(text).fragment(&text[4..]).unwrap_err();
        assert_eq!((error.line, error.column), (3, 8), "{error}");
        assert_eq!(error.message, "expected `:`");
    }

    #[test]
    fn hostile_nesting_is_an_error() {
        let depth = 100_000;
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&text).unwrap_err().message.contains("nested"));
        let text = "{\"a\":".repeat(depth);
        assert!(read(&text).is_err());
    }
}
