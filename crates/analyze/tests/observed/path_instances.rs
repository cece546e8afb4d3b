//! What holds for every message along every declared path: it is found again in the trace, and its explanation is its latency.

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::path_instance::{PathInstance, SegmentKind};
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::summary::{
    assume_latest_message, declared_path, stage_columns, stamped_instants, title,
};
use rostrace_analyze::declared::tables::Indexed;
use rostrace_analyze::why::Why;
use rostrace_architecture::search::{EdgeFilter, Search, SearchGraph, SearchOptions};
use rostrace_architecture::{Architecture, NamedPath};
use rostrace_model::flow::DeliveryStatus;

use super::invariants::{Seen, is_sound};

/// Paths of one pair of nodes that are looked at.
const MOST_PATHS: usize = 3;

/// Those that the file names, and some between any two nodes.
fn paths(architecture: &Architecture) -> Vec<NamedPath> {
    let mut paths = architecture.paths.clone();
    let graph = SearchGraph::new(architecture, &EdgeFilter::default());
    let options = SearchOptions {
        repeat_nodes: false,
        max_depth: 4,
        max_steps: 1_000,
    };
    let names: Vec<&str> = architecture.node_names().collect();
    for from in &names {
        for to in names.iter().filter(|to| *to != from) {
            if let Ok(search) = Search::new(&graph, &[*from, *to], options) {
                paths.extend(search.take(MOST_PATHS).map(|path| path.named("")));
            }
        }
    }
    paths
}

/// By how its causes are called: how long they lasted together.
pub type CauseDurations = BTreeMap<&'static str, i64>;

pub fn hold(
    analysis: &Analysis<'_>,
    architecture: &Architecture,
    of: &str,
    seen: &mut Seen,
) -> CauseDurations {
    let indexed = Indexed::new(analysis.model, Style::Own);
    let mut why = Why::new(analysis);
    let mut reported = CauseDurations::new();
    for path in paths(architecture) {
        let mut architecture = architecture.clone();
        assume_latest_message(&mut architecture, &path, &Default::default());
        for ends in Ends::EVERY {
            let counts = |time| analysis.counts(time);
            let Ok(records) = stamped_instants(&indexed, &architecture, &path, ends, counts) else {
                continue;
            };
            let of = format!("{of} {} {ends:?}", title(&path));
            let columns = stage_columns(&records);
            let mut complete = 0;
            for row in &records.rows {
                let path_instance = PathInstance::of(&indexed, &columns, row);
                let known = columns.iter().map(|column| Some(row[*column]?.time));
                let known: Option<Vec<i64>> = known.collect();
                assert_eq!(path_instance.is_some(), known.is_some(), "{of}");
                let (Some(path_instance), Some(known)) = (path_instance, known) else {
                    continue;
                };
                complete += 1;
                seen.flows += 1;
                let ends = path_instance.segments.iter().map(|segment| segment.end.0);
                let met: Vec<i64> = [path_instance.begin.0].into_iter().chain(ends).collect();
                assert_eq!(met, known, "{of}");
                is_found(analysis, &path_instance, &of);
                let explained = why.path_instance(&path_instance);
                is_sound(analysis, &explained, None, &of, seen);
                assert_eq!(explained.begin, path_instance.begin, "{of}");
                assert_eq!(
                    explained.end,
                    path_instance.segments.last().unwrap().end,
                    "{of}"
                );
                let sum: i64 = explained.parts.iter().map(|part| part.duration()).sum();
                assert_eq!(sum, known[known.len() - 1] - known[0], "{of}");
                for part in &explained.parts {
                    *reported.entry(part.cause.name()).or_default() += part.duration();
                }
            }
            let summary = declared_path(&indexed, &architecture, &path, ends, counts).unwrap();
            assert_eq!(complete, summary.complete, "{of}");
        }
    }
    reported
}

/// Every stage has what it was taken from, and its instants are those of the row.
fn is_found(analysis: &Analysis<'_>, path_instance: &PathInstance, of: &str) {
    let mut begin = path_instance.begin;
    for segment in &path_instance.segments {
        match segment.kind {
            SegmentKind::Communication(delivery) => {
                let delivery = analysis.delivery(delivery.unwrap());
                assert_eq!(delivery.status, DeliveryStatus::Delivered, "{of}");
                let publication = analysis.publication(delivery.publication);
                assert_eq!(publication.publish, begin, "{of}");
                match delivery.instance {
                    Some(id) => assert_eq!(analysis.instance(id).start, segment.end, "{of}"),
                    None => assert!(analysis.take_of(delivery).is_some(), "{of}"),
                }
            }
            SegmentKind::Output { input, output } => {
                assert_eq!(analysis.publication(output).publish, segment.end, "{of}");
                if let Some(input) = input {
                    assert_eq!(analysis.instance(input).start, begin, "{of}");
                }
            }
            SegmentKind::Execution(id) => {
                let instance = analysis.instance(id);
                assert_eq!(
                    (instance.start, instance.end),
                    (begin, Some(segment.end)),
                    "{of}"
                );
            }
            SegmentKind::VariablePassing(id) => {
                assert_eq!(analysis.instance(id).start, segment.end, "{of}");
            }
            SegmentKind::Unknown => panic!("{of}: {path_instance:?}"),
        }
        begin = segment.end;
    }
}
