//! How the command that was recorded ended, for people and for shells.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::death;

/// None for an orderly end. Ended by Ctrl-C is an orderly end where we sent it.
pub(crate) fn sentence(status: ExitStatus, was_interrupted: bool) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        // As shells count: many programs say so of SIGINT.
        (Some(130), _) if was_interrupted => None,
        (_, Some(libc::SIGINT)) if was_interrupted => None,
        (Some(code), _) => Some(format!("the command ended with exit code {code}")),
        (None, Some(signal)) => Some(format!("the command was ended by {}", death::name(signal))),
        (None, None) => Some("it is not known how the command ended".to_owned()),
    }
}

/// As shells count.
pub(crate) fn code(status: ExitStatus) -> u8 {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, signal) => 128 + signal.unwrap_or(0),
    };
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_shown_unless_they_were_asked_for() {
        let exited = |code: i32| ExitStatus::from_raw(code << 8);
        let killed = ExitStatus::from_raw;
        assert_eq!(sentence(exited(0), false), None);
        assert_eq!(
            sentence(exited(7), true).unwrap(),
            "the command ended with exit code 7"
        );
        assert_eq!(sentence(killed(libc::SIGINT), true), None);
        assert!(sentence(killed(libc::SIGINT), false).is_some());
        assert_eq!(code(killed(libc::SIGKILL)), 137);
        assert_eq!(code(exited(9)), 9);
    }
}
