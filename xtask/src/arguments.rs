//! The options of a command: `--name value`, `--name=value` and bare words.
//!
//! A command takes what it knows and then calls [`Arguments::finish`], which refuses the rest. That is all
//! that a handful of options needs; the program itself uses a real parser.

use std::fmt;

use anyhow::Result;

/// The command line is wrong; `main` then shows how it should be.
#[derive(Debug)]
pub(crate) struct WrongUsage(pub(crate) String);

impl fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

#[derive(Debug)]
pub(crate) struct Arguments {
    remaining: Vec<String>,
}

impl Arguments {
    pub(crate) fn new(given: impl IntoIterator<Item = String>) -> Self {
        Arguments {
            remaining: given.into_iter().collect(),
        }
    }

    pub(crate) fn ask_for_help(&self) -> bool {
        self.remaining
            .iter()
            .any(|word| word == "--help" || word == "-h")
    }

    /// Takes `name`, an option without a value. False if it was not given.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.remaining.len();
        self.remaining.retain(|word| word != name);
        self.remaining.len() < before
    }

    /// Takes `name` and its value. None if it was not given.
    pub(crate) fn option(&mut self, name: &str) -> Result<Option<String>> {
        let with_equals = format!("{name}=");
        let Some(at) = self
            .remaining
            .iter()
            .position(|word| word == name || word.starts_with(&with_equals))
        else {
            return Ok(None);
        };
        let word = self.remaining.remove(at);
        if let Some(value) = word.strip_prefix(&with_equals) {
            return Ok(Some(value.to_owned()));
        }
        if at == self.remaining.len() {
            return Err(WrongUsage(format!("{name} needs a value.")).into());
        }
        Ok(Some(self.remaining.remove(at)))
    }

    /// Takes `name` and its value, and reads the value as a number that is not zero.
    pub(crate) fn count(&mut self, name: &str) -> Result<Option<u32>> {
        let Some(text) = self.option(name)? else {
            return Ok(None);
        };
        match text.parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(WrongUsage(format!("{name} needs a number above 0, not `{text}`.")).into()),
        }
    }

    /// Takes the first word that is not an option. Call this after all options with values were taken.
    pub(crate) fn word(&mut self) -> Option<String> {
        let at = self
            .remaining
            .iter()
            .position(|word| !word.starts_with('-'))?;
        Some(self.remaining.remove(at))
    }

    /// Refuses what nobody has taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.remaining.first() {
            None => Ok(()),
            Some(word) => Err(WrongUsage(format!("`{word}` is not understood.")).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments::new(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_value_follows_its_option_or_an_equals_sign() {
        let mut given = arguments("--size 500M --trace=/a");
        assert_eq!(given.option("--trace").unwrap().as_deref(), Some("/a"));
        assert_eq!(given.option("--size").unwrap().as_deref(), Some("500M"));
        assert_eq!(given.option("--size").unwrap(), None);
        given.finish().unwrap();
    }

    #[test]
    fn a_missing_value_is_wrong_usage() {
        let error = arguments("--size").option("--size").unwrap_err();
        assert!(error.is::<WrongUsage>());
        assert_eq!(error.to_string(), "--size needs a value.");
    }

    #[test]
    fn what_nobody_takes_is_wrong_usage() {
        let mut given = arguments("--quick --quack");
        assert!(given.flag("--quick"));
        assert_eq!(
            given.finish().unwrap_err().to_string(),
            "`--quack` is not understood."
        );
    }

    #[test]
    fn a_count_is_a_number_above_zero() {
        assert_eq!(arguments("").count("--runs").unwrap(), None);
        assert_eq!(arguments("--runs 3").count("--runs").unwrap(), Some(3));
        for wrong in ["--runs 0", "--runs many", "--runs -1"] {
            assert!(
                arguments(wrong)
                    .count("--runs")
                    .unwrap_err()
                    .is::<WrongUsage>()
            );
        }
    }

    #[test]
    fn a_word_is_what_does_not_start_with_a_dash() {
        let mut given = arguments("--list packet");
        assert_eq!(given.word().as_deref(), Some("packet"));
        assert_eq!(given.word(), None);
        assert!(given.flag("--list"));
    }
}
