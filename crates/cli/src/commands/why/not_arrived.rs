//! Messages that did not arrive, beside those that are explained: how many there are, and how one of them is explained.

use rostrace_analyze::communication::DropCause;
use rostrace_analyze::lost_message::LostMessage;
use rostrace_base::units;
use rostrace_ctf::schema::Nanos;
use serde::Serialize;

/// Of the messages that were chosen from.
#[derive(Debug, Clone, Serialize)]
pub(super) struct NotArrived {
    messages: usize,
    /// When the first of them was published.
    first_ns: i64,
    /// How many of each cause.
    causes: Vec<NotArrivedCause>,
}

#[derive(Debug, Clone, Serialize)]
struct NotArrivedCause {
    drop_cause: &'static str,
    messages: usize,
}

impl NotArrived {
    /// Nothing if all arrived, or were under way when the recording ended.
    pub(super) fn of(lost: &[LostMessage]) -> Option<NotArrived> {
        let lost: Vec<&LostMessage> = lost
            .iter()
            .filter(|lost| lost.cause != DropCause::RecordingEnd)
            .collect();
        let first = lost.iter().map(|lost| lost.begin).min()?;
        let causes = DropCause::EVERY.iter().filter_map(|cause| {
            let messages = lost.iter().filter(|lost| lost.cause == *cause).count();
            (messages > 0).then_some(NotArrivedCause {
                drop_cause: cause.name(),
                messages,
            })
        });
        Some(NotArrived {
            messages: lost.len(),
            first_ns: first.0,
            causes: causes.collect(),
        })
    }

    pub(super) fn sentence(&self, begin: Nanos) -> String {
        let causes: Vec<String> = (self.causes.iter())
            .map(|it| format!("{} {}", it.drop_cause, units::count(it.messages as u64)))
            .collect();
        let after = self.first_ns.saturating_sub(begin.0).max(0);
        let (seconds, nanos) = (after / 1_000_000_000, after % 1_000_000_000);
        let (are, explains) = match self.messages {
            1 => ("1 message", "it"),
            _ => ("messages", "the first of them"),
        };
        let are = match self.messages {
            1 => are.to_owned(),
            messages => format!("{} {are}", units::count(messages as u64)),
        };
        format!(
            "{are} did not arrive ({}): `--at +{seconds}.{nanos:09}s` explains {explains}",
            causes.join(", ")
        )
    }
}
