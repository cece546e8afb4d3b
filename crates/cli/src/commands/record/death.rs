//! Processes that did not end in an orderly way: by which signal, and was it the tracer?

use std::os::unix::process::ExitStatusExt;

use rostrace_record::Death;

use super::outcome_of_command;
use super::watch::Ending;
use crate::render::diagnostic;
use rostrace_base::units;

/// A line for each process that was ended by a signal, and one for a command that failed in another way.
pub(super) fn tell(ending: &Ending) {
    let mut deaths = ending.summary.deaths.clone();
    let signal = ending.status.and_then(|status| status.signal());
    let command = ending.pid.filter(|_| signal.is_some());
    let mut is_shown = false;
    // Of its own child everybody gets to know how it ended.
    for death in &mut deaths {
        if command == Some(death.identity.pid) && death.signal.is_none_or(|it| Some(it) == signal) {
            death.signal = signal;
            is_shown = true;
        }
    }
    if let Some(status) = ending.status.filter(|_| !is_shown)
        && let Some(sentence) = outcome_of_command::sentence(status, ending.was_interrupted)
    {
        diagnostic::note(&sentence);
    }
    for death in deaths
        .iter()
        .filter(|it| is_news(it, ending.was_interrupted))
    {
        diagnostic::note(&sentence(death));
    }
}

/// Ended by Ctrl-C is an orderly end where that was asked for. Of a process of which nobody knows how it ended there is something to say only
/// if the tracer may have to do with it: many end by `_exit`, without a word.
fn is_news(death: &Death, was_interrupted: bool) -> bool {
    match death.signal {
        Some(libc::SIGINT) => !was_interrupted,
        Some(_) => true,
        None => death.at_work > 0,
    }
}

fn sentence(death: &Death) -> String {
    let how = match death.signal {
        Some(signal) => format!("was ended by {}", name(signal)),
        None => "ended without a word; by what is not known".to_owned(),
    };
    let tracer = match death.at_work {
        0 => "none of its threads was running code of the tracer".to_owned(),
        1 => "one of its threads was running code of the tracer".to_owned(),
        threads => format!(
            "{} of it were running code of the tracer",
            units::counted(threads.into(), "thread")
        ),
    };
    let pid = death.identity.pid;
    format!("`{}` (pid {pid}) {how}; {tracer}", death.name())
}

/// `SIGSEGV`, as the manual has it.
pub(super) fn name(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_what_is_known() {
        let mut death = Death {
            identity: rostrace_record::Identity {
                pid: 4711,
                name: *b"planner\0\0\0\0\0\0\0\0\0",
                ..Default::default()
            },
            signal: Some(libc::SIGSEGV),
            at_work: 0,
        };
        assert_eq!(
            sentence(&death),
            "`planner` (pid 4711) was ended by SIGSEGV; none of its threads was running code of the tracer"
        );
        death.at_work = 2;
        assert!(sentence(&death).ends_with("; 2 threads of it were running code of the tracer"));
        death.signal = None;
        assert!(is_news(&death, true));
        death.at_work = 0;
        assert!(!is_news(&death, true));
        death.signal = Some(libc::SIGINT);
        assert!(!is_news(&death, true) && is_news(&death, false));
    }
}
