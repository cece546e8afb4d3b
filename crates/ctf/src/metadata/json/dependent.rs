//! The field classes of CTF 2 that another field decides on, and how they say which field that is.

use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{AstKind, AstOption, Reference, ReferenceOrigin, RootScope};
use super::super::error::Result;
use super::class::FieldClasses;
use super::object::Object;
use super::value::{Value, ValueKind};
use crate::schema::Range;

impl FieldClasses {
    pub(super) fn optional(&self, object: &mut Object) -> Result<AstKind> {
        let selector = location(object.require("selector-field-location")?)?;
        let ranges = object
            .take("selector-field-ranges")
            .map(selector_ranges)
            .transpose()?;
        Ok(AstKind::Optional {
            selector,
            ranges,
            class: self.class(object.require("field-class")?)?,
        })
    }

    pub(super) fn variant(&self, object: &mut Object) -> Result<AstKind> {
        let selector = location(object.require("selector-field-location")?)?;
        let list = object.require("options")?;
        let mut options = Vec::new();
        for item in list.array("options")? {
            let mut option = Object::new(item, "the option")?;
            let name: Arc<str> = option.text("name")?.unwrap_or_default().into();
            let ranges = selector_ranges(option.require("selector-field-ranges")?)?;
            let class = self.class(option.require("field-class")?)?;
            option.finish()?;
            options.push(AstOption {
                name: Arc::clone(&name),
                original_name: name,
                ranges: Some(ranges),
                at: item.at,
                class,
            });
        }
        if options.is_empty() {
            return Err(list.at.error("a variant needs at least one option"));
        }
        refuse_overlaps(&options)?;
        Ok(AstKind::Variant {
            selector,
            options: Rc::from(options),
        })
    }
}

fn refuse_overlaps(options: &[AstOption]) -> Result<()> {
    let mut all: Vec<(Range, usize)> = options
        .iter()
        .enumerate()
        .flat_map(|(i, option)| option.ranges.iter().flatten().map(move |range| (*range, i)))
        .collect();
    all.sort_by_key(|(range, _)| range.low);
    // The range that reaches farthest among those before.
    let mut farthest: Option<(i128, usize)> = None;
    for (range, i) in all {
        if let Some((high, other)) = farthest
            && other != i
            && range.low <= high
        {
            return Err(options[i.max(other)].at.error(format!(
                "the value {} selects two options of the variant",
                range.low
            )));
        }
        if farthest.is_none_or(|(high, _)| range.high > high) {
            farthest = Some((range.high, i));
        }
    }
    Ok(())
}

/// The signedness is that of the selector, which is not known here.
fn selector_ranges(value: &Value) -> Result<Vec<Range>> {
    super::class::ranges(value, "selector-field-ranges", true)
        .or_else(|_| super::class::ranges(value, "selector-field-ranges", false))
}

/// `{"origin": …, "path": […]}`
pub(super) fn location(value: &Value) -> Result<Reference> {
    let mut object = Object::new(value, "the field location")?;
    let scope = match object.take("origin") {
        None => None,
        Some(value) => Some(match value.text("origin")? {
            "packet-header" => RootScope::PacketHeader,
            "packet-context" => RootScope::PacketContext,
            "event-record-header" => RootScope::EventHeader,
            "event-record-common-context" => RootScope::CommonContext,
            "event-record-specific-context" => RootScope::SpecificContext,
            "event-record-payload" => RootScope::Payload,
            _ => return Err(value.expected("origin", "the name of a scope")),
        }),
    };
    let path = object.require("path")?;
    let mut names: Vec<String> = Vec::new();
    let mut up = 0;
    for item in path.array("path")? {
        match &item.kind {
            ValueKind::Text(name) => names.push(name.clone()),
            ValueKind::Null if scope.is_none() => {
                // The parent of a member is the structure that the name was looked up in.
                if names.pop().is_none() {
                    up += 1;
                }
            }
            _ => return Err(item.expected("path", "made of names")),
        }
    }
    let ends_with_name = matches!(
        path.array("path")?.last(),
        Some(Value {
            kind: ValueKind::Text(_),
            ..
        })
    );
    if !ends_with_name {
        return Err(path
            .at
            .error("the path of a field location must end with a name"));
    }
    object.finish()?;
    let origin = scope.map_or(ReferenceOrigin::Up(up), ReferenceOrigin::Scope);
    Ok(Reference::new(value.at, origin, names))
}
