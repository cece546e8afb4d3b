//! The ways in which a program is recorded, and who is killed or stopped meanwhile.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Way {
    /// Preloaded, but told to do nothing.
    Off,
    /// `rostrace run`, and nobody asks.
    Idle,
    Record,
    /// Preloaded with a folder to write to; no recorder.
    Output,
    /// The last megabyte.
    Flight,
    /// The last second.
    FlightTime,
    Limit,
    /// `rostrace run`, and `record --attach` again and again.
    Attach,
    /// As before, but each second recorder is killed.
    AttachKilled,
    RecorderKilled,
    /// With a limit, which holds without a recorder too.
    LimitKilled,
    /// With a duration, which holds without a recorder too.
    DurationKilled,
    ProgramKilled,
    /// The recorder first, the program a little later.
    BothKilled,
    /// The program first.
    BothKilledReversed,
    OutputKilled,
    /// As a debugger does.
    ProgramStopped,
    RecorderStopped,
}

/// What a trace must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// There must be none.
    Nothing,
    /// Every event, or it is counted.
    Everything,
    /// The last ones, a megabyte at least.
    End,
    /// The last ones, however many they are.
    EndOfTime,
    /// The first ones.
    Begin,
    /// Those of some windows of time.
    Windows,
}

const NAMES: &[(Way, &str)] = &[
    (Way::Off, "off"),
    (Way::Idle, "idle"),
    (Way::Record, "record"),
    (Way::Output, "output"),
    (Way::Flight, "flight"),
    (Way::FlightTime, "flight-time"),
    (Way::Limit, "limit"),
    (Way::Attach, "attach"),
    (Way::AttachKilled, "attach-killed"),
    (Way::RecorderKilled, "recorder-killed"),
    (Way::LimitKilled, "limit-killed"),
    (Way::DurationKilled, "duration-killed"),
    (Way::ProgramKilled, "program-killed"),
    (Way::BothKilled, "both-killed"),
    (Way::BothKilledReversed, "both-killed-reversed"),
    (Way::OutputKilled, "output-killed"),
    (Way::ProgramStopped, "program-stopped"),
    (Way::RecorderStopped, "recorder-stopped"),
];

impl Way {
    pub(super) fn extent(self) -> Extent {
        match self {
            Way::Off | Way::Idle => Extent::Nothing,
            Way::Flight => Extent::End,
            Way::FlightTime => Extent::EndOfTime,
            Way::Attach | Way::AttachKilled => Extent::Windows,
            Way::DurationKilled => Extent::Begin,
            _ => Extent::Everything,
        }
    }

    /// The program is killed by us, so nothing is known of how it would have ended.
    pub(super) fn kills_program(self) -> bool {
        matches!(
            self,
            Way::ProgramKilled | Way::BothKilled | Way::BothKilledReversed | Way::OutputKilled
        )
    }

    pub(super) fn kills_recorder(self) -> bool {
        matches!(
            self,
            Way::RecorderKilled
                | Way::LimitKilled
                | Way::DurationKilled
                | Way::BothKilled
                | Way::BothKilledReversed
                | Way::AttachKilled
        )
    }

    /// Something happens in the middle of a run, so the program must last until it has happened.
    pub(super) fn interferes(self) -> bool {
        self.kills_program()
            || self.kills_recorder()
            || matches!(
                self,
                Way::Attach | Way::ProgramStopped | Way::RecorderStopped
            )
    }

    /// Whether a recorder sees the whole of it and ends as recorders do.
    pub(super) fn has_recorder_to_the_end(self) -> bool {
        matches!(
            self,
            Way::Record
                | Way::Flight
                | Way::FlightTime
                | Way::Limit
                | Way::ProgramKilled
                | Way::ProgramStopped
                | Way::RecorderStopped
        )
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(way, _)| way == self);
        f.write_str(name.map_or("?", |(_, name)| name))
    }
}

/// Programs that end by themselves, soon.
pub(super) const TO_THE_END: &[Way] = &[
    Way::Off,
    Way::Idle,
    Way::Record,
    Way::Output,
    Way::Flight,
    Way::Limit,
];

/// Programs that last until they are told.
pub(super) const ALL: &[Way] = &[
    Way::Off,
    Way::Idle,
    Way::Record,
    Way::Output,
    Way::Flight,
    Way::Limit,
    Way::Attach,
    Way::Attach,
    Way::AttachKilled,
    Way::RecorderKilled,
    Way::LimitKilled,
    Way::ProgramKilled,
    Way::BothKilled,
    Way::BothKilledReversed,
    Way::OutputKilled,
    Way::ProgramStopped,
    Way::RecorderStopped,
];

/// Programs in whose surroundings a trace may be impossible.
pub(super) const HOSTILE: &[Way] = &[Way::Off, Way::Idle, Way::Record, Way::Output, Way::Attach];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_a_name_of_its_own() {
        let mut names: Vec<String> = ALL.iter().map(Way::to_string).collect();
        names.extend([Way::FlightTime, Way::DurationKilled].map(|way| way.to_string()));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), NAMES.len());
        assert!(!names.contains(&"?".to_owned()));
    }
}
