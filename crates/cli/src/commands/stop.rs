//! `rostrace stop`: ends what is recorded in a session; the processes go on.

use std::time::{Duration, Instant};

use anyhow::bail;
use rostrace_record::{ProcessState, Session, SessionState};

use super::record::arguments::StopArguments;
use super::record::{find, shown};
use crate::outcome::Outcome;
use crate::render::diagnostic;

pub(crate) fn stop(arguments: &StopArguments) -> anyhow::Result<Outcome> {
    let session = find(&arguments.session)?;
    let SessionState::Recording { output, .. } = session.state() else {
        bail!("nothing is being recorded in session {}", session.id);
    };
    session.stop();
    let begin = Instant::now();
    while is_writing(&session) {
        if begin.elapsed() > Duration::from_secs(5) {
            diagnostic::note(
                "some processes have not completed their files; what they wrote can be read",
            );
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    diagnostic::note(&format!("recorded: {}", shown(&output)));
    Ok(Outcome::Fine)
}

fn is_writing(session: &Session) -> bool {
    session.forget_dead();
    let processes = session.processes();
    processes
        .iter()
        .any(|view| view.writing > 0 || view.state == ProcessState::Recording)
}
