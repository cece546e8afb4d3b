//! The line on the terminal while something is recorded.

use std::time::{Duration, Instant};

use console::Term;
use rostrace_record::Progress;

use rostrace_base::units;

const PAUSE: Duration = Duration::from_millis(250);

/// Nothing where standard error is not a terminal.
#[derive(Debug)]
pub(crate) struct LiveLine {
    terminal: Option<Term>,
    began: Instant,
    shown: Option<(Instant, u64)>,
}

impl LiveLine {
    pub(crate) fn new() -> LiveLine {
        let terminal = Term::stderr();
        LiveLine {
            terminal: terminal.is_term().then_some(terminal),
            began: Instant::now(),
            shown: None,
        }
    }

    pub(crate) fn show(&mut self, progress: &Progress) {
        let Some(terminal) = &self.terminal else {
            return;
        };
        let now = Instant::now();
        let (before, events) = match self.shown {
            Some((at, _)) if now - at < PAUSE => return,
            Some(shown) => shown,
            None => (self.began, 0),
        };
        let seconds = (now - before).as_secs_f64().max(0.001);
        let rate = progress.events.saturating_sub(events) as f64 / seconds;
        let line = text(progress, rate, now - self.began);
        let _ = terminal.clear_line();
        let _ = terminal.write_str(&line);
        self.shown = Some((now, progress.events));
    }

    pub(crate) fn clear(&mut self) {
        if let (Some(terminal), Some(_)) = (&self.terminal, self.shown) {
            let _ = terminal.clear_line();
        }
    }
}

fn text(progress: &Progress, rate: f64, since: Duration) -> String {
    let seconds = since.as_secs();
    format!(
        "recording {}:{:02} · {} · {} events/s · {} · lost: {}",
        seconds / 60,
        seconds % 60,
        units::counted(progress.processes, "process"),
        units::count(rate.round() as u64),
        units::bytes(progress.bytes),
        units::count(progress.discarded),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_lost() {
        let progress = Progress {
            processes: 3,
            attached: 3,
            events: 12_345,
            discarded: 0,
            bytes: 2 << 20,
        };
        assert_eq!(
            text(&progress, 1234.4, Duration::from_secs(5)),
            "recording 0:05 · 3 processes · 1,234 events/s · 2.0 MiB · lost: 0"
        );
    }
}
