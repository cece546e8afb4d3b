//! One self-contained HTML file that shows a trace.
//!
//! The page is made of parts: each says what it knows as JSON, with long columns of numbers beside it ([`columns`]), downsampled where nobody could see
//! the difference ([`downsample`]). Parts are computed and packed side by side, and unpacked by the browser when they are first looked at ([`document`]).
//! The scripts in `assets/page` only draw.

mod callback;
mod columns;
mod communication;
mod definitions;
mod distribution;
mod document;
mod downsample;
mod graph;
mod memory;
mod metrics;
mod node;
mod numbers;
mod overview;
mod part;
mod path;
mod process;
mod schedule;
mod series;
mod service;
mod shared;
mod simulated_clock;
mod table;
mod topic;

use std::io::{self, Write};

use rostrace_analyze::Analysis;
use rostrace_architecture::Architecture;
use rostrace_ctf::schema::Nanos;

use crate::explained::Explainer;
use document::Document;
use part::{PackedPart, PagePart};
use shared::Shared;

/// What a report is to be about; everything has a default.
#[derive(Debug, Default)]
pub struct Options<'o> {
    pub title: String,
    /// The recordings, as the user named them.
    pub sources: Vec<String>,
    /// What is missing from them, or odd: sentences, and whether data is gone.
    pub damage: Vec<(String, bool)>,
    /// Names paths that are shown beside the observed ones.
    pub architecture: Option<&'o Architecture>,
    /// Asked now and then: whether nobody wants the report any more.
    pub is_stopped: Option<fn() -> bool>,
}

/// What all parts are made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) analysis: &'a Analysis<'a>,
    pub(crate) options: &'a Options<'a>,
    pub(crate) shared: &'a Shared<'a>,
    /// Times in the page count from here, in nanoseconds since 1970: from the begin of the recording, whatever of it is shown.
    pub(crate) origin: i64,
    /// What is shown of the recording.
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

impl Subject<'_> {
    /// A time as the page counts it.
    pub(crate) fn time(&self, time: Nanos) -> i64 {
        time.0.saturating_sub(self.origin)
    }

    pub(crate) fn explainer(&self) -> Explainer<'_> {
        Explainer {
            analysis: self.analysis,
            origin: Nanos(self.origin),
        }
    }
}

/// Waits of an explanation that are listed one by one where it is one of many.
pub(crate) const MOST_WAITS: usize = 14;

/// In the order of the file: what is needed first comes first.
const PARTS: &[fn(Subject<'_>) -> PagePart] = &[
    overview::part,
    graph::part,
    callback::part,
    topic::part,
    node::part,
    process::part,
    path::part,
    schedule::part,
];

/// A report that needs only to be written.
#[derive(Debug)]
pub struct Page<'o> {
    title: &'o str,
    parts: Vec<PackedPart>,
}

impl<'o> Page<'o> {
    /// Nothing if it was stopped.
    pub fn new(analysis: &Analysis<'_>, options: &'o Options<'_>) -> Option<Page<'o>> {
        let model = analysis.model;
        let window = (analysis.window.start().0, analysis.window.end().0);
        let origin = model.begin.map_or(0, |begin| begin.0);
        let begin = origin.max(window.0);
        let end = model
            .end
            .map_or(begin, |end| end.0.min(window.1))
            .max(begin);
        let subject = Subject {
            analysis,
            options,
            shared: &Shared::new(analysis),
            origin,
            begin,
            end,
        };
        Some(Page {
            title: &options.title,
            parts: part::packed(PARTS, subject)?,
        })
    }

    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        Document {
            title: self.title,
            parts: &self.parts,
        }
        .write(out)
    }
}
