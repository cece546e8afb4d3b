//! What applications say of themselves through `rostrace.h`: moments, spans of time, quantities.

use std::sync::Arc;

use rostrace_ctf::schema::Nanos;

use crate::entity::ThreadId;

/// One thing that an application said.
#[derive(Debug, Clone, PartialEq)]
pub struct UserEvent {
    pub thread: ThreadId,
    pub time: Nanos,
    /// What the application calls it; events of one name share the text.
    pub name: Arc<str>,
    pub kind: UserEventKind,
    /// In the order in which the trace has them: whole numbers, real numbers, texts.
    pub fields: Box<[UserField]>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UserEventKind {
    Instant,
    /// Something that takes time. It may end on another thread; without an end the trace does not have it, or lost events make it
    /// uncertain.
    Span {
        end: Option<Nanos>,
    },
    /// The end of a span whose beginning is not in the trace.
    SpanEnd,
    /// A quantity has this value from now on.
    Counter(f64),
}

/// Something that an application said about an event of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct UserField {
    pub name: String,
    pub value: UserValue,
}

#[derive(Debug, Clone, PartialEq)]
pub enum UserValue {
    Integer(i64),
    Real(f64),
    Text(String),
}
