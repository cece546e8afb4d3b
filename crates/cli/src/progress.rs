//! A progress bar on standard error: bytes done, rate, time left. Only where a person can see it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const TEMPLATE: &str = "{msg} {wide_bar} {bytes}/{total_bytes} · {bytes_per_sec} · {eta} left";

/// Less than this is read before anybody could look at a bar.
const WORTH_SHOWING: u64 = 64 << 20;

/// Disappears when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(action: &'static str, total_bytes: u64) -> Progress {
        if total_bytes < WORTH_SHOWING {
            return Progress::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(total_bytes), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        bar.set_message(action);
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar }
    }

    /// For work whose output is on the terminal anyway.
    pub(crate) fn hidden() -> Progress {
        Progress {
            bar: ProgressBar::hidden(),
        }
    }

    pub(crate) fn done(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
