//! Where the messages of an observed path ended: most come through, some are lost, some are not passed on.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{DeliveryId, InstanceId, PublicationId, PublisherId};
use rostrace_model::flow::Publication;

use crate::analysis::Analysis;
use crate::communication::DropCause;
use crate::declared::Style;
use crate::declared::records::Records;
use crate::declared::response_time::{ResponseTimes, leave_out_damaged};
use crate::flow_path::{FlowPath, Origin, published};
use crate::service_hop;

/// What became of the messages that came as far as a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HopOutcome {
    /// Published on the path so far.
    pub sent: u64,
    pub arrived: u64,
    /// By [`DropCause::EVERY`].
    pub dropped: [u64; 5],
    /// Executions that published nothing for the next hop.
    pub not_passed_on: u64,
}

/// A message that did not come through to the end of its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedFlow {
    /// As far as it came; if it was dropped, the last one did not arrive.
    pub deliveries: Vec<DeliveryId>,
    /// Nothing if it arrived, and the callback published nothing for the next hop.
    pub cause: Option<DropCause>,
}

/// What became of the messages at every hop.
pub(crate) fn outcomes(analysis: &Analysis<'_>, path: &FlowPath) -> Vec<HopOutcome> {
    let mut outcomes = vec![HopOutcome::default(); path.hops.len()];
    follow(analysis, path, &mut |hop, _, fate| {
        let outcome = &mut outcomes[hop];
        match fate {
            Fate::Arrived => outcome.arrived += 1,
            Fate::Dropped(cause) => outcome.dropped[cause as usize] += 1,
            Fate::NotPassedOn => {
                outcome.not_passed_on += 1;
                return;
            }
        }
        outcome.sent += 1;
    });
    outcomes
}

/// The messages that were dropped on the way or not passed on, those of each hop in the order of time.
pub fn ended_flows(analysis: &Analysis<'_>, path: &FlowPath) -> Vec<EndedFlow> {
    let mut ended = Vec::new();
    follow(analysis, path, &mut |_, chain, fate| {
        let cause = match fate {
            Fate::Arrived => return,
            Fate::Dropped(cause) => Some(cause),
            Fate::NotPassedOn => None,
        };
        ended.push(EndedFlow {
            deliveries: chain.deliveries(),
            cause,
        });
    });
    ended
}

/// A message that was published where a path begins, and its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    pub begin: Nanos,
    /// When it, or what was made from it, reached the path's last callback, also where it went on from there. Nothing if it was lost on the way, or if
    /// nothing was made from it.
    pub end: Option<Nanos>,
    pub deliveries: Vec<DeliveryId>,
}

/// All messages that were published where a path begins, in the order of time: for each the ways that came through, or one that did not.
pub fn courses(analysis: &Analysis<'_>, path: &FlowPath) -> Vec<Course> {
    let last = path.hops.len().saturating_sub(1);
    let mut courses: Vec<(PublicationId, Course)> = Vec::new();
    follow(analysis, path, &mut |hop, chain, fate| {
        if matches!(fate, Fate::Arrived) && hop < last {
            return;
        }
        let deliveries = chain.deliveries();
        let first = analysis.delivery(deliveries[0]).publication;
        let arrival = analysis.arrival(chain.last);
        let came_through = matches!(fate, Fate::Arrived);
        let course = Course {
            begin: analysis.publication(first).publish,
            end: arrival.filter(|_| came_through).map(|it| it.received),
            deliveries,
        };
        courses.push((first, course));
    });
    // What came through comes first; of several ways that ended early, one is enough.
    courses.sort_by_key(|(first, course)| (*first, course.end.is_none(), course.end));
    courses.dedup_by(|(first, course), (first_before, before)| {
        first == first_before && (course.end.is_none() || course.end == before.end)
    });
    courses.sort_by_key(|(first, course)| (course.begin, course.end, *first));
    courses.into_iter().map(|(_, course)| course).collect()
}

/// The courses that have response times.
pub fn answerable(analysis: &Analysis<'_>, courses: Vec<Course>) -> Vec<Course> {
    if !analysis.model.losses.any() {
        return courses;
    }
    let mut records = Records::new(["start", "course", "end"]);
    for (place, course) in courses.iter().enumerate() {
        let end = course.end.map(|end| end.0);
        let row = vec![Some(course.begin.0), i64::try_from(place).ok(), end];
        records.rows.push(row);
    }
    leave_out_damaged(&mut records, |from, to| analysis.is_damaged(from, to));
    let mut kept = records.rows.iter().filter_map(|row| row[1]).peekable();
    let places = (0i64..).zip(courses);
    places
        .filter(|(place, _)| kept.next_if_eq(place).is_some())
        .map(|(_, course)| course)
        .collect()
}

/// The response times of a path; their rows are the courses.
pub fn response_times(courses: &[Course]) -> ResponseTimes {
    let mut records = Records::new(["start", "end"]);
    let rows = courses.iter();
    let rows = rows.map(|course| vec![Some(course.begin.0), course.end.map(|end| end.0)]);
    records.rows.extend(rows);
    ResponseTimes::of(&records, Style::Own)
}

#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrived,
    Dropped(DropCause),
    NotPassedOn,
}

/// A delivery, with those before it.
struct DeliveryChain<'w> {
    last: DeliveryId,
    /// The place of the one before in `steps`.
    before: Option<usize>,
    steps: &'w [Step],
}

/// A delivery that arrived.
struct Step {
    delivery: DeliveryId,
    before: Option<usize>,
}

impl DeliveryChain<'_> {
    fn deliveries(&self) -> Vec<DeliveryId> {
        let mut deliveries = vec![self.last];
        let mut at = self.before;
        while let Some(place) = at {
            deliveries.push(self.steps[place].delivery);
            at = self.steps[place].before;
        }
        deliveries.reverse();
        deliveries
    }
}

/// Follows all messages of the first hop forward, to where they ended.
fn follow(
    analysis: &Analysis<'_>,
    path: &FlowPath,
    tell: &mut dyn FnMut(usize, &DeliveryChain<'_>, Fate),
) {
    let model = analysis.model;
    let is_of = |publication: PublicationId, hop: usize| {
        let (node, topic) = published(analysis, analysis.publication(publication));
        topic == path.hops[hop].topic && node == path.hops[hop].publishing_node
    };
    let publishers = (0..model.publishers.len()).map(PublisherId::from_index);
    let mut first: Vec<PublicationId> = publishers
        .map(|id| analysis.publications_of(id))
        .filter(|sent| sent.first().is_some_and(|id| is_of(*id, 0)))
        .flatten()
        .copied()
        .collect();
    if first.is_empty() {
        // Those of publishers that the trace does not name are looked for one by one.
        let all = (0..model.publications.len()).map(PublicationId::from_index);
        let unnamed = all.filter(|id| analysis.publication(*id).publisher.is_none());
        first = unnamed.filter(|id| is_of(*id, 0)).collect();
    }
    // Each with the step that led to it.
    let mut sent: Vec<(PublicationId, Option<usize>)> = first
        .into_iter()
        .filter(|id| {
            let publication = analysis.publication(*id);
            analysis.counts(publication.publish) && is_from(&path.origin, analysis, publication)
        })
        .map(|id| (id, None))
        .collect();
    let stored = analysis.stored_inputs();
    let mut steps: Vec<Step> = Vec::new();
    for (number, hop) in path.hops.iter().enumerate() {
        let mut arrived: Vec<(InstanceId, usize)> = Vec::new();
        for (publication, before) in &sent {
            for id in analysis.deliveries_of(*publication) {
                let delivery = analysis.delivery(*id);
                let subscription = delivery
                    .subscription
                    .map(|id| &model.subscriptions[id.index()]);
                let name = match delivery.instance {
                    Some(instance) => analysis.names.execution(model, instance),
                    None => {
                        let callback = subscription.and_then(|it| it.callback);
                        callback
                            .map_or("", |it| analysis.names.unnumbered(it))
                            .into()
                    }
                };
                if name != hop.callback {
                    continue;
                }
                // What was published before there was a subscription is no message under way.
                let sent = analysis.publication(*publication).publish;
                if subscription.is_some_and(|it| it.created > sent) {
                    continue;
                }
                let chain = DeliveryChain {
                    last: *id,
                    before: *before,
                    steps: &steps,
                };
                match analysis.drop_cause(*id) {
                    None => {
                        tell(number, &chain, Fate::Arrived);
                        if let Some(instance) = delivery.instance {
                            arrived.push((instance, steps.len()));
                            steps.push(Step {
                                delivery: *id,
                                before: *before,
                            });
                        }
                    }
                    Some(cause) => tell(number, &chain, Fate::Dropped(cause)),
                }
            }
        }
        if number + 1 == path.hops.len() {
            break;
        }
        sent.clear();
        for (instance, step) in arrived {
            let before = sent.len();
            // At once, or by another execution of the node that used what this one stored.
            let publications = analysis.publications_in(instance).iter();
            let publications = publications.chain(stored.outputs_of(instance)).copied();
            let publications = publications.chain(service_hop::outputs_of(analysis, instance));
            let passed_on = publications.filter(|id| is_of(*id, number + 1));
            sent.extend(passed_on.map(|id| (id, Some(step))));
            if sent.len() == before {
                let chain = DeliveryChain {
                    last: steps[step].delivery,
                    before: steps[step].before,
                    steps: &steps,
                };
                tell(number, &chain, Fate::NotPassedOn);
            }
        }
    }
}

/// Whether a publication happened where a path begins.
fn is_from(origin: &Origin, analysis: &Analysis<'_>, publication: &Publication) -> bool {
    match (origin, publication.instance) {
        (Origin::Outside, None) => true,
        (Origin::Callback { name, .. }, Some(instance)) => {
            analysis.names.execution(analysis.model, instance) == name.as_str()
        }
        _ => false,
    }
}

impl HopOutcome {
    pub fn lost(&self) -> u64 {
        let causes = DropCause::EVERY.iter().zip(self.dropped);
        causes
            .filter(|(cause, _)| !matches!(cause, DropCause::RecordingEnd | DropCause::Unknown))
            .map(|(_, number)| number)
            .sum()
    }
}
