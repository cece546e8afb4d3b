//! The field classes of CTF 2; those that refer to other fields are in `dependent`.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{AstClass, AstInteger, AstKind, AstLength, AstMember, AstStruct, Labels};
use super::super::error::Result;
use super::super::role::{self, CONTENT_LENGTH, TOTAL_LENGTH};
use super::dependent::location;
use super::object::Object;
use super::value::{Value, ValueKind};
use crate::schema::{
    Base, BitField, ByteOrder, Encoding, Flag, IntegerForm, Label, Mappings, Range,
};

/// The aliases that have been declared so far.
#[derive(Debug, Default)]
pub(super) struct FieldClasses {
    aliases: HashMap<String, Rc<AstClass>>,
}

impl FieldClasses {
    pub(super) fn declare(&mut self, name: &Value, class: Rc<AstClass>) -> Result<()> {
        let text = name.text("name")?;
        match self.aliases.insert(text.to_owned(), class) {
            None => Ok(()),
            Some(_) => Err(name
                .at
                .error(format!("the field class alias '{text}' is declared twice"))),
        }
    }

    /// A field class: an object, or the name of an alias.
    pub(super) fn class(&self, value: &Value) -> Result<Rc<AstClass>> {
        if let ValueKind::Text(name) = &value.kind {
            return self.aliases.get(name).cloned().ok_or_else(|| {
                value
                    .at
                    .error(format!("there is no field class alias named '{name}'"))
                    .with_hint("an alias must be declared before its first use")
            });
        }
        let mut object = Object::new(value, "the field class")?;
        let type_value = object.require("type")?;
        let type_name = type_value.text("type")?;
        object.rename(format!("the field class of type '{type_name}'"));
        let kind = match type_name {
            "fixed-length-bit-array" => AstKind::BitArray(bit_field(&mut object)?),
            "fixed-length-bit-map" => bit_map(&mut object)?,
            "fixed-length-boolean" => AstKind::Boolean(bit_field(&mut object)?),
            "fixed-length-unsigned-integer" => fixed_integer(&mut object, false)?,
            "fixed-length-signed-integer" => fixed_integer(&mut object, true)?,
            "fixed-length-floating-point-number" => float(&mut object)?,
            "variable-length-unsigned-integer" => {
                integer(&mut object, IntegerForm::Variable, false)?
            }
            "variable-length-signed-integer" => integer(&mut object, IntegerForm::Variable, true)?,
            "null-terminated-string" => AstKind::String(encoding(&mut object)?),
            "static-length-string" | "dynamic-length-string" => AstKind::Text {
                length: length(&mut object, type_name)?,
                encoding: encoding(&mut object)?,
            },
            "static-length-blob" | "dynamic-length-blob" => blob(&mut object, type_name)?,
            "structure" => self.structure(&mut object)?,
            "static-length-array" | "dynamic-length-array" => AstKind::Array {
                length: length(&mut object, type_name)?,
                element: self.class(object.require("element-field-class")?)?,
                minimum_align: object.alignment("minimum-alignment")?,
            },
            "optional" => self.optional(&mut object)?,
            "variant" => self.variant(&mut object)?,
            _ => {
                return Err(type_value.at.error(format!(
                    "there is no type of field class named '{type_name}'"
                )));
            }
        };
        let at = object.at;
        object.finish()?;
        AstClass::new(kind, at)
    }

    fn structure(&self, object: &mut Object) -> Result<AstKind> {
        let mut members = Vec::new();
        if let Some(list) = object.take("member-classes") {
            for item in list.array("member-classes")? {
                let mut member = Object::new(item, "the structure member")?;
                let name_value = member.require("name")?;
                let name: Arc<str> = name_value.text("name")?.into();
                let class = self.class(member.require("field-class")?)?;
                member.finish()?;
                members.push(AstMember {
                    name: Arc::clone(&name),
                    original_name: name,
                    at: name_value.at,
                    class,
                });
            }
        }
        let minimum_align = object.alignment("minimum-alignment")?;
        Ok(AstKind::Structure(AstStruct::new(members, minimum_align)?))
    }
}

fn bit_field(object: &mut Object) -> Result<BitField> {
    let length = object.require("length")?;
    let size = u8::try_from(length.unsigned("length")?)
        .ok()
        .filter(|size| (1..=64).contains(size))
        .ok_or_else(|| length.expected("length", "a number of bits from 1 to 64"))?;
    let order_value = object.require("byte-order")?;
    let order = match order_value.text("byte-order")? {
        "little-endian" => ByteOrder::Little,
        "big-endian" => ByteOrder::Big,
        _ => return Err(order_value.expected("byte-order", "little-endian or big-endian")),
    };
    let reversed = match object.take("bit-order") {
        None => false,
        Some(value) => match (value.text("bit-order")?, order) {
            ("first-to-last", ByteOrder::Little) | ("last-to-first", ByteOrder::Big) => false,
            ("first-to-last", ByteOrder::Big) | ("last-to-first", ByteOrder::Little) => true,
            _ => return Err(value.expected("bit-order", "first-to-last or last-to-first")),
        },
    };
    Ok(BitField {
        size,
        align: object.alignment("alignment")?,
        order,
        reversed,
    })
}

fn bit_map(object: &mut Object) -> Result<AstKind> {
    let bits = bit_field(object)?;
    let value = object.require("flags")?;
    let mut flags = Vec::new();
    for (name, list) in value.object("flags")? {
        let mut mask = 0u64;
        for range in ranges(list, name, false)? {
            if range.high >= i128::from(bits.size) {
                return Err(list.at.error(format!(
                    "the flag '{name}' has bit {}, but the bit map has {} bits",
                    range.high, bits.size
                )));
            }
            // Both ends are less than 64 here.
            let width = (range.high - range.low + 1) as u32;
            mask |= (u64::MAX >> (64 - width)) << range.low as u32;
        }
        flags.push(Flag {
            name: name.clone(),
            mask,
        });
    }
    // The order of a JSON object means nothing; that of the names is the same in every run.
    flags.sort_by(|a, b| a.name.cmp(&b.name));
    if flags.is_empty() {
        return Err(value.at.error("a bit map needs at least one flag"));
    }
    Ok(AstKind::BitMap {
        bits,
        flags: flags.into(),
    })
}

fn float(object: &mut Object) -> Result<AstKind> {
    let bits = bit_field(object)?;
    match bits.size {
        32 | 64 => Ok(AstKind::Float(bits)),
        size => Err(object.at.error(format!(
            "floating-point numbers of {size} bits are not supported, only those of 32 and 64"
        ))),
    }
}

fn fixed_integer(object: &mut Object, signed: bool) -> Result<AstKind> {
    let bits = bit_field(object)?;
    integer(object, IntegerForm::Fixed(bits), signed)
}

fn integer(object: &mut Object, form: IntegerForm, signed: bool) -> Result<AstKind> {
    let base = match object.take("preferred-display-base") {
        None => Base::Decimal,
        Some(value) => match value.integer() {
            Some(2) => Base::Binary,
            Some(8) => Base::Octal,
            Some(10) => Base::Decimal,
            Some(16) => Base::Hexadecimal,
            _ => return Err(value.expected("preferred-display-base", "2, 8, 10 or 16")),
        },
    };
    let labels = match object.take("mappings") {
        None => None,
        Some(value) => {
            let mut labels = Vec::new();
            for (name, list) in value.object("mappings")? {
                labels.push(Label {
                    name: name.clone(),
                    ranges: ranges(list, name, signed)?,
                });
            }
            labels.sort_by(|a, b| a.name.cmp(&b.name));
            Some(Rc::new(Labels::new(Mappings { labels })))
        }
    };
    let role = match object.take("roles") {
        Some(value) if !signed => declared_role(value)?,
        Some(value) => return Err(value.at.error("only unsigned integers can have roles")),
        None => None,
    };
    Ok(AstKind::Integer(AstInteger {
        form,
        signed,
        base,
        labels,
        clock: None,
        is_character: false,
        role,
    }))
}

/// A field has one role, except that one length may be that of the packet and of its content.
fn declared_role(value: &Value) -> Result<Option<&'static str>> {
    let lengths = [TOTAL_LENGTH, CONTENT_LENGTH];
    let mut found = None;
    for item in value.array("roles")? {
        let name = item.text("roles")?;
        let no_role = || item.at.error(format!("there is no role named '{name}'"));
        let role = role::known(name).ok_or_else(no_role)?;
        found = Some(match found {
            Some(first) if first == role => role,
            Some(first) if lengths.contains(&first) && lengths.contains(&role) => CONTENT_LENGTH,
            Some(first) => {
                return Err(item.at.error(format!(
                    "a field with both roles '{first}' and '{role}' is not supported"
                )));
            }
            None => role,
        });
    }
    Ok(found)
}

fn encoding(object: &mut Object) -> Result<Encoding> {
    let Some(value) = object.take("encoding") else {
        return Ok(Encoding::Utf8);
    };
    Ok(match value.text("encoding")? {
        "utf-8" => Encoding::Utf8,
        "utf-16be" => Encoding::Utf16Be,
        "utf-16le" => Encoding::Utf16Le,
        "utf-32be" => Encoding::Utf32Be,
        "utf-32le" => Encoding::Utf32Le,
        _ => {
            return Err(value.expected(
                "encoding",
                "utf-8, utf-16be, utf-16le, utf-32be or utf-32le",
            ));
        }
    })
}

/// The type says whether the length is a number or another field.
fn length(object: &mut Object, type_name: &str) -> Result<AstLength> {
    if type_name.starts_with("static") {
        let length = object.require("length")?.unsigned("length")?;
        return Ok(AstLength::Fixed(length));
    }
    let value = object.require("length-field-location")?;
    location(value).map(AstLength::Field)
}

fn blob(object: &mut Object, type_name: &str) -> Result<AstKind> {
    let length = length(object, type_name)?;
    let media_type = object.text("media-type")?.map(Arc::from);
    let mut is_uuid = false;
    if let AstLength::Fixed(length) = length
        && let Some(value) = object.take("roles")
    {
        for item in value.array("roles")? {
            let name = item.text("roles")?;
            if name != "metadata-stream-uuid" {
                return Err(item
                    .at
                    .error(format!("a BLOB cannot have the role '{name}'")));
            }
            if length != 16 {
                return Err(item.at.error(format!(
                    "the metadata stream's UUID has 16 bytes, but the BLOB has {length}"
                )));
            }
            is_uuid = true;
        }
    }
    Ok(AstKind::Blob {
        length,
        media_type,
        is_uuid,
    })
}

/// An array of `[low, high]`.
pub(super) fn ranges(value: &Value, name: &str, signed: bool) -> Result<Vec<Range>> {
    let domain = match signed {
        true => i128::from(i64::MIN)..=i128::from(i64::MAX),
        false => 0..=i128::from(u64::MAX),
    };
    value
        .array(name)?
        .iter()
        .map(|item| match item.array(name)? {
            [low, high] => match (low.integer(), high.integer()) {
                (Some(low), Some(high))
                    if low <= high && domain.contains(&low) && domain.contains(&high) =>
                {
                    Ok(Range { low, high })
                }
                _ => Err(item.at.error(format!(
                    "the range of '{name}' must be two 64-bit integers, the lower one first"
                ))),
            },
            _ => Err(item.expected(name, "an array of two integers")),
        })
        .collect()
}
