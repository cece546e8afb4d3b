//! Where a path goes through a service: an execution sent a request, and what was published next was published by the callback of the service
//! that it asked, or by the callback of the client that got the response.
//!
//! Only what the trace joins: the request by the client's gid and number, its sending and its response by their threads. An execution that waits for the
//! response and publishes then needs none of this: it is one execution.

use rostrace_model::entity::{InstanceId, PublicationId, RequestId};

use crate::analysis::Analysis;

/// What went on from a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceHop {
    /// The callback of the service.
    Asked(RequestId),
    /// The callback of the client, with the response.
    Answered(RequestId),
}

impl ServiceHop {
    pub fn request(self) -> RequestId {
        match self {
            ServiceHop::Asked(id) | ServiceHop::Answered(id) => id,
        }
    }
}

/// The request by which a publication was caused, and the execution that sent it.
pub fn hop_to(
    analysis: &Analysis<'_>,
    publication: PublicationId,
) -> Option<(InstanceId, ServiceHop)> {
    let row = analysis.publication(publication);
    match (row.instance, row.client_callback) {
        (Some(instance), _) => {
            let (asker, id) = asker(analysis, instance)?;
            Some((asker, ServiceHop::Asked(id)))
        }
        (None, Some(client)) => {
            // Where the trace does not have its end, it may have been over before.
            let end = analysis.client_callback(client).end?;
            let id = analysis.answered(client).filter(|_| row.publish <= end)?;
            let asker = analysis.request(id).sent_by?;
            Some((asker, ServiceHop::Answered(id)))
        }
        (None, None) => None,
    }
}

/// The execution that sent the request for which a service's callback ran.
pub fn asker(analysis: &Analysis<'_>, service: InstanceId) -> Option<(InstanceId, RequestId)> {
    let (id, _) = analysis.asked_by(service)?;
    Some((analysis.request(id).sent_by?, id))
}

/// What was published because of the requests that an execution sent.
pub fn outputs_of(analysis: &Analysis<'_>, instance: InstanceId) -> Vec<PublicationId> {
    let mut outputs = Vec::new();
    for id in analysis.requests_in(instance) {
        let request = analysis.request(*id);
        if let Some(service) = request.instance {
            outputs.extend(analysis.publications_in(service));
        }
        if let Some(client) = request.client_callback {
            outputs.extend(analysis.publications_in_client(client));
        }
    }
    outputs.retain(|output| hop_to(analysis, *output).is_some_and(|(asker, _)| asker == instance));
    outputs
}
