//! The desktop, where there is one: it knows which browser its user likes.

use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) fn exists() -> bool {
    ["WAYLAND_DISPLAY", "DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Asks it to open a file; false if there is nobody to ask.
pub(crate) fn open(file: &Path) -> bool {
    let mut command = Command::new("xdg-open");
    command.arg(file);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    let Ok(mut browser) = quiet.stderr(Stdio::null()).spawn() else {
        return false;
    };
    // It may stay as long as the browser does; its end is of no interest, but it has to be taken note of.
    std::thread::spawn(move || browser.wait());
    true
}
