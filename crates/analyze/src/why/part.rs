//! A part of an explained time, and how parts are put together so that nothing is left between them.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::ThreadId;

use super::cause::Cause;
use super::publishing::PublishCall;
use crate::analysis::Analysis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub begin: Nanos,
    pub end: Nanos,
    pub cause: Cause,
    /// The thread on which it passed, where there is one.
    pub thread: Option<ThreadId>,
    /// Which hop of a path it belongs to, from 0; the callback after a hop belongs to it.
    pub hop: usize,
}

impl Part {
    pub fn duration(&self) -> i64 {
        self.end.0 - self.begin.0
    }

    /// The thread that ran, or that it is said of: where another callback was in the way, that one's.
    pub fn culprit_thread(&self, analysis: &Analysis<'_>) -> Option<ThreadId> {
        match self.cause {
            Cause::OtherCallback(other, _) => Some(analysis.instance(other).thread),
            Cause::ClientCallback(client, _) => Some(analysis.client_callback(client).thread),
            _ => self.thread,
        }
    }

    /// What it was, for people.
    pub fn describe(&self, analysis: &Analysis<'_>) -> String {
        self.cause.describe(analysis)
    }
}

/// Parts that are being put together.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) begin: Nanos,
    pub(super) at: Nanos,
    pub(super) thread: Option<ThreadId>,
    pub(super) hop: usize,
    pub(super) done: Vec<Part>,
    /// The calls of `publish` on the way.
    pub(super) calls: Vec<PublishCall>,
    pub(super) damaged: bool,
}

impl Parts {
    pub(super) fn new(begin: Nanos) -> Parts {
        Parts {
            begin,
            at: begin,
            thread: None,
            hop: 0,
            done: Vec::new(),
            calls: Vec::new(),
            damaged: false,
        }
    }

    /// Everything up to an instant has this cause. What lies before the end of the last part has one already.
    pub(super) fn until(&mut self, end: Nanos, cause: Cause) {
        if end > self.at {
            self.push(end, cause);
        }
    }

    /// Clocks of two hosts disagree, so that the next thing happened before the last one.
    pub(super) fn back_to(&mut self, end: Nanos) {
        if end < self.at {
            self.push(end, Cause::Unknown);
        }
    }

    fn push(&mut self, end: Nanos, cause: Cause) {
        match self.done.last_mut() {
            Some(last) if last.cause == cause && last.hop == self.hop => last.end = end,
            _ => self.done.push(Part {
                begin: self.at,
                end,
                cause,
                thread: self.thread,
                hop: self.hop,
            }),
        }
        self.at = end;
    }
}
