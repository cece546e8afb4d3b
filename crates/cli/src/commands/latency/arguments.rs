//! What `latency` and `paths` are asked for, and the ends of paths, which `why` knows too.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use glob::Pattern;
use rostrace_architecture::Architecture;
use rostrace_model::Model;

use crate::args::{LookFormat, ModelFilterArguments, TraceArguments};
use crate::columns::ListArguments;
use crate::entity_filter::{node_names, topic_names};
use crate::name;

/// The nodes and topics that paths begin or end with.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) names: Vec<Pattern>,
}

impl Ends {
    /// What `--from` or `--to` mean. Fails for a name that neither the trace nor the file has.
    pub(crate) fn of(
        option: &str,
        patterns: &[Pattern],
        model: &Model,
        architecture: Option<&Architecture>,
    ) -> anyhow::Result<Ends> {
        let mut names: BTreeSet<&str> = node_names(model);
        names.extend(topic_names(model));
        let topics = architecture.map(Architecture::topics).unwrap_or_default();
        if let Some(architecture) = architecture {
            names.extend(architecture.nodes.iter().map(|node| node.name.as_str()));
            names.extend(topics.iter().copied());
        }
        let noun = match architecture {
            Some(_) => "node and no topic of this trace or of the file",
            None => "node and no topic of this trace",
        };
        let meant = (patterns.iter()).map(|pattern| name::meant(option, noun, pattern, &names));
        Ok(Ends {
            names: meant.collect::<anyhow::Result<Vec<Pattern>>>()?,
        })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| pattern.matches(name))
    }
}

/// What of its ends is a part of a path.
#[derive(Debug, Default, Args)]
pub(crate) struct IncludeArguments {
    /// Begin with the callback that published the first message, not with the publication
    #[arg(long = "include-first-callback")]
    pub(crate) first_callback: bool,
    /// End with the end of the last callback, not with its start
    #[arg(long = "include-last-callback")]
    pub(crate) last_callback: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LatencyArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// Only paths that begin in this node or with this topic; may contain *, ? and […]; can be repeated
    #[arg(long, value_name = "NODE|TOPIC", value_parser = name::pattern)]
    pub(crate) from: Vec<Pattern>,
    /// Only paths that end in this node or with this topic; same syntax
    #[arg(long, value_name = "NODE|TOPIC", value_parser = name::pattern)]
    pub(crate) to: Vec<Pattern>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// An architecture file that says how nodes make outputs from inputs, for paths that observation alone cannot follow
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) include: IncludeArguments,
    #[command(flatten)]
    pub(crate) list: ListArguments,
    #[arg(long, value_enum, default_value_t = LookFormat::Table)]
    pub(crate) format: LookFormat,
    /// Also follow what ROS 2 and recorders send for themselves: /rosout, /parameter_events, …
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PathsArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// The architecture file that names the paths; always needed
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    /// Only paths with this name; may contain *, ? and […]; can be repeated
    #[arg(long = "path", value_name = "GLOB", value_parser = name::pattern)]
    pub(crate) paths: Vec<Pattern>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    #[command(flatten)]
    pub(crate) include: IncludeArguments,
    #[command(flatten)]
    pub(crate) list: ListArguments,
    #[arg(long, value_enum, default_value_t = LookFormat::Table)]
    pub(crate) format: LookFormat,
}
