//! The grid on which a timer is due, found from its firings and from what the rest of the trace says of them.
//!
//! rcl keeps a grid: a firing is due one period after the one before was due, and a timer that is behind skips to the first
//! grid point that has not passed. The grid begins when the timer is created, and a reset moves it, always to later, which no
//! tracepoint tells. So the grid is taken from what was observed. It moves when most of the firings that follow agree on another one, and
//! since no timer fires before it is due, the new one is that of the most punctual of them: a later firing before it shows that the grid
//! had moved less far, or not at all. A single late firing, or an overloaded executor whose delays vary, does not move it, nor does a thread
//! that was busy.

use super::Basis;

/// How long it takes at most, as a rule, from rcl's look at the clock to the start of the callback.
const DISPATCH: i64 = 50_000;

/// How many firings are asked whether the grid has moved.
const WITNESSES: usize = 9;

/// When a firing was due.
pub(super) struct Due {
    pub(super) at: i64,
    pub(super) skipped: u64,
    pub(super) basis: Basis,
    /// Nothing tells whether it was due before it fired.
    pub(super) is_known: bool,
    /// How far the grid that it lies on has moved, as was known then.
    moved: i64,
}

/// The firings since the grid was found to have moved.
struct Move {
    /// The number of the first of them.
    first: usize,
    /// How far, as it seemed at first.
    at_first: i64,
    /// How far, as is known by now.
    by: i64,
    /// What the first of them are if it was no move after all; nothing if it is certain.
    otherwise: Option<(u64, Basis)>,
}

impl Move {
    /// Puts the firings on the grid that all of them agree on.
    fn settle(self, dues: &mut [Due]) {
        for due in &mut dues[self.first..] {
            due.at -= due.moved - self.by;
            due.moved = 0;
        }
    }
}

/// What the rest of the trace says of a firing, given by its number.
pub(super) struct Evidence<U, N, S, I> {
    /// Whether firings may be missing before it.
    pub(super) uncertain: U,
    /// Since when it can have been due at the earliest, where that is later than what is expected.
    pub(super) not_due_until: N,
    /// Whether nothing tells if it was due at all before it fired.
    pub(super) silent: S,
    /// How long its thread had nothing to do since it is expected to have been due.
    pub(super) idle: I,
}

pub(super) fn expectations<U, N, S, I>(
    starts: &[i64],
    period: i64,
    created: Option<i64>,
    evidence: &Evidence<U, N, S, I>,
) -> Vec<Due>
where
    U: Fn(usize) -> bool,
    N: Fn(usize, i64) -> Option<i64>,
    S: Fn(usize, i64) -> bool,
    I: Fn(usize, i64) -> i64,
{
    let tolerance = tolerance(period);
    let mut dues: Vec<Due> = Vec::with_capacity(starts.len());
    let mut basis = Basis::Creation;
    let mut latest: Option<Move> = None;
    for (number, start) in starts.iter().enumerate() {
        let (mut at, mut skipped) = match (dues.last(), created) {
            (Some(before), _) => next_due(before.at, starts[number - 1], period),
            // What happened between creation and the first firing is unknown if that is long: the recording may have begun
            // later than the timer. The grid is what counts.
            (None, Some(created)) => (
                created.saturating_add(
                    start
                        .saturating_sub(created)
                        .div_euclid(period)
                        .max(1)
                        .saturating_mul(period),
                ),
                0,
            ),
            (None, None) => {
                basis = Basis::Firings;
                (*start, 0)
            }
        };
        if start.saturating_add(tolerance) >= at.saturating_add(period)
            && (evidence.uncertain)(number)
        {
            // Those that were due since then may have happened in the time that is lost. One that seems to be late by nearly a whole period
            // is the next one, on a grid that is known a little too late.
            at += (start - at + tolerance) / period * period;
            skipped = 0;
        }
        if skipped > 0
            && *start < at
            && starts[number - 1].saturating_sub(at.saturating_sub(period)) <= DISPATCH
        {
            // rcl had asked for the time before that point of the grid passed; the start of the callback is reported after.
            at -= period;
            skipped -= 1;
        }
        let otherwise = Some((skipped, basis));
        let mut is_known = true;
        if *start < at {
            let early = at - start;
            at = *start;
            match &mut latest {
                // No timer fires before it is due: the grid had not moved that far, or not at all.
                Some(found) if found.at_first - (found.by - early) <= tolerance => {
                    found.by -= early;
                    if let Some((skipped, before)) =
                        found.otherwise.filter(|_| found.by <= tolerance)
                    {
                        at -= found.by;
                        found.by = 0;
                        let first = found.first;
                        dues[first].skipped = skipped;
                        dues[first..].iter_mut().for_each(|due| due.basis = before);
                        basis = before;
                    }
                }
                // A clock that is faster, or that was set, makes a timer fire early. That the creation is reported some
                // microseconds after it happened does not count.
                _ => {
                    if early > tolerance {
                        basis = Basis::Firings;
                    }
                    skipped = 0;
                    settle(&mut latest, &mut dues);
                }
            }
        } else if *start > at.saturating_add(tolerance)
            && let Some(earliest) = (evidence.not_due_until)(number, at)
        {
            settle(&mut latest, &mut dues);
            latest = Some(Move {
                first: number,
                at_first: earliest - at,
                by: earliest - at,
                otherwise: None,
            });
            at = earliest;
            skipped = 0;
            basis = Basis::Firings;
        } else if *start > at.saturating_add(period) && (evidence.silent)(number, at) {
            // It may have been cancelled: the grid begins anew.
            settle(&mut latest, &mut dues);
            at = *start;
            skipped = 0;
            basis = Basis::Firings;
            is_known = false;
        } else if *start > at.saturating_add(tolerance)
            // A thread that had other things to do is the reason, however regular it is.
            && (evidence.idle)(number, at) > tolerance
            && let Some(moved) = moved(&starts[number..], at, period, tolerance)
        {
            settle(&mut latest, &mut dues);
            latest = Some(Move {
                first: number,
                at_first: moved,
                by: moved,
                otherwise,
            });
            at += moved;
            skipped = 0;
            basis = Basis::Firings;
        }
        let moved = latest.as_ref().map_or(0, |found| found.by);
        dues.push(Due {
            at,
            skipped,
            basis,
            is_known,
            moved,
        });
        // A move that was none is forgotten.
        if latest.as_ref().is_some_and(|found| found.by == 0) {
            settle(&mut latest, &mut dues);
        }
    }
    settle(&mut latest, &mut dues);
    dues
}

fn settle(latest: &mut Option<Move>, dues: &mut [Due]) {
    if let Some(found) = latest.take() {
        found.settle(dues);
    }
}

/// A delay below this is no sign of another grid: the resolution of what is said of resets. One that moves the grid by less is not noticed,
/// and lateness is wrong by less than that then.
fn tolerance(period: i64) -> i64 {
    // To wake a thread up takes a tenth of a millisecond as a rule, and some tenths on a busy machine, again and again. On the
    // recordings with a log, anything from half a millisecond to two gives the same answers.
    (period / 4).clamp(1, 500_000)
}

/// The first grid point after `due` that had not passed when the timer was called, and how many had.
fn next_due(due: i64, called: i64, period: i64) -> (i64, u64) {
    let next = due.saturating_add(period);
    if next >= called {
        return (next, 0);
    }
    let behind = 1 + (called - next - 1) / period;
    (
        next.saturating_add(behind.saturating_mul(period)),
        behind as u64,
    )
}

/// How far the grid has moved, if most of the firings that follow agree on that. They are late on the old grid then, by
/// nearly the same time.
fn moved(starts: &[i64], due: i64, period: i64, tolerance: i64) -> Option<i64> {
    let witnesses = &starts[..starts.len().min(WITNESSES)];
    if witnesses.len() < WITNESSES.div_ceil(2) {
        return None;
    }
    let mut delays = Vec::with_capacity(witnesses.len());
    let mut at = due;
    for (number, start) in witnesses.iter().enumerate() {
        if number > 0 {
            at = next_due(at, witnesses[number - 1], period).0;
        }
        delays.push(start - at);
    }
    delays.sort_unstable();
    let (least, middle) = (delays[0], delays[delays.len() / 2]);
    (least > tolerance && middle - least <= tolerance).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is known but the firings.
    fn dues(starts: &[i64], period: i64, lost_before: Option<usize>) -> Vec<(i64, u64)> {
        let evidence = Evidence {
            uncertain: |number| Some(number) == lost_before,
            not_due_until: |_, _| None,
            silent: |_, _| false,
            idle: |number, due| starts[number] - due,
        };
        let dues = expectations(starts, period, Some(0), &evidence);
        dues.iter().map(|due| (due.at, due.skipped)).collect()
    }

    fn lateness(starts: &[i64], period: i64, created: Option<i64>) -> Vec<i64> {
        let evidence = Evidence {
            uncertain: |_| false,
            not_due_until: |_, _| None,
            silent: |_, _| false,
            idle: |number: usize, due: i64| starts[number] - due,
        };
        let dues = expectations(starts, period, created, &evidence);
        starts.iter().zip(dues).map(|(a, due)| a - due.at).collect()
    }

    #[test]
    fn firings_are_due_one_period_after_creation_and_after_each_other() {
        assert_eq!(lateness(&[105, 201, 330], 100, Some(0)), [5, 1, 30]);
    }

    #[test]
    fn without_a_creation_the_first_firing_is_the_measure() {
        assert_eq!(lateness(&[105, 205, 235], 100, None), [0, 0, 0]);
        assert_eq!(lateness(&[105, 225, 305], 100, None), [0, 20, 0]);
    }

    #[test]
    fn a_timer_that_is_behind_skips_what_has_passed() {
        let starts = [100, 470, 501, 600];
        assert_eq!(
            dues(&starts, 100, None),
            [(100, 0), (200, 0), (500, 2), (600, 0)]
        );
    }

    /// The creation is reported a little late, so that the grid is, too.
    #[test]
    fn after_a_loss_a_firing_just_before_its_point_of_the_grid_is_not_a_period_late() {
        let period = 20_000_000;
        for missing in [1, 25] {
            let mut starts: Vec<i64> = (1..6).map(|k| k * period + 1_000).collect();
            starts.extend((6..10).map(|k| (k + missing) * period - 35_000));
            let found = dues(&starts, period, Some(5));
            let late = starts.iter().zip(found).map(|(start, due)| start - due.0);
            let late: Vec<i64> = late.collect();
            assert!(late.iter().all(|it| *it <= 1_000), "{missing}: {late:?}");
        }
    }

    #[test]
    fn a_reset_moves_the_grid_and_is_not_lateness() {
        let period = 10_000_000;
        let mut starts: Vec<i64> = (1..20).map(|k| k * period + 1000).collect();
        let reset = 19 * period + 4_000_000;
        starts.extend((1..20).map(|k| reset + k * period + 1000 + (k % 3) * 500));
        let late = lateness(&starts, period, Some(0));
        assert!(late.iter().all(|late| *late < 2000), "{late:?}");
    }

    #[test]
    fn an_early_firing_moves_the_grid_at_once() {
        assert_eq!(lateness(&[100, 170, 275], 100, Some(0)), [0, 0, 5]);
    }

    #[test]
    fn after_a_reset_the_most_punctual_firing_says_where_the_grid_is() {
        let period = 10_000_000;
        let mut starts: Vec<i64> = (1..20).map(|k| k * period).collect();
        let reset = 19 * period + 4_000_000;
        let delays: Vec<i64> = [[300_000; 12], [20_000; 12]].concat();
        starts.extend(
            (1..)
                .zip(&delays)
                .map(|(k, delay)| reset + k * period + delay),
        );
        let late = lateness(&starts, period, Some(0));
        let expected: Vec<i64> = delays.iter().map(|delay| delay - 20_000).collect();
        assert_eq!(late[19..], expected);
    }

    #[test]
    fn wake_ups_that_are_all_late_are_no_reset_once_one_is_not() {
        let period = 20_000_000;
        let delays: Vec<i64> = [
            vec![0],
            [560_000, 650_000, 530_000, 660_000, 570_000, 600_000].repeat(3),
            vec![370_000, 150_000],
        ]
        .concat();
        let starts: Vec<i64> = (1..)
            .zip(&delays)
            .map(|(k, delay)| k * period + delay)
            .collect();
        assert_eq!(lateness(&starts, period, Some(0)), delays);
    }

    #[test]
    fn a_clock_that_is_faster_does_not_make_earlier_firings_late() {
        let period = 100_000_000;
        let starts: Vec<i64> = (1..1000).map(|k| k * (period - 10_000)).collect();
        let worst = lateness(&starts, period, Some(0)).into_iter().max();
        assert_eq!(worst, Some(0));
        // Also not since a reset.
        let reset = starts.last().unwrap() + 40_000_000;
        let after = (1..1000).map(|k| reset + k * (period - 10_000));
        let starts: Vec<i64> = starts.iter().copied().chain(after).collect();
        let worst = lateness(&starts, period, Some(0)).into_iter().max();
        // What is tolerated, and by how much the clock was faster during nine firings.
        assert!(worst <= Some(590_000), "{worst:?}");
    }

    #[test]
    fn delays_that_vary_do_not_move_the_grid() {
        let period = 10_000_000;
        let delays = [1, 5, 3, 9, 2, 7, 4, 8, 6, 5, 3, 9, 4].map(|ms| ms * 1_000_000);
        let starts: Vec<i64> = delays
            .iter()
            .zip(1..)
            .map(|(delay, k)| k * period + delay)
            .collect();
        assert_eq!(lateness(&starts, period, Some(0)), delays);
    }

    #[test]
    fn firings_that_may_be_lost_make_the_next_one_no_later() {
        let starts = [101, 202, 604, 701];
        assert_eq!(
            dues(&starts, 100, Some(2)),
            [(100, 0), (200, 0), (600, 0), (700, 0)]
        );
    }

    #[test]
    fn a_grid_point_between_the_call_and_its_event_still_counts() {
        let period = 10_000_000;
        // Called just before the third point, reported just after it; what was due there comes 7 ms late.
        let starts = [
            period,
            3 * period + 20_000,
            3 * period + 7_000_000,
            4 * period,
        ];
        let late = lateness(&starts, period, Some(0));
        assert_eq!(late, [0, period + 20_000, 7_000_000, 0]);
    }

    #[test]
    fn a_slow_drift_does_not_add_up() {
        let period = 100_000_000;
        // The timer's clock is 0.01 % slower than that of the trace.
        let starts: Vec<i64> = (1..1000).map(|k| k * (period + 10_000)).collect();
        let worst = lateness(&starts, period, Some(0)).into_iter().max();
        assert!(worst <= Some(600_000), "{worst:?}");
    }
}
