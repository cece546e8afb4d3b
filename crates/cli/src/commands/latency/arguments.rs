//! What `latency` and `why` are asked for. Ends of paths and times share `--from` and `--to`: a name begins with a slash or has
//! a `*`, a time never does.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, bail};
use clap::Args;
use glob::Pattern;

use crate::args::{LookFormat, ModelFilterArguments, TraceArguments};
use crate::entity_filter::EntityFilter;
use crate::outcome::wrong_usage;
use crate::time_argument::TimeArgument;
use crate::window::{SkipArguments, TimeArguments};

/// A node or topic, or a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EndArgument {
    Name(Pattern),
    Time(TimeArgument),
}

impl FromStr for EndArgument {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<EndArgument> {
        if text.starts_with('/') || text.contains(['*', '?', '[']) {
            let pattern = Pattern::new(text).context("this is no pattern of names")?;
            return Ok(EndArgument::Name(pattern));
        }
        match text.parse() {
            Ok(time) => Ok(EndArgument::Time(time)),
            Err(error) => {
                bail!("this is neither a name, which begins with a slash, nor a time: {error}")
            }
        }
    }
}

/// Names and times from repeated `--from` or `--to`.
#[derive(Debug, Default)]
pub(crate) struct Ends<'a> {
    pub(crate) names: Vec<&'a Pattern>,
    pub(crate) time: Option<TimeArgument>,
}

impl<'a> Ends<'a> {
    pub(crate) fn of(option: &str, arguments: &'a [EndArgument]) -> anyhow::Result<Ends<'a>> {
        let mut ends = Ends::default();
        for argument in arguments {
            match argument {
                EndArgument::Name(name) => ends.names.push(name),
                EndArgument::Time(time) if ends.time.is_none() => ends.time = Some(*time),
                EndArgument::Time(_) => wrong_usage!("{option} has two times; one is enough"),
            }
        }
        Ok(ends)
    }

    /// The range of time that both ends leave.
    pub(crate) fn times(from: &Ends<'_>, to: &Ends<'_>, skip: SkipArguments) -> TimeArguments {
        TimeArguments {
            from: from.time,
            to: to.time,
            skip,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| pattern.matches(name))
    }
}

#[derive(Debug, Args)]
pub(crate) struct LatencyArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// Paths that begin in this node or with this topic; or a time from which on they count; can be repeated
    #[arg(long, value_name = "NODE|TOPIC|T", allow_hyphen_values = true)]
    pub(crate) from: Vec<EndArgument>,
    /// Paths that end in this node or with this topic; or a time up to which they count; can be repeated
    #[arg(long, value_name = "NODE|TOPIC|T", allow_hyphen_values = true)]
    pub(crate) to: Vec<EndArgument>,
    #[command(flatten)]
    pub(crate) skip: SkipArguments,
    #[command(flatten)]
    pub(crate) entities: EntityFilter,
    /// An architecture file that says how nodes make outputs from inputs, for paths that cannot be followed by observation alone
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    /// Begin with the callback that published the first message, not with the publication
    #[arg(long)]
    pub(crate) include_first_callback: bool,
    /// End with the end of the last callback, not with its start
    #[arg(long)]
    pub(crate) include_last_callback: bool,
    /// Show at most so many paths
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) limit: usize,
    #[arg(long, value_enum, default_value_t = LookFormat::Table)]
    pub(crate) format: LookFormat,
    /// Follow also what ROS 2 and recorders send for themselves: /rosout, /parameter_events, …
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PathsArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// The architecture file whose named paths are wanted
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: PathBuf,
    /// Only paths of this name; may contain *, ? and […]; can be repeated
    #[arg(long = "path", value_name = "GLOB")]
    pub(crate) paths: Vec<Pattern>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// Begin with the callback that published the first message, not with the publication
    #[arg(long)]
    pub(crate) include_first_callback: bool,
    /// End with the end of the last callback, not with its start
    #[arg(long)]
    pub(crate) include_last_callback: bool,
    #[arg(long, value_enum, default_value_t = LookFormat::Table)]
    pub(crate) format: LookFormat,
}
