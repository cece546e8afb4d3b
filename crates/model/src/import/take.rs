//! Messages that are taken from the middleware, and the callback that gets them.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::field;

use super::Import;
use crate::binding::Fields;
use crate::entity::{Address, TakeId, ThreadId};
use crate::flow::{DataAvailable, Take, TakeInfo};

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
            info: None,
            instance: None,
            publication: None,
        });
    }

    /// Follows the take that it is about. Middlewares stamp arrivals by the wall clock, which is not that of the trace.
    pub(super) fn take_info(&mut self, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        use field::rmw_take_info::*;
        let Some(take) = self.out.population.state(thread).take else {
            return;
        };
        let take = &mut self.out.takes[take.index()];
        let (Some(received), Some(now), Some(publication_sequence)) = (
            fields.signed(RECEIVED_TIMESTAMP),
            fields.signed(WALL_CLOCK),
            fields.number(PUBLICATION_SEQUENCE_NUMBER),
        ) else {
            return;
        };
        let is_same = take.rmw_handle == fields.address(RMW_SUBSCRIPTION_HANDLE);
        let reception = fields.number(RECEPTION_SEQUENCE_NUMBER);
        // A clock that was set meanwhile tells nothing.
        if is_same && received <= now && !self.out.losses.between(take.time, time) {
            take.info = Some(TakeInfo {
                arrival: Nanos(time.0.saturating_sub(now.saturating_sub(received))).min(take.time),
                publication_sequence,
                reception_sequence: reception.filter(|number| !matches!(*number, 0 | u64::MAX)),
            });
        }
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
