//! `rostrace`: one program to record, read and explain ROS 2 traces. See [`run`] for what it can do.

mod archive;
mod args;
mod capabilities;
mod cell;
mod columns;
mod commands;
mod desktop;
mod entity_filter;
mod filter;
mod foreign;
mod help;
mod interrupt;
mod listing;
mod missing_callbacks;
mod name;
mod new_file;
mod outcome;
mod per_class_cache;
mod pipeline;
mod progress;
mod recorded;
mod render;
mod result_folder;
mod run;
mod share_argument;
mod sigbus;
mod size_argument;
mod source;
mod time_argument;
mod view;
mod window;

fn main() -> std::process::ExitCode {
    run::run()
}
