//! The ends of entities, which rostrace's own tracer tells; other recorders leave them open until an address is used again.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};

use super::Import;
use crate::binding::Fields;
use crate::entity::{Address, ThreadId};

/// Something is about to be destroyed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) thread: ThreadId,
    pub(crate) time: Nanos,
    pub(crate) what: Ends,
    pub(crate) handle: Address,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Node,
    Publisher,
    Subscription,
    Service,
    Client,
    Timer,
}

impl Import {
    pub(super) fn ending(
        &mut self,
        kind: Kind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        let (what, handle) = match kind {
            Kind::RclNodeFini => (Ends::Node, field::rcl_node_fini::NODE_HANDLE),
            Kind::RclPublisherFini => {
                (Ends::Publisher, field::rcl_publisher_fini::PUBLISHER_HANDLE)
            }
            Kind::RclSubscriptionFini => (
                Ends::Subscription,
                field::rcl_subscription_fini::SUBSCRIPTION_HANDLE,
            ),
            Kind::RclServiceFini => (Ends::Service, field::rcl_service_fini::SERVICE_HANDLE),
            Kind::RclClientFini => (Ends::Client, field::rcl_client_fini::CLIENT_HANDLE),
            Kind::RclTimerFini => (Ends::Timer, field::rcl_timer_fini::TIMER_HANDLE),
            _ => return,
        };
        self.out.endings.push(Ending {
            thread,
            time,
            what,
            handle: fields.address(handle),
        });
    }
}
