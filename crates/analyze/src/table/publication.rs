//! Calls of `publish`.

use std::io;

use super::describe::{pid, publisher, start_of};
use super::recurring::{
    BUILT_IN, HOST, INSTANCE, PID, PUBLICATION, PUBLISHER, RCL_PUBLISH, RCLCPP_PUBLISH,
    SOURCE_TIMESTAMP,
};
use super::{Sink, Table, cells, columns};
use crate::analysis::Analysis;
use rostrace_model::describe::built_in;

pub(super) const PUBLICATIONS: Table = Table {
    name: "publications",
    about: "One call of `publish`.",
    columns: columns! {
        HOST,
        PID,
        integer "tid" "Thread that called.",
        node "node" "Node of the publisher; empty if the trace does not name it.",
        topic "topic" "Topic of the publisher; empty if the trace does not name it.",
        time "publish_ns" "The first event that the call left.",
        SOURCE_TIMESTAMP,
        time? "callback_start_ns" "Start of the execution that it happened in; nothing if there was none.",
        time? "rclcpp_intra_publish_ns" "Handed to subscriptions of the same process.",
        RCLCPP_PUBLISH,
        RCL_PUBLISH,
        time? "rmw_publish_ns" "The middleware was called: `rmw_publish`, or `dds_write` of CARET.",
        PUBLICATION,
        = PUBLISHER.optional(),
        = INSTANCE.optional(),
        BUILT_IN,
    },
    rows: publications,
};

fn publications(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    for (number, publication) in (0_i64..).zip(&model.publications) {
        if !analysis.counts(publication.publish) {
            continue;
        }
        let thread = &model.threads[publication.thread.index()];
        let (node, topic) = publisher(model, publication.publisher);
        take(&cells! {
            model.host_name(thread.process), pid(model, thread.process), thread.tid, node, topic,
            publication.publish, publication.source_timestamp,
            start_of(model, publication.instance), publication.intra, publication.rclcpp,
            publication.rcl, publication.rmw, number,
            publication.publisher.map(|id| i64::from(id.0)),
            publication.instance.map(|id| i64::from(id.0)),
            built_in::topic(topic) || built_in::node(node),
        })?;
    }
    Ok(())
}
