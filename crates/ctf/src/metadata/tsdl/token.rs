//! The words and marks of TSDL.
//!
//! Lexing never fails by itself: what is wrong becomes a last token, so that the parser reports faults in the order
//! of the text and knows whether the text was cut.

use super::super::error::Position;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind<'t>,
    pub(super) at: Position,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind<'t> {
    /// An identifier, a type name or a keyword.
    Word(&'t str),
    Integer(u64),
    /// A string or character literal, escapes resolved.
    Text(String),
    Mark(&'static str),
    /// The text ends inside of this.
    Unfinished(&'static str),
    /// Not a token of the language; nothing follows.
    Invalid(String),
    End,
}

/// Words that cannot name anything.
const KEYWORDS: [&str; 28] = [
    "align",
    "callsite",
    "char",
    "clock",
    "const",
    "double",
    "enum",
    "env",
    "event",
    "float",
    "floating_point",
    "int",
    "integer",
    "long",
    "short",
    "signed",
    "stream",
    "string",
    "struct",
    "trace",
    "typealias",
    "typedef",
    "unsigned",
    "variant",
    "void",
    "_Bool",
    "_Complex",
    "_Imaginary",
];

/// Longest first.
const MARKS: [&str; 19] = [
    "...", "->", ":=", "[", "]", "(", ")", "{", "}", "*", "+", "-", "<", ">", ":", ";", ".", "=",
    ",",
];

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// The tokens of a text; the last one is `End`, `Unfinished` or `Invalid`.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        offset: 0,
        line: 1,
        line_start: 0,
    };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next();
        let last = matches!(
            token.kind,
            TokenKind::End | TokenKind::Unfinished(_) | TokenKind::Invalid(_)
        );
        tokens.push(token);
        if last {
            return tokens;
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    offset: usize,
    line: u32,
    line_start: usize,
}

impl<'t> Lexer<'t> {
    fn next(&mut self) -> Token<'t> {
        let unfinished_comment = self.skip_space();
        let at = self.position();
        let kind = match (unfinished_comment, self.peek(0)) {
            (true, _) => TokenKind::Unfinished("a comment"),
            (false, None) => TokenKind::End,
            (false, Some(byte)) => match byte {
                b'0'..=b'9' => self.number(),
                b'"' | b'\'' => self.literal(byte),
                b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'\\' => self.word(),
                _ => self.mark(),
            },
        };
        Token { kind, at }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.offset + ahead).copied()
    }

    fn position(&self) -> Position {
        Position {
            line: self.line,
            column: u32::try_from(self.offset - self.line_start + 1).unwrap_or(u32::MAX),
        }
    }

    fn advance(&mut self, count: usize) {
        for _ in 0..count {
            if self.peek(0) == Some(b'\n') {
                self.line = self.line.saturating_add(1);
                self.line_start = self.offset + 1;
            }
            self.offset += 1;
        }
    }

    /// Skips white space and comments. True if the text ends inside a comment; then the lexer stands at its start.
    fn skip_space(&mut self) -> bool {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b' ' | b'\t' | b'\r' | b'\n'), _) => self.advance(1),
                (Some(b'/'), Some(b'/')) => {
                    let rest = &self.bytes[self.offset..];
                    let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                    self.advance(length);
                }
                (Some(b'/'), Some(b'*')) => {
                    let rest = &self.bytes[self.offset + 2..];
                    match memchr::memmem::find(rest, b"*/") {
                        Some(length) => self.advance(length + 4),
                        None => return true,
                    }
                }
                _ => return false,
            }
        }
    }

    fn word(&mut self) -> TokenKind<'t> {
        let start = self.offset;
        while let Some(byte) = self.peek(0) {
            let step = match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'0'..=b'9' => 1,
                b'\\' => match self.universal_character() {
                    Ok(length) => length,
                    Err(kind) => return kind,
                },
                _ => break,
            };
            self.advance(step);
        }
        let word = &self.text[start..self.offset];
        if word == "L" && matches!(self.peek(0), Some(b'"' | b'\'')) {
            return TokenKind::Invalid("wide literals (L\"…\") are not supported".to_owned());
        }
        TokenKind::Word(word)
    }

    /// The length of the `\uXXXX` or `\UXXXXXXXX` at the cursor.
    fn universal_character(&self) -> Result<usize, TokenKind<'t>> {
        let digits = match self.peek(1) {
            Some(b'u') => 4,
            Some(b'U') => 8,
            None => return Err(TokenKind::Unfinished("an identifier")),
            Some(_) => {
                return Err(TokenKind::Invalid(
                    "a lone '\\' has no meaning here".to_owned(),
                ));
            }
        };
        for ahead in 2..digits + 2 {
            match self.peek(ahead) {
                Some(byte) if byte.is_ascii_hexdigit() => {}
                None => return Err(TokenKind::Unfinished("an identifier")),
                Some(_) => {
                    return Err(TokenKind::Invalid(format!(
                        "a universal character name needs {digits} hexadecimal digits"
                    )));
                }
            }
        }
        Ok(digits + 2)
    }

    fn number(&mut self) -> TokenKind<'t> {
        let rest = &self.bytes[self.offset..];
        let length = rest
            .iter()
            .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
            .unwrap_or(rest.len());
        let literal = &self.text[self.offset..self.offset + length];
        match integer(literal) {
            Ok(value) => {
                self.advance(length);
                TokenKind::Integer(value)
            }
            // The rest of the number may be what was cut off.
            Err(_) if length == rest.len() => TokenKind::Unfinished("a number"),
            Err(message) => TokenKind::Invalid(message),
        }
    }

    fn literal(&mut self, quote: u8) -> TokenKind<'t> {
        let (start, line, line_start) = (self.offset, self.line, self.line_start);
        let mut value = Vec::new();
        self.advance(1);
        loop {
            match self.peek(0) {
                None => {
                    (self.offset, self.line, self.line_start) = (start, line, line_start);
                    return TokenKind::Unfinished("a string literal");
                }
                Some(0) => {
                    return TokenKind::Invalid("a string literal holds a NUL byte".to_owned());
                }
                Some(b'\\') => match self.escape() {
                    Ok(byte) => value.push(byte),
                    Err(kind) => return kind,
                },
                Some(byte) => {
                    self.advance(1);
                    if byte == quote {
                        break;
                    }
                    value.push(byte);
                }
            }
        }
        TokenKind::Text(String::from_utf8_lossy(&value).into_owned())
    }

    /// The byte that the escape sequence at the cursor means.
    fn escape(&mut self) -> Result<u8, TokenKind<'t>> {
        let Some(letter) = self.peek(1) else {
            return Err(TokenKind::Unfinished("a string literal"));
        };
        let simple = match letter {
            b'a' => Some(0x07),
            b'b' => Some(0x08),
            b'f' => Some(0x0C),
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            b'v' => Some(0x0B),
            b'\\' | b'\'' | b'"' | b'?' => Some(letter),
            _ => None,
        };
        if let Some(byte) = simple {
            self.advance(2);
            return Ok(byte);
        }
        let (prefix, radix) = match letter {
            b'0'..=b'7' => (1, 8),
            b'x' => (2, 16),
            _ => {
                return Err(TokenKind::Invalid(format!(
                    "a string literal holds the unknown escape sequence '\\{}'",
                    char::from(letter).escape_default()
                )));
            }
        };
        let mut value = 0;
        let mut digits = 0;
        while digits < 3
            && let Some(byte) = self.peek(prefix + digits)
            && let Some(digit) = char::from(byte).to_digit(radix)
        {
            value = value * radix + digit;
            digits += 1;
        }
        if digits == 0 {
            return Err(match self.peek(prefix) {
                None => TokenKind::Unfinished("a string literal"),
                Some(_) => TokenKind::Invalid("'\\x' needs a hexadecimal digit".to_owned()),
            });
        }
        self.advance(prefix + digits);
        // As C compilers do: what does not fit a byte is cut.
        Ok((value & 0xFF) as u8)
    }

    fn mark(&mut self) -> TokenKind<'t> {
        let rest = &self.bytes[self.offset..];
        // What a cut leaves of '...', ':=', '->' or of a comment's opening. None of these ends a text.
        if matches!(rest, b"." | b".." | b":" | b"-" | b"/") {
            return TokenKind::Unfinished("a mark");
        }
        for mark in MARKS {
            if rest.starts_with(mark.as_bytes()) {
                self.advance(mark.len());
                return TokenKind::Mark(mark);
            }
        }
        let found = self.text[self.offset..].chars().next().unwrap_or('?');
        TokenKind::Invalid(format!(
            "the character '{}' has no meaning here",
            found.escape_default()
        ))
    }
}

/// The value of an integer literal with its C suffix.
fn integer(literal: &str) -> Result<u64, String> {
    let digits = literal.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = literal[digits.len()..].to_ascii_lowercase();
    if !matches!(suffix.as_str(), "" | "u" | "ul" | "ull" | "lu" | "llu") {
        return Err(format!(
            "the number '{literal}' has the unknown suffix '{suffix}'"
        ));
    }
    let (body, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    if body.is_empty() || !body.chars().all(|c| c.is_digit(radix)) {
        return Err(format!("'{literal}' is not a number"));
    }
    u64::from_str_radix(body, radix)
        .map_err(|_| format!("the number '{literal}' does not fit 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind<'_>> {
        tokens(text).into_iter().map(|token| token.kind).collect()
    }

    fn only(text: &str) -> TokenKind<'_> {
        kinds(text).remove(0)
    }

    #[test]
    fn integers_have_three_bases_and_c_suffixes() {
        for (text, value) in [
            ("0", 0),
            ("42", 42),
            ("017", 15),
            ("0xfF", 255),
            ("1u", 1),
            ("1UL", 1),
            ("1llU", 1),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(only(&format!("{text};")), TokenKind::Integer(value));
        }
        for text in ["1L", "1LL", "08", "0x", "1x", "18446744073709551616", "1_"] {
            assert!(
                matches!(only(&format!("{text};")), TokenKind::Invalid(_)),
                "{text}"
            );
        }
    }

    #[test]
    fn escapes_in_literals_are_resolved() {
        assert_eq!(
            only(r#""a\n\t\\\"\x41\101\?é""#),
            TokenKind::Text("a\n\t\\\"AA?é".to_owned())
        );
        assert_eq!(only("'ab'"), TokenKind::Text("ab".to_owned()));
        assert_eq!(only(r#""\303\251""#), TokenKind::Text("é".to_owned()));
        assert_eq!(only("\"a\nb\""), TokenKind::Text("a\nb".to_owned()));
        assert!(matches!(only(r#""\o""#), TokenKind::Invalid(_)));
        assert!(matches!(only("\"a\0b\""), TokenKind::Invalid(_)));
        assert!(matches!(only("L\"a\""), TokenKind::Invalid(_)));
    }

    #[test]
    fn a_line_comment_may_lack_its_line_feed() {
        assert_eq!(kinds("a // b"), [TokenKind::Word("a"), TokenKind::End]);
    }

    #[test]
    fn what_a_cut_leaves_is_unfinished() {
        for text in ["/* a", "\"a", "\"a\\", "\"\\x", "0x", "..", "/", "\\u12"] {
            assert!(matches!(only(text), TokenKind::Unfinished(_)), "{text}");
        }
    }

    #[test]
    fn universal_character_names_are_letters() {
        assert_eq!(only("a\\u00e9b"), TokenKind::Word("a\\u00e9b"));
    }

    #[test]
    fn tokens_know_their_place() {
        let tokens = tokens("a\n  /* x\n */ b");
        assert_eq!(tokens[1].at, Position { line: 3, column: 5 });
    }
}
