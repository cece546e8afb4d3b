//! How old a message is when it is received: since the stamp in its header.
//!
//! A program stamps with the clock of its node: the system's, or in a simulation the simulated one. The trace does not tell
//! which, and no simulation begins near the present: whichever clock is nearer to the stamp made it.

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;

/// A stamp that is farther away from both clocks was made by neither, for example when a recorded bag is played.
const FARTHEST: i64 = 24 * 3600 * 1_000_000_000;

/// From the stamp to an instant, on the clock that is nearer to the stamp. Nothing for a stamp that was never set, or that
/// neither clock made. Negative for a stamp of the future.
pub fn message_age(model: &Model, stamp: i64, at: Nanos) -> Option<i64> {
    age(stamp, at, simulated(model, at))
}

/// What nodes take for the simulated time: what the clock said last.
fn simulated(model: &Model, at: Nanos) -> Option<i64> {
    let after = model.sim_times.partition_point(|it| it.time <= at);
    let last = model.sim_times[..after].last()?;
    i64::try_from(last.simulated).ok()
}

fn age(stamp: i64, system: Nanos, simulated: Option<i64>) -> Option<i64> {
    if stamp <= 0 {
        return None;
    }
    let clocks = [Some(system.0), simulated];
    let ages = clocks.into_iter().flatten();
    ages.map(|now| now.saturating_sub(stamp))
        .min_by_key(|age| age.unsigned_abs())
        .filter(|age| age.unsigned_abs() <= FARTHEST.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Nanos = Nanos(1_700_000_000_000_000_000);

    #[test]
    fn the_nearer_clock_made_the_stamp() {
        assert_eq!(age(NOW.0 - 5, NOW, None), Some(5));
        assert_eq!(age(NOW.0 - 5, NOW, Some(1_000)), Some(5));
        assert_eq!(age(900, NOW, Some(1_000)), Some(100));
        assert_eq!(age(NOW.0 + 5, NOW, Some(1_000)), Some(-5));
    }

    #[test]
    fn a_stamp_of_no_known_clock_has_no_age() {
        assert_eq!(age(0, NOW, Some(1_000)), None);
        assert_eq!(age(900, NOW, None), None);
        assert_eq!(age(NOW.0 - 2 * FARTHEST, NOW, None), None);
    }
}
