//! The tables that can be exported, declared once: name, columns, rows.

use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{CallbackId, CallbackOwner, InstanceId, PublisherId};

/// Takes one row after the other.
pub(crate) type Taker<'t> = &'t mut dyn FnMut(&[String]) -> anyhow::Result<()>;

/// One table: a function hands its rows over one by one.
pub(crate) struct TableOf {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [&'static str],
    pub(crate) rows: fn(&Model, Taker<'_>) -> anyhow::Result<()>,
}

pub(crate) const TABLES: &[TableOf] = &[
    TableOf {
        name: "callback_instances",
        columns: &[
            "host",
            "pid",
            "tid",
            "node",
            "kind",
            "topic",
            "period_ns",
            "start_ns",
            "end_ns",
            "intra_process",
            "symbol",
        ],
        rows: callback_instances,
    },
    TableOf {
        name: "publications",
        columns: &[
            "host",
            "pid",
            "tid",
            "node",
            "topic",
            "publish_ns",
            "source_timestamp_ns",
            "callback_start_ns",
            "rclcpp_intra_publish_ns",
            "rclcpp_publish_ns",
            "rcl_publish_ns",
            "rmw_publish_ns",
        ],
        rows: publications,
    },
    TableOf {
        name: "deliveries",
        columns: &[
            "topic",
            "pub_host",
            "pub_pid",
            "publish_ns",
            "sub_host",
            "sub_pid",
            "sub_node",
            "kind",
            "callback_start_ns",
            "status",
            "matched_by",
        ],
        rows: deliveries,
    },
];

fn time(time: Option<Nanos>) -> String {
    time.map_or(String::new(), |time| time.0.to_string())
}

fn start_of(model: &Model, instance: Option<InstanceId>) -> String {
    time(instance.map(|instance| model.instances[instance.index()].start))
}

/// Kind, topic or service, and period of a callback.
fn owner(model: &Model, callback: Option<CallbackId>) -> (&'static str, String, String) {
    let Some(callback) = callback else {
        return ("", String::new(), String::new());
    };
    match model.callbacks[callback.index()].owner {
        CallbackOwner::Timer(id) => (
            "timer",
            String::new(),
            model.timers[id.index()].period.0.to_string(),
        ),
        CallbackOwner::Subscription(id) => (
            "subscription",
            model.subscriptions[id.index()].topic.clone(),
            String::new(),
        ),
        CallbackOwner::Service(id) => (
            "service",
            model.services[id.index()].name.clone(),
            String::new(),
        ),
        CallbackOwner::Client(id) => (
            "client",
            model.clients[id.index()].name.clone(),
            String::new(),
        ),
        CallbackOwner::Unknown => ("", String::new(), String::new()),
    }
}

fn callback_instances(model: &Model, take: Taker<'_>) -> anyhow::Result<()> {
    for instance in &model.instances {
        let thread = &model.threads[instance.thread.index()];
        let node = instance
            .callback
            .and_then(|callback| model.node_of_callback(callback));
        let (kind, topic, period) = owner(model, instance.callback);
        let symbol = instance
            .callback
            .and_then(|id| model.callbacks[id.index()].symbol.clone());
        take(&[
            model.host_name(thread.process).to_owned(),
            model.processes[thread.process.index()].pid.to_string(),
            thread.tid.to_string(),
            model.node_name(node).unwrap_or_default().to_owned(),
            kind.to_owned(),
            topic,
            period,
            instance.start.0.to_string(),
            time(instance.end),
            u8::from(instance.intra_process).to_string(),
            symbol.unwrap_or_default(),
        ])?;
    }
    Ok(())
}

/// Node and topic of a publisher.
fn publisher(model: &Model, publisher: Option<PublisherId>) -> (String, String) {
    let Some(publisher) = publisher else {
        return (String::new(), String::new());
    };
    let publisher = &model.publishers[publisher.index()];
    (
        model
            .node_name(publisher.node)
            .unwrap_or_default()
            .to_owned(),
        publisher.topic.clone(),
    )
}

fn publications(model: &Model, take: Taker<'_>) -> anyhow::Result<()> {
    for publication in &model.publications {
        let thread = &model.threads[publication.thread.index()];
        let (node, topic) = publisher(model, publication.publisher);
        take(&[
            model.host_name(thread.process).to_owned(),
            model.processes[thread.process.index()].pid.to_string(),
            thread.tid.to_string(),
            node,
            topic,
            publication.publish.0.to_string(),
            publication
                .source_timestamp
                .map_or(String::new(), |stamp| stamp.to_string()),
            start_of(model, publication.instance),
            time(publication.intra),
            time(publication.rclcpp),
            time(publication.rcl),
            time(publication.rmw),
        ])?;
    }
    Ok(())
}

fn deliveries(model: &Model, take: Taker<'_>) -> anyhow::Result<()> {
    for delivery in &model.deliveries {
        let publication = &model.publications[delivery.publication.index()];
        let from = model.process_of(publication.thread);
        let subscription = &model.subscriptions[delivery.subscription.index()];
        take(&[
            subscription.topic.clone(),
            model.host_name(from).to_owned(),
            model.processes[from.index()].pid.to_string(),
            publication.publish.0.to_string(),
            model.host_name(subscription.process).to_owned(),
            model.processes[subscription.process.index()]
                .pid
                .to_string(),
            model
                .node_name(subscription.node)
                .unwrap_or_default()
                .to_owned(),
            delivery.kind.name().to_owned(),
            start_of(model, delivery.instance),
            delivery.status.name().to_owned(),
            delivery.by.name().to_owned(),
        ])?;
    }
    Ok(())
}
