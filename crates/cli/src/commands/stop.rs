//! `rostrace stop`: ends what is recorded in a session; the processes go on.

use std::time::{Duration, Instant};

use anyhow::bail;
use rostrace_record::SessionState;

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
    // Its recorder, if there is one, writes what is left.
    let begin = Instant::now();
    while session.has_recorder() {
        if begin.elapsed() > Duration::from_secs(5) {
            diagnostic::note(
                "the recorder has not completed the trace yet; what it wrote can be read",
            );
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    diagnostic::note(&format!("recorded: {}", shown(&output)));
    Ok(Outcome::Fine)
}
