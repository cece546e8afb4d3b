//! Arrays: as one run of bits where the elements are plain numbers, as a loop where only the data knows where an element ends.

use super::byte_order::{LastOrder, uniform_order};
use super::{BitOffset, Compiler, LeafType, Phase, Step};
use crate::layout::bits::Codec;
use crate::layout::decode::least_size;
use crate::schema::{BitField, FieldClass, Length};

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
        let plain = plain.filter(|(bits, ..)| u32::from(bits.size).is_multiple_of(bits.align));
        let Some((bits, signed, float)) = plain else {
            return self.general_array(class, length, element, place, reachable);
        };
        let stride = u64::from(bits.size);
        let codec = Codec::new(bits, signed);
        let order_before = self.last_order;
        let fixed = match length {
            Length::Fixed(count) => {
                if count > 0 {
                    self.bits(&bits);
                    self.offset = place.offset.saturating_add(count.saturating_mul(stride));
                }
                Some(count)
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
                let skip = self.offset;
                let step = Step::Run {
                    skip,
                    length,
                    stride,
                };
                self.step(step, phase);
                None
            }
        };
        let shape = LeafType::List {
            fixed,
            stride,
            codec,
            float,
        };
        self.leaf(class, place, shape, reachable);
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
    let leaves_something = class.slot().is_some()
        || matches!(class, FieldClass::Integer(integer) if integer.updates_clock);
    let bits = class.bits().filter(|_| !leaves_something)?;
    let signed = matches!(class, FieldClass::Integer(integer) if integer.signed);
    Some((bits, signed, matches!(class, FieldClass::Float(_))))
}
