//! Registers: what a field leaves behind for lengths and presence of later ones, and who reads it.

use crate::schema::{FieldClass, Slot, Struct};

/// The range of slots that these structures write.
pub(super) fn slots_of<'a>(structures: impl Iterator<Item = &'a Struct>) -> std::ops::Range<usize> {
    let slots = structures
        .flat_map(Struct::all)
        .filter_map(FieldClass::slot);
    let range = slots.fold(None, |range: Option<(u32, u32)>, Slot(slot)| {
        Some(range.map_or((slot, slot), |(low, high)| (low.min(slot), high.max(slot))))
    });
    range.map_or(0..0, |(low, high)| low as usize..high as usize + 1)
}
