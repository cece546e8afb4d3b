//! What `tsdl` prints, `metadata::read` reads: the same schema, for all random schemas that CTF 1.8 can say.
//!
//! Two things are lost on the way, and nobody misses them: slots are numbered anew, and a field that no length and no tag
//! refers to has no slot.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use rostrace_ctf::metadata;
use rostrace_ctf::schema::{FieldClass, Length, Schema, Slot, StreamClass, Struct};
use rostrace_ctf::writer::metadata_packets;
use rostrace_testkit::tsdl::tsdl;

use crate::support::random_trace::{Profile, random_trace};

/// Calls `read` with every slot that is read, `write` with every slot that is written, in the order of decoding.
fn slots(
    class: &mut FieldClass,
    read: &mut dyn FnMut(&mut Slot),
    write: &mut dyn FnMut(&mut Option<Slot>),
) {
    match class {
        FieldClass::Integer(integer) => write(&mut integer.slot),
        FieldClass::Boolean { slot, .. } => write(slot),
        FieldClass::Text { length, .. } | FieldClass::Blob { length, .. } => {
            if let Length::Slot(slot) = length {
                read(slot);
            }
        }
        FieldClass::Struct(structure) => {
            for member in &mut structure.members {
                slots(&mut member.class, read, write);
            }
        }
        FieldClass::Array {
            length, element, ..
        } => {
            if let Length::Slot(slot) = length {
                read(slot);
            }
            slots(element, read, write);
        }
        FieldClass::Optional {
            selector, class, ..
        } => {
            read(selector);
            slots(class, read, write);
        }
        FieldClass::Variant {
            selector, options, ..
        } => {
            read(selector);
            for option in options {
                slots(&mut option.class, read, write);
            }
        }
        _ => {}
    }
}

fn slots_of_scope(
    scope: &mut Option<Struct>,
    read: &mut dyn FnMut(&mut Slot),
    write: &mut dyn FnMut(&mut Option<Slot>),
) {
    for member in scope.iter_mut().flat_map(|scope| &mut scope.members) {
        slots(&mut member.class, read, write);
    }
}

/// Slots that are read in these scopes.
fn read_in<'s>(scopes: impl IntoIterator<Item = &'s Option<Struct>>) -> HashSet<Slot> {
    let fields = scopes.into_iter().flatten().flat_map(Struct::all);
    fields.filter_map(FieldClass::depends_on).collect()
}

fn read_in_stream(stream: &StreamClass) -> HashSet<Slot> {
    let own = [
        &stream.packet_context,
        &stream.event_header,
        &stream.event_context,
    ];
    let events = stream.events.iter();
    read_in(
        own.into_iter()
            .chain(events.flat_map(|event| [&event.context, &event.payload])),
    )
}

/// New numbers, in the order of decoding, for slots that somebody reads.
#[derive(Clone, Default)]
struct Numbers(HashMap<Slot, Slot>);

impl Numbers {
    fn renumber(&mut self, scope: &mut Option<Struct>, wanted: &HashSet<Slot>) {
        // Two closures share the map.
        let numbers = std::cell::RefCell::new(std::mem::take(&mut self.0));
        slots_of_scope(
            scope,
            &mut |slot| *slot = numbers.borrow()[slot],
            &mut |slot| {
                *slot = slot.filter(|slot| wanted.contains(slot)).map(|slot| {
                    let next = Slot(numbers.borrow().len() as u32);
                    *numbers.borrow_mut().entry(slot).or_insert(next)
                });
            },
        );
        self.0 = numbers.into_inner();
    }
}

fn normalised(mut schema: Schema) -> Schema {
    schema.slots = 0;
    let mut all = read_in([&schema.packet_header]);
    all.extend(schema.streams.iter().flat_map(read_in_stream));
    let mut of_trace = Numbers::default();
    of_trace.renumber(&mut schema.packet_header, &all);
    for stream in &mut schema.streams {
        let wanted = read_in_stream(stream);
        let mut of_stream = of_trace.clone();
        of_stream.renumber(&mut stream.packet_context, &wanted);
        of_stream.renumber(&mut stream.event_header, &wanted);
        of_stream.renumber(&mut stream.event_context, &wanted);
        for event in &mut stream.events {
            let wanted = read_in([&event.context, &event.payload]);
            let mut of_event = of_stream.clone();
            of_event.renumber(&mut event.context, &wanted);
            of_event.renumber(&mut event.payload, &wanted);
        }
    }
    schema
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn a_printed_schema_is_read_as_it_was(trace in random_trace(Profile::Ctf1)) {
        let text = tsdl(&trace.schema);
        let read = metadata::read(text.as_bytes()).map_err(|error| {
            TestCaseError::fail(format!("{error}\n{text}"))
        })?;
        prop_assert!(read.cut_short.is_none());
        prop_assert!(read.warnings.is_empty(), "{:?}\n{text}", read.warnings);
        let (expected, found) = (normalised((*trace.schema).clone()), normalised(read.schema));
        if expected != found {
            let (expected, found) = (format!("{expected:#?}"), format!("{found:#?}"));
            let different = expected.lines().zip(found.lines()).enumerate().find(|(_, (a, b))| a != b);
            return Err(TestCaseError::fail(format!("{different:?}\n{text}")));
        }
    }

    #[test]
    fn the_text_in_packets_is_the_text(trace in random_trace(Profile::Ctf1)) {
        let schema = &trace.schema;
        let text = tsdl(schema);
        let packets = metadata_packets(&text, schema.uuid.unwrap(), schema.byte_order);
        let read = metadata::read(&packets).unwrap();
        prop_assert_eq!(read.text, text);
    }
}
