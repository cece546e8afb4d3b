//! What a trace says of itself: how many events it has, and how many it counts as lost.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) events: u64,
    pub(super) lost: u64,
}

/// Read by `rostrace info`, whoever recorded it.
pub(super) fn counted(rostrace: &Path, trace: &Path) -> Result<Counted> {
    let output = Command::new(rostrace)
        .args(["info", "--format", "json"])
        .arg(trace)
        .output()
        .context("`rostrace info` could not be started")?;
    parse(&String::from_utf8_lossy(&output.stdout)).with_context(|| {
        format!(
            "`rostrace info {}` ended with {} and said: {}",
            trace.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )
    })
}

fn parse(text: &str) -> Result<Counted> {
    let number = |name: &str| -> Result<u64> {
        let (_, after) = text
            .split_once(&format!("\"{name}\": "))
            .with_context(|| format!("nothing is said of {name}"))?;
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        Ok(digits.parse()?)
    };
    Ok(Counted {
        events: number("events")?,
        lost: number("discarded_events")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_lost_ones_are_found() {
        let text = "{\n  \"events\": 12,\n  \"discarded_events\": 3\n}";
        let counted = parse(text).unwrap();
        assert_eq!((counted.events, counted.lost), (12, 3));
        assert!(parse("{}").unwrap_err().to_string().contains("events"));
    }
}
