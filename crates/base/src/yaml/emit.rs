//! A tree of values as block YAML, laid out as PyYAML does with `indent=2, default_flow_style=False`: dashes of a
//! list stand under the key that it belongs to.

use super::Value;
use super::scalar::{Output, is_simple_key, write_key, write_text};

const INDENT: usize = 2;

pub fn emit(value: &Value) -> String {
    let mut out = Output::default();
    write(&mut out, value, ValuePosition::Top);
    out.text.push('\n');
    out.text
}

/// Where a value begins. The indentation is that of the mapping or list around it.
#[derive(Debug, Clone, Copy)]
enum ValuePosition {
    Top,
    /// Behind `key:`.
    Key(usize),
    /// Behind `-`, or behind `?` or `:` of a long key.
    Dash(usize),
}

fn write(out: &mut Output, value: &Value, position: ValuePosition) {
    match value {
        Value::Text(text) => {
            let indent = match position {
                ValuePosition::Top => INDENT,
                ValuePosition::Key(indent) | ValuePosition::Dash(indent) => {
                    out.push(" ");
                    indent + INDENT
                }
            };
            write_text(out, text, indent);
        }
        Value::Literal(text) => {
            if !matches!(position, ValuePosition::Top) {
                out.push(" ");
            }
            out.push(text);
        }
        Value::List(items) if items.is_empty() => bracket(out, "[]", position),
        Value::Map(entries) if entries.is_empty() => bracket(out, "{}", position),
        Value::List(items) => {
            let indent = match position {
                ValuePosition::Top => 0,
                ValuePosition::Key(indent) => indent,
                ValuePosition::Dash(indent) => indent + INDENT,
            };
            for (index, item) in items.iter().enumerate() {
                begin(out, index, indent, position);
                out.push("-");
                write(out, item, ValuePosition::Dash(indent));
            }
        }
        Value::Map(entries) => {
            let indent = match position {
                ValuePosition::Top => 0,
                ValuePosition::Key(indent) | ValuePosition::Dash(indent) => indent + INDENT,
            };
            for (index, (key, value)) in entries.iter().enumerate() {
                begin(out, index, indent, position);
                write_entry(out, key, value, indent);
            }
        }
    }
}

/// The first entry stands behind the dash, all others on lines of their own.
fn begin(out: &mut Output, index: usize, indent: usize, position: ValuePosition) {
    match (index, position) {
        (0, ValuePosition::Top) => {}
        (0, ValuePosition::Dash(_)) => out.push(" "),
        _ => out.new_line(indent),
    }
}

fn bracket(out: &mut Output, brackets: &str, position: ValuePosition) {
    if !matches!(position, ValuePosition::Top) {
        out.push(" ");
    }
    out.push(brackets);
}

fn write_entry(out: &mut Output, key: &Value, value: &Value, indent: usize) {
    match key {
        Value::Text(text) if is_simple_key(text) => write_key(out, text),
        Value::Literal(text) => out.push(text),
        long => {
            out.push("?");
            write(out, long, ValuePosition::Dash(indent));
            out.new_line(indent);
            out.push(":");
            return write(out, value, ValuePosition::Dash(indent));
        }
    }
    out.push(":");
    write(out, value, ValuePosition::Key(indent));
}
