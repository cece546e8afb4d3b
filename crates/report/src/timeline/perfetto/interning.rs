//! Texts that are written once and referred to by number afterwards.

use std::collections::HashMap;

/// Numbers of texts of one kind, from 1 on in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct Interning {
    numbers: HashMap<String, u64>,
}

impl Interning {
    /// The number of a text; `new` hears of one that was not known.
    pub(super) fn number(&mut self, text: &str, new: impl FnOnce(u64)) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.to_owned(), number);
        new(number);
        number
    }
}
