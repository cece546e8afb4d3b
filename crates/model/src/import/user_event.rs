//! What applications say of themselves (`rostrace.h`). Lists of texts are decoded field by field: such events are rare, and the only ones
//! that have them.

use std::sync::Arc;

use rostrace_ctf::Scope;
use rostrace_ctf::schema::Nanos;
use rostrace_ctf::value::Value;
use rostrace_tracepoints::{Kind, field};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Import;
use crate::binding::Fields;
use crate::entity::{ProcessId, ThreadId};
use crate::flow::{UserEvent, UserEventKind, UserField, UserValue};

/// What has to be remembered from one event of applications to the next.
#[derive(Debug, Default)]
pub(super) struct UserEvents {
    names: FxHashSet<Arc<str>>,
    /// The rows of spans that have begun, by the process's own number.
    open: FxHashMap<(ProcessId, u64), usize>,
}

impl UserEvents {
    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        self.names.insert(name.clone());
        name
    }
}

impl Import {
    pub(super) fn user_event(
        &mut self,
        kind: Kind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        let process = self.out.population.process_of(thread);
        let (name, kind, given) = match kind {
            Kind::UserInstant => {
                use field::user_instant::*;
                (NAME, UserEventKind::Instant, user_fields(fields))
            }
            Kind::UserSpanBegin => {
                use field::user_span_begin::*;
                if let Some(span) = fields.number(SPAN) {
                    let row = self.out.user_events.len();
                    self.user_events.open.insert((process, span), row);
                }
                let kind = UserEventKind::Span { end: None };
                (NAME, kind, user_fields(fields))
            }
            Kind::UserSpanEnd => {
                use field::user_span_end::*;
                let span = fields.number(SPAN);
                let open = span.and_then(|span| self.user_events.open.remove(&(process, span)));
                if let Some(row) = open {
                    let begun = &mut self.out.user_events[row];
                    if !self.out.losses.between(begun.time, time) {
                        begun.kind = UserEventKind::Span { end: Some(time) };
                    }
                    return;
                }
                (NAME, UserEventKind::SpanEnd, Box::default())
            }
            _ => {
                use field::user_counter::*;
                let Some(value) = fields.real(VALUE) else {
                    return;
                };
                (NAME, UserEventKind::Counter(value), Box::default())
            }
        };
        let name = fields.lossy(name).unwrap_or_default();
        self.out.user_events.push(UserEvent {
            thread,
            time,
            name: self.user_events.name(&name),
            kind,
            fields: given,
        });
    }
}

/// The lists of names and values of a moment or a span, put together. A list that is shorter than its other half ends both.
fn user_fields(fields: &Fields<'_>) -> Box<[UserField]> {
    let event = &fields.event;
    let class =
        &event.trace().schema.streams[event.stream().class].events[event.event().class as usize];
    let (Some(class), Ok(scopes)) = (&class.payload, event.values()) else {
        return Box::default();
    };
    let payload = scopes
        .into_iter()
        .find(|(scope, _)| *scope == Scope::Payload);
    let Some((_, Value::Struct(mut members))) = payload else {
        return Box::default();
    };
    let mut list = |name: &str| {
        let place = (class.members.iter()).position(|member| &*member.name == name);
        match place.and_then(|place| members.get_mut(place)) {
            Some(Value::Array(list)) => std::mem::take(list),
            _ => Vec::new(),
        }
    };
    let mut given = Vec::new();
    for (names, values) in [
        ("integer_names", "integers"),
        ("real_names", "reals"),
        ("text_names", "texts"),
    ] {
        for (name, value) in list(names).into_iter().zip(list(values)) {
            let text = |value: Value| match value {
                Value::Text(text) => Some(String::from_utf8_lossy(&text).into_owned()),
                _ => None,
            };
            let value = match value {
                Value::Signed(number) => Some(UserValue::Integer(number)),
                Value::Unsigned(number) => Some(UserValue::Integer(number as i64)),
                Value::Float(number) => Some(UserValue::Real(number)),
                value => text(value).map(UserValue::Text),
            };
            if let Some((name, value)) = text(name).zip(value) {
                given.push(UserField { name, value });
            }
        }
    }
    given.into_boxed_slice()
}
