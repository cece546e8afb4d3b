//! How events may be moved: by multiples of the largest alignment of anything in them.

use crate::schema::{FieldClass, StreamClass, Struct};

/// For each event class the largest alignment of anything in its events, also of what is there in some only.
pub(super) fn alignments(class: &StreamClass) -> Vec<u64> {
    let largest = |scopes: [&Option<Struct>; 2]| {
        let scopes = scopes.into_iter().flatten();
        let all =
            scopes.flat_map(|scope| scope.all().map(FieldClass::alignment).chain([scope.align]));
        u64::from(all.fold(1, u32::max))
    };
    let common = largest([&class.event_header, &class.event_context]);
    (class.events.iter())
        .map(|event| common.max(largest([&event.context, &event.payload])))
        .collect()
}
