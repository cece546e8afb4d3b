//! How one scalar is written: plain, in single quotes or in double quotes, and where its lines are folded.
//!
//! The rules are PyYAML's, so that a file that CARET wrote and nobody changed is written again byte for byte. They
//! are stricter than YAML needs (every character outside ASCII is escaped in double quotes), but they are what diffs
//! are made against.

use std::fmt::Write;

use super::implicit::is_literal;

/// A space is a place to fold once a line is longer than this.
const WIDTH: usize = 80;

/// Text being written, and the column that it has come to.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) text: String,
    column: usize,
}

impl Output {
    pub(super) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        match piece.rfind('\n') {
            Some(newline) => self.column = piece[newline + 1..].chars().count(),
            None => self.column += piece.chars().count(),
        }
    }

    pub(super) fn new_line(&mut self, indent: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
}

/// Writes a text as the value of a key or an entry of a list; further lines begin at `indent`.
pub(super) fn write_text(out: &mut Output, text: &str, indent: usize) {
    match style(text, false) {
        Style::Plain => write_plain(out, text, Some(indent)),
        Style::SingleQuoted => write_single_quoted(out, text, Some(indent)),
        Style::DoubleQuoted => write_double_quoted(out, text, Some(indent)),
    }
}

/// Writes a text as a key, which is never folded.
pub(super) fn write_key(out: &mut Output, text: &str) {
    match style(text, true) {
        Style::Plain => write_plain(out, text, None),
        Style::SingleQuoted => write_single_quoted(out, text, None),
        Style::DoubleQuoted => write_double_quoted(out, text, None),
    }
}

/// Whether a text can stand before a colon; otherwise it needs the long form with a question mark.
pub(super) fn is_simple_key(text: &str) -> bool {
    // 128 with the tag that is not written but counted.
    !text.is_empty() && text.chars().count() + "!!str".len() < 128 && !text.chars().any(is_break)
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(c: Option<&char>) -> bool {
    c.is_none_or(|&c| matches!(c, '\0' | ' ' | '\t' | '\r') || is_break(c))
}

fn style(text: &str, as_key: bool) -> Style {
    let chars: Vec<char> = text.chars().collect();
    let breaks = chars.iter().any(|&c| is_break(c));
    let special = chars
        .iter()
        .any(|&c| c != '\n' && !(' '..='~').contains(&c));
    let pair = |first: fn(char) -> bool, second: fn(char) -> bool| {
        chars.windows(2).any(|two| first(two[0]) && second(two[1]))
    };
    let space: fn(char) -> bool = |c| c == ' ';
    let space_then_break = pair(space, is_break);
    let break_then_space = pair(is_break, space);
    let ragged = [chars.first(), chars.last()]
        .into_iter()
        .flatten()
        .any(|&c| c == ' ' || is_break(c));
    let plain = !is_literal(text) && !breaks && !special && !ragged && !has_indicator(text, &chars);
    if plain {
        Style::Plain
    } else if special || space_then_break || break_then_space || (as_key && breaks) {
        Style::DoubleQuoted
    } else {
        Style::SingleQuoted
    }
}

/// Whether a character means something to YAML where it stands, in block style.
fn has_indicator(text: &str, chars: &[char]) -> bool {
    text.starts_with("---")
        || text.starts_with("...")
        || chars.iter().enumerate().any(|(index, c)| {
            let followed_by_blank = is_blank(chars.get(index + 1));
            match (index, c) {
                (0, '?' | ':' | '-') => followed_by_blank,
                (0, c) => "#,[]{}&*!|>'\"%@`".contains(*c),
                (_, ':') => followed_by_blank,
                (_, '#') => is_blank(chars.get(index - 1)),
                _ => false,
            }
        })
}

/// A text cut into runs of spaces, runs of breaks and words.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let kind = |c: char| match c {
        ' ' => 0,
        c if is_break(c) => 1,
        _ => 2,
    };
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = kind(rest.chars().next()?);
        let end = rest.find(|c| kind(c) != first).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

fn write_plain(out: &mut Output, text: &str, fold: Option<usize>) {
    for run in runs(text) {
        match fold {
            Some(indent) if run == " " && out.column > WIDTH => out.new_line(indent),
            _ => out.push(run),
        }
    }
}

fn write_single_quoted(out: &mut Output, text: &str, fold: Option<usize>) {
    out.push("'");
    let mut done = 0;
    for run in runs(text) {
        let inside = done > 0 && done + run.len() < text.len();
        done += run.len();
        match fold {
            Some(indent) if run == " " && inside && out.column > WIDTH => out.new_line(indent),
            Some(indent) if run.starts_with('\n') => {
                // One break reads as a space, so each is written once more.
                out.push(run);
                out.new_line(indent);
            }
            _ => out.push(&run.replace('\'', "''")),
        }
    }
    out.push("'");
}

fn write_double_quoted(out: &mut Output, text: &str, fold: Option<usize>) {
    let chars: Vec<char> = text.chars().collect();
    out.push("\"");
    // Ordinary characters wait here, so that a line can be folded before the space that follows them.
    let mut waiting = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let ordinary = (' '..='~').contains(&c) && c != '"' && c != '\\';
        if !ordinary {
            out.push(&waiting);
            waiting.clear();
            out.push(&escaped(c));
        }
        // Before a space, and before and behind an escape.
        let may_fold = index > 0 && index + 1 < chars.len() && (c == ' ' || waiting.is_empty());
        // Behind an escape a line may be longer by one.
        let width = if ordinary { WIDTH } else { WIDTH + 1 };
        if let Some(indent) = fold
            && may_fold
            && out.column + waiting.len() > width
        {
            out.push(&waiting);
            waiting.clear();
            out.push("\\");
            out.new_line(indent);
            // The reader drops spaces at the beginning of a line unless they are escaped.
            let next = if ordinary { c } else { chars[index + 1] };
            if next == ' ' {
                out.push("\\");
            }
        }
        if ordinary {
            waiting.push(c);
        }
    }
    out.push(&waiting);
    out.push("\"");
}

fn escaped(c: char) -> String {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let mut long = String::new();
            let code = u32::from(c);
            let written = match code {
                0..=0xff => write!(long, "\\x{code:02X}"),
                0x100..=0xffff => write!(long, "\\u{code:04X}"),
                _ => write!(long, "\\U{code:08X}"),
            };
            debug_assert!(written.is_ok());
            return long;
        }
    };
    format!("\\{short}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = Output::default();
        write_text(&mut out, text, 2);
        out.text
    }

    /// Compared with PyYAML 6.0.3.
    #[test]
    fn quotes_are_used_where_pyyaml_uses_them() {
        for (text, expected) in [
            ("/topic", "/topic"),
            ("void (Filter::?)(int)", "void (Filter::?)(int)"),
            ("a: b", "'a: b'"),
            ("a:", "'a:'"),
            ("a #b", "'a #b'"),
            ("a#b", "a#b"),
            ("*a", "'*a'"),
            ("&a", "'&a'"),
            ("!a", "'!a'"),
            ("%a", "'%a'"),
            ("@a", "'@a'"),
            ("`a", "'`a'"),
            ("-", "'-'"),
            ("-a", "-a"),
            ("?a", "?a"),
            ("? a", "'? a'"),
            ("---a", "'---a'"),
            ("{lambda()#1}", "'{lambda()#1}'"),
            ("(null)", "(null)"),
            ("it's", "it's"),
            ("'it", "'''it'"),
            ("", "''"),
            ("12", "'12'"),
            ("yes", "'yes'"),
            ("null", "'null'"),
            ("=", "'='"),
            (" a", "' a'"),
            ("a ", "'a '"),
            ("a\tb", "\"a\\tb\""),
            ("größe", "\"gr\\xF6\\xDFe\""),
            ("日", "\"\\u65E5\""),
            ("🚗", "\"\\U0001F697\""),
            ("a\nb", "'a\n\n  b'"),
            ("a \nb", "\"a \\nb\""),
        ] {
            assert_eq!(written(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_is_folded_at_the_first_space_beyond_the_width() {
        let long = "x".repeat(81);
        assert_eq!(written(&format!("{long} a b")), format!("{long}\n  a b"));
        assert_eq!(written(&format!("{long}  a")), format!("{long}  a"));
        let exact = "x".repeat(80);
        assert_eq!(written(&format!("{exact} a")), format!("{exact} a"));
        assert_eq!(written(&long), long);
    }
}
