//! Finds the values of an event header: which form of it, which id, how many bits of the time.
//!
//! Tracers have headers of two forms: a compact one for small ids and short distances in time, and an extended one for
//! the rest, chosen by a variant whose selector is the compact id itself. Any header with at most one such variant is filled
//! here, by the roles of its members; the first form that can carry id and time is taken.

use super::error::WriteError;
use crate::schema::{
    FieldClass, Integer, IntegerForm, Length, Range, Role, Slot, StreamClass, Struct, VariantOption,
};
use crate::value::Value;

/// What a header has to say.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventHeader<'v> {
    pub(super) id: u64,
    pub(super) time: u64,
    /// What the reader's clock shows before the event.
    pub(super) clock: u64,
    /// Values for the members without a role; without it they are zero.
    pub(super) template: Option<&'v Value>,
}

/// Why one form of the header cannot be used.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unfit {
    Id,
    Time,
}

/// The variant of a header, and the value of its selector that leads to one of its options.
#[derive(Debug, Clone, Copy)]
struct Choice {
    selector: Slot,
    value: u64,
    option: usize,
}

impl EventHeader<'_> {
    /// The value of the stream class's event header.
    pub(super) fn value(&self, class: &StreamClass, header: &Struct) -> Result<Value, WriteError> {
        let mut variants = Vec::new();
        collect_variants(header, &mut variants);
        let attempt = match variants.as_slice() {
            [] => self.filled(header, None),
            [(selector, options)] => self.first_fit(header, *selector, options),
            _ => {
                return Err(WriteError::HeaderTooComplex {
                    stream_class: class.id,
                });
            }
        };
        let unfit = match attempt {
            Ok((value, clock)) if clock == self.time || class.clock.is_none() => return Ok(value),
            Ok(_) => Unfit::Time,
            Err(unfit) => unfit,
        };
        Err(match unfit {
            Unfit::Id => WriteError::IdDoesNotFit {
                stream_class: class.id,
                id: self.id,
            },
            Unfit::Time => WriteError::TimeDoesNotFit {
                stream_class: class.id,
                time: self.time,
                clock: self.clock,
            },
        })
    }

    fn first_fit(
        &self,
        header: &Struct,
        selector: Slot,
        options: &[VariantOption],
    ) -> Result<(Value, u64), Unfit> {
        let selector_is_id = selector_of(header, selector)
            .is_some_and(|integer| integer.role == Some(Role::EventId));
        let option_of = |value: u64| {
            (options.iter()).position(|option| Range::any(&option.ranges, value.into()))
        };
        let mut unfit = Unfit::Id;
        for (index, option) in options.iter().enumerate() {
            let value = if selector_is_id && !says_id(&option.class) {
                self.id
            } else {
                let Some(lowest) = (option.ranges.iter())
                    .filter_map(|range| u64::try_from(range.low).ok())
                    .min()
                else {
                    continue;
                };
                lowest
            };
            if option_of(value) != Some(index) {
                continue;
            }
            let choice = Choice {
                selector,
                value,
                option: index,
            };
            match self.filled(header, Some(choice)) {
                Ok(filled) => return Ok(filled),
                // A form that only the time does not fit tells more than one that does not apply at all.
                Err(Unfit::Time) => unfit = Unfit::Time,
                Err(Unfit::Id) => {}
            }
        }
        Err(unfit)
    }

    /// The header's value, and what the reader's clock shows after it.
    fn filled(&self, header: &Struct, choice: Option<Choice>) -> Result<(Value, u64), Unfit> {
        let mut filling = Filling {
            header: self,
            choice,
            clock: self.clock,
        };
        let value = filling.structure(header, self.template)?;
        Ok((value, filling.clock))
    }
}

/// One attempt to fill a header.
struct Filling<'h> {
    header: &'h EventHeader<'h>,
    choice: Option<Choice>,
    clock: u64,
}

impl Filling<'_> {
    fn structure(&mut self, structure: &Struct, template: Option<&Value>) -> Result<Value, Unfit> {
        let templates = template.and_then(Value::members).unwrap_or(&[]);
        (structure.members.iter().enumerate())
            .map(|(index, member)| self.field(&member.class, templates.get(index)))
            .collect::<Result<_, _>>()
            .map(Value::Struct)
    }

    fn field(&mut self, class: &FieldClass, template: Option<&Value>) -> Result<Value, Unfit> {
        match class {
            FieldClass::Integer(integer) => self.integer(integer, template),
            FieldClass::Struct(structure) => self.structure(structure, template),
            FieldClass::Variant {
                selector, options, ..
            } => {
                let Some(choice) = self.choice.filter(|choice| choice.selector == *selector) else {
                    return Ok(template.cloned().unwrap_or_else(|| zero(class)));
                };
                let index = choice.option;
                let inner = match template {
                    Some(Value::Variant(option, value)) if *option == index => Some(&**value),
                    _ => None,
                };
                let option = options.get(index).ok_or(Unfit::Id)?;
                Ok(Value::variant(index, self.field(&option.class, inner)?))
            }
            class => Ok(template.cloned().unwrap_or_else(|| zero(class))),
        }
    }

    fn integer(&mut self, integer: &Integer, template: Option<&Value>) -> Result<Value, Unfit> {
        if let Some(choice) = self.choice
            && integer.slot == Some(choice.selector)
        {
            return unsigned(integer, choice.value).ok_or(Unfit::Id);
        }
        if integer.role == Some(Role::EventId) {
            return unsigned(integer, self.header.id).ok_or(Unfit::Id);
        }
        if integer.role == Some(Role::Timestamp) || integer.updates_clock {
            return self.timestamp(integer);
        }
        Ok(template
            .cloned()
            .unwrap_or_else(|| zero(&FieldClass::Integer(integer.clone()))))
    }

    fn timestamp(&mut self, integer: &Integer) -> Result<Value, Unfit> {
        let time = self.header.time;
        let size = match integer.form {
            IntegerForm::Fixed(bits) => u32::from(bits.size),
            // Carries as many bits as the value has: always enough, but never for a step back.
            IntegerForm::Variable => 63,
        };
        let value = if size >= 64 {
            time
        } else {
            let step = time.checked_sub(self.clock).ok_or(Unfit::Time)?;
            if step >> size != 0 {
                return Err(Unfit::Time);
            }
            match integer.form {
                IntegerForm::Fixed(_) => time & ((1 << size) - 1),
                IntegerForm::Variable => time,
            }
        };
        if integer.updates_clock {
            self.clock = time;
        }
        Ok(Value::Unsigned(value))
    }
}

fn unsigned(integer: &Integer, value: u64) -> Option<Value> {
    let size = integer.bits().map_or(64, |bits| bits.size);
    let fits = size >= 64 || value >> size == 0;
    (fits && !integer.signed).then_some(Value::Unsigned(value))
}

/// The value of a field that nobody says anything about.
fn zero(class: &FieldClass) -> Value {
    // A header with more than that is refused when it is encoded.
    let count = |length: &Length| length.of(|_| 0).min(1 << 16) as usize;
    match class {
        FieldClass::Integer(integer) if integer.signed => Value::Signed(0),
        FieldClass::Integer(_) => Value::Unsigned(0),
        FieldClass::Float(_) => Value::Float(0.0),
        FieldClass::Boolean { .. } => Value::Boolean(false),
        FieldClass::BitArray(_) | FieldClass::BitMap { .. } => Value::Bits(0),
        FieldClass::String { .. } | FieldClass::Text { .. } => Value::Text(Vec::new()),
        FieldClass::Blob { length, .. } => Value::Blob(vec![0; count(length)]),
        FieldClass::Struct(structure) => Value::Struct(
            (structure.members.iter())
                .map(|member| zero(&member.class))
                .collect(),
        ),
        FieldClass::Array {
            length, element, ..
        } => Value::Array(vec![zero(element); count(length)]),
        FieldClass::Optional { .. } => Value::Optional(None),
        FieldClass::Variant { options, .. } => match options.first() {
            Some(option) => Value::variant(0, zero(&option.class)),
            None => Value::Struct(Vec::new()),
        },
    }
}

fn says_id(class: &FieldClass) -> bool {
    contains(class, &|integer| integer.role == Some(Role::EventId))
}

/// Whether the form of the header depends on what is in this class.
fn says_id_or_time(class: &FieldClass) -> bool {
    contains(class, &|integer| {
        matches!(integer.role, Some(Role::EventId | Role::Timestamp)) || integer.updates_clock
    })
}

fn contains(class: &FieldClass, wanted: &dyn Fn(&Integer) -> bool) -> bool {
    match class {
        FieldClass::Integer(integer) => wanted(integer),
        FieldClass::Struct(structure) => {
            (structure.members.iter()).any(|member| contains(&member.class, wanted))
        }
        FieldClass::Variant { options, .. } => {
            (options.iter()).any(|option| contains(&option.class, wanted))
        }
        _ => false,
    }
}

/// The integer that leaves its value in this slot.
fn selector_of(structure: &Struct, slot: Slot) -> Option<&Integer> {
    (structure.members.iter()).find_map(|member| match &member.class {
        FieldClass::Integer(integer) if integer.slot == Some(slot) => Some(integer),
        FieldClass::Struct(inner) => selector_of(inner, slot),
        _ => None,
    })
}

/// All variants on which it depends where id and time are.
fn collect_variants<'c>(structure: &'c Struct, found: &mut Vec<(Slot, &'c [VariantOption])>) {
    for member in &structure.members {
        collect_variants_of(&member.class, found);
    }
}

fn collect_variants_of<'c>(class: &'c FieldClass, found: &mut Vec<(Slot, &'c [VariantOption])>) {
    match class {
        FieldClass::Variant {
            selector, options, ..
        } if says_id_or_time(class) => {
            found.push((*selector, options));
            for option in options {
                collect_variants_of(&option.class, found);
            }
        }
        FieldClass::Struct(inner) => collect_variants(inner, found),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
