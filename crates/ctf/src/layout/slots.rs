//! Registers: what a field leaves behind for lengths and presence of later ones, and who reads it.

use crate::schema::{FieldClass, Length, Slot, Struct};

/// The range of slots that these structures write.
pub(super) fn slots_of<'a>(structures: impl Iterator<Item = &'a Struct>) -> std::ops::Range<usize> {
    let mut range: Option<(u32, u32)> = None;
    for structure in structures {
        for member in &structure.members {
            written_slots(&member.class, &mut |Slot(slot)| {
                range =
                    Some(range.map_or((slot, slot), |(low, high)| (low.min(slot), high.max(slot))));
            });
        }
    }
    range.map_or(0..0, |(low, high)| low as usize..high as usize + 1)
}

fn written_slots(class: &FieldClass, found: &mut dyn FnMut(Slot)) {
    match class {
        FieldClass::Integer(integer) => {
            if let Some(slot) = integer.slot {
                found(slot);
            }
        }
        FieldClass::Boolean {
            slot: Some(slot), ..
        } => found(*slot),
        FieldClass::Struct(structure) => {
            structure
                .members
                .iter()
                .for_each(|member| written_slots(&member.class, found));
        }
        FieldClass::Array { element, .. } => written_slots(element, found),
        FieldClass::Optional { class, .. } => written_slots(class, found),
        FieldClass::Variant { options, .. } => {
            options
                .iter()
                .for_each(|option| written_slots(&option.class, found));
        }
        _ => {}
    }
}

/// The slots that decide lengths and presence in this class.
pub(super) fn read_slots(class: &FieldClass, found: &mut dyn FnMut(Slot)) {
    match class {
        FieldClass::Text {
            length: Length::Slot(slot),
            ..
        }
        | FieldClass::Blob {
            length: Length::Slot(slot),
            ..
        } => found(*slot),
        FieldClass::Struct(structure) => {
            structure
                .members
                .iter()
                .for_each(|member| read_slots(&member.class, found));
        }
        FieldClass::Array {
            length, element, ..
        } => {
            if let Length::Slot(slot) = length {
                found(*slot);
            }
            read_slots(element, found);
        }
        FieldClass::Optional {
            selector, class, ..
        } => {
            found(*selector);
            read_slots(class, found);
        }
        FieldClass::Variant {
            selector, options, ..
        } => {
            found(*selector);
            options
                .iter()
                .for_each(|option| read_slots(&option.class, found));
        }
        _ => {}
    }
}
