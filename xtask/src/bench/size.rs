//! `--size`: how big the repeated trace is to be.

use std::str::FromStr;

use crate::arguments::WrongUsage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// The recording as it is, not repeated.
    Original,
    Bytes(u64),
}

/// Decimal multiples, as in MB/s.
const UNITS: &[(char, u64)] = &[('K', 1_000), ('M', 1_000_000), ('G', 1_000_000_000)];

impl FromStr for Size {
    type Err = WrongUsage;

    fn from_str(text: &str) -> Result<Self, WrongUsage> {
        if text == "original" {
            return Ok(Size::Original);
        }
        let unit = UNITS
            .iter()
            .find(|(letter, _)| text.to_ascii_uppercase().ends_with(*letter));
        let (digits, factor) = match unit {
            Some((_, factor)) => (&text[..text.len() - 1], *factor),
            None => (text, 1),
        };
        let bytes = digits
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(factor));
        match bytes {
            Some(bytes) if bytes > 0 => Ok(Size::Bytes(bytes)),
            _ => Err(WrongUsage(format!(
                "`{text}` is not a size. Write 500M, 2G, a number of bytes, or `original`."
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_with_a_unit() {
        for (text, bytes) in [
            ("500M", 500_000_000),
            ("2g", 2_000_000_000),
            ("64k", 64_000),
            ("7", 7),
        ] {
            assert_eq!(text.parse::<Size>().unwrap(), Size::Bytes(bytes));
        }
        assert_eq!("original".parse::<Size>().unwrap(), Size::Original);
    }

    #[test]
    fn what_is_not_a_size_is_refused() {
        for text in [
            "",
            "M",
            "0",
            "0M",
            "1.5G",
            "-1",
            "5MB",
            "99999999999999G",
            "5µ",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
