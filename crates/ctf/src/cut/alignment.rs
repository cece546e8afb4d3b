//! How events may be moved: by multiples of the largest alignment of anything in them.

use crate::schema::{FieldClass, StreamClass, Struct};

/// For each event class the largest alignment of anything in its events.
pub(super) fn alignments(class: &StreamClass) -> Vec<u64> {
    let of_scope = |scope: &Option<Struct>| scope.as_ref().map_or(1, largest_in);
    let common = of_scope(&class.event_header).max(of_scope(&class.event_context));
    (class.events.iter())
        .map(|event| {
            let own = of_scope(&event.context).max(of_scope(&event.payload));
            u64::from(common.max(own))
        })
        .collect()
}

fn largest_in(structure: &Struct) -> u32 {
    let members = structure.members.iter();
    members
        .map(|member| largest(&member.class))
        .fold(structure.align.max(1), u32::max)
}

/// Also of what is there in some events only.
fn largest(class: &FieldClass) -> u32 {
    let inner = match class {
        FieldClass::Struct(structure) => largest_in(structure),
        FieldClass::Array { element, .. } => largest(element),
        FieldClass::Optional { class, .. } => largest(class),
        FieldClass::Variant { options, .. } => {
            (options.iter()).fold(1, |most, option| most.max(largest(&option.class)))
        }
        _ => 1,
    };
    inner.max(class.alignment())
}
