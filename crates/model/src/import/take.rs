//! Messages that are taken from the middleware, and the callback that gets them.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::field;

use super::Import;
use crate::binding::Fields;
use crate::entity::{Address, TakeId, ThreadId};
use crate::flow::{DataAvailable, Take};

impl Import {
    pub(super) fn rmw_take(&mut self, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        use field::rmw_take::*;
        self.out.population.state(thread).publication = None;
        if fields.number(TAKEN) == Some(0) {
            return;
        }
        self.take(
            thread,
            time,
            fields.address(RMW_SUBSCRIPTION_HANDLE),
            fields.signed(SOURCE_TIMESTAMP),
        );
    }

    fn take(&mut self, thread: ThreadId, time: Nanos, rmw_handle: Address, stamp: Option<i64>) {
        let id = TakeId::of(self.out.takes.len());
        let state = self.out.population.state(thread);
        state.take = Some(id);
        state.response = None;
        self.out.takes.push(Take {
            thread,
            rmw_handle,
            dispatched: Address(0),
            subscription: None,
            time,
            source_timestamp: stamp.unwrap_or(0),
            instance: None,
            publication: None,
        });
    }

    pub(super) fn data_available(&mut self, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        use field::on_data_available::*;
        if let Some(source_timestamp) = fields.signed(SOURCE_STAMP) {
            self.out.data_available.push(DataAvailable {
                thread,
                time,
                source_timestamp,
            });
        }
    }

    /// The forks announce the callback that gets the message; where there was a take, it is the same message.
    pub(super) fn dispatch(&mut self, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        use field::dispatch_subscription_callback::*;
        let stamp = fields.signed(SOURCE_STAMP);
        let same = self.out.population.state(thread).take.filter(|take| {
            stamp.is_some_and(|stamp| self.out.takes[take.index()].source_timestamp == stamp)
        });
        if same.is_none() {
            self.take(thread, time, Address(0), stamp);
        }
        if let Some(take) = self.out.population.state(thread).take {
            self.out.takes[take.index()].dispatched = fields.address(CALLBACK);
        }
    }
}
