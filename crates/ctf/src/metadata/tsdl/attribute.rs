//! Reading the values of attributes: `size = 8;`, `byte_order = le;`, `uuid = "…";`.

use std::collections::HashSet;

use super::super::error::{MetadataError, Position, Result, Warning};
use super::syntax::{Assignment, Expression, ExpressionKind};
use crate::schema::{Base, ByteOrder, Uuid};

/// Notices names that come twice in one block.
#[derive(Debug, Default)]
pub(super) struct SeenNames(HashSet<String>);

impl SeenNames {
    pub(super) fn note(&mut self, name: &str, at: Position) -> Result<()> {
        if self.0.insert(name.to_owned()) {
            return Ok(());
        }
        Err(at.error(format!("'{name}' is given twice")))
    }
}

pub(super) fn unknown(name: &str, at: Position, owner: &str) -> Warning {
    at.warning(format!(
        "{owner} has the unknown attribute '{name}'; it is ignored"
    ))
}

impl Assignment {
    fn refuse(&self, expected: &str) -> MetadataError {
        self.value.at.error(format!(
            "'{}' must be {expected}, but is {}",
            self.name, self.value.kind
        ))
    }

    pub(super) fn unsigned(&self) -> Result<u64> {
        self.value
            .integer()
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| self.refuse("an unsigned 64-bit number"))
    }

    pub(super) fn signed(&self) -> Result<i64> {
        self.value
            .integer()
            .and_then(|value| i64::try_from(value).ok())
            .ok_or_else(|| self.refuse("a signed 64-bit number"))
    }

    /// Ids are less than 2^63.
    pub(super) fn id(&self) -> Result<u64> {
        self.unsigned()
            .ok()
            .filter(|&id| i64::try_from(id).is_ok())
            .ok_or_else(|| self.refuse("a number from 0 to 2^63 − 1"))
    }

    pub(super) fn boolean(&self) -> Result<bool> {
        match &self.value.kind {
            ExpressionKind::Integer(value) => Ok(*value != 0),
            ExpressionKind::Name(name) => match name.as_str() {
                "true" | "TRUE" => Ok(true),
                "false" | "FALSE" => Ok(false),
                _ => Err(self.refuse("true or false")),
            },
            ExpressionKind::Text(_) => Err(self.refuse("true or false")),
        }
    }

    /// A string, or words joined by dots.
    pub(super) fn text(&self) -> Result<String> {
        self.value
            .text()
            .map(str::to_owned)
            .ok_or_else(|| self.refuse("a text"))
    }

    pub(super) fn uuid(&self) -> Result<Uuid> {
        self.value
            .text()
            .and_then(parse_uuid)
            .ok_or_else(|| self.refuse("a UUID such as \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\""))
    }

    pub(super) fn alignment(&self) -> Result<u32> {
        alignment(&self.value)
    }

    /// `native` is the trace's byte order; in the trace block itself it has no meaning.
    pub(super) fn byte_order(&self, native: Option<ByteOrder>) -> Result<ByteOrder> {
        let order = match self.value.text() {
            Some("le") => Some(ByteOrder::Little),
            Some("be" | "network") => Some(ByteOrder::Big),
            Some("native") => native,
            _ => None,
        };
        order.ok_or_else(|| {
            self.refuse(match native {
                Some(_) => "le, be, network or native",
                None => "le, be or network",
            })
        })
    }

    pub(super) fn base(&self) -> Result<Base> {
        let text = self.value.kind.to_string();
        match text.trim_matches('"') {
            "2" | "b" | "binary" => Ok(Base::Binary),
            "8" | "o" | "oct" | "octal" => Ok(Base::Octal),
            "10" | "d" | "i" | "u" | "dec" | "decimal" => Ok(Base::Decimal),
            "16" | "x" | "X" | "p" | "hex" | "hexadecimal" => Ok(Base::Hexadecimal),
            _ => Err(self.refuse("2, 8, 10 or 16, or a name of these bases")),
        }
    }

    /// Whether there is an encoding. Which one makes no difference: ASCII is UTF-8.
    pub(super) fn is_encoded(&self) -> Result<bool> {
        match self.value.text() {
            Some("none") => Ok(false),
            Some("UTF8" | "utf8" | "UTF-8" | "utf-8" | "ASCII" | "ascii") => Ok(true),
            _ => Err(self.refuse("none, UTF8 or ASCII")),
        }
    }

    /// The NAME of `clock.NAME.value`.
    pub(super) fn clock_name(&self) -> Result<&str> {
        match &self.value.kind {
            ExpressionKind::Name(name) => name
                .strip_prefix("clock.")
                .and_then(|name| name.strip_suffix(".value")),
            _ => None,
        }
        .ok_or_else(|| self.refuse("of the form clock.NAME.value"))
    }
}

impl Expression {
    pub(super) fn integer(&self) -> Option<i128> {
        match self.kind {
            ExpressionKind::Integer(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            ExpressionKind::Text(text) | ExpressionKind::Name(text) => Some(text),
            ExpressionKind::Integer(_) => None,
        }
    }
}

pub(super) fn alignment(value: &Expression) -> Result<u32> {
    value
        .integer()
        .and_then(|value| u32::try_from(value).ok())
        .filter(|value| value.is_power_of_two())
        .ok_or_else(|| {
            value.at.error(format!(
                "an alignment must be a power of two, but is {}",
                value.kind
            ))
        })
}

fn parse_uuid(text: &str) -> Option<Uuid> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 || [8, 13, 18, 23].iter().any(|&at| bytes[at] != b'-') {
        return None;
    }
    let mut digits = bytes.iter().filter(|&&byte| byte != b'-');
    let mut uuid = [0; 16];
    for byte in &mut uuid {
        let mut digit = || char::from(*digits.next()?).to_digit(16);
        *byte = (digit()? * 16 + digit()?) as u8;
    }
    digits.next().is_none().then_some(Uuid(uuid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_its_dashes_in_the_right_places() {
        let text = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";
        assert_eq!(parse_uuid(text).unwrap().to_string(), text);
        for wrong in [
            "",
            "2a6422d06cee11e08c08cb07d7b3a564",
            "2a6422d0-6cee-11e0-8c08-cb07d7b3a56g",
            "2a6422d0-6cee-11e0-8c08-cb07d7b3a5-4",
            "2a6422d0-6cee-11e0-8c08-cb07d7b3a56é",
        ] {
            assert_eq!(parse_uuid(wrong), None, "{wrong}");
        }
    }
}
