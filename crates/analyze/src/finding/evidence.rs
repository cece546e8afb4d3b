//! What findings are found in. A report has most of it anyway; whoever has not gathers it here.

use rostrace_model::entity::PublisherId;

use crate::analysis::Analysis;
use crate::callback::CallbackSummary;
use crate::communication::{self, Pair};
use crate::endpoint::{EndpointSummary, Endpoints};
use crate::flow_latency::PathLatency;
use crate::flow_path::FlowPath;
use crate::thread::{self, ThreadSummary};

#[derive(Debug, Clone, Copy)]
pub struct Evidence<'e> {
    /// By callback.
    pub callbacks: &'e [CallbackSummary],
    pub pairs: &'e [Pair],
    /// By publisher.
    pub publishers: &'e [EndpointSummary],
    pub threads: &'e [ThreadSummary],
    /// They change nothing about the order of callbacks, so that who asks for that only can leave them out.
    pub paths: &'e [(FlowPath, PathLatency)],
}

/// The evidence beside callbacks and paths.
#[derive(Debug)]
pub struct Measured {
    pairs: Vec<Pair>,
    publishers: Vec<EndpointSummary>,
    threads: Vec<ThreadSummary>,
}

impl Measured {
    pub fn of(analysis: &Analysis<'_>) -> Measured {
        let endpoints = Endpoints::new(analysis);
        let publishers = (0..analysis.model.publishers.len()).map(PublisherId::from_index);
        Measured {
            pairs: communication::pairs(analysis),
            publishers: publishers.map(|id| endpoints.publisher(id)).collect(),
            threads: thread::summaries(analysis, analysis.activities()),
        }
    }

    pub fn evidence<'e>(&'e self, callbacks: &'e [CallbackSummary]) -> Evidence<'e> {
        Evidence {
            callbacks,
            pairs: &self.pairs,
            publishers: &self.publishers,
            threads: &self.threads,
            paths: &[],
        }
    }
}
