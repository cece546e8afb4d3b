//! `rostrace run`: a command under the tracer that records nothing until somebody asks.

use std::time::{Duration, Instant};

use rostrace_record::{Launch, Running, RuntimeFolder, Session};
use signal_hook::iterator::Signals;

use super::record::arguments::RunArguments;
use super::record::{library, outcome_of_command, watch};
use crate::outcome::Outcome;
use crate::render::diagnostic;

pub(crate) fn run(arguments: &RunArguments) -> anyhow::Result<Outcome> {
    let library = library()?;
    let locks = arguments.locks.then(|| library.locks()).transpose()?;
    let session = match &arguments.control {
        Some(control) => Session::create_at(control, &arguments.command)?,
        None => Session::create(&RuntimeFolder::of_user()?, &arguments.command)?,
    };
    let launch = Launch::new(&arguments.command, &session, Some(&library))
        .with_locks(locks)
        .with_lttng(arguments.lttng);
    let signals = watch::signals()?;
    let outcome = launch.start().map_err(Into::into).and_then(|running| {
        diagnostic::note(&match &arguments.control {
            Some(control) => format!(
                "`rostrace record --attach --control {}` records this",
                control.display()
            ),
            None => format!(
                "`rostrace record --attach --session {}` records this",
                session.id
            ),
        });
        wait(&session, running, signals)
    });
    session.close();
    outcome
}

/// Passes signals on, sees to it that processes can remember, and forgets those that are gone.
fn wait(session: &Session, mut running: Running, mut signals: Signals) -> anyhow::Result<Outcome> {
    let mut looked = Instant::now();
    loop {
        for signal in signals.pending() {
            running.signal(signal);
        }
        if let Some(status) = running.ended()? {
            return Ok(Outcome::OfCommand(outcome_of_command::code(status)));
        }
        if looked.elapsed() > Duration::from_secs(2) {
            looked = Instant::now();
            session.forget_dead();
            session.top_up();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
