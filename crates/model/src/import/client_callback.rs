//! Executions of clients' callbacks.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};

use super::Import;
use crate::binding::Fields;
use crate::entity::{ClientCallbackId, ThreadId};
use crate::flow::ClientCallback;

impl Import {
    /// The tracer remembers the response that its thread took last. Where the takes are recorded too, nothing else was taken since, or it
    /// is not the one.
    pub(super) fn client_callback_start(
        &mut self,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        use field::client_callback_start::*;
        let rmw_handle = fields.address(RMW_CLIENT_HANDLE);
        let sequence = fields.signed(SEQUENCE_NUMBER).unwrap_or(0);
        let id = ClientCallbackId::of(self.out.client_callbacks.len());
        let state = self.out.population.state(thread);
        state.publication = None;
        let step = state.response.take().filter(|step| {
            let step = &self.out.service_steps[*step];
            (step.rmw_handle, step.sequence) == (rmw_handle, sequence)
        });
        if let Some(step) = step {
            self.out.service_steps[step].client_callback = Some(id);
        } else if self.out.kinds[Kind::RmwTakeResponse.index()] > 0 && !self.out.losses.any() {
            return;
        }
        state.clients.push(id);
        self.out.client_callbacks.push(ClientCallback {
            thread,
            rmw_handle,
            client: None,
            sequence,
            start: time,
            end: None,
        });
    }

    pub(super) fn client_callback_end(
        &mut self,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        use field::client_callback_end::*;
        let ended = (
            fields.address(RMW_CLIENT_HANDLE),
            fields.signed(SEQUENCE_NUMBER).unwrap_or(0),
        );
        let state = self.out.population.state(thread);
        state.publication = None;
        state.stop_waiting();
        let rows = &mut self.out.client_callbacks;
        let is_it = |id: &ClientCallbackId| {
            let row = &rows[id.index()];
            (row.rmw_handle, row.sequence) == ended
        };
        // What began above it and did not end is over too, without an end in the trace.
        if let Some(place) = state.clients.iter().rposition(is_it) {
            let row = &mut rows[state.clients[place].index()];
            if !self.out.losses.between(row.start, time) {
                row.end = Some(time);
            }
            state.clients.truncate(place);
        }
    }
}
