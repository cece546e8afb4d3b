//! YAML data without positions, as it is kept for unknown keys and as it is written.

use std::fmt;

/// A place in a file, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    /// A number, boolean, date or null, as it was spelled.
    Literal(String),
    List(Vec<Value>),
    /// In order.
    Map(Vec<(Value, Value)>),
}

impl Value {
    pub fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }

    pub fn number(number: impl fmt::Display) -> Value {
        Value::Literal(number.to_string())
    }

    pub fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
        Value::List(texts.into_iter().map(Value::text).collect())
    }
}
