//! Arrays: as one run of bits where the elements are plain numbers, as a loop where only the data knows where an element ends.

use super::byte_order::{LastOrder, uniform_order};
use super::{BitOffset, Compiler, LeafType, Phase, Step};
use crate::bits::Codec;
use crate::decode::least_size;
use crate::schema::{BitField, FieldClass, IntegerForm, Length};

impl Compiler {
    pub(super) fn array(
        &mut self,
        class: &FieldClass,
        length: Length,
        align: u32,
        element: &FieldClass,
        reachable: bool,
    ) {
        self.align(align);
        let place = self.place();
        let plain = plain_number(element);
        let Some(bits) =
            plain.filter(|(bits, ..)| u64::from(bits.size).is_multiple_of(u64::from(bits.align)))
        else {
            return self.general_array(class, length, element, place, reachable);
        };
        let (bits, signed, float) = bits;
        let stride = u64::from(bits.size);
        let codec = Codec::new(bits, signed);
        let order_before = self.last_order;
        match length {
            Length::Fixed(count) => {
                if count > 0 {
                    self.bits(&bits);
                    self.offset = place.offset.saturating_add(count.saturating_mul(stride));
                }
                let shape = LeafType::List {
                    fixed: Some(count),
                    stride,
                    codec,
                    float,
                };
                self.leaf(class, place, shape, reachable);
            }
            Length::Slot(length) => {
                // The first element decides about byte orders; without elements nothing does.
                let before = self.phase();
                let fine = before.modulus >= 8 && before.residue.is_multiple_of(8);
                if !fine && order_before.fits(bits.order) != Some(true) {
                    self.irregular = true;
                }
                self.last_order = if order_before == LastOrder::Is(bits.order) {
                    order_before
                } else if fine && stride.is_multiple_of(8) {
                    LastOrder::Any
                } else {
                    LastOrder::Unknown
                };
                let power_of_two = 1u64 << stride.trailing_zeros();
                let phase = before.or(before.plus(power_of_two.min(before.modulus)));
                self.step(
                    Step::Run {
                        skip: self.offset,
                        length,
                        stride,
                    },
                    phase,
                );
                let shape = LeafType::List {
                    fixed: None,
                    stride,
                    codec,
                    float,
                };
                self.leaf(class, place, shape, reachable);
            }
        }
    }

    fn general_array(
        &mut self,
        class: &FieldClass,
        length: Length,
        element: &FieldClass,
        place: BitOffset,
        reachable: bool,
    ) {
        if length == Length::Fixed(0) {
            self.leaf(class, place, LeafType::Nested, reachable);
            return;
        }
        // An element begins anywhere that its predecessors end.
        let order = self.last_order;
        self.last_order = LastOrder::Unknown;
        let (block, _, _) = self.inner(element, Phase::UNKNOWN);
        self.last_order = match uniform_order(element) {
            Some(uniform) => order.or(LastOrder::Is(uniform)),
            None => LastOrder::Unknown,
        };
        let least = least_size(element);
        self.step(
            Step::Loop {
                skip: self.offset,
                length,
                least,
                element: block,
            },
            Phase::UNKNOWN,
        );
        self.leaf(class, place, LeafType::Nested, reachable);
    }
}

/// Numbers and floats that leave nothing behind for others, so that only their count matters.
fn plain_number(class: &FieldClass) -> Option<(BitField, bool, bool)> {
    match class {
        FieldClass::Integer(integer) if integer.slot.is_none() && !integer.updates_clock => {
            match integer.form {
                IntegerForm::Fixed(bits) => Some((bits, integer.signed, false)),
                IntegerForm::Variable => None,
            }
        }
        FieldClass::Boolean { bits, slot: None } => Some((*bits, false, false)),
        FieldClass::BitArray(bits) | FieldClass::BitMap { bits, .. } => Some((*bits, false, false)),
        FieldClass::Float(bits) => Some((*bits, false, true)),
        _ => None,
    }
}
