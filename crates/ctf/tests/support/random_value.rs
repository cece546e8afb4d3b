//! Random values that agree with their class and with each other.

use std::collections::HashMap;

use rostrace_ctf::schema::*;
use rostrace_ctf::value::{Value, widen};

use super::choices::Choices;
use super::random_schema::Domains;

/// Makes the values of one event or one packet, in the order of decoding.
#[derive(Debug)]
pub struct RandomValues<'c> {
    pub choices: &'c mut Choices,
    pub domains: &'c Domains,
    /// No text is shorter: babeltrace 2.0.4 shows the text of an earlier event instead of an empty one.
    pub shortest_text: usize,
    /// What a decoder has left there so far.
    pub slots: HashMap<Slot, i128>,
}

impl RandomValues<'_> {
    pub fn structure(&mut self, structure: &Struct) -> Value {
        let members = structure.members.iter();
        Value::Struct(members.map(|member| self.value(&member.class)).collect())
    }

    pub fn value(&mut self, class: &FieldClass) -> Value {
        match class {
            FieldClass::Integer(integer) => self.integer(integer),
            FieldClass::Float(bits) => match bits.size {
                32 => Value::Float(widen(self.choices.number())),
                _ => Value::Float(f64::from_bits(self.choices.wide_number())),
            },
            FieldClass::Boolean { slot, .. } => {
                let value = self.choices.once_in(2);
                self.leave(*slot, value.into());
                Value::Boolean(value)
            }
            FieldClass::BitArray(bits) | FieldClass::BitMap { bits, .. } => {
                Value::Bits(self.bits(bits.size))
            }
            FieldClass::String { encoding } => {
                let units = self.shortest_text + self.choices.below(4);
                self.text(*encoding, units)
            }
            FieldClass::Text { length, encoding } => {
                let most = self.length(*length) / encoding.unit();
                let units = self.choices.below(most + 1).max(self.shortest_text);
                self.text(*encoding, units)
            }
            FieldClass::Blob { length, .. } => {
                let length = self.length(*length);
                Value::Blob((0..length).map(|_| self.choices.number() as u8).collect())
            }
            FieldClass::Struct(structure) => self.structure(structure),
            FieldClass::Array {
                length, element, ..
            } => {
                let length = self.length(*length);
                Value::Array((0..length).map(|_| self.value(element)).collect())
            }
            FieldClass::Optional {
                selector,
                ranges,
                class,
                ..
            } => {
                let selector = self.slot(*selector);
                let present = match ranges {
                    Some(ranges) => ranges.iter().any(|range| range.contains(selector)),
                    None => selector != 0,
                };
                Value::Optional(present.then(|| Box::new(self.value(class))))
            }
            FieldClass::Variant {
                selector, options, ..
            } => {
                let selector = self.slot(*selector);
                let index = (options.iter())
                    .position(|option| option.ranges.iter().any(|range| range.contains(selector)))
                    .expect("the options cover the domain of their selector");
                Value::variant(index, self.value(&options[index].class))
            }
        }
    }

    fn integer(&mut self, integer: &Integer) -> Value {
        let domain = integer.slot.and_then(|slot| self.domains.get(&slot));
        let value = match (domain, integer.form) {
            (Some(domain), _) => self.choices.one_of(domain),
            (None, IntegerForm::Variable) => self.bits_as_integer(64, integer.signed),
            (None, IntegerForm::Fixed(bits)) => self.bits_as_integer(bits.size, integer.signed),
        };
        self.leave(integer.slot, value);
        match integer.signed {
            true => Value::Signed(value as i64),
            false => Value::Unsigned(value as u64),
        }
    }

    /// Small and extreme numbers are more likely than others.
    fn bits_as_integer(&mut self, size: u8, signed: bool) -> i128 {
        let raw = i128::from(self.bits(size));
        if signed && raw >> (size - 1) & 1 == 1 {
            raw - (1 << size)
        } else {
            raw
        }
    }

    fn bits(&mut self, size: u8) -> u64 {
        let all = u64::MAX >> (64 - size);
        let random = self.choices.wide_number();
        all & match self.choices.below(6) {
            0 | 1 => random,
            2 => random >> (random & 63),
            3 => u64::MAX,
            4 => 1 << (size - 1),
            _ => (1 << (size - 1)) - 1,
        }
    }

    /// A text of so many code units, in which no part can be taken for its end.
    fn text(&mut self, encoding: Encoding, units: usize) -> Value {
        let characters: &[char] = match encoding.unit() {
            1 => &['a', 'Z', '"', '\\', '?', '\n', '\u{7f}', '0'],
            2 => &['a', 'é', '\u{100}', '\u{6100}', '\u{FFFD}'],
            _ => &['a', 'é', '\u{100}', '😀', '\u{10FFFF}'],
        };
        let text: String = (0..units)
            .map(|_| self.choices.one_of(characters))
            .collect();
        let mut bytes = text.into_bytes();
        if encoding == Encoding::Utf8 && self.choices.once_in(4) {
            // Readers pass on what is not valid.
            bytes.fill(0xFE);
        }
        Value::Text(bytes)
    }

    fn length(&self, length: Length) -> usize {
        match length {
            Length::Fixed(length) => length as usize,
            Length::Slot(slot) => self.slot(slot) as usize,
        }
    }

    fn slot(&self, slot: Slot) -> i128 {
        self.slots.get(&slot).copied().unwrap_or(0)
    }

    fn leave(&mut self, slot: Option<Slot>, value: i128) {
        if let Some(slot) = slot {
            self.slots.insert(slot, value);
        }
    }
}
