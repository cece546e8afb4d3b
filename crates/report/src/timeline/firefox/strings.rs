//! The texts of a profile, each once: everything else refers to them by number.

use std::collections::HashMap;
use std::io::{self, Write};

use super::super::json;

#[derive(Debug, Default)]
pub(super) struct Strings {
    numbers: HashMap<Box<str>, u32>,
    /// Flows are texts for the format; there may be a million of them.
    flows: HashMap<u64, u32>,
    /// The texts as JSON, separated.
    array: Vec<u8>,
}

impl Strings {
    pub(super) fn number(&mut self, text: &str) -> io::Result<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Ok(*number);
        }
        let number = self.begin();
        json::text(&mut self.array, text)?;
        self.numbers.insert(text.into(), number);
        Ok(number)
    }

    /// The format wants hexadecimal digits.
    pub(super) fn flow(&mut self, flow: u64) -> io::Result<u32> {
        if let Some(number) = self.flows.get(&flow) {
            return Ok(*number);
        }
        let number = self.begin();
        write!(self.array, "\"{flow:08x}\"")?;
        self.flows.insert(flow, number);
        Ok(number)
    }

    fn begin(&mut self) -> u32 {
        if !self.array.is_empty() {
            self.array.push(b',');
        }
        (self.numbers.len() + self.flows.len()) as u32
    }

    /// What is between the brackets.
    pub(super) fn array(&self) -> &[u8] {
        &self.array
    }
}
