//! Text from traces, made safe inside HTML and XML, in elements and in attributes alike.
//!
//! Names are whatever somebody wrote. Characters that markup means something by become references; control characters, which XML does not allow at all,
//! and those that turn the direction of text or cannot be seen are spelled out.

use std::fmt::Write;

pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if is_hidden(c) => {
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

/// Also what XML 1.0 has no way to write.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes_from_its_place() {
        assert_eq!(
            escaped("</td><script>alert('x')</script> & \"y\""),
            "&lt;/td&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;"
        );
        assert_eq!(
            escaped("a\u{1b}[31m\n\u{202e}b\u{0}"),
            "a\\u{1b}[31m\\u{a}\\u{202e}b\\u{0}"
        );
        assert_eq!(escaped("/größe · 日本"), "/größe · 日本");
    }
}
