//! The simulated clock as far as it can be seen: a note that lies on the line between its neighbours tells nothing.
//!
//! The tracer notes every message on `/clock`, which makes a million notes in a few hours. Where the simulation ran evenly a few of
//! them are enough; where it paused or changed its speed they stay.

use rostrace_model::flow::SimTime;

/// More notes than this would make the page large.
const MOST: usize = 4000;
/// What charts over time do not show, in nanoseconds.
const INVISIBLE: f64 = 1e6;

/// At most [`MOST`] notes between which straight lines miss none of the others by more than a little.
pub(crate) fn thinned(notes: &[SimTime]) -> Vec<SimTime> {
    let mut tolerance = INVISIBLE;
    let mut kept = notes.to_vec();
    while kept.len() > MOST {
        kept = within(notes, tolerance);
        tolerance *= 2.0;
    }
    kept
}

/// From each note that is kept the line goes on until no slope fits all notes that it passes.
fn within(notes: &[SimTime], tolerance: f64) -> Vec<SimTime> {
    let Some((&first, rest)) = notes.split_first() else {
        return Vec::new();
    };
    let mut kept = vec![first];
    let (mut from, mut last) = (first, first);
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for &note in rest {
        let slope = |from: SimTime, off: f64| {
            let run = (note.time.0 - from.time.0) as f64;
            (note.simulated as f64 - from.simulated as f64 + off) / run
        };
        // The end of the line is a note itself, so that it has to lie within what those before it allow.
        let fits = (least..=most).contains(&slope(from, 0.0));
        if !fits && note.time > last.time {
            kept.push(last);
            from = last;
            (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        if note.time > from.time {
            least = least.max(slope(from, -tolerance));
            most = most.min(slope(from, tolerance));
        }
        last = note;
    }
    if kept.last() != Some(&last) {
        kept.push(last);
    }
    kept
}

#[cfg(test)]
mod tests {
    use rostrace_ctf::schema::Nanos;

    use super::*;

    fn clock(count: i64, simulated: impl Fn(i64) -> i64) -> Vec<SimTime> {
        (0..count)
            .map(|at| SimTime {
                time: Nanos(at * 10_000_000),
                simulated: simulated(at) as u64,
            })
            .collect()
    }

    #[test]
    fn a_short_clock_stays_as_it_is() {
        let notes = clock(100, |at| at * at);
        assert_eq!(thinned(&notes), notes);
        assert_eq!(thinned(&[]), []);
    }

    #[test]
    fn of_an_even_clock_the_ends_are_left() {
        let notes = clock(100_000, |at| 5_000_000 * at + at % 3);
        assert_eq!(thinned(&notes), [notes[0], notes[99_999]]);
    }

    #[test]
    fn a_pause_and_a_step_back_stay_where_they_were() {
        let notes = clock(100_000, |at| match at {
            ..30_000 => at * 10_000_000,
            30_000..60_000 => 30_000 * 10_000_000,
            _ => (at - 60_000) * 10_000_000,
        });
        let kept = thinned(&notes);
        assert!(kept.len() < 10, "{}", kept.len());
        for at in [0, 29_999, 59_999, 60_000, 99_999] {
            let near = |note: &&SimTime| (note.time.0 - notes[at].time.0).abs() <= 10_000_000;
            assert!(kept.iter().any(|note| near(&note)), "{at}");
        }
    }

    #[test]
    fn a_restless_clock_is_not_larger() {
        let notes = clock(100_000, |at| at * 10_000_000 + (at * 7919 % 1000) * 50_000);
        assert!((2..=MOST).contains(&thinned(&notes).len()));
        let broken = clock(100_000, |at| -(at % 2));
        assert!((2..=MOST).contains(&thinned(&broken).len()));
    }
}
