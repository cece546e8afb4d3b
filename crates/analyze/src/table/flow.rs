//! Messages that came through an observed path, one row each.

use std::io;

use super::{Column, Role, Sink, Table};
use crate::analysis::Analysis;
use crate::flow_latency::{FlowTimes, Include};
use crate::flow_path::FlowPaths;

pub(super) const FLOWS: Table = Table {
    name: "flows",
    about: "One message that came through an observed path, from the first publication to the start of the last callback. `path_flows` has its stages.",
    columns: &[
        Column::integer("path", "Number of the path in `paths`.").role(Role::Path),
        Column::integer(
            "flow",
            "Number of the flow in its path, in the order of time.",
        ),
        Column::time("begin_ns", "First publication."),
        Column::time("end_ns", "Start of the last callback."),
        Column::duration("latency_ns", "End less begin."),
        Column::integer(
            "publication",
            "Number of the first message in `publications`.",
        ),
        Column::integer(
            "instance",
            "Number of the last execution in `callback_instances`; nothing if the message was taken by hand.",
        )
        .optional(),
        Column::flag("damaged", "Whether events were lost meanwhile."),
    ],
    rows: flows,
};

fn flows(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    for (path, flows) in (0_i64..).zip(FlowPaths::observed(analysis).iter()) {
        for (number, flow) in (0_i64..).zip(&flows.flows) {
            let times = FlowTimes::of(analysis, flow, Include::default());
            let ends = flow.deliveries.first().zip(flow.deliveries.last());
            let (Some(times), Some((first, last))) = (times, ends) else {
                continue;
            };
            let instance = analysis.delivery(*last).instance;
            take(&[
                path.into(),
                number.into(),
                times.begin.into(),
                times.end.into(),
                (times.end.0 - times.begin.0).into(),
                i64::from(analysis.delivery(*first).publication.0).into(),
                instance.map(|id| i64::from(id.0)).into(),
                times.damaged.into(),
            ])?;
        }
    }
    Ok(())
}
