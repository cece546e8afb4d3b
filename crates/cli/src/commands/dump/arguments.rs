//! What `dump` is asked for. Its options for times in text are those of babeltrace2.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::text::{ClockFormat, TextOptions};
use crate::args::{FilterArguments, TraceArguments};

#[derive(Debug, Args)]
pub(crate) struct DumpArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    #[arg(long, value_enum, default_value_t = DumpFormat::Text)]
    pub(crate) format: DumpFormat,
    /// Stop after this many events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Text: times as seconds since 1970
    #[arg(long, help_heading = "Times in text")]
    clock_seconds: bool,
    /// Text: times as the raw numbers of the trace's clock
    #[arg(long, help_heading = "Times in text")]
    clock_cycles: bool,
    /// Text: times with the date
    #[arg(long, help_heading = "Times in text")]
    clock_date: bool,
    /// Text: times in UTC instead of local time
    #[arg(long, help_heading = "Times in text")]
    clock_gmt: bool,
    /// Text: without the time since the previous event
    #[arg(long, help_heading = "Times in text")]
    no_delta: bool,
}

impl DumpArguments {
    pub(crate) fn text(&self) -> TextOptions {
        // The order in which babeltrace2 prefers them.
        let clock = if self.clock_cycles {
            ClockFormat::Cycles
        } else if self.clock_seconds {
            ClockFormat::Seconds
        } else if self.clock_date {
            ClockFormat::Date
        } else {
            ClockFormat::TimeOfDay
        };
        TextOptions {
            clock,
            gmt: self.clock_gmt,
            no_delta: self.no_delta,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpFormat {
    /// What babeltrace2 prints
    Text,
    /// One object per line
    Json,
    /// With a header; fields as name=value
    Csv,
}
