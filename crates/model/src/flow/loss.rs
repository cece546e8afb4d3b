//! When events were lost, and when nothing was recorded: whatever spans such a window is uncertain.

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{DamageKind, Trace, TraceSet};

/// Windows of time in which events are missing, of all streams together: a thread may have been on any processor.
#[derive(Debug, Default)]
pub struct Losses {
    /// Begins in order, with the latest end so far: windows may overlap.
    windows: Vec<(Nanos, Nanos)>,
    everywhere: bool,
    /// When nothing was recorded, between two recordings. Nothing was lost there.
    pauses: Vec<(Nanos, Nanos)>,
    /// Before this a flight recorder has kept what some threads did, but no longer what others did.
    partial_until: Option<Nanos>,
}

impl Losses {
    /// Losses of a trace of the kernel are none of these: its events tell nothing of nodes and messages.
    pub fn of(set: &TraceSet) -> Losses {
        let mut losses = Losses::default();
        let kernel: Vec<&str> = (set.traces.iter())
            .filter(|trace| is_of_kernel(trace))
            .map(|trace| trace.name.as_str())
            .collect();
        let of_kernel = |trace: &str| kernel.contains(&trace);
        for (trace, windows) in &set.summed_losses {
            if !of_kernel(trace) {
                losses.windows.extend(windows);
            }
        }
        for damage in set.damage.iter().filter(|it| !of_kernel(&it.trace)) {
            match (damage.begin, damage.end) {
                _ if !damage.kind.is_loss() => {}
                // The windows of a row that stands for many were kept apart.
                (Some(_), Some(_)) if damage.more.is_some() => {}
                (Some(begin), Some(end)) => losses.windows.push((begin, end)),
                // From then on, for all that is known.
                (Some(begin), None) if is_known_to_be_missing(damage.kind) => {
                    losses.windows.push((begin, Nanos(i64::MAX)));
                }
                // What was counted or is known to be missing, but without a time, can be anywhere.
                _ => losses.everywhere |= is_known_to_be_missing(damage.kind),
            }
        }
        losses.windows.sort_unstable();
        let mut latest = Nanos(i64::MIN);
        for (_, end) in &mut losses.windows {
            latest = latest.max(*end);
            *end = latest;
        }
        losses.partial_until = partial_until(set);
        losses.pauses = set.pauses();
        losses
    }

    /// Whether events of some thread may be missing between two times. What is reported by several threads together, or by something
    /// not having happened on any of them, needs this; what one thread tells needs [`between`](Losses::between).
    #[inline]
    pub fn across_threads(&self, from: Nanos, to: Nanos) -> bool {
        self.partial_until.is_some_and(|until| from < until) || self.between(from, to)
    }

    /// Whether events may be missing between two times: they were lost, or were not recorded.
    #[inline]
    pub fn between(&self, from: Nanos, to: Nanos) -> bool {
        self.lost_between(from, to) || touches(&self.pauses, from, to)
    }

    /// When events were lost, in the order of time; what overlaps is one.
    pub fn windows(&self) -> Vec<(Nanos, Nanos)> {
        let mut joined: Vec<(Nanos, Nanos)> = Vec::new();
        for (begin, end) in &self.windows {
            match joined.last_mut() {
                Some((_, last)) if begin <= last => *last = *end,
                _ => joined.push((*begin, *end)),
            }
        }
        joined
    }

    /// When nothing was recorded between two recordings, in the order of time.
    pub fn pauses(&self) -> &[(Nanos, Nanos)] {
        &self.pauses
    }

    /// Whether events may have been lost between two times, pauses apart.
    #[inline]
    pub fn lost_between(&self, from: Nanos, to: Nanos) -> bool {
        self.everywhere || touches(&self.windows, from, to)
    }

    /// How much of the time between two instants was not recorded.
    pub fn paused(&self, from: Nanos, to: Nanos) -> i64 {
        let inside = self.pauses.iter().map(|(begin, end)| {
            let (begin, end) = (begin.max(&from), end.min(&to));
            end.0.saturating_sub(begin.0).max(0)
        });
        inside.sum()
    }

    pub fn any(&self) -> bool {
        self.everywhere || !self.windows.is_empty() || !self.pauses.is_empty()
    }
}

/// Whether one of the windows, whose ends never go back, has something in common with a span.
#[inline]
fn touches(windows: &[(Nanos, Nanos)], from: Nanos, to: Nanos) -> bool {
    if windows.is_empty() {
        return false;
    }
    let begun = windows.partition_point(|(begin, _)| *begin < to);
    begun > 0 && windows[begun - 1].1 > from
}

fn is_of_kernel(trace: &Trace) -> bool {
    trace.schema.environment_text("domain") == Some("kernel")
}

fn is_known_to_be_missing(kind: DamageKind) -> bool {
    matches!(
        kind,
        DamageKind::DiscardedEvents
            | DamageKind::LostPackets
            | DamageKind::MissingPackets
            | DamageKind::MissingStream
    )
}

/// LTTng's streams begin late, too, where a session was rotated, and then nothing is missing: packets before are elsewhere.
fn partial_until(set: &TraceSet) -> Option<Nanos> {
    let own = (set.traces.iter()).filter(|trace| {
        trace.schema.environment_text("tracer_name") == Some("rostrace") && !is_of_kernel(trace)
    });
    own.flat_map(|trace| {
        let streams = trace.streams.iter();
        streams.filter_map(|stream| trace.forgotten_until(stream))
    })
    .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_touches_what_spans_it_and_nothing_else() {
        let losses = Losses {
            windows: vec![(Nanos(10), Nanos(50)), (Nanos(20), Nanos(50))],
            ..Losses::default()
        };
        assert!(losses.between(Nanos(0), Nanos(11)));
        assert!(!losses.between(Nanos(0), Nanos(10)));
        assert!(losses.between(Nanos(30), Nanos(31)));
        assert!(losses.between(Nanos(49), Nanos(90)));
        assert!(!losses.between(Nanos(50), Nanos(90)));
    }

    #[test]
    fn a_pause_is_uncertain_and_no_loss() {
        let losses = Losses {
            pauses: vec![(Nanos(10), Nanos(50)), (Nanos(70), Nanos(80))],
            ..Losses::default()
        };
        assert!(losses.between(Nanos(5), Nanos(60)));
        assert!(!losses.between(Nanos(50), Nanos(70)));
        assert!(!losses.lost_between(Nanos(5), Nanos(90)));
        assert_eq!(losses.paused(Nanos(20), Nanos(75)), 30 + 5);
        assert!(losses.any());
    }
}
