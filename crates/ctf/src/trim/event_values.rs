//! An event as values, for those that have to be encoded anew.

use crate::layout::Scope;
use crate::layout::decode::{DecodeError, Reader, Roles};
use crate::schema::StreamClass;
use crate::value::Value;
use crate::walk::{Event, Walker};
use crate::writer::EventRecord;

/// All scopes of an event.
pub(super) struct EventValues {
    header: Option<Value>,
    scopes: Vec<(Scope, Value)>,
}

impl EventValues {
    pub(super) fn of(
        class: &StreamClass,
        walker: &Walker<'_>,
        event: &Event,
    ) -> Result<EventValues, DecodeError> {
        let content = walker.content();
        let mut registers = walker.registers().clone();
        let mut roles = Roles::default();
        let header = match &class.event_header {
            None => None,
            Some(header) => {
                let mut reader = Reader::new(
                    content.data,
                    event.start,
                    content.end,
                    &mut registers,
                    &mut roles,
                );
                Some(reader.structure(header)?)
            }
        };
        let layout = walker.layout_of(event);
        let scopes = layout.values(content, event.body, &mut registers)?;
        Ok(EventValues { header, scopes })
    }

    pub(super) fn record(&self, event: &Event) -> EventRecord<'_> {
        let scope = |wanted: Scope| {
            let mut scopes = self.scopes.iter();
            scopes.find_map(|(scope, value)| (*scope == wanted).then_some(value))
        };
        EventRecord {
            event: event.class as usize,
            time: event.time.0,
            header: self.header.as_ref(),
            common_context: scope(Scope::CommonContext),
            specific_context: scope(Scope::SpecificContext),
            payload: scope(Scope::Payload),
        }
    }
}
