//! The simulated clock: at each moment one process says what time it is in the simulation.
//!
//! Every process hears of the simulated time by itself, earlier or later than others. If all were believed, the time would seem to stand still and
//! to be set back wherever one lags behind. What one process says alone is what the simulation did: its pauses, and its return to an earlier time.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;

use crate::entity::ProcessId;

/// The simulated clock at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimTime {
    pub time: Nanos,
    pub simulated: u64,
}

/// What one process after the other said, out of what all said in the order of time. Whoever spoke first is believed as long as it
/// speaks, then the one that goes on longest, as soon as it is not behind the one before.
pub(crate) fn of_one_process_at_a_time(said: &[(ProcessId, SimTime)]) -> Vec<SimTime> {
    let mut last_words: BTreeMap<ProcessId, Nanos> = BTreeMap::new();
    for (process, note) in said {
        last_words.insert(*process, note.time);
    }
    let mut believed: Vec<SimTime> = Vec::new();
    let mut speaker = said.first().map(|(process, _)| *process);
    let mut has_spoken = true;
    let mut said_before: BTreeMap<ProcessId, u64> = BTreeMap::new();
    for (process, note) in said {
        if speaker.is_some_and(|speaker| last_words[&speaker] < note.time) {
            let longest = last_words.iter().max_by_key(|(_, last)| **last);
            speaker = longest.map(|(process, _)| *process);
            has_spoken = false;
        }
        let before = said_before.insert(*process, note.simulated);
        if speaker != Some(*process) {
            continue;
        }
        let is_behind = believed
            .last()
            .is_some_and(|it| note.simulated < it.simulated);
        // What it takes back itself was set back in the simulation.
        let takes_back = before.is_some_and(|before| note.simulated < before);
        if has_spoken || !is_behind || takes_back {
            believed.push(*note);
            has_spoken = true;
        }
    }
    believed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn believed(said: &[(u32, i64, u64)]) -> Vec<(i64, u64)> {
        let said: Vec<(ProcessId, SimTime)> = said
            .iter()
            .map(|(process, time, simulated)| {
                let note = SimTime {
                    time: Nanos(*time),
                    simulated: *simulated,
                };
                (ProcessId(*process), note)
            })
            .collect();
        let believed = of_one_process_at_a_time(&said);
        (believed.iter())
            .map(|note| (note.time.0, note.simulated))
            .collect()
    }

    #[test]
    fn a_process_that_lags_behind_does_not_set_the_clock_back() {
        let said = [(0, 10, 1), (0, 20, 2), (1, 21, 1), (0, 30, 3), (1, 31, 2)];
        assert_eq!(believed(&said), [(10, 1), (20, 2), (30, 3)]);
    }

    #[test]
    fn pauses_and_steps_back_of_the_simulation_stay() {
        let said = [(0, 10, 5), (1, 11, 5), (0, 20, 5), (1, 21, 5), (0, 30, 1)];
        assert_eq!(believed(&said), [(10, 5), (20, 5), (30, 1)]);
    }

    #[test]
    fn another_process_goes_on_when_one_ends() {
        let said = [
            (0, 10, 1),
            (1, 11, 1),
            (2, 12, 1),
            (1, 21, 2),
            (2, 22, 2),
            (2, 32, 3),
        ];
        // The third one goes on longest.
        assert_eq!(believed(&said), [(10, 1), (12, 1), (22, 2), (32, 3)]);
    }

    #[test]
    fn the_next_process_may_notice_that_the_simulation_was_set_back() {
        let said = [
            (0, 10, 7),
            (1, 11, 7),
            (0, 20, 8),
            (1, 21, 7),
            (1, 31, 2),
            (1, 41, 3),
        ];
        assert_eq!(believed(&said), [(10, 7), (20, 8), (31, 2), (41, 3)]);
    }

    #[test]
    fn nobody_says_nothing() {
        assert_eq!(believed(&[]), []);
    }
}
