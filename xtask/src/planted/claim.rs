//! What may be said of a stretch of time, and by which words of `why`.

use super::answer::AnswerPart;

/// What must be said of a stretch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Claim {
    Computing,
    /// By what this thread held, if that is not 0.
    Blocked(i64),
    /// By this thread, or by one of these where nobody can know which it was.
    Preempted(Vec<i64>),
    Stopped,
    /// This node's callback, on the same thread.
    SameThread(String),
    /// The timer of this node, which is in the same mutually exclusive group; perhaps on the same thread as well.
    SameGroup(String, bool),
    Middleware,
    /// The call of publish, on a CPU or not.
    Publishing,
    Late,
    /// This thread had the CPU.
    Starved(i64),
    /// The callback of this node, which serves.
    Service(String),
    /// The callback of this node kept the server.
    ServerBusy(String),
}

/// How a case was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct How {
    pub(super) switches: Switches,
    /// Who holds a lock is known.
    pub(super) has_locks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switches {
    Recorded,
    /// Who had a CPU instead cannot be known.
    Refused,
}

impl Claim {
    pub(super) fn accepts(&self, part: &AnswerPart, how: How) -> bool {
        let is = |names: &[&str]| names.contains(&part.cause.as_str());
        let is_of = |node: &str| is_callback_of(&part.callback, node);
        // Without context switches nobody has to know it, but nobody may say another one either.
        let is_by = |culprit: i64| match (part.ran_instead, how.switches) {
            (Some(by), _) => by == culprit,
            (None, Switches::Refused) => true,
            (None, Switches::Recorded) => false,
        };
        match self {
            Claim::Computing => is(&[
                "execution",
                "computing",
                "system_call",
                "page_fault",
                "interrupt",
            ]),
            Claim::Blocked(holder) => {
                let mut words = part.cause.split('_');
                let is_lock = words.any(|word| ["lock", "mutex", "condition"].contains(&word));
                // Without --locks nobody has to know the holder of a lock, but nobody may say another one.
                match part.held_by {
                    Some(by) => is_lock && *holder == by,
                    None if how.has_locks && *holder != 0 => false,
                    None => is_lock || is(&["blocked"]),
                }
            }
            Claim::Preempted(by) => {
                is(&["preempted", "waiting_for_cpu"]) && by.iter().any(|by| is_by(*by))
            }
            Claim::Stopped => is(&["stopped", "blocked", "standstill"]),
            Claim::SameThread(node) => {
                is(&["other_callback"]) && part.relation == "same thread" && is_of(node)
            }
            Claim::SameGroup(node, is_same_thread) => {
                let is_of_group =
                    part.relation == "same mutually exclusive group" || *is_same_thread;
                is(&["other_callback"])
                    && is_of_group
                    && is_of(node)
                    && part.callback.contains("timer")
            }
            Claim::Middleware => is(&["middleware", "transport"]),
            Claim::Publishing => is(&["publishing", "blocked"]),
            Claim::Late => is(&["woken_late"]) || is(&["off_cpu"]) && !part.has_ran_instead,
            Claim::Starved(by) => {
                is(&["waiting_for_cpu", "preempted"]) && is_by(*by)
                    || is(&["off_cpu"]) && part.ran_instead == Some(*by)
            }
            Claim::Service(node) => {
                let is_service = ["service", "request", "response"]
                    .iter()
                    .any(|word| part.cause.contains(word));
                is_of(node) && !is(&["execution"])
                    || is_service && (part.callback.is_empty() || is_of(node))
            }
            Claim::ServerBusy(node) => is_of(node) && !is(&["execution"]),
        }
    }
}

/// `/node · timer 10 ms` is of `/node`.
fn is_callback_of(callback: &str, node: &str) -> bool {
    callback
        .strip_prefix(node)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// That a thread was not on a CPU, for whatever reason.
pub(super) fn is_off_cpu(part: &AnswerPart) -> bool {
    let names = [
        "preempted",
        "waiting_for_cpu",
        "blocked",
        "off_cpu",
        "interrupted",
        "preempted_or_blocked",
    ];
    names.contains(&part.cause.as_str())
}

/// Boxes that nobody can open.
pub(super) fn is_closed(part: &AnswerPart) -> bool {
    let names = [
        "execution",
        "middleware_or_executor",
        "timer_lateness",
        "unknown",
        "publishing",
        "off_cpu",
        "preempted_or_blocked",
        "executor",
    ];
    names.contains(&part.cause.as_str())
}
