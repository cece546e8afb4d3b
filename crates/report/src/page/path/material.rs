//! What the details of a path are made from, whether it was observed or declared.

use rostrace_analyze::Analysis;
use rostrace_analyze::Statistics;
use rostrace_analyze::communication::publish_instant;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::response_time::Case;
use rostrace_analyze::flow_end::Course;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::CallbackId;
use serde::Serialize;

use crate::explained::Explained;

#[derive(Debug)]
pub(super) struct Material<'a> {
    /// The nodes on the way, by name.
    pub(super) nodes: Vec<String>,
    pub(super) stages: Vec<Stage>,
    pub(super) latency: Option<Statistics>,
    /// Nodes and communications in their order, last the whole.
    pub(super) chain: Vec<Link>,
    /// What the columns of `messages` are.
    pub(super) instants: Vec<Instant>,
    /// One row for each message, also for those that ended early.
    pub(super) messages: Records,
    /// By row of `messages`: how its way ended.
    pub(super) ends: Vec<u8>,
    /// How many messages there were, of which these may be some.
    pub(super) of: usize,
    /// The columns between which a message's latency lies.
    pub(super) measured: (usize, usize),
    /// By case.
    pub(super) responses: [Vec<Response>; 4],
    pub(super) parts: ResponseParts<'a>,
    pub(super) worst: Vec<Explained>,
}

/// A part of the path, over all messages that came through.
#[derive(Debug, Serialize)]
pub(super) struct Stage {
    pub(super) kind: &'static str,
    /// As people read it.
    pub(super) name: String,
    pub(super) topic: Option<String>,
    pub(super) node: Option<String>,
    pub(super) duration: Option<Statistics>,
    pub(super) sent: Option<u64>,
    pub(super) arrived: Option<u64>,
    pub(super) lost: Option<u64>,
    /// Messages that ended here for another reason, or for an unknown one.
    pub(super) ended: Option<u64>,
}

/// A box or an arrow of the chain.
#[derive(Debug, Serialize)]
pub(super) struct Link {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) spread: Option<Spread>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Spread {
    pub(super) count: u64,
    pub(super) min: i64,
    pub(super) mean: f64,
    pub(super) max: i64,
}

impl From<&Statistics> for Spread {
    fn from(figures: &Statistics) -> Spread {
        Spread {
            count: figures.count,
            min: figures.min,
            mean: figures.mean,
            max: figures.max,
        }
    }
}

/// A line of the message flow.
#[derive(Debug, Serialize)]
pub(super) struct Instant {
    /// What happens then.
    pub(super) kind: &'static str,
    /// To whom: a topic, or a callback.
    pub(super) of: String,
    /// It stays when only nodes are looked at.
    pub(super) coarse: bool,
    /// The callbacks that run from here on.
    #[serde(serialize_with = "indices")]
    pub(super) callbacks: Vec<CallbackId>,
}

fn indices<S: serde::Serializer>(ids: &[CallbackId], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ids.iter().map(|id| id.index()))
}

#[derive(Debug)]
pub(super) struct Response {
    pub(super) from: i64,
    pub(super) time: i64,
    /// Where its parts are found.
    pub(super) row: usize,
}

/// The parts of response times, which add up to them. The wait before the first input is a part of its own where the case has it. Of observed paths they are found when
/// they are asked for: there may be millions.
#[derive(Debug)]
pub(super) enum ResponseParts<'a> {
    Observed {
        analysis: &'a Analysis<'a>,
        courses: &'a [Course],
    },
    /// By case and row.
    Declared([Vec<Vec<i64>>; 4]),
}

impl ResponseParts<'_> {
    /// Nothing where the trace does not tell all of them.
    pub(super) fn of(&self, case: Case, response: &Response) -> Option<Vec<i64>> {
        let (analysis, courses) = match self {
            ResponseParts::Declared(cases) => {
                return cases[case as usize].get(response.row).cloned();
            }
            ResponseParts::Observed { analysis, courses } => (analysis, courses),
        };
        let course = courses.get(response.row)?;
        // A message that was lost is answered with a later one: it takes over where the other ended.
        let answer = Some(Nanos(response.from.saturating_add(response.time)));
        let answering = courses[response.row..].iter().find(|it| it.end == answer)?;
        let own = instants(analysis, course);
        let mut reached = instants(analysis, answering);
        for (reached, own) in reached.iter_mut().zip(own) {
            *reached = own.min(*reached);
        }
        let mut parts = Vec::with_capacity(reached.len());
        if case == Case::WorstWithExternalLatency {
            parts.push(course.begin.0 - response.from);
        }
        parts.extend(reached.windows(2).map(|pair| pair[1] - pair[0]));
        Some(parts)
    }
}

/// When a message was published and received, hop by hop, as far as it came.
fn instants(analysis: &Analysis<'_>, course: &Course) -> Vec<i64> {
    let mut instants = Vec::with_capacity(course.deliveries.len() * 2);
    for id in &course.deliveries {
        let Some(arrival) = analysis.arrival(*id) else {
            let delivery = analysis.delivery(*id);
            let publication = analysis.publication(delivery.publication);
            instants.push(publish_instant(publication, delivery.kind).0);
            break;
        };
        instants.extend([arrival.publish.0, arrival.received.0]);
    }
    instants
}
