//! Shares that people write on the command line: `5%` or `0.05`.

use std::str::FromStr;

use anyhow::bail;

/// 1 for the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ShareArgument(pub(crate) f64);

impl FromStr for ShareArgument {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<ShareArgument> {
        let (number, scale) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end(), 100.0),
            None => (text, 1.0),
        };
        match number.parse::<f64>() {
            Ok(share) if share.is_finite() && share >= 0.0 => Ok(ShareArgument(share / scale)),
            _ => bail!("this is no share; write for example 5% or 0.05"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_parts_or_percent() {
        let share = |text: &str| text.parse::<ShareArgument>().map(|it| it.0).ok();
        assert_eq!(share("5%"), Some(0.05));
        assert_eq!(share("5 %"), Some(0.05));
        assert_eq!(share("0.05"), Some(0.05));
        for wrong in ["", "%", "-5%", "NaN", "inf", "five"] {
            assert_eq!(share(wrong), None, "{wrong}");
        }
    }
}
