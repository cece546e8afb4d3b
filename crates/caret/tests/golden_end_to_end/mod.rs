//! What CARET computes from its own end-to-end sample (of 2022, 2 880 events), number by number: every table and metric in its style.

mod metrics;
mod tables;

use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::paths::Ends;
use rostrace_analyze::declared::records::Records;
use rostrace_analyze::declared::tables::Indexed;
use rostrace_architecture::search::{EdgeFilter, Search, SearchGraph, SearchOptions};
use rostrace_architecture::{Architecture, ContextType, NamedPath, from_trace};
use rostrace_model::Model;
use rostrace_tracepoints::Kind;

/// The path begins in this second.
const SECOND: i64 = 1_655_782_980_000_000_000;

const BOTH_CALLBACKS: Ends = Ends {
    first_callback: true,
    last_callback: true,
};

struct Sample {
    model: Model,
    architecture: Architecture,
}

impl Sample {
    fn load() -> Option<Sample> {
        let model = rostrace_testkit::recordings::load("public/caret-demos-end-to-end-galactic")?;
        let mut architecture = from_trace(&model);
        for (node, input, output) in [
            ("/filter_node", "/topic1", "/topic2"),
            ("/message_driven_node", "/drive", "/topic3"),
            ("/message_driven_node", "/topic2", "/topic3"),
            ("/timer_driven_node", "/topic3", "/topic4"),
        ] {
            let latest = Some(ContextType::UseLatestMessage);
            architecture
                .update_message_context(node, latest, input, output)
                .unwrap();
        }
        let ends = ["/sensor_dummy_node", "/actuator_dummy_node"];
        let found: Vec<NamedPath> = {
            let graph = SearchGraph::new(&architecture, &EdgeFilter::default());
            let found = Search::new(&graph, &ends, SearchOptions::default()).unwrap();
            found.map(|path| path.named("target")).collect()
        };
        assert_eq!(found.len(), 1);
        for path in found {
            architecture.add_path(path).unwrap();
        }
        Some(Sample {
            model,
            architecture,
        })
    }

    fn indexed(&self) -> Indexed<'_> {
        Indexed::new(&self.model, Style::Caret)
    }

    fn callback(&self, name: &str) -> Records {
        let node = name.rsplit_once('/').unwrap().0;
        let node = self.architecture.node(node).unwrap();
        self.indexed().callback(node, node.callback(name).unwrap())
    }

    fn path(&self, ends: Ends) -> Records {
        let path = &self.architecture.paths[0];
        self.indexed().path(&self.architecture, path, ends).unwrap()
    }
}

/// Number, smallest, largest and sum of durations.
fn summary(rows: &[(i64, i64)]) -> (usize, i64, i64, i64) {
    let values = || rows.iter().map(|(_, value)| *value);
    let (min, max) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
    (rows.len(), min, max, values().sum())
}

fn present(records: &Records) -> Vec<usize> {
    (0..records.columns.len())
        .map(|column| records.column(column).flatten().count())
        .collect()
}

#[test]
fn the_events_are_those_that_caret_counts() {
    let Some(Sample { model, .. }) = Sample::load() else {
        return;
    };
    assert_eq!(model.events, 2_880);
    // The first packet begins 113 ms before the first event.
    assert_eq!(model.begin.unwrap().0, 1_655_782_979_221_006_095);
    assert_eq!(model.end.unwrap().0, 1_655_782_984_995_323_268);
    for (kind, count) in [
        (Kind::CallbackStart, 480),
        (Kind::CallbackEnd, 480),
        (Kind::DdsWrite, 405),
        (Kind::DdsBindAddrToStamp, 405),
        (Kind::DispatchSubscriptionCallback, 333),
        (Kind::RclcppPublish, 266),
        (Kind::RclPublish, 265),
        (Kind::RclcppCallbackRegister, 50),
        (Kind::RclServiceInit, 36),
        (Kind::RclPublisherInit, 17),
        (Kind::RclSubscriptionInit, 11),
        (Kind::RclNodeInit, 6),
        (Kind::RclTimerInit, 3),
        (Kind::RclInit, 1),
    ] {
        assert_eq!(model.count(kind), count, "{kind:?}");
    }
}
