//! What holds for every message along every declared path: it is found again in the trace, and its explanation is its latency.

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::summary::{
    assume_latest_message, declared_path, instants, stage_columns, title,
};
use rostrace_analyze::declared::tables::Indexed;
use rostrace_analyze::declared::way::{Passage, Way, Ways};
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
pub type Told = BTreeMap<&'static str, i64>;

pub fn hold(
    analysis: &Analysis<'_>,
    architecture: &Architecture,
    of: &str,
    seen: &mut Seen,
) -> Told {
    let indexed = Indexed::new(analysis.model, Style::Own);
    let mut why = Why::new(analysis);
    let mut told = Told::new();
    for path in paths(architecture) {
        let mut architecture = architecture.clone();
        assume_latest_message(&mut architecture, &path, &Default::default());
        for ends in Ends::EVERY {
            let counts = |time| analysis.counts(time);
            let Ok(records) = instants(&indexed, &architecture, &path, ends, counts) else {
                continue;
            };
            let of = format!("{of} {} {ends:?}", title(&path));
            let ways = Ways::new(&indexed, &architecture, &path, &records);
            let columns = stage_columns(&records);
            let mut complete = 0;
            for row in &records.rows {
                let way = ways.of(row);
                let known: Option<Vec<i64>> = columns.iter().map(|column| row[*column]).collect();
                assert_eq!(way.is_some(), known.is_some(), "{of}");
                let (Some(way), Some(known)) = (way, known) else {
                    continue;
                };
                complete += 1;
                seen.flows += 1;
                let ends = way.legs.iter().map(|leg| leg.end.0);
                let met: Vec<i64> = [way.begin.0].into_iter().chain(ends).collect();
                assert_eq!(met, known, "{of}");
                is_found(analysis, &way, &of);
                let explained = why.way(&way);
                is_sound(analysis, &explained, None, &of, seen);
                assert_eq!(explained.begin, way.begin, "{of}");
                assert_eq!(explained.end, way.end(), "{of}");
                let sum: i64 = explained.parts.iter().map(|part| part.duration()).sum();
                assert_eq!(sum, known[known.len() - 1] - known[0], "{of}");
                for part in &explained.parts {
                    *told.entry(part.cause.name()).or_default() += part.duration();
                }
            }
            let summary = declared_path(&indexed, &architecture, &path, ends, counts).unwrap();
            assert_eq!(complete, summary.complete, "{of}");
        }
    }
    told
}

/// Every stage has what it was taken from, and its instants are those of the row.
fn is_found(analysis: &Analysis<'_>, way: &Way, of: &str) {
    let mut begin = way.begin;
    for leg in &way.legs {
        match leg.passage {
            Passage::Communication(delivery) => {
                let delivery = analysis.delivery(delivery.unwrap());
                assert_eq!(delivery.status, DeliveryStatus::Delivered, "{of}");
                let publication = analysis.publication(delivery.publication);
                assert_eq!(publication.publish, begin, "{of}");
                match delivery.instance {
                    Some(id) => assert_eq!(analysis.instance(id).start, leg.end, "{of}"),
                    None => assert!(analysis.take_of(delivery).is_some(), "{of}"),
                }
            }
            Passage::Output { input, output } => {
                assert_eq!(analysis.publication(output).publish, leg.end, "{of}");
                if let Some(input) = input {
                    assert_eq!(analysis.instance(input).start, begin, "{of}");
                }
            }
            Passage::Execution(id) => {
                let instance = analysis.instance(id);
                assert_eq!(
                    (instance.start, instance.end),
                    (begin, Some(leg.end)),
                    "{of}"
                );
            }
            Passage::VariablePassing(id) => {
                assert_eq!(analysis.instance(id).start, leg.end, "{of}");
            }
            Passage::Unknown => panic!("{of}: {way:?}"),
        }
        begin = leg.end;
    }
}
