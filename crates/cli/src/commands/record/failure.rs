//! Processes that could not record, or not everything: the sentence for each, with the line that helps.

use rostrace_record::{Failure, IncompatibleTracer, Summary, limit};

use crate::render::diagnostic;
use rostrace_base::units;

/// Whether any process of a recording could not write what it should have.
pub(super) fn is_any(summary: &Summary) -> bool {
    !summary.failures.is_empty() || summary.incompatible_tracers.is_some()
}

/// At the end.
pub(super) fn tell(summary: &Summary) {
    for failure in &summary.failures {
        diagnostic::note(&format!(
            "process {} ({}) could not write everything: {}",
            failure.pid,
            failure.name,
            reason(failure.errno)
        ));
    }
    if let Some(stranger) = &summary.incompatible_tracers {
        diagnostic::note(&of_stranger(stranger));
    }
}

/// While it happens.
pub(super) fn as_it_happens(failure: &Failure) -> String {
    format!(
        "process {} ({}) cannot write everything, and what does not fit is lost: {}",
        failure.pid,
        failure.name,
        reason(failure.errno)
    )
}

/// Processes whose tracer is of another version.
pub(crate) fn of_stranger(stranger: &IncompatibleTracer) -> String {
    let whose = match stranger.count {
        1 => format!("process {} has", stranger.pid),
        count => format!(
            "{} have, the last of them process {},",
            units::counted(count, "process"),
            stranger.pid
        ),
    };
    format!(
        "{whose} a tracer of another version and cannot be recorded: it knows layout {} of the control page, this program layout {}; preload the library \
         that is beside this program",
        stranger.layout,
        rostrace_record::CONTROL_LAYOUT
    )
}

fn reason(errno: u32) -> String {
    let number = errno.cast_signed();
    let reason = std::io::Error::from_raw_os_error(number);
    match number {
        libc::EMFILE => {
            let most = limit(libc::RLIMIT_NOFILE).map_or(65_536, |files| files.highest);
            format!(
                "{reason}; `ulimit -n {}` before the command allows more",
                most.min(65_536)
            )
        }
        libc::ENFILE => format!(
            "{reason}; `sysctl fs.file-max` says how many there may be at once, and root can raise it"
        ),
        _ => reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_files_is_shown_with_the_line_that_helps() {
        assert!(reason(libc::EMFILE as u32).contains("`ulimit -n "));
        assert!(reason(libc::ENFILE as u32).contains("`sysctl fs.file-max`"));
        assert!(reason(libc::ENOSPC as u32).starts_with("No space left"));
    }
}
