//! Names made harmless for a picture. A name is whatever somebody wrote into the file: it may hold markup, quotes, or
//! marks that turn the direction of text.

use std::fmt::Write;

use rostrace_base::text::visible;

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
        let safe = rostrace_base::text::markup(NASTY);
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
