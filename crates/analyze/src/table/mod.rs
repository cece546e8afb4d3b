//! Tables that other programs read: each is declared once, with its columns and what they mean. Exports, their schema and the
//! reference page come from the declarations.

mod action;
mod callback;
mod callback_instance;
mod cell;
mod column;
mod communication;
mod describe;
mod endpoint;
mod executor;
mod flow;
mod lifecycle;
mod memory;
mod named_path;
mod node;
mod page;
mod path;
mod process;
mod publication;
mod rate;
mod recurring;
mod scheduling;
mod service;
mod share;
mod statistics_columns;
mod thread;
mod topic;

use std::io;

use crate::analysis::Analysis;

pub use action::{ACTION_LIST, ActionRow};
pub use callback::{CALLBACK_LIST, CALLBACK_PAGE, CallbackRow};
pub use cell::Cell;
pub(crate) use cell::cells;
pub use column::{Column, ColumnKind, Role, Unit};
pub(crate) use column::{columns, concatenated, length};
pub use communication::{COMMUNICATION_PAGE, communications_of};
pub use endpoint::{PUBLISHER_PAGE, SUBSCRIPTION_PAGE};
pub use executor::{EXECUTOR_LIST, EXECUTOR_PAGE, ExecutorRow};
pub use node::{NODE_LIST, NODE_PAGE, NodeRow};
pub use page::{Drawn, PageColumn, PageTable, Room};
pub use process::{PROCESS_LIST, PROCESS_PAGE, ProcessRow};
pub use share::{node_work, process_work};
pub(crate) use statistics_columns::{frequency_columns, statistics_columns, summary_columns};
pub use thread::{THREAD_PAGE, threads_of};
pub use topic::{Deliveries, TOPIC_LIST, TOPIC_PAGE, TopicEnds, TopicRow, topics};

/// A table: a function hands its rows over one by one, so that none has to be held in memory.
#[derive(Debug)]
pub struct Table {
    /// As in `--tables`, and the name of the file.
    pub name: &'static str,
    /// What one row is.
    pub about: &'static str,
    pub columns: &'static [Column],
    pub rows: fn(&Analysis<'_>, Sink<'_>) -> io::Result<()>,
}

/// Every table, in the order of the reference page.
pub const TABLES: &[&Table] = &[
    &process::PROCESSES,
    &node::NODES,
    &topic::TOPICS,
    &executor::EXECUTORS,
    &executor::CALLBACK_GROUPS,
    &callback::CALLBACKS,
    &callback_instance::CALLBACK_INSTANCES,
    &publication::PUBLICATIONS,
    &communication::COMMUNICATIONS,
    &communication::DELIVERIES,
    &path::NODE_LATENCIES,
    &path::PATHS,
    &path::PATH_STAGES,
    &flow::FLOWS,
    &path::PATH_FLOWS,
    &path::RESPONSE_TIMES,
    &named_path::NAMED_PATHS,
    &named_path::NAMED_PATH_STAGES,
    &named_path::NAMED_PATH_INSTANTS,
    &named_path::NAMED_RESPONSE_TIMES,
    &named_path::NAMED_RESPONSE_STAGES,
    &scheduling::CALLBACK_SCHEDULING,
    &scheduling::SCHEDULING_DELAYS,
    &memory::MESSAGE_SIZES,
    &memory::MEMORY_TOTALS,
    &memory::MEMORY_USAGE,
    &memory::CALLBACK_MEMORY,
    &endpoint::PUBLISHERS,
    &endpoint::SUBSCRIPTIONS,
    &rate::RATES,
    &service::SERVICES,
    &service::CLIENT_CALLBACKS,
    &action::ACTIONS,
    &lifecycle::LIFECYCLE_STATES,
    &thread::THREADS,
    &thread::EXECUTOR_SHARES,
    &thread::SPINS,
    &share::NODE_SHARES,
    &share::PROCESS_SHARES,
];

/// Every table that the report's page shows as it is declared.
#[cfg(test)]
pub(crate) const PAGE_TABLES: &[&PageTable] = &[
    &CALLBACK_PAGE,
    &TOPIC_PAGE,
    &COMMUNICATION_PAGE,
    &PUBLISHER_PAGE,
    &SUBSCRIPTION_PAGE,
    &NODE_PAGE,
    &PROCESS_PAGE,
    &EXECUTOR_PAGE,
    &THREAD_PAGE,
];

/// Takes one row after the other: a cell for each column of the table.
pub type Sink<'s> = &'s mut dyn FnMut(&[Cell<'_>]) -> io::Result<()>;
