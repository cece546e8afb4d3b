//! Fields as text: of decoded values, for everything that has no place of its own.

use rostrace_ctf::Value;
use rostrace_ctf::schema::{BitField, FieldClass, Flag, Integer, IntegerForm, Struct};

use super::number::{self, IntegerStyle};

pub(super) fn style(integer: &Integer) -> IntegerStyle {
    let size = match integer.form {
        IntegerForm::Fixed(bits) => u32::from(bits.size),
        IntegerForm::Variable => 64,
    };
    IntegerStyle {
        base: integer.base,
        signed: integer.signed,
        size,
    }
}

/// `{ a = 1, b = 2 }` with the members that people want to see.
pub(super) fn structure(out: &mut Vec<u8>, class: &Struct, value: &Value) {
    let values = value.members().unwrap_or_default();
    out.extend_from_slice(b"{ ");
    let shown = class
        .members
        .iter()
        .zip(values)
        .filter(|(member, _)| member.class.is_shown());
    let mut any = false;
    for (member, value) in shown {
        if any {
            out.extend_from_slice(b", ");
        }
        out.extend_from_slice(member.name.as_bytes());
        out.extend_from_slice(b" = ");
        field(out, &member.class, value);
        any = true;
    }
    out.extend_from_slice(if any { b" }" } else { b"}" });
}

pub(super) fn field(out: &mut Vec<u8>, class: &FieldClass, value: &Value) {
    match (class, value) {
        (FieldClass::Struct(class), value) => structure(out, class, value),
        (FieldClass::Array { element, .. }, Value::Array(values)) => {
            list(out, values.len(), |out, i| field(out, element, &values[i]));
        }
        (FieldClass::Optional { class, .. }, Value::Optional(value)) => match value {
            None => out.extend_from_slice(b"<none>"),
            Some(value) => {
                out.extend_from_slice(b"{ ");
                field(out, class, value);
                out.extend_from_slice(b" }");
            }
        },
        (FieldClass::Variant { options, .. }, Value::Variant(chosen, value)) => {
            out.extend_from_slice(b"{ ");
            if let Some(option) = options.get(*chosen) {
                field(out, &option.class, value);
            }
            out.extend_from_slice(b" }");
        }
        (class, Value::Unsigned(raw) | Value::Bits(raw)) => numeric(out, class, *raw),
        (class, Value::Signed(number)) => numeric(out, class, *number as u64),
        (class, Value::Boolean(value)) => numeric(out, class, u64::from(*value)),
        (_, Value::Float(number)) => number::float(out, *number),
        (_, Value::Text(text)) => number::quoted(out, text),
        (_, Value::Blob(bytes)) => number::blob(out, bytes),
        // The decoder made the value from the class: they always fit.
        _ => {}
    }
}

/// A field that is one number.
pub(super) fn numeric(out: &mut Vec<u8>, class: &FieldClass, raw: u64) {
    match class {
        FieldClass::Integer(integer) => match &integer.mappings {
            Some(mappings) => number::enumeration(out, raw, style(integer), mappings),
            None => number::integer(out, raw, style(integer)),
        },
        FieldClass::Boolean { .. } => {
            out.extend_from_slice(if raw != 0 { b"true" } else { b"false" })
        }
        FieldClass::BitMap { flags, .. } => bit_map(out, raw, flags),
        FieldClass::Float(BitField { size, .. }) => {
            number::float(
                out,
                if *size == 32 {
                    f32::from_bits(raw as u32).into()
                } else {
                    f64::from_bits(raw)
                },
            );
        }
        _ => {
            out.extend_from_slice(b"0x");
            number::hexadecimal(out, raw);
        }
    }
}

/// `0x12 { "MEOW", "SALUT" }`
fn bit_map(out: &mut Vec<u8>, raw: u64, flags: &[Flag]) {
    out.extend_from_slice(b"0x");
    number::hexadecimal(out, raw);
    let mut set = flags.iter().filter(|flag| flag.mask & raw != 0).peekable();
    if set.peek().is_none() {
        return;
    }
    for (i, flag) in set.enumerate() {
        out.extend_from_slice(if i == 0 { b" { " } else { b", " });
        number::quoted(out, flag.name.as_bytes());
    }
    out.extend_from_slice(b" }");
}

/// `[ [0] = 1, [1] = 2 ]`
pub(super) fn list(out: &mut Vec<u8>, length: usize, mut element: impl FnMut(&mut Vec<u8>, usize)) {
    out.extend_from_slice(b"[ ");
    for i in 0..length {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        out.push(b'[');
        number::unsigned(out, i as u64);
        out.extend_from_slice(b"] = ");
        element(out, i);
    }
    out.extend_from_slice(if length > 0 { b" ]" } else { b"]" });
}
