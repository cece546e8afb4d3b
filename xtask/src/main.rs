//! The house keeper: `cargo xtask test`, `bench`, `fuzz`, `torture`, `planted`, `docs` and `plotly`.
//!
//! One file per command, listed in [`COMMANDS`]; what several commands share is in `workspace` (where
//! things are, how cargo is called) and `step` (named, timed steps). Few dependencies, on purpose: this is the
//! first thing that a fresh clone compiles.

mod arguments;
mod bench;
mod docs;
mod fuzz;
mod packages;
mod planted;
mod plotly;
mod step;
mod test;
mod torture;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;

use arguments::{Arguments, WrongUsage};
use workspace::Workspace;

struct Command {
    name: &'static str,
    usage: &'static str,
    run: fn(&Workspace, Arguments) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        usage: test::USAGE,
        run: test::run,
    },
    Command {
        name: "bench",
        usage: bench::USAGE,
        run: bench::run,
    },
    Command {
        name: "fuzz",
        usage: fuzz::USAGE,
        run: fuzz::run,
    },
    Command {
        name: "torture",
        usage: torture::USAGE,
        run: torture::run,
    },
    Command {
        name: "planted",
        usage: planted::USAGE,
        run: planted::run,
    },
    Command {
        name: "docs",
        usage: docs::USAGE,
        run: docs::run,
    },
    Command {
        name: "plotly",
        usage: plotly::USAGE,
        run: plotly::run,
    },
];

fn main() -> ExitCode {
    let mut given = std::env::args().skip(1);
    let name = given.next().unwrap_or_default();
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        println!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("xtask: there is no command `{name}`.\n\n{}", help());
        return ExitCode::from(2);
    };
    let arguments = Arguments::new(given);
    if arguments.ask_for_help() {
        println!("{}", command.usage);
        return ExitCode::SUCCESS;
    }
    match Workspace::of_this_program().and_then(|workspace| (command.run)(&workspace, arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            if error.is::<WrongUsage>() {
                eprintln!("\n{}", command.usage);
                return ExitCode::from(2);
            }
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = String::from("cargo xtask COMMAND [OPTIONS]\n");
    for command in COMMANDS {
        text.push('\n');
        text.push_str(command.usage);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_of_every_command_begins_with_its_name() {
        for command in COMMANDS {
            assert!(
                command
                    .usage
                    .starts_with(&format!("cargo xtask {}", command.name))
            );
        }
    }
}
