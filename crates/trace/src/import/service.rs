//! Requests and responses, as far as one process sees them.

use rostrace_ctf::schema::Nanos;

use super::Import;
use crate::binding::Fields;
use crate::entity::ThreadId;
use crate::flow::{ServiceStep, ServiceStepKind};

impl Import {
    pub(super) fn service_step(
        &mut self,
        kind: ServiceStepKind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
        (handle, gid, sequence, stamp): (usize, Option<usize>, usize, Option<usize>),
    ) {
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
            instance: None,
            client_callback: None,
            rmw_handle: fields.address(handle),
            client_gid: gid.map(|gid| fields.bytes(gid)).unwrap_or_default(),
            sequence: fields.signed(sequence).unwrap_or(0),
            source_timestamp: stamp.and_then(|stamp| fields.signed(stamp)),
        });
    }
}
