//! Requests and responses, as far as one process sees them.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::field;

use super::Import;
use crate::binding::Fields;
use crate::entity::{ClientCallbackId, InstanceId, ThreadId};
use crate::flow::{ServiceStep, ServiceStepKind};

impl Import {
    /// A client begins to send a request. Its number comes with the event that ends it, but this is when it was sent: it may arrive before
    /// the call returns.
    pub(super) fn begin_request(&mut self, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        let (instance, client_callback) = self.sender(thread, time);
        let state = self.out.population.state(thread);
        state.publication = None;
        state.sending = Some(self.out.service_steps.len());
        self.unsent.insert(self.out.service_steps.len());
        self.out.service_steps.push(ServiceStep {
            thread,
            time,
            kind: ServiceStepKind::SendRequest,
            instance,
            client_callback,
            rmw_handle: fields.address(field::rmw_send_request_begin::RMW_CLIENT_HANDLE),
            client_gid: Vec::new(),
            sequence: 0,
            source_timestamp: None,
        });
    }

    /// The innermost callback on a thread; if there is none, that of a client.
    fn sender(
        &mut self,
        thread: ThreadId,
        time: Nanos,
    ) -> (Option<InstanceId>, Option<ClientCallbackId>) {
        let state = self.out.population.state(thread);
        let (innermost, client) = (state.open.last().copied(), state.clients.last().copied());
        let certain = |start: Nanos| !self.out.losses.between(start, time);
        match innermost {
            Some(id) => {
                let start = self.out.instances[id.index()].start;
                (certain(start).then_some(id), None)
            }
            None => {
                let start = |id: ClientCallbackId| self.out.client_callbacks[id.index()].start;
                (None, client.filter(|id| certain(start(*id))))
            }
        }
    }

    /// The middleware tells the number of a request.
    pub(super) fn send_request(&mut self, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        use field::rmw_send_request::*;
        let begun = self.out.population.state(thread).sending.take();
        let handle = fields.address(RMW_CLIENT_HANDLE);
        let begun = begun.filter(|row| self.out.service_steps[*row].rmw_handle == handle);
        let Some(row) = begun else {
            let step = (RMW_CLIENT_HANDLE, None, SEQUENCE_NUMBER, None);
            return self.service_step(ServiceStepKind::SendRequest, thread, time, fields, step);
        };
        self.out.population.state(thread).publication = None;
        self.out.service_steps[row].sequence = fields.signed(SEQUENCE_NUMBER).unwrap_or(0);
        self.unsent.remove(&row);
    }

    /// Requests that were begun and never got a number were not sent.
    pub(super) fn drop_unsent(&mut self) {
        let mut row = 0;
        self.out.service_steps.retain(|_| {
            row += 1;
            !self.unsent.contains(&(row - 1))
        });
    }

    pub(super) fn service_step(
        &mut self,
        kind: ServiceStepKind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
        (handle, gid, sequence, stamp): (usize, Option<usize>, usize, Option<usize>),
    ) {
        let (instance, client_callback) = match kind {
            ServiceStepKind::SendRequest => self.sender(thread, time),
            _ => (None, None),
        };
        let state = self.out.population.state(thread);
        state.publication = None;
        match kind {
            ServiceStepKind::TakeRequest => state.request = Some(self.out.service_steps.len()),
            ServiceStepKind::TakeResponse => state.response = Some(self.out.service_steps.len()),
            ServiceStepKind::SendRequest | ServiceStepKind::SendResponse => {}
        }
        self.out.service_steps.push(ServiceStep {
            thread,
            time,
            kind,
            instance,
            client_callback,
            rmw_handle: fields.address(handle),
            client_gid: gid.map(|gid| fields.bytes(gid)).unwrap_or_default(),
            sequence: fields.signed(sequence).unwrap_or(0),
            source_timestamp: stamp.and_then(|stamp| fields.signed(stamp)),
        });
    }
}
