//! What the tracer says on standard error, once in a process: only that it was asked to record and cannot, where the recorder might
//! never hear of it.

use std::path::Path;

use rostrace_session::ControlError;

/// Orders come from a recorder of another version.
pub(crate) fn other_version(control: &Path, error: ControlError) {
    say(&format!("{}: {error}", control.display()));
}

/// The control file cannot even be opened.
pub(crate) fn no_file_can_be_opened(error: i32) {
    let reason = std::io::Error::from_raw_os_error(error);
    say(&format!(
        "The control file cannot be opened, and events are lost until it can: {reason}. `ulimit -n 65536` before the start allows \
         more files."
    ));
}

/// In one piece; nothing is done if that fails.
fn say(sentence: &str) {
    let line = format!(
        "rostrace: process {} is not recorded. {sentence}\n",
        std::process::id()
    );
    // SAFETY: the text lives during the call.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
}
