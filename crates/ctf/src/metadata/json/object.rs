//! Takes the properties out of a JSON object one by one and complains about those that nobody knows.

use super::super::error::{MetadataError, Position, Result};
use super::value::{Value, ValueKind};
use crate::schema::Identity;

#[derive(Debug)]
pub(super) struct Object<'v> {
    pub(super) at: Position,
    /// What the object is, for messages: "the clock class".
    what: String,
    properties: &'v [(String, Value)],
    taken: Vec<bool>,
}

impl<'v> Object<'v> {
    pub(super) fn new(value: &'v Value, what: impl Into<String>) -> Result<Object<'v>> {
        let what = what.into();
        match &value.kind {
            ValueKind::Object(properties) => Ok(Object {
                at: value.at,
                what,
                properties,
                taken: vec![false; properties.len()],
            }),
            _ => Err(value.expected(&what, "an object")),
        }
    }

    pub(super) fn rename(&mut self, what: impl Into<String>) {
        self.what = what.into();
    }

    pub(super) fn take(&mut self, name: &str) -> Option<&'v Value> {
        let index = self
            .properties
            .iter()
            .position(|(known, _)| known == name)?;
        self.taken[index] = true;
        Some(&self.properties[index].1)
    }

    pub(super) fn require(&mut self, name: &str) -> Result<&'v Value> {
        self.take(name).ok_or_else(|| {
            self.at
                .error(format!("{} has no property '{name}'", self.what))
        })
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>> {
        self.take(name)
            .map(|value| value.text(name).map(str::to_owned))
            .transpose()
    }

    pub(super) fn unsigned(&mut self, name: &str) -> Result<Option<u64>> {
        self.take(name)
            .map(|value| value.unsigned(name))
            .transpose()
    }

    /// A power of two; 1 where it is absent.
    pub(super) fn alignment(&mut self, name: &str) -> Result<u32> {
        let Some(value) = self.take(name) else {
            return Ok(1);
        };
        u32::try_from(value.unsigned(name)?)
            .ok()
            .filter(|align| align.is_power_of_two())
            .ok_or_else(|| value.expected(name, "a power of two"))
    }

    pub(super) fn identity(&mut self) -> Result<Identity> {
        Ok(Identity {
            namespace: self.text("namespace")?,
            name: self.text("name")?,
            uid: self.text("uid")?,
        })
    }

    /// Attributes are for those who know their name space; extensions change the meaning, so unknown ones are errors.
    pub(super) fn finish(mut self) -> Result<()> {
        if let Some(attributes) = self.take("attributes") {
            attributes.object("attributes")?;
        }
        if let Some(extensions) = self.take("extensions")
            && let Some((namespace, value)) = extensions.object("extensions")?.first()
        {
            return Err(value
                .at
                .error(format!(
                    "{} needs an extension of '{namespace}', which is not known",
                    self.what
                ))
                .with_hint("the data cannot be understood without it"));
        }
        for ((name, value), taken) in self.properties.iter().zip(&self.taken) {
            if !taken {
                return Err(value
                    .at
                    .error(format!("{} has the unknown property '{name}'", self.what)));
            }
        }
        Ok(())
    }
}

impl Value {
    pub(super) fn expected(&self, name: &str, expected: &str) -> MetadataError {
        let found = match &self.kind {
            ValueKind::Null => "null".to_owned(),
            ValueKind::Boolean => "a boolean".to_owned(),
            ValueKind::Integer(value) => value.to_string(),
            ValueKind::Real => "a number that is no integer".to_owned(),
            ValueKind::Text(text) => format!("\"{}\"", text.escape_debug()),
            ValueKind::Array(_) => "an array".to_owned(),
            ValueKind::Object(_) => "an object".to_owned(),
        };
        self.at
            .error(format!("'{name}' must be {expected}, but is {found}"))
    }

    pub(super) fn text(&self, name: &str) -> Result<&str> {
        match &self.kind {
            ValueKind::Text(text) => Ok(text),
            _ => Err(self.expected(name, "a string")),
        }
    }

    pub(super) fn integer(&self) -> Option<i128> {
        match self.kind {
            ValueKind::Integer(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn unsigned(&self, name: &str) -> Result<u64> {
        self.integer()
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| self.expected(name, "an unsigned 64-bit integer"))
    }

    pub(super) fn signed(&self, name: &str) -> Result<i64> {
        self.integer()
            .and_then(|value| i64::try_from(value).ok())
            .ok_or_else(|| self.expected(name, "a signed 64-bit integer"))
    }

    pub(super) fn array(&self, name: &str) -> Result<&[Value]> {
        match &self.kind {
            ValueKind::Array(items) => Ok(items),
            _ => Err(self.expected(name, "an array")),
        }
    }

    pub(super) fn object(&self, name: &str) -> Result<&[(String, Value)]> {
        match &self.kind {
            ValueKind::Object(properties) => Ok(properties),
            _ => Err(self.expected(name, "an object")),
        }
    }

    /// The property of an object; none if this is no object.
    pub(super) fn property(&self, name: &str) -> Option<&Value> {
        match &self.kind {
            ValueKind::Object(properties) => properties
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }
}
