//! Recordings that tests make up, and short questions about the models that come out.
//!
//! `recording` writes traces, `ros` and `run_time` say in them what ROS 2 would have said, `kernel` what Linux would, `application` what programs say
//! of themselves; `system` has the systems that tests begin with.

/// Words of a recording that are one event, or a few: their names, and their fields.
macro_rules! words {
    ($($(#[$doc:meta])* $public:vis fn $word:ident($($argument:ident: $type:ty),*) =
        $($tell:ident $name:literal { $($field:ident: $value:expr),* }),+;)*) => {
        impl Recording {
            $($(#[$doc])* $public fn $word(&mut self, $($argument: $type),*) -> &mut Recording {
                self$(.$tell($name, &[$((stringify!($field), $value)),*]))+
            })*
        }
    };
}

pub mod application;
pub mod kernel;
pub mod recording;
pub mod ros;
pub mod run_time;
pub mod system;

pub use recording::{Payload, Recording};
pub use ros::{Flavour, rmw};

use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{CallbackId, InstanceId, SubscriptionId};
use rostrace_model::flow::{CallbackInstance, Delivery, DeliveryStatus, Publication};

/// Reads a set to its end.
pub fn model_of(set: &TraceSet) -> Model {
    Model::load(set, &mut |_| true)
}

pub fn node_names(model: &Model) -> Vec<&str> {
    model.nodes.iter().map(|node| node.name.as_str()).collect()
}

/// The topic of the subscription that a callback belongs to, `timer` and so on for others.
pub fn owner(model: &Model, callback: Option<CallbackId>) -> String {
    use rostrace_model::entity::CallbackOwner::*;
    let Some(callback) = callback else {
        return "nobody".to_owned();
    };
    match model.callbacks[callback.index()].owner {
        Timer(id) => format!("timer {}", model.timers[id.index()].period.0),
        Subscription(id) => model.subscriptions[id.index()].topic.clone(),
        Service(id) => model.services[id.index()].name.clone(),
        Unknown => "unknown".to_owned(),
    }
}

/// For each instance what it was the callback of.
pub fn owners(model: &Model) -> Vec<String> {
    let owner = |instance: &CallbackInstance| owner(model, instance.callback);
    model.instances.iter().map(owner).collect()
}

/// The topic of a publication's publisher.
pub fn topic<'m>(model: &'m Model, publication: &Publication) -> Option<&'m str> {
    let publisher = publication.publisher?;
    Some(&model.publishers[publisher.index()].topic)
}

/// For each publication its topic.
pub fn topics(model: &Model) -> Vec<Option<&str>> {
    let publications = model.publications.iter();
    publications.map(|it| topic(model, it)).collect()
}

/// For each publisher the name of its node.
pub fn publisher_nodes(model: &Model) -> Vec<Option<&str>> {
    let publishers = model.publishers.iter();
    publishers.map(|it| model.node_name(it.node)).collect()
}

/// All deliveries as (publication, subscription, status, instance), in numbers.
pub fn deliveries(model: &Model) -> Vec<(u32, u32, DeliveryStatus, Option<u32>)> {
    let row = |row: &Delivery| {
        let instance = row.instance.map(|InstanceId(id)| id);
        let subscription = row.subscription.map_or(u32::MAX, |SubscriptionId(id)| id);
        (row.publication.0, subscription, row.status, instance)
    };
    model.deliveries.iter().map(row).collect()
}

/// A time of the recording as the model has it.
pub fn time(at: u64) -> Nanos {
    Nanos(recording::EPOCH + at as i64)
}

/// The stamp that the middleware makes at a time of the recording.
pub fn stamp(at: u64) -> i64 {
    recording::EPOCH + at as i64
}
