//! Which messages and executions the instants of one row of a declared path belong to.
//!
//! Paths are joined by instants, so a row has no identities; but every instant was taken from one publication or execution, and is
//! found there again. Where several have the same instant the row fits each of them, and one that fits its neighbours too is taken.

use rostrace_architecture::{Architecture, NamedPath, PathStep};
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{DeliveryId, InstanceId, PublicationId, SubscriptionId};

use crate::declared::records::{Cell, Records};
use crate::declared::summary::stage_columns;
use crate::declared::tables::Indexed;

/// One message along a declared path, from its first instant to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    pub begin: Nanos,
    /// One for each stage of the path, in its order.
    pub legs: Vec<Leg>,
}

impl Way {
    pub fn end(&self) -> Nanos {
        self.legs.last().map_or(self.begin, |leg| leg.end)
    }

    pub fn latency(&self) -> i64 {
        self.end().0 - self.begin.0
    }
}

/// What passes between two instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    pub end: Nanos,
    pub passage: Passage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// Publish to callback, or to the take.
    Communication(Option<DeliveryId>),
    /// From the start of the execution that got the input, or from a take by hand, to the publication of the output, wherever that
    /// happened.
    Output {
        input: Option<InstanceId>,
        output: PublicationId,
    },
    /// Start to end of a callback.
    Execution(InstanceId),
    /// From the end of one callback to the start of this one, which reads what the other stored.
    VariablePassing(InstanceId),
    /// Nothing in the trace has these instants.
    Unknown,
}

/// Finds the ways of one path.
#[derive(Debug)]
pub struct Ways<'i, 'm> {
    indexed: &'i Indexed<'m>,
    columns: Vec<usize>,
    /// What happens at the instants in these columns.
    points: Vec<Point>,
}

#[derive(Debug)]
enum Point {
    /// Publications in the order of time.
    Publish(Vec<(i64, PublicationId)>),
    /// Executions in the order of their starts, of a callback that may belong to these subscriptions.
    Start(Vec<(i64, InstanceId)>, Vec<SubscriptionId>),
    /// Of the callback that started before.
    End,
    Take(Vec<SubscriptionId>),
}

impl<'i, 'm> Ways<'i, 'm> {
    /// `records` are those of the path, with whichever ends.
    pub fn new(
        indexed: &'i Indexed<'m>,
        architecture: &Architecture,
        path: &NamedPath,
        records: &Records,
    ) -> Ways<'i, 'm> {
        let columns = stage_columns(records);
        let mut steps = path.steps.iter().peekable();
        let mut points = Vec::with_capacity(columns.len());
        for column in &columns {
            let name = &records.columns[*column];
            let name = name.rsplit_once('/').map_or(name.as_str(), |it| it.0);
            let (owner, instant) = name.rsplit_once('/').unwrap_or(("", name));
            points.push(match instant {
                "callback_end_timestamp" => Point::End,
                "callback_start_timestamp" | "rmw_take_timestamp" => {
                    let step = steps.peek().copied();
                    let receivers = receivers(indexed, architecture, step);
                    match instant {
                        "rmw_take_timestamp" => Point::Take(receivers),
                        _ => Point::Start(starts(indexed, architecture, step, owner), receivers),
                    }
                }
                // Behind a publication comes the next node.
                _ => Point::Publish(publications(indexed, architecture, steps.next())),
            });
        }
        Ways {
            indexed,
            columns,
            points,
        }
    }

    /// Nothing for a message that did not come through.
    pub fn of(&self, row: &[Cell]) -> Option<Way> {
        let instants: Option<Vec<i64>> = (self.columns.iter())
            .map(|column| row.get(*column).copied().flatten())
            .collect();
        let instants = instants?;
        let begin = Nanos(*instants.first()?);
        let mut legs = Vec::with_capacity(instants.len() - 1);
        // The execution that the row is in.
        let mut execution = None;
        for next in 1..instants.len() {
            let passage = self.passage(&instants, next, execution);
            execution = match passage {
                Passage::Communication(delivery) => {
                    delivery.and_then(|id| self.indexed.model.deliveries[id.index()].instance)
                }
                Passage::Execution(id) | Passage::VariablePassing(id) => Some(id),
                Passage::Output { .. } | Passage::Unknown => None,
            };
            legs.push(Leg {
                end: Nanos(instants[next]),
                passage,
            });
        }
        Some(Way { begin, legs })
    }

    fn passage(&self, instants: &[i64], next: usize, execution: Option<InstanceId>) -> Passage {
        let (begin, end) = (instants[next - 1], instants[next]);
        let model = self.indexed.model;
        match (&self.points[next - 1], &self.points[next]) {
            (Point::Publish(publications), Point::Start(..) | Point::Take(_)) => {
                let mut publications = at(publications, begin);
                let delivery = publications.find_map(|id| self.delivery(id, next, end));
                Passage::Communication(delivery)
            }
            (start, Point::Publish(publications)) => {
                let input = match start {
                    // The path begins here, or what arrived here is not known.
                    Point::Start(starts, _) => execution.or_else(|| at(starts, begin).next()),
                    _ => execution,
                };
                let leads_on = |id: &PublicationId| match instants.get(next + 1) {
                    Some(after) => self.delivery(*id, next + 1, *after).is_some(),
                    None => true,
                };
                let is_inside = |id: &PublicationId| {
                    input.is_some() && model.publications[id.index()].instance == input
                };
                let found = at(publications, end).filter(leads_on);
                let found = found.max_by_key(is_inside);
                match found.or_else(|| at(publications, end).next()) {
                    Some(output) => Passage::Output {
                        input: input.or_else(|| self.beginning(begin, output)),
                        output,
                    },
                    None => Passage::Unknown,
                }
            }
            (Point::Start(starts, _), Point::End) => {
                let lasts = |id: &InstanceId| {
                    let instance = &model.instances[id.index()];
                    instance.end == Some(Nanos(end)) && instance.start.0 == begin
                };
                let found = execution.filter(lasts);
                let found = found.or_else(|| at(starts, begin).find(lasts));
                found.map_or(Passage::Unknown, Passage::Execution)
            }
            (Point::End, Point::Start(starts, _)) => {
                let found = at(starts, end).next();
                found.map_or(Passage::Unknown, Passage::VariablePassing)
            }
            _ => Passage::Unknown,
        }
    }

    /// How a publication came to the instant in a column.
    fn delivery(&self, publication: PublicationId, place: usize, at: i64) -> Option<DeliveryId> {
        let indexed = self.indexed;
        let mut deliveries = indexed.delivery_ids(publication);
        deliveries.find(|id| {
            let delivery = &indexed.model.deliveries[id.index()];
            let Some(subscription) = delivery.subscription else {
                return false;
            };
            let (receivers, met) = match self.points.get(place) {
                Some(Point::Start(_, receivers)) => {
                    let instance = delivery.instance.map(InstanceId::index);
                    let start = instance.map(|index| indexed.model.instances[index].start.0);
                    (receivers, start)
                }
                Some(Point::Take(receivers)) => {
                    let key = (delivery.publication, subscription);
                    (receivers, indexed.taken.get(&key).copied())
                }
                _ => return false,
            };
            met == Some(at) && receivers.contains(&subscription)
        })
    }

    /// The callback in which a path begins has no name of its own: it is where the first message was published.
    fn beginning(&self, start: i64, publication: PublicationId) -> Option<InstanceId> {
        let model = self.indexed.model;
        let instance = model.publications[publication.index()].instance;
        instance.filter(|id| model.instances[id.index()].start.0 == start)
    }
}

/// Those that are at an instant.
fn at<T: Copy>(sorted: &[(i64, T)], instant: i64) -> impl Iterator<Item = T> + '_ {
    let begin = sorted.partition_point(|(time, _)| *time < instant);
    let same = sorted[begin..].iter();
    same.take_while(move |(time, _)| *time == instant)
        .map(|(_, id)| *id)
}

fn receivers(
    indexed: &Indexed<'_>,
    architecture: &Architecture,
    step: Option<&PathStep>,
) -> Vec<SubscriptionId> {
    let found = step.and_then(|step| {
        let node = architecture.node(&step.node).ok()?;
        let subscription = step.subscription.as_ref()?;
        Some(indexed.objects.subscriptions(node, subscription))
    });
    found.unwrap_or_default().to_vec()
}

fn starts(
    indexed: &Indexed<'_>,
    architecture: &Architecture,
    step: Option<&PathStep>,
    callback: &str,
) -> Vec<(i64, InstanceId)> {
    let node = step.and_then(|step| architecture.node(&step.node).ok());
    let callback = node.and_then(|node| Some((node, node.callback(callback)?)));
    let executions = callback.map(|(node, it)| indexed.executions(node, it, None));
    let mut starts: Vec<(i64, InstanceId)> = executions
        .into_iter()
        .flatten()
        .map(|(id, instance)| (instance.start.0, id))
        .collect();
    starts.sort_unstable();
    starts
}

fn publications(
    indexed: &Indexed<'_>,
    architecture: &Architecture,
    step: Option<&PathStep>,
) -> Vec<(i64, PublicationId)> {
    let publishers = step.and_then(|step| {
        let node = architecture.node(&step.node).ok()?;
        let publisher = step.publisher.as_ref()?;
        Some(indexed.objects.publishers(node, publisher))
    });
    let mut publications: Vec<(i64, PublicationId)> = publishers
        .unwrap_or_default()
        .iter()
        .flat_map(|publisher| indexed.publications(*publisher))
        .map(|(id, publication)| (publication.publish.0, id))
        .collect();
    publications.sort_unstable();
    publications
}
