//! Text from traces, made safe for a terminal.
//!
//! Names of processes, events and files are whatever somebody wrote there. A terminal would obey escape sequences
//! among them, and text that turns its direction shows something else than it says.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control and formatting characters written as `\u{1b}`.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            c if is_unsafe(c) => {
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_spelled_out() {
        assert_eq!(printable("a\x1b[31mb\n\u{9b}"), "a\\u{1b}[31mb\\n\\u{9b}");
        assert_eq!(printable("\u{202e}gnp"), "\\u{202e}gnp");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        assert!(matches!(
            printable("/größe · 100 ms 日本"),
            Cow::Borrowed(_)
        ));
    }
}
