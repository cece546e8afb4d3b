//! Requests: the steps of one call of a service, put together (Kilted and later, and recordings of our own tracer).
//!
//! A request is identified by the client's gid and a number. The client's own events carry its handle only; `rmw_client_init`
//! gives the gid. Where no event tells it (before Kilted, or in a recording that began late) it can follow from the numbers and instants: if only
//! one of the gids that a service saw fits to a client, it is the client's.

use std::collections::{BTreeMap, HashMap};

use rostrace_ctf::schema::Nanos;

use super::{ServiceStep, ServiceStepKind};
use crate::entity::{
    CallbackOwner, ClientCallbackId, ClientId, Entities, InstanceId, ProcessId, ServiceId, ThreadId,
};
use crate::import::Imported;

/// One call of a service, as far as the trace has it. With several services of one name each that answers has a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub client: Option<ClientId>,
    pub service: Option<ServiceId>,
    /// With the client's gid it identifies the request.
    pub sequence: i64,
    /// The client sends it. Where our own tracer does not tell when it began to, this is what the middleware says: with Fast DDS the event
    /// comes after the write.
    pub sent: Option<Nanos>,
    /// The execution of a callback in which it was sent.
    pub sent_by: Option<InstanceId>,
    /// The execution of a client's callback in which it was sent, if it was sent in no other callback.
    pub sent_by_client: Option<ClientCallbackId>,
    /// The service takes it.
    pub taken: Option<Nanos>,
    /// The execution of the service's callback.
    pub instance: Option<InstanceId>,
    /// The service sends its response, perhaps later and on another thread.
    pub answered: Option<Nanos>,
    /// The client takes the response.
    pub received: Option<Nanos>,
    /// The thread that does.
    pub receiver: Option<ThreadId>,
    /// The execution of the client's callback, where our own tracer tells it.
    pub client_callback: Option<ClientCallbackId>,
    pub by: RequestMatch,
}

/// What ties the steps of a client to those of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestMatch {
    Gid,
    /// The client's numbers and instants fit to one gid only: an inference.
    Sequence,
    /// The steps of one side are not known.
    Nothing,
}

impl RequestMatch {
    pub fn name(self) -> &'static str {
        match self {
            RequestMatch::Gid => "gid",
            RequestMatch::Sequence => "sequence",
            RequestMatch::Nothing => "",
        }
    }
}

/// One row per request, in the order of their first events.
pub(crate) fn requests(imported: &mut Imported, entities: &Entities) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    let mut places: HashMap<RequestKey, Vec<usize>> = HashMap::new();
    let mut gids: Vec<Option<Vec<u8>>> = Vec::new();
    // The order of time, in which a take can stand before the sending.
    for number in 0..imported.service_steps.len() {
        let step = &imported.service_steps[number];
        let process = imported.population.process_of(step.thread);
        let end = End::of(step, process, entities);
        if step.kind == ServiceStepKind::TakeRequest {
            check_instance(imported, entities, number, end.service());
        }
        let step = &imported.service_steps[number];
        let key = end.key(step, process);
        let gid = match &key {
            RequestKey::Gid(gid, _) => Some(gid.clone()),
            RequestKey::Handle(..) => None,
        };
        let rows = places.entry(key).or_default();
        let row = rows
            .iter()
            .copied()
            .find(|row| end.fits(step.kind, &requests[*row]));
        let row = row.unwrap_or_else(|| {
            rows.push(requests.len());
            gids.push(gid);
            requests.push(Request {
                client: None,
                service: None,
                sequence: step.sequence,
                sent: None,
                sent_by: None,
                sent_by_client: None,
                taken: None,
                instance: None,
                answered: None,
                received: None,
                receiver: None,
                client_callback: None,
                by: RequestMatch::Nothing,
            });
            requests.len() - 1
        });
        let request = &mut requests[row];
        match step.kind {
            ServiceStepKind::SendRequest => {
                request.sent = Some(step.time);
                request.sent_by_client = step.client_callback;
                request.sent_by = step
                    .instance
                    .filter(|id| !is_over(imported, *id, step.time));
            }
            ServiceStepKind::TakeRequest => {
                request.taken = Some(step.time);
                request.instance = step.instance;
            }
            ServiceStepKind::SendResponse => request.answered = Some(step.time),
            ServiceStepKind::TakeResponse => {
                request.received = Some(step.time);
                request.receiver = Some(step.thread);
                request.client_callback = step.client_callback;
            }
        }
        request.client = request.client.or(end.client());
        request.service = request.service.or(end.service());
        if request.client.is_some() && request.service.is_some() {
            request.by = RequestMatch::Gid;
        }
    }
    infer_gids(&mut requests, &gids, entities);
    requests
}

/// A callback without an end was over when the next one began on its thread.
fn is_over(imported: &Imported, id: InstanceId, at: Nanos) -> bool {
    let covered = imported.covered.get(&id);
    covered.is_some_and(|covered| *covered < at) && imported.instances[id.index()].end.is_none()
}

/// Rows by number.
type Numbered = BTreeMap<i64, usize>;

/// Joins the rows of clients without a gid to those of services, where only one way is possible.
fn infer_gids(requests: &mut Vec<Request>, gids: &[Option<Vec<u8>>], entities: &Entities) {
    let mut clients: BTreeMap<ClientId, Numbered> = BTreeMap::new();
    let mut seen: BTreeMap<(ServiceId, &[u8]), Numbered> = BTreeMap::new();
    for (row, request) in requests.iter().enumerate() {
        match (request.client, request.service, &gids[row]) {
            (Some(client), None, None) => {
                let numbers = clients.entry(client).or_default();
                numbers.insert(request.sequence, row);
            }
            (None, Some(service), Some(gid)) => {
                let numbers = seen.entry((service, gid)).or_default();
                numbers.insert(request.sequence, row);
            }
            _ => {}
        }
    }
    let mut joined: Vec<(usize, usize)> = Vec::new();
    // What is certain makes other things certain.
    loop {
        let fits = |client: &ClientId, numbers: &Numbered, key: &(ServiceId, &[u8])| {
            let name = &entities.clients[client.index()].name;
            *name == entities.services[key.0.index()].name
                && fits_together(requests, numbers, &seen[key])
        };
        let certain = clients.iter().find_map(|(client, numbers)| {
            let mut keys = seen.keys().filter(|key| fits(client, numbers, key));
            match (keys.next(), keys.next()) {
                (Some(key), None) => Some((*client, *key)),
                _ => None,
            }
        });
        let Some((client, key)) = certain else { break };
        let ours = clients.remove(&client).unwrap_or_default();
        let theirs = seen.remove(&key).unwrap_or_default();
        for (number, row) in ours {
            joined.extend(theirs.get(&number).map(|other| (row, *other)));
        }
    }
    let mut gone = vec![false; requests.len()];
    for (of_client, of_service) in joined {
        // The row that came first stays where it is.
        let (keep, drop) = (of_client.min(of_service), of_client.max(of_service));
        let (client, service) = (requests[of_client].clone(), requests[of_service].clone());
        requests[keep] = Request {
            client: client.client,
            sent: client.sent,
            sent_by: client.sent_by,
            sent_by_client: client.sent_by_client,
            received: client.received,
            receiver: client.receiver,
            client_callback: client.client_callback,
            by: RequestMatch::Sequence,
            ..service
        };
        gone[drop] = true;
    }
    let mut gone = gone.into_iter();
    requests.retain(|_| !gone.next().unwrap_or(false));
}

/// Whether what a client did can be what a service saw: an answer is not received before it was sent, and every answer that the
/// client received was given.
fn fits_together(requests: &[Request], client: &Numbered, service: &Numbered) -> bool {
    let mut common = 0;
    for (number, row) in client {
        let (ours, theirs) = (&requests[*row], service.get(number));
        match (ours.received, theirs.map(|row| &requests[*row])) {
            (Some(_), None) => return false,
            (received, Some(theirs)) => {
                common += 1;
                let last = theirs.answered.or(theirs.taken);
                if received.is_some_and(|received| last > Some(received)) {
                    return false;
                }
            }
            (None, None) => {}
        }
    }
    common > 0
}

/// What identifies a request: the gid, or where it is not known the client's handle in its process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum RequestKey {
    Gid(Vec<u8>, i64),
    Handle(ProcessId, u64, i64),
}

/// Who takes a step.
enum End<'e> {
    Client(Option<(ClientId, &'e [u8])>),
    Service(Option<ServiceId>),
}

impl End<'_> {
    fn of<'e>(step: &ServiceStep, process: ProcessId, entities: &'e Entities) -> End<'e> {
        match step.kind {
            ServiceStepKind::SendRequest | ServiceStepKind::TakeResponse => {
                let client = entities.client_of(process, step.rmw_handle, step.time);
                End::Client(client.map(|id| (id, entities.clients[id.index()].gid.as_slice())))
            }
            ServiceStepKind::TakeRequest | ServiceStepKind::SendResponse => {
                End::Service(entities.service_of(process, step.rmw_handle, step.time))
            }
        }
    }

    fn client(&self) -> Option<ClientId> {
        match self {
            End::Client(client) => client.map(|(id, _)| id),
            End::Service(_) => None,
        }
    }

    fn service(&self) -> Option<ServiceId> {
        match self {
            End::Client(_) => None,
            End::Service(service) => *service,
        }
    }

    fn key(&self, step: &ServiceStep, process: ProcessId) -> RequestKey {
        match self {
            End::Service(_) => RequestKey::Gid(step.client_gid.clone(), step.sequence),
            End::Client(Some((_, gid))) if !gid.is_empty() => {
                RequestKey::Gid(gid.to_vec(), step.sequence)
            }
            End::Client(_) => RequestKey::Handle(process, step.rmw_handle.0, step.sequence),
        }
    }

    /// Whether a step goes on with a request: it has not been taken there, and by the same service.
    fn fits(&self, kind: ServiceStepKind, request: &Request) -> bool {
        let free = match kind {
            ServiceStepKind::SendRequest => request.sent.is_none(),
            ServiceStepKind::TakeRequest => request.taken.is_none(),
            ServiceStepKind::SendResponse => request.answered.is_none(),
            ServiceStepKind::TakeResponse => request.received.is_none(),
        };
        let same = match self {
            End::Service(service) => request.service.is_none() || request.service == *service,
            End::Client(client) => {
                request.client.is_none() || request.client == client.map(|(id, _)| id)
            }
        };
        free && same
    }
}

/// The callback that follows the take on its thread got the request, if it is the service's.
fn check_instance(
    imported: &mut Imported,
    entities: &Entities,
    number: usize,
    service: Option<ServiceId>,
) {
    let step = &imported.service_steps[number];
    let Some(instance) = step.instance else {
        return;
    };
    let row = &imported.instances[instance.index()];
    let owner = row
        .callback
        .map(|callback| entities.callbacks[callback.index()].owner);
    let fits = match (owner, service) {
        (Some(CallbackOwner::Service(owner)), Some(service)) => owner == service,
        (Some(CallbackOwner::Service(_) | CallbackOwner::Unknown) | None, _) => true,
        _ => false,
    };
    if !fits || imported.losses.between(step.time, row.start) {
        imported.service_steps[number].instance = None;
    }
}
