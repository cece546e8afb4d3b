//! One message along a declared path, with the messages and callback instances that it consists of.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{DeliveryId, InstanceId, PublicationId};
use rostrace_model::flow::Delivery;

use crate::declared::records::{Cell, Event, Stamp};
use crate::declared::tables::Indexed;

/// One message along a declared path, from its first instant to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathInstance {
    pub begin: Nanos,
    /// One for each stage of the path, in its order.
    pub segments: Vec<Segment>,
}

impl PathInstance {
    /// Of a row of `stamped_instants`, with the columns that its stages begin with. Nothing for a message that did not come through.
    pub fn of(
        indexed: &Indexed<'_>,
        columns: &[usize],
        row: &[Cell<Stamp>],
    ) -> Option<PathInstance> {
        let stamps = columns
            .iter()
            .map(|column| row.get(*column).copied().flatten());
        let stamps: Vec<Stamp> = stamps.collect::<Option<_>>()?;
        let segments = stamps.windows(2).map(|pair| Segment {
            end: Nanos(pair[1].time),
            kind: match (pair[0].event, pair[1].event) {
                (Some(from), Some(to)) => kind(indexed, from, to),
                _ => SegmentKind::Unknown,
            },
        });
        Some(PathInstance {
            begin: Nanos(stamps.first()?.time),
            segments: segments.collect(),
        })
    }
}

/// What passes between two instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub end: Nanos,
    pub kind: SegmentKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentKind {
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

/// What passed between two events.
fn kind(indexed: &Indexed<'_>, from: Event, to: Event) -> SegmentKind {
    let delivery = |publication: PublicationId, is_it: &dyn Fn(&Delivery) -> bool| {
        let (first, deliveries) = indexed.deliveries(publication);
        let number = deliveries.iter().position(is_it);
        SegmentKind::Communication(number.map(|it| DeliveryId::from_index(first + it)))
    };
    match (from, to) {
        (Event::Publish(publication), Event::Start(instance)) => {
            delivery(publication, &|it| it.instance == Some(instance))
        }
        (Event::Publish(publication), Event::Take(take)) => {
            let subscription = indexed.model.takes[take.index()].subscription;
            delivery(publication, &|it| it.subscription == subscription)
        }
        (Event::Start(input), Event::Publish(output)) => SegmentKind::Output {
            input: Some(input),
            output,
        },
        (Event::Take(_), Event::Publish(output)) => SegmentKind::Output {
            input: None,
            output,
        },
        (Event::Start(_), Event::End(instance)) => SegmentKind::Execution(instance),
        (Event::End(_), Event::Start(reader)) => SegmentKind::VariablePassing(reader),
        _ => SegmentKind::Unknown,
    }
}
