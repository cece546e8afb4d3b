//! One module for each verb of the command line.

pub(crate) mod architecture;
pub(crate) mod callbacks;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod cut;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod dump;
pub(crate) mod executors;
pub(crate) mod export;
pub(crate) mod flame;
pub(crate) mod info;
pub(crate) mod latency;
pub(crate) mod man;
pub(crate) mod nodes;
pub(crate) mod processes;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod timeline;
pub(crate) mod topics;
pub(crate) mod why;
