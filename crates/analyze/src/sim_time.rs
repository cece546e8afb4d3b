//! The simulated clock: what time it was in the simulation at an instant of the trace.
//!
//! A recorder notes both clocks about once a second. Between two notes the simulation is taken to have run evenly, so pauses and
//! changes of its speed stay where they were. (CARET lays one straight line through all notes, which is wrong everywhere as soon as the speed
//! changes once.) Durations are converted at both ends: what took a second while the simulation stood still took no simulated time.

use std::collections::BTreeSet;

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::flow::SimTime;

/// What every output says where simulated time rules: how late these timers were cannot be measured with the clock of the trace.
pub fn sentence(model: &Model) -> Option<String> {
    let timers = model.timers.iter();
    let simulated = timers.filter(|timer| timer.simulated && timer.callback.is_some());
    let nodes: BTreeSet<_> = simulated.clone().filter_map(|timer| timer.node).collect();
    let counted = |number: usize, noun: &str| match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    };
    let number = simulated.count();
    (number > 0).then(|| {
        format!(
            "simulated time rules: {} of {} may go by /clock, so how late they were is not known",
            counted(number, "timer"),
            counted(nodes.len(), "node")
        )
    })
}

/// Both clocks at some instants, in the order of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimClock {
    samples: Vec<(i64, i64)>,
}

/// An instant of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimInstant {
    pub nanos: i64,
    /// Before the first note or after the last one: as if the simulation had run there as it did beside.
    pub extrapolated: bool,
}

impl SimClock {
    /// The clock of a recording; nothing if it has fewer than two notes, for one of them does not tell the speed.
    pub fn of(model: &Model) -> Option<SimClock> {
        SimClock::new(&model.sim_times)
    }

    pub fn new(samples: &[SimTime]) -> Option<SimClock> {
        let mut samples: Vec<(i64, i64)> = samples
            .iter()
            .map(|sample| {
                let simulated = i64::try_from(sample.simulated).unwrap_or(i64::MAX);
                (sample.time.0, simulated)
            })
            .collect();
        samples.sort_by_key(|(system, _)| *system);
        // Of several notes of one instant the last one counts.
        samples.reverse();
        samples.dedup_by_key(|(system, _)| *system);
        samples.reverse();
        (samples.len() >= 2).then_some(SimClock { samples })
    }

    /// The simulated time at an instant of the trace, rounded down.
    pub fn at(&self, time: Nanos) -> SimInstant {
        let (first, last) = (0, self.samples.len() - 1);
        let later = self
            .samples
            .partition_point(|(system, _)| *system <= time.0)
            .clamp(first + 1, last);
        let (a, b) = (self.samples[later - 1], self.samples[later]);
        let run = i128::from(b.1) - i128::from(a.1);
        let length = i128::from(b.0) - i128::from(a.0);
        let since = i128::from(time.0) - i128::from(a.0);
        let nanos = i128::from(a.1) + (since * run).div_euclid(length);
        SimInstant {
            nanos: nanos.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64,
            extrapolated: time.0 < self.samples[first].0 || time.0 > self.samples[last].0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(samples: &[(i64, u64)]) -> Option<SimClock> {
        let sample = |(time, simulated): &(i64, u64)| SimTime {
            time: Nanos(*time),
            simulated: *simulated,
        };
        SimClock::new(&samples.iter().map(sample).collect::<Vec<_>>())
    }

    fn at(clock: &SimClock, time: i64) -> (i64, bool) {
        let SimInstant {
            nanos,
            extrapolated,
        } = clock.at(Nanos(time));
        (nanos, extrapolated)
    }

    #[test]
    fn each_stretch_runs_at_its_own_speed() {
        // CARET's line through these four notes, which it also uses for a range of 201 to 299 that holds none of them, has 280 at
        // 200 and 345 at 300: wrong at every note. Here every note is met, and between two of them only these two count.
        let clock = clock(&[(100, 200), (200, 300), (300, 350), (400, 400)]).unwrap();
        for (time, simulated) in [(100, 200), (150, 250), (200, 300), (300, 350), (400, 400)] {
            assert_eq!(at(&clock, time), (simulated, false));
        }
        assert_eq!(at(&clock, 201), (300, false));
        assert_eq!(at(&clock, 299), (349, false));
    }

    #[test]
    fn a_pause_takes_no_simulated_time() {
        let clock = clock(&[(0, 0), (100, 100), (200, 100), (300, 200)]).unwrap();
        assert_eq!(at(&clock, 150), (100, false));
        assert_eq!(at(&clock, 110), at(&clock, 190));
    }

    #[test]
    fn beyond_the_notes_the_nearest_stretch_goes_on_and_says_so() {
        let clock = clock(&[(100, 1000), (200, 1100), (300, 1300)]).unwrap();
        assert_eq!(at(&clock, 50), (950, true));
        assert_eq!(at(&clock, 350), (1400, true));
    }

    #[test]
    fn a_simulation_that_was_set_back_goes_back() {
        let clock = clock(&[(0, 500), (100, 0)]).unwrap();
        assert_eq!((at(&clock, 0), at(&clock, 100)), ((500, false), (0, false)));
    }

    #[test]
    fn one_note_is_no_clock() {
        assert_eq!(clock(&[]), None);
        assert_eq!(clock(&[(1, 1)]), None);
        assert_eq!(clock(&[(1, 1), (1, 2)]), None);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let clock = clock(&[(i64::MIN, 0), (i64::MAX, u64::MAX)]).unwrap();
        assert_eq!(at(&clock, i64::MAX), (i64::MAX, false));
        assert_eq!(at(&clock, i64::MIN), (0, false));
    }
}
