//! Messages that came through an observed path, one row each.

use std::io;

use super::{Column, Role, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::flow_latency::{FlowTimes, Include};
use crate::flow_path::FlowPaths;

pub(super) const FLOWS: Table = Table {
    name: "flows",
    about: "One message that came through an observed path, from the first publication to the start of the last callback. `path_flows` has its stages.",
    columns: columns! {
        = Column::integer("path", "Number of the path in `paths`.").role(Role::Path),
        integer "flow" "Number of the flow in its path, in the order of time.",
        time "begin_ns" "First publication.",
        time "end_ns" "Start of the last callback.",
        duration "latency_ns" "End less begin.",
        integer "publication" "Number of the first message in `publications`.",
        integer? "instance" "Number of the last execution in `callback_instances`; nothing if the message was taken by hand.",
        flag "damaged" "Whether events were lost meanwhile.",
    },
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
            take(&cells! {
                path, number, times.begin, times.end, times.end.0 - times.begin.0,
                i64::from(analysis.delivery(*first).publication.0),
                instance.map(|id| i64::from(id.0)), times.damaged,
            })?;
        }
    }
    Ok(())
}
