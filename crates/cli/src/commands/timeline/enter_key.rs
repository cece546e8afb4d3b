//! Enter in the terminal that the program was started from.
//!
//! What is not a terminal is not read: a script that starts the program in a loop keeps its own input. Neither is one whose foreground belongs
//! to somebody else: reading it would stop the program.

use std::io::IsTerminal;

#[derive(Debug)]
pub(super) struct EnterKey {
    is_terminal: bool,
}

impl EnterKey {
    pub(super) fn new() -> EnterKey {
        EnterKey {
            is_terminal: std::io::stdin().is_terminal(),
        }
    }

    /// Whether there is somebody who could press it.
    pub(super) fn exists(&self) -> bool {
        self.is_terminal
    }

    /// Whether it was pressed since the last time; waits for nothing.
    pub(super) fn was_pressed(&self) -> bool {
        if !self.is_terminal || !is_in_foreground() {
            return false;
        }
        let mut asked = libc::pollfd {
            fd: libc::STDIN_FILENO,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry is given, and it lives until the call returns.
        let ready = unsafe { libc::poll(&raw mut asked, 1, 0) };
        if ready != 1 || asked.revents & libc::POLLIN == 0 {
            return false;
        }
        let mut line = [0u8; 512];
        // SAFETY: at most as many bytes are written as the array has.
        let length =
            unsafe { libc::read(libc::STDIN_FILENO, line.as_mut_ptr().cast(), line.len()) };
        usize::try_from(length).is_ok_and(|length| line[..length].contains(&b'\n'))
    }
}

fn is_in_foreground() -> bool {
    // SAFETY: these take numbers and return numbers.
    unsafe { libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp() }
}
