//! Metadata with one more entry in the environment, whatever language it is in. Nothing else of it changes.

use serde_json::{Map, Value};

use super::framing::{self, Language};
use super::read;
use crate::schema::{ByteOrder, Uuid};
use crate::writer::metadata_packets;

const PACKET_MAGIC: [u8; 4] = 0x75D1_1D57_u32.to_le_bytes();

/// The content of a `metadata` file that also says this. The text must need no escapes. Nothing where the metadata cannot be
/// added to: it may be cut short.
pub(crate) fn with_environment(bytes: &[u8], name: &str, text: &str) -> Option<Vec<u8>> {
    let framed = framing::unframe(bytes).ok()?;
    let more = match framed.language {
        Language::Tsdl => {
            let mut whole = String::from_utf8(framed.text).ok()?;
            whole += &format!("\nenv {{\n\t{name} = \"{text}\";\n}};\n");
            framed_as(bytes, whole)
        }
        Language::Json => json(&String::from_utf8(framed.text).ok()?, name, text)?,
    };
    let understood = read(&more).ok().filter(|it| it.cut_short.is_none())?;
    let said = understood.schema.environment_text(name) == Some(text);
    said.then_some(more)
}

/// In packets, if it was in packets.
fn framed_as(bytes: &[u8], text: String) -> Vec<u8> {
    let mut reversed = PACKET_MAGIC;
    reversed.reverse();
    let order = match bytes.first_chunk::<4>() {
        Some(magic) if *magic == PACKET_MAGIC => ByteOrder::Little,
        Some(magic) if *magic == reversed => ByteOrder::Big,
        _ => return text.into_bytes(),
    };
    let mut uuid = [0; 16];
    if let Some(found) = bytes.get(4..20) {
        uuid.copy_from_slice(found);
    }
    metadata_packets(&text, Uuid(uuid), order)
}

/// The class of the trace has the environment; a text sequence without one gets one behind its preamble.
fn json(text: &str, name: &str, value: &str) -> Option<Vec<u8>> {
    let mut fragments: Vec<String> = text.split('\x1E').skip(1).map(str::to_owned).collect();
    let parsed = |fragment: &String| serde_json::from_str::<Value>(fragment).ok();
    let is_trace_class = |fragment: &String| {
        parsed(fragment).is_some_and(|it| it.get("type").is_some_and(|it| it == "trace-class"))
    };
    let place = match fragments.iter().position(is_trace_class) {
        Some(place) => place,
        None => {
            let place = fragments.len().min(1);
            fragments.insert(place, r#"{"type": "trace-class"}"#.to_owned());
            place
        }
    };
    let mut class = parsed(&fragments[place])?;
    let environment = (class.as_object_mut()?)
        .entry("environment")
        .or_insert_with(|| Value::Object(Map::new()));
    environment
        .as_object_mut()?
        .insert(name.to_owned(), Value::from(value));
    fragments[place] = format!("{class}\n");
    let text: String = fragments.iter().map(|it| format!("\x1E{it}")).collect();
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TSDL: &str =
        "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { };\n";

    fn said(bytes: &[u8], name: &str) -> Option<String> {
        let metadata = read(bytes).unwrap();
        metadata.schema.environment_text(name).map(str::to_owned)
    }

    #[test]
    fn text_packets_and_json_get_an_entry_and_keep_the_others() {
        let plain = format!("{TSDL}env {{ hostname = \"vm\"; }};");
        let packets = |order| metadata_packets(&plain, Uuid([7; 16]), order);
        let json = "\x1E{\"type\":\"preamble\",\"version\":2}\n\x1E{\"type\":\"trace-class\",\"environment\":{\"hostname\":\"vm\"}}\n\x1E{\"type\":\"data-stream-class\"}\n";
        for bytes in [
            plain.clone().into_bytes(),
            packets(ByteOrder::Little),
            packets(ByteOrder::Big),
            json.as_bytes().to_vec(),
        ] {
            let more = with_environment(&bytes, "kept", "1..2").unwrap();
            // A later word replaces an earlier one.
            let more = with_environment(&more, "kept", "3..4").unwrap();
            assert_eq!(more[..4], bytes[..4]);
            assert_eq!(said(&more, "kept").as_deref(), Some("3..4"));
            assert_eq!(said(&more, "hostname").as_deref(), Some("vm"));
        }
    }

    #[test]
    fn json_without_a_class_of_the_trace_gets_one() {
        let json =
            "\x1E{\"type\":\"preamble\",\"version\":2}\n\x1E{\"type\":\"data-stream-class\"}\n";
        let more = with_environment(json.as_bytes(), "kept", "1..2").unwrap();
        assert_eq!(said(&more, "kept").as_deref(), Some("1..2"));
    }

    #[test]
    fn what_is_cut_short_stays_as_it_is() {
        let cut = format!("{TSDL}event {{ name = \"a\"; fields :=");
        assert_eq!(with_environment(cut.as_bytes(), "kept", "1..2"), None);
    }
}
