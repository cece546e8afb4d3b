//! What YAML 1.1 makes of a plain scalar: `12` is a number, `no` a boolean, `2024-01-01` a date. PyYAML reads by
//! these rules, so it quotes every text that they would take for something else, and so do we.

/// Whether a plain scalar would be read as something else than text.
pub(crate) fn is_literal(text: &str) -> bool {
    is_null(text)
        || is_boolean(text)
        || is_integer(text)
        || is_float(text)
        || is_timestamp(text)
        // Signs of their own: merge, default value, and bare indicators.
        || matches!(text, "<<" | "=" | "!" | "&" | "*")
}

pub(crate) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn is_boolean(text: &str) -> bool {
    const WORDS: [&str; 6] = ["yes", "no", "true", "false", "on", "off"];
    WORDS.iter().any(|word| {
        let capital = word[..1].to_ascii_uppercase() + &word[1..];
        text == *word || text == capital || text == word.to_ascii_uppercase()
    })
}

/// The value of a plain scalar that is a whole number, not negative: decimal, `0x`, `0b`, or octal with a leading 0.
pub fn whole_number(text: &str) -> Option<u64> {
    if !is_integer(text) {
        return None;
    }
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    let digits = digits.strip_prefix('+').unwrap_or(&digits);
    if let Some(digits) = digits.strip_prefix("0x") {
        u64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = digits.strip_prefix("0b") {
        u64::from_str_radix(digits, 2).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(&digits[1..], 8).ok()
    } else {
        digits.parse().ok()
    }
}

/// Bytes still to be matched. Each method takes what it matches and says whether, or how much, that was.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn new(text: &'a str) -> Rest<'a> {
        Rest(text.as_bytes())
    }

    fn while_in(&mut self, wanted: impl Fn(u8) -> bool) -> usize {
        let count = self.0.iter().take_while(|byte| wanted(**byte)).count();
        self.0 = &self.0[count..];
        count
    }

    fn one_of(&mut self, wanted: &[u8]) -> bool {
        let found = self.0.first().is_some_and(|byte| wanted.contains(byte));
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    /// Between `least` and `most` digits.
    fn digits(&mut self, least: usize, most: usize) -> bool {
        let count = self.0.iter().take(most);
        let count = count.take_while(|byte| byte.is_ascii_digit()).count();
        self.0 = &self.0[count..];
        count >= least
    }

    fn blanks(&mut self) -> usize {
        self.while_in(|byte| matches!(byte, b' ' | b'\t'))
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn digit_or_underscore(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'_'
}

/// `:30:15`, the digits behind the first of a number to the base 60.
fn sixties(rest: &mut Rest<'_>) -> usize {
    let mut count = 0;
    while rest.0.first() == Some(&b':') {
        let taken = match rest.0 {
            [_, b'0'..=b'5', b'0'..=b'9', ..] => 3,
            [_, b'0'..=b'9', ..] => 2,
            _ => break,
        };
        rest.0 = &rest.0[taken..];
        count += 1;
    }
    count
}

fn is_integer(text: &str) -> bool {
    let mut rest = Rest::new(text);
    rest.one_of(b"+-");
    match rest.0 {
        [b'0'] => true,
        [b'0', b'b', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(|byte| matches!(byte, b'0' | b'1' | b'_'))
        }
        [b'0', b'x', digits @ ..] => {
            let hexadecimal = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'_';
            !digits.is_empty() && digits.iter().all(hexadecimal)
        }
        [b'0', digits @ ..] => digits.iter().all(|byte| matches!(byte, b'0'..=b'7' | b'_')),
        [b'1'..=b'9', ..] => {
            rest.while_in(digit_or_underscore);
            sixties(&mut rest);
            rest.is_empty()
        }
        _ => false,
    }
}

fn is_float(text: &str) -> bool {
    let signed = text.starts_with(['+', '-']);
    let mut rest = Rest::new(text);
    rest.one_of(b"+-");
    match rest.0 {
        b".inf" | b".Inf" | b".INF" => return true,
        b".nan" | b".NaN" | b".NAN" => return !signed,
        _ => {}
    }
    let begins_with_digit = rest.0.first().is_some_and(u8::is_ascii_digit);
    if begins_with_digit {
        rest.while_in(digit_or_underscore);
        let sixties = sixties(&mut rest);
        if !rest.one_of(b".") {
            return false;
        }
        rest.while_in(digit_or_underscore);
        rest.is_empty() || (sixties == 0 && exponent(&mut rest))
    } else {
        !signed
            && rest.one_of(b".")
            && rest.0.first().is_some_and(u8::is_ascii_digit)
            && rest.while_in(digit_or_underscore) > 0
            && (rest.is_empty() || exponent(&mut rest))
    }
}

/// With a sign, or it is none.
fn exponent(rest: &mut Rest<'_>) -> bool {
    rest.one_of(b"eE")
        && rest.one_of(b"+-")
        && rest.while_in(|byte| byte.is_ascii_digit()) > 0
        && rest.is_empty()
}

fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_date = |pattern: &[u8]| {
        pattern.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    };
    if bytes.len() == 10 && is_date(bytes) {
        return true;
    }
    let mut rest = Rest::new(text);
    let date = rest.digits(4, 4)
        && rest.one_of(b"-")
        && rest.digits(1, 2)
        && rest.one_of(b"-")
        && rest.digits(1, 2);
    if !date || !(rest.one_of(b"Tt") || rest.blanks() > 0) {
        return false;
    }
    let time = rest.digits(1, 2)
        && rest.one_of(b":")
        && rest.digits(2, 2)
        && rest.one_of(b":")
        && rest.digits(2, 2);
    if !time {
        return false;
    }
    if rest.one_of(b".") {
        rest.while_in(|byte| byte.is_ascii_digit());
    }
    if rest.is_empty() {
        return true;
    }
    rest.blanks();
    if rest.one_of(b"Z") {
        return rest.is_empty();
    }
    let zone = rest.one_of(b"+-") && rest.digits(1, 2);
    zone && (rest.is_empty() || (rest.one_of(b":") && rest.digits(2, 2) && rest.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_data_is_not_text() {
        for text in [
            "",
            "~",
            "Null",
            "yes",
            "Off",
            "TRUE",
            "0",
            "-1",
            "1_000",
            "0x1F",
            "0b10",
            "010",
            "0_",
            "1:30",
            "190:20:30",
            "1.",
            "1.5e+3",
            ".5",
            "-.inf",
            ".NaN",
            "1:30.5",
            "2024-01-01",
            "2024-1-1 1:00:00",
            "2024-01-01T01:02:03.5Z",
            "2024-01-01 01:02:03 +09:00",
            "<<",
            "=",
            "*",
        ] {
            assert!(is_literal(text), "{text}");
        }
    }

    #[test]
    fn what_only_resembles_data_is_text() {
        for text in [
            "nO",
            "yess",
            "nullx",
            "0x",
            "08",
            "1e5",
            "1.5e3",
            "-.5",
            "+.nan",
            "1:60",
            "1:",
            "_1",
            "2024-1-1",
            "2024-01-01T",
            "2024-01-01 1:2:3",
            "/node",
            "===",
            "0b2",
            "1.5.2",
            "12:30:",
            "+",
            "-",
        ] {
            assert!(!is_literal(text), "{text}");
        }
    }

    #[test]
    fn whole_numbers_have_their_yaml_value() {
        assert_eq!(whole_number("100_000"), Some(100_000));
        assert_eq!(whole_number("0x10"), Some(16));
        assert_eq!(whole_number("010"), Some(8));
        assert_eq!(whole_number("0"), Some(0));
        assert_eq!(whole_number("-1"), None);
        assert_eq!(whole_number("1:30"), None);
        assert_eq!(whole_number("99999999999999999999"), None);
    }
}
