//! A message that the receiver waited for may not have been sent yet: the trace has no event at the return of `publish`, so until
//! the publisher's thread does something else it may still have been in there.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::ThreadId;

use super::cause::{Cause, NotOnCpu};
use super::part::Part;

/// A call of `publish` that handed its message to the middleware.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublishCall {
    pub(super) thread: ThreadId,
    /// The message was written by then: the thread went on, or a receiver had it.
    pub(super) written_by: Nanos,
    pub(super) hop: usize,
}

/// Parts cut where the message is first known to have been written.
pub(super) fn publishing(calls: &[PublishCall], part: Part) -> impl Iterator<Item = Part> {
    let call = calls.iter().find(|call| call.hop == part.hop);
    let is_under_way = matches!(
        part.cause,
        Cause::Middleware | Cause::NotOnCpu(NotOnCpu::IdleOrOffCpu(_), _)
    );
    let call = call.filter(|call| is_under_way && part.begin < call.written_by);
    let before = call.map(|call| Part {
        end: part.end.min(call.written_by),
        cause: Cause::PublishingOrMiddleware,
        thread: Some(call.thread),
        ..part
    });
    let begin = before.map_or(part.begin, |before| before.end);
    let after = Part { begin, ..part };
    before
        .into_iter()
        .chain((before.is_none() || after.duration() > 0).then_some(after))
}
