//! Executions of clients' callbacks, which only rostrace's own tracer tells.
//!
//! They are no [`CallbackInstance`](super::CallbackInstance)s: a client has no callback object, a callback for each request at most, and where
//! the program waits for a future instead, what runs is only the delivery of the response to it.

use rostrace_ctf::schema::Nanos;

use crate::entity::{Address, ClientId, Entities, ThreadId};
use crate::import::Imported;

/// A response is handed to whoever asked: the callback of the request, or a future.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCallback {
    pub thread: ThreadId,
    pub rmw_handle: Address,
    pub client: Option<ClientId>,
    /// The client's number of the request.
    pub sequence: i64,
    /// When the response was taken.
    pub start: Nanos,
    /// Absent if the trace does not have it, or if lost events make it uncertain.
    pub end: Option<Nanos>,
}

pub(crate) fn connect_client_callbacks(imported: &mut Imported, entities: &Entities) {
    for row in &mut imported.client_callbacks {
        let process = imported.population.process_of(row.thread);
        row.client = entities.client_of(process, row.rmw_handle, row.start);
    }
}
