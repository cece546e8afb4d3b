//! Prints events as babeltrace 2.0.4 does, so that its output can be compared with values that are known.

use rostrace_ctf::schema::*;
use rostrace_ctf::value::Value;

use super::random_trace::{RandomEvent, RandomPacket};

/// The line of an event, with `--no-delta --clock-cycles`. Bytes that are not UTF-8 are replaced.
pub fn line(schema: &Schema, packet: &RandomPacket, event: &RandomEvent) -> String {
    let stream = &schema.streams[packet.stream];
    let class = &stream.events[event.event];
    let scopes = [
        (&stream.packet_context, &packet.context),
        (&stream.event_context, &event.common_context),
        (&class.context, &event.specific_context),
        (&class.payload, &event.payload),
    ];
    let scopes: Vec<String> = scopes
        .into_iter()
        .filter_map(|(structure, value)| Some((structure.as_ref()?, value.as_ref()?)))
        .filter(|(structure, _)| is_shown(structure))
        .map(|(structure, value)| print_structure(structure, value))
        .collect();
    let time = match stream.clock {
        Some(_) => format!("[{:020}] ", event.time),
        None => String::new(),
    };
    let host = schema.environment_text("hostname").unwrap();
    let name = class.name.as_deref().unwrap();
    format!("{time}{host} {name}: {}", scopes.join(", "))
}

fn is_shown(structure: &Struct) -> bool {
    FieldClass::Struct(structure.clone()).is_shown()
}

fn print_structure(structure: &Struct, value: &Value) -> String {
    let members: Vec<String> = (structure.members.iter())
        .zip(value.members().unwrap())
        .filter(|(member, _)| member.class.is_shown())
        .map(|(member, value)| format!("{} = {}", member.name, print(&member.class, value)))
        .collect();
    in_brackets('{', &members, '}')
}

fn in_brackets(open: char, items: &[String], close: char) -> String {
    match items {
        [] => format!("{open} {close}"),
        items => format!("{open} {} {close}", items.join(", ")),
    }
}

fn print(class: &FieldClass, value: &Value) -> String {
    match (class, value) {
        (FieldClass::Integer(integer), value) => {
            let number = match value {
                Value::Unsigned(value) => i128::from(*value),
                Value::Signed(value) => i128::from(*value),
                _ => unreachable!(),
            };
            print_integer(integer, number)
        }
        (FieldClass::Float(_), Value::Float(number)) => general(*number),
        (FieldClass::String { .. } | FieldClass::Text { .. }, Value::Text(text)) => quoted(text),
        (FieldClass::Struct(structure), value) => print_structure(structure, value),
        (FieldClass::Array { element, .. }, Value::Array(values)) => {
            let elements: Vec<String> = (values.iter().enumerate())
                .map(|(index, value)| format!("[{index}] = {}", print(element, value)))
                .collect();
            in_brackets('[', &elements, ']')
        }
        (FieldClass::Variant { options, .. }, Value::Variant(option, value)) => {
            format!("{{ {} }}", print(&options[*option].class, value))
        }
        _ => unreachable!("not in CTF 1.8"),
    }
}

fn print_integer(integer: &Integer, number: i128) -> String {
    let IntegerForm::Fixed(bits) = integer.form else {
        unreachable!("not in CTF 1.8")
    };
    let masked = |size: u32| number & ((1i128 << size.min(64)) - 1);
    let size = u32::from(bits.size);
    let text = match integer.base {
        Base::Decimal => number.to_string(),
        // A defect of babeltrace 2.0.4: its mask has no bits then.
        Base::Hexadecimal if (61..64).contains(&size) => "0x0".to_owned(),
        Base::Hexadecimal => format!("0x{:X}", masked(size.next_multiple_of(4))),
        Base::Octal => format!("0{:o}", masked(size.next_multiple_of(3))),
        Base::Binary => format!("0b{:0width$b}", masked(size), width = size as usize),
    };
    let Some(mappings) = &integer.mappings else {
        return text;
    };
    let labels: Vec<String> = mappings
        .labels_of(number)
        .map(|label| quoted(label.as_bytes()))
        .collect();
    match labels.as_slice() {
        [] => format!("( <unknown> : container = {text} )"),
        labels => format!("( {} : container = {text} )", labels.join(", ")),
    }
}

fn quoted(text: &[u8]) -> String {
    let mut escaped = Vec::new();
    for byte in text {
        match byte {
            b'\\' | b'\'' | b'"' | b'?' => escaped.extend([b'\\', *byte]),
            b'\n' => escaped.extend(b"\\n"),
            0..0x20 | 0x7F => escaped.extend(format!("\\x{byte:02x}").into_bytes()),
            byte => escaped.push(*byte),
        }
    }
    format!("\"{}\"", String::from_utf8_lossy(&escaped))
}

/// `%g` of C: six significant digits.
fn general(number: f64) -> String {
    if number.is_nan() {
        return if number.is_sign_negative() {
            "-nan"
        } else {
            "nan"
        }
        .to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let scientific = format!("{number:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        return trimmed(&format!("{number:.*}", (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}
