//! Calls of `publish`.

use std::io;

use super::describe::{pid, publisher, start_of};
use super::recurring::{
    BUILT_IN, HOST, INSTANCE, PID, PUBLICATION, PUBLISHER, RCL_PUBLISH, RCLCPP_PUBLISH,
    SOURCE_TIMESTAMP,
};
use super::{Column, Sink, Table};
use crate::analysis::Analysis;
use crate::built_in;

pub(super) const PUBLICATIONS: Table = Table {
    name: "publications",
    about: "One call of `publish`.",
    columns: &[
        HOST,
        PID,
        Column::integer("tid", "Thread that called."),
        Column::node(
            "node",
            "Node of the publisher; empty if the trace does not name it.",
        ),
        Column::topic(
            "topic",
            "Topic of the publisher; empty if the trace does not name it.",
        ),
        Column::time("publish_ns", "The first event that the call left."),
        SOURCE_TIMESTAMP,
        Column::time(
            "callback_start_ns",
            "Start of the execution that it happened in; nothing if there was none.",
        )
        .optional(),
        Column::time(
            "rclcpp_intra_publish_ns",
            "Handed to subscriptions of the same process.",
        )
        .optional(),
        RCLCPP_PUBLISH,
        RCL_PUBLISH,
        Column::time(
            "rmw_publish_ns",
            "The middleware was called: `rmw_publish`, or `dds_write` of CARET.",
        )
        .optional(),
        PUBLICATION,
        PUBLISHER.optional(),
        INSTANCE.optional(),
        BUILT_IN,
    ],
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
        take(&[
            model.host_name(thread.process).into(),
            pid(model, thread.process).into(),
            thread.tid.into(),
            node.into(),
            topic.into(),
            publication.publish.into(),
            publication.source_timestamp.into(),
            start_of(model, publication.instance).into(),
            publication.intra.into(),
            publication.rclcpp.into(),
            publication.rcl.into(),
            publication.rmw.into(),
            number.into(),
            publication.publisher.map(|id| i64::from(id.0)).into(),
            publication.instance.map(|id| i64::from(id.0)).into(),
            (built_in::topic(topic) || built_in::node(node)).into(),
        ])?;
    }
    Ok(())
}
