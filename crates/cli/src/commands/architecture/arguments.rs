//! The command line of `rostrace architecture`, declared once.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::TraceArguments;
use crate::name;

#[derive(Debug, Args)]
pub(crate) struct ArchitectureArguments {
    #[command(subcommand)]
    pub(super) verb: ArchitectureVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum ArchitectureVerb {
    /// Write an architecture file from a recording
    #[command(after_help = "\
Examples:
  rostrace architecture create session/ -o architecture.yaml
  rostrace architecture create session/ -o architecture.yaml --plain

A publisher is bound to the callbacks that publish with it in the recording; the chains from inputs to outputs \
follow from that. Executors and callback groups are numbered in order of creation, not by address as in CARET.")]
    Create(CreateArguments),
    /// Check a file for errors and gaps, and whether it matches a recording
    #[command(after_help = "\
Examples:
  rostrace architecture check architecture.yaml
  rostrace architecture check architecture.yaml session/

Exit status 1: the file cannot be read, or something in it has no effect. Notes alone are not errors.")]
    Check(CheckArguments),
    /// Show what differs between two files
    #[command(after_help = "\
Example:
  rostrace architecture diff before.yaml after.yaml")]
    Diff(DiffArguments),
    /// List the paths between nodes, shortest first
    #[command(after_help = "\
Examples:
  rostrace architecture paths architecture.yaml --from /sensor --to /actuator
  rostrace architecture paths architecture.yaml --from /sensor --via /fusion --to /actuator --max-depth 8
  rostrace architecture paths architecture.yaml --from /a --to /b --without-topic '/diagnostics*'")]
    Paths(PathsArguments),
    /// Add a named path along nodes
    #[command(after_help = "\
Examples:
  rostrace architecture add-path architecture.yaml sensor_to_actuator /sensor /filter /actuator
  rostrace architecture add-path architecture.yaml points /sensor /points_raw /filter    (if several topics lead there)")]
    AddPath(AddPathArguments),
    /// Remove a named path
    #[command(after_help = "\
Example:
  rostrace architecture remove-path architecture.yaml sensor_to_actuator")]
    RemovePath(RemovePathArguments),
    /// Rename something everywhere in the file
    #[command(after_help = "\
Examples:
  rostrace architecture rename architecture.yaml node /fusion /sensor_fusion
  rostrace architecture rename architecture.yaml callback /fusion/callback_0 on_points")]
    Rename(RenameArguments),
    /// Set a message context: how a node makes an output from an input
    #[command(after_help = "\
Contexts are use_latest_message (the newest input, such as a timer that publishes what a subscription stored), callback_chain (through \
variable passings), inherit_unique_stamp, tilde, and UNDEFINED, which removes a declaration.

Examples:
  rostrace architecture set-context architecture.yaml /planner /objects /command use_latest_message
  rostrace architecture check architecture.yaml                   # names what is UNDEFINED")]
    SetContext(SetContextArguments),
    /// Join two named paths into one
    #[command(after_help = "\
Example:
  rostrace architecture combine architecture.yaml sensor_to_fusion fusion_to_actuator --as sensor_to_actuator")]
    Combine(CombineArguments),
    /// Draw the nodes and topics of an architecture file or a trace
    #[command(after_help = "\
Examples:
  rostrace architecture graph session/ -o system.svg
  rostrace architecture graph session/ -o planning.svg --node '/planning/*'
  rostrace architecture graph session/ -o fusion.svg --around /fusion --depth 2
  rostrace architecture graph architecture.yaml -o architecture.svg --clusters
  rostrace architecture graph architecture.yaml --format dot | dot -Tpdf > architecture.pdf

With up to 14 nodes, topics are drawn as shapes. With more, topics are arrows from node to node. With more than 60, namespaces are boxes that \
stand for all nodes in them, as in the report; topics that every node has (/tf, /clock, /diagnostics, built-in ones) and nodes without \
connections are left out, and a note says so. --topics and --unfold draw everything.")]
    Graph(GraphArguments),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ListFormat {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Where an edited file goes.
#[derive(Debug, Args)]
pub(super) struct EditArguments {
    /// Write to this file instead of changing the one that was read
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Overwrite the output file if it exists
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct CreateArguments {
    #[command(flatten)]
    pub(super) input: TraceArguments,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: PathBuf,
    /// Leave out which callback publishes and from which input, as CARET's own export does
    #[arg(long)]
    pub(super) plain: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    pub(super) file: PathBuf,
    /// Recordings of the application to check the file against
    #[arg(value_name = "TRACE")]
    pub(super) traces: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub(super) format: ListFormat,
}

#[derive(Debug, Args)]
pub(super) struct DiffArguments {
    #[arg(value_name = "A")]
    pub(super) before: PathBuf,
    #[arg(value_name = "B")]
    pub(super) after: PathBuf,
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub(super) format: ListFormat,
    /// End with status 1 if anything differs
    #[arg(long)]
    pub(super) exit_code: bool,
}

#[derive(Debug, Args)]
pub(super) struct PathsArguments {
    pub(super) file: PathBuf,
    /// The node that paths begin at
    #[arg(long, value_name = "NODE")]
    pub(super) from: String,
    /// The node that paths end at
    #[arg(long, value_name = "NODE")]
    pub(super) to: String,
    /// A node on the path; can be repeated, in path order
    #[arg(long, value_name = "NODE")]
    pub(super) via: Vec<String>,
    /// At most this many nodes between two named ones
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(super) max_depth: u16,
    /// List at most this many paths
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(super) max_paths: usize,
    /// Only paths that visit no node twice
    #[arg(long)]
    pub(super) simple: bool,
    /// Only through nodes with this name; may contain *, ? and […]; can be repeated
    #[arg(long = "node", value_name = "GLOB", value_parser = name::pattern)]
    pub(super) nodes: Vec<glob::Pattern>,
    /// Only along topics with this name; same syntax
    #[arg(long = "topic", value_name = "GLOB", value_parser = name::pattern)]
    pub(super) topics: Vec<glob::Pattern>,
    /// Not through nodes with this name; same syntax
    #[arg(long = "without-node", value_name = "GLOB", value_parser = name::pattern)]
    pub(super) without_nodes: Vec<glob::Pattern>,
    /// Not along topics with this name; same syntax
    #[arg(long = "without-topic", value_name = "GLOB", value_parser = name::pattern)]
    pub(super) without_topics: Vec<glob::Pattern>,
    /// Leave out subscriptions whose callback has a higher construction_order; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) max_construction_order: u32,
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub(super) format: ListFormat,
}

#[derive(Debug, Args)]
pub(super) struct AddPathArguments {
    pub(super) file: PathBuf,
    pub(super) name: String,
    /// The nodes of the path; a topic may be given between two nodes
    #[arg(value_name = "NODE", required = true, num_args = 2..)]
    pub(super) nodes: Vec<String>,
    #[command(flatten)]
    pub(super) edit: EditArguments,
}

#[derive(Debug, Args)]
pub(super) struct RemovePathArguments {
    pub(super) file: PathBuf,
    pub(super) name: String,
    #[command(flatten)]
    pub(super) edit: EditArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Renamed {
    Node,
    Topic,
    Callback,
    Executor,
    Path,
}

#[derive(Debug, Args)]
pub(super) struct RenameArguments {
    pub(super) file: PathBuf,
    pub(super) kind: Renamed,
    pub(super) old: String,
    pub(super) new: String,
    #[command(flatten)]
    pub(super) edit: EditArguments,
}

#[derive(Debug, Args)]
pub(super) struct SetContextArguments {
    pub(super) file: PathBuf,
    /// The node, by its full name
    pub(super) node: String,
    /// The topic that it subscribes to
    #[arg(value_name = "IN")]
    pub(super) subscribed: String,
    /// The topic that it publishes
    #[arg(value_name = "OUT")]
    pub(super) published: String,
    /// The message context
    pub(super) context: String,
    #[command(flatten)]
    pub(super) edit: EditArguments,
}

#[derive(Debug, Args)]
pub(super) struct CombineArguments {
    pub(super) file: PathBuf,
    /// The path that comes first
    pub(super) left: String,
    /// The path that begins where the first one ends
    pub(super) right: String,
    /// The name of the new path
    #[arg(long = "as", value_name = "NAME")]
    pub(super) name: String,
    #[command(flatten)]
    pub(super) edit: EditArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum GraphFormat {
    /// A picture, laid out by rostrace
    Svg,
    /// For Graphviz
    Dot,
    /// For Markdown that draws Mermaid
    Mermaid,
}

#[derive(Debug, Args)]
pub(super) struct GraphArguments {
    /// An architecture file, or folders that are or contain traces
    #[arg(value_name = "FILE|TRACE", required = true)]
    pub(super) inputs: Vec<PathBuf>,
    /// Only these nodes and their topics; may contain *, ? and […]; can be repeated
    #[arg(long = "node", value_name = "GLOB", value_parser = name::pattern)]
    pub(super) nodes: Vec<glob::Pattern>,
    /// Only these topics and the nodes that use them; same syntax
    #[arg(long = "topic", value_name = "GLOB", value_parser = name::pattern)]
    pub(super) topics: Vec<glob::Pattern>,
    /// Only this node and its neighbours; same syntax
    #[arg(long, value_name = "NODE", value_parser = name::pattern)]
    pub(super) around: Vec<glob::Pattern>,
    /// With --around: how many topics away a neighbour may be
    #[arg(long, value_name = "N", default_value_t = 1, requires = "around")]
    pub(super) depth: usize,
    /// Draw topics as shapes, however many nodes there are
    #[arg(long = "topics")]
    pub(super) draw_topics: bool,
    /// Draw every node, however many there are
    #[arg(long)]
    pub(super) unfold: bool,
    /// Write to this file instead of standard output; .svg, .dot, .gv, .mmd or .mermaid sets the format
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// The format, if the file name does not say
    #[arg(long, value_enum)]
    pub(super) format: Option<GraphFormat>,
    /// Draw the nodes of a namespace together, with topics as shapes
    #[arg(long)]
    pub(super) clusters: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
}
