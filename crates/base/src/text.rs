//! Text from traces and files, made harmless for whoever shows it.
//!
//! Names of nodes, processes and files are whatever somebody wrote. A terminal would obey escape sequences among them, XML has no way to
//! write control characters, and marks that turn the direction of text show something else than is there.

use std::borrow::Cow;
use std::fmt::Write;

/// Control characters, marks of direction, what takes no room, and what Unicode says is no character.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Unsafe characters are spelled out: `\n`, `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
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

/// One word for a shell.
pub fn shell_word(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/_-.:+,@%".contains(it);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// For HTML and XML, in elements and in attributes alike.
pub fn markup(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    for c in visible(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_spelled_out() {
        assert_eq!(visible("a\x1b[31mb\n\u{9b}"), "a\\u{1b}[31mb\\n\\u{9b}");
        assert_eq!(visible("\u{202e}gnp"), "\\u{202e}gnp");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        assert!(matches!(visible("/größe · 100 ms 日本"), Cow::Borrowed(_)));
        assert_eq!(markup("/größe · 日本"), "/größe · 日本");
    }

    #[test]
    fn nothing_escapes_from_its_place() {
        assert_eq!(
            markup("</td><script>alert('x')</script> & \"y\"\u{0}"),
            "&lt;/td&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;\\u{0}"
        );
    }

    #[test]
    fn a_shell_sees_one_word() {
        assert_eq!(shell_word("session/run-1"), "session/run-1");
        assert_eq!(shell_word("/a ← /b"), "'/a ← /b'");
        assert_eq!(shell_word("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(shell_word("$(x)"), "'$(x)'");
        assert_eq!(shell_word(""), "''");
    }
}
