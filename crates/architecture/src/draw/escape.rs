//! Names made harmless for a picture. A name is whatever somebody wrote into the file: it may hold markup, quotes, or
//! marks that turn the direction of text.

use std::borrow::Cow;
use std::fmt::Write;

/// Characters that cannot be seen are spelled out.
pub(super) fn visible(name: &str) -> Cow<'_, str> {
    if !name.chars().any(is_invisible) {
        return Cow::Borrowed(name);
    }
    let mut safe = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        if is_invisible(c) {
            let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// For text and attributes of SVG.
pub(super) fn xml(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for c in visible(name).chars() {
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

/// For a string in double quotes of Graphviz, which gives backslashes a meaning of their own.
pub(super) fn dot(name: &str) -> String {
    visible(name).replace('\\', "\\\\").replace('"', "\\\"")
}

/// For a label in double quotes of Mermaid, which knows entities but no backslashes.
pub(super) fn mermaid(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for c in visible(name).chars() {
        match c {
            '"' => safe.push_str("#quot;"),
            '#' | '&' | '<' | '>' | '`' | ';' | '\\' | '*' => {
                let _ = write!(safe, "#{};", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "/a\"<script>alert('x')</script>&\u{202e}b\n`#*\\";

    #[test]
    fn markup_and_marks_do_no_harm() {
        let safe = xml(NASTY);
        assert!(
            !safe.contains(['<', '>', '"', '\'', '\u{202e}', '\n']),
            "{safe}"
        );
        assert!(safe.contains("\\u{202e}"));
        assert!(
            !dot(NASTY)
                .replace("\\\"", "")
                .contains(['"', '\n', '\u{202e}'])
        );
        assert!(!mermaid(NASTY).contains(['<', '>', '"', '&', '`', '\n', '\u{202e}']));
    }
}
