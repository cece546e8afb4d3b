//! From the command line to an exit status: the list of verbs, and the one place where an error is printed.

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::archive;
use crate::args::{Arguments, Verb};
use crate::commands;
use crate::help;
use crate::interrupt;
use crate::outcome::{self, Interrupted, Outcome};
use crate::render::diagnostic;
use crate::sigbus;

pub(crate) fn run() -> ExitCode {
    let arguments = help::command()
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match arguments {
        Ok(arguments) => arguments,
        // Also `--help` and `--version`, which are no errors and know so.
        Err(answer) => {
            let _ = answer.print();
            return ExitCode::from(answer.exit_code() as u8);
        }
    };
    if !arguments.verb.heeds_signals() {
        interrupt::catch();
    }
    sigbus::explain();
    let performed = perform(arguments.verb);
    archive::remove_all();
    match performed {
        Ok(outcome) => outcome.into(),
        Err(error) if error.is::<Interrupted>() => Outcome::Interrupted.into(),
        Err(error) if outcome::is_closed_pipe(&error) => Outcome::Fine.into(),
        Err(error) => {
            diagnostic::error(&error);
            ExitCode::from(outcome::status(&error))
        }
    }
}

fn perform(verb: Verb) -> anyhow::Result<Outcome> {
    match verb {
        // Record.
        Verb::Demo(arguments) => commands::demo::demo(&arguments),
        Verb::DemoApplication(arguments) => commands::demo::application(&arguments),
        Verb::DemoProcess(arguments) => commands::demo::process(&arguments),
        Verb::Record(arguments) => commands::record::record(&arguments),
        Verb::Run(arguments) => commands::run::run(&arguments),
        Verb::Status(arguments) => commands::status::status(&arguments),
        Verb::Stop(arguments) => commands::stop::stop(&arguments),
        Verb::Snapshot(arguments) => commands::snapshot::snapshot(&arguments),
        Verb::Doctor(arguments) => commands::doctor::doctor(&arguments),
        // Look.
        Verb::Info(arguments) => commands::info::info(&arguments),
        Verb::Dump(arguments) => commands::dump::dump(&arguments),
        Verb::Nodes(arguments) => commands::nodes::nodes(&arguments),
        Verb::Topics(arguments) => commands::topics::topics(&arguments),
        Verb::Callbacks(arguments) => commands::callbacks::callbacks(&arguments),
        Verb::Actions(arguments) => commands::actions::actions(&arguments),
        Verb::Processes(arguments) => commands::processes::processes(&arguments),
        Verb::Executors(arguments) => commands::executors::executors(&arguments),
        // Understand.
        Verb::Latency(arguments) => commands::latency::latency(&arguments),
        Verb::Paths(arguments) => commands::latency::paths(&arguments),
        Verb::Why(arguments) => commands::why::why(&arguments),
        Verb::Flame(arguments) => commands::flame::flame(&arguments),
        Verb::Report(arguments) => commands::report::report(&arguments),
        Verb::Timeline(arguments) => commands::timeline::timeline(&arguments),
        // Keep.
        Verb::Export(arguments) => commands::export::export(&arguments),
        Verb::Cut(arguments) => commands::cut::cut(&arguments),
        Verb::Check(arguments) => commands::check::check(&arguments),
        Verb::Compare(arguments) => commands::compare::compare(&arguments),
        Verb::Architecture(arguments) => commands::architecture::architecture(&arguments),
        // The program itself.
        Verb::Completions(arguments) => commands::completions::completions(&arguments),
        Verb::Man(arguments) => commands::man::man(&arguments),
    }
}
