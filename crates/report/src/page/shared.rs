//! What several parts of the page are made from, computed by whichever needs it first.

use std::sync::OnceLock;

use rostrace_analyze::Analysis;
use rostrace_analyze::callback::{self, CallbackSummary};
use rostrace_analyze::communication::{self, Pair};
use rostrace_analyze::endpoint::{EndpointSummary, Endpoints};
use rostrace_analyze::finding::{self, Evidence, Ranking};
use rostrace_analyze::flow_latency::{Include, PathLatency, path_latency};
use rostrace_analyze::flow_path::{FlowPath, FlowPaths};
use rostrace_analyze::thread::{self, ThreadSummary};
use rostrace_model::entity::{PublisherId, SubscriptionId};

#[derive(Debug)]
pub(crate) struct Shared<'a> {
    analysis: &'a Analysis<'a>,
    callbacks: OnceLock<Vec<CallbackSummary>>,
    pairs: OnceLock<Vec<Pair>>,
    endpoints: OnceLock<EndpointSummaries>,
    threads: OnceLock<Vec<ThreadSummary>>,
    topics: OnceLock<Vec<&'a str>>,
    paths: OnceLock<Vec<(FlowPath, PathLatency)>>,
    findings: OnceLock<Vec<finding::Group>>,
    ranking: OnceLock<Ranking>,
}

/// Both ends of all topics.
#[derive(Debug)]
pub(crate) struct EndpointSummaries {
    /// By publisher.
    pub(crate) publishers: Vec<EndpointSummary>,
    /// By subscription.
    pub(crate) subscriptions: Vec<EndpointSummary>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(analysis: &'a Analysis<'a>) -> Shared<'a> {
        Shared {
            analysis,
            callbacks: OnceLock::new(),
            pairs: OnceLock::new(),
            endpoints: OnceLock::new(),
            threads: OnceLock::new(),
            topics: OnceLock::new(),
            paths: OnceLock::new(),
            findings: OnceLock::new(),
            ranking: OnceLock::new(),
        }
    }

    /// By callback.
    pub(crate) fn callbacks(&self) -> &[CallbackSummary] {
        self.callbacks
            .get_or_init(|| callback::summaries(self.analysis))
    }

    pub(crate) fn pairs(&self) -> &[Pair] {
        self.pairs
            .get_or_init(|| communication::pairs(self.analysis))
    }

    pub(crate) fn endpoints(&self) -> &EndpointSummaries {
        self.endpoints.get_or_init(|| {
            let model = self.analysis.model;
            let endpoints = Endpoints::new(self.analysis);
            let publishers = (0..model.publishers.len()).map(PublisherId::from_index);
            let subscriptions = (0..model.subscriptions.len()).map(SubscriptionId::from_index);
            EndpointSummaries {
                publishers: publishers.map(|id| endpoints.publisher(id)).collect(),
                subscriptions: subscriptions.map(|id| endpoints.subscription(id)).collect(),
            }
        })
    }

    pub(crate) fn threads(&self) -> &[ThreadSummary] {
        self.threads
            .get_or_init(|| thread::summaries(self.analysis, self.analysis.activities()))
    }

    /// The names of all topics, in their order: the number of a topic in the page is its place here.
    pub(crate) fn topics(&self) -> &[&'a str] {
        self.topics.get_or_init(|| {
            let model = self.analysis.model;
            let published = model.publishers.iter().map(|it| it.topic.as_str());
            let subscribed = model.subscriptions.iter().map(|it| it.topic.as_str());
            let mut topics: Vec<&str> = published.chain(subscribed).collect();
            topics.sort_unstable();
            topics.dedup();
            topics
        })
    }

    /// The observed paths; their places are the numbers that the tables of paths have for them.
    pub(crate) fn paths(&self) -> &[(FlowPath, PathLatency)] {
        self.paths.get_or_init(|| {
            let paths = FlowPaths::observed(self.analysis).into_iter();
            paths
                .map(|path| {
                    let latency = path_latency(self.analysis, &path, Include::default());
                    (path, latency)
                })
                .collect()
        })
    }

    /// Findings by root cause, the worst first.
    pub(crate) fn findings(&self) -> &[finding::Group] {
        self.findings.get_or_init(|| {
            let evidence = Evidence {
                callbacks: self.callbacks(),
                pairs: self.pairs(),
                publishers: &self.endpoints().publishers,
                threads: self.threads(),
                paths: self.paths(),
            };
            let found = finding::findings(self.analysis, evidence);
            finding::groups(self.analysis, self.callbacks(), found)
        })
    }

    /// Which callback is worst.
    pub(crate) fn ranking(&self) -> &Ranking {
        let (analysis, callbacks) = (self.analysis, self.callbacks());
        self.ranking
            .get_or_init(|| Ranking::by(analysis, callbacks, self.findings()))
    }
}
