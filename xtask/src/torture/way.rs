//! The ways in which a program is recorded, and who is killed or stopped meanwhile.

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(super) enum Way {
        /// Preloaded, but told to do nothing.
        Off = "off",
        /// `rostrace run`, and nobody asks.
        Idle = "idle",
        Record = "record",
        /// With context switches, as `record` does by itself.
        Switches = "switches",
        /// With the CPU clocks of threads, as where the system refuses context switches.
        Clocks = "clocks",
        /// With context switches, locks and samples: everything that can be asked for.
        Observed = "observed",
        /// Preloaded with a folder to write to; no recorder.
        Output = "output",
        /// The last megabyte.
        Flight = "flight",
        /// The last second.
        FlightTime = "flight-time",
        Limit = "limit",
        /// `rostrace run`, and `record --attach` again and again.
        Attach = "attach",
        /// As before, but each second recorder is killed.
        AttachKilled = "attach-killed",
        RecorderKilled = "recorder-killed",
        /// With a limit, which holds without a recorder too.
        LimitKilled = "limit-killed",
        /// With a duration, which holds without a recorder too.
        DurationKilled = "duration-killed",
        ProgramKilled = "program-killed",
        /// The recorder first, the program a little later.
        BothKilled = "both-killed",
        /// The program first.
        BothKilledReversed = "both-killed-reversed",
        OutputKilled = "output-killed",
        /// As a debugger does.
        ProgramStopped = "program-stopped",
        RecorderStopped = "recorder-stopped",
    }
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

    /// What a recorder is asked to observe beside the events of the program.
    pub(super) fn observations(self) -> &'static [&'static str] {
        match self {
            Way::Switches => &["--switches", "auto"],
            Way::Clocks => &["--switches", "clocks"],
            Way::Observed => &["--switches", "auto", "--locks", "--sample"],
            _ => &["--no-switches"],
        }
    }

    /// Whether a recorder sees the whole of it and ends as recorders do.
    pub(super) fn has_recorder_to_the_end(self) -> bool {
        matches!(
            self,
            Way::Record
                | Way::Switches
                | Way::Clocks
                | Way::Observed
                | Way::Flight
                | Way::FlightTime
                | Way::Limit
                | Way::ProgramKilled
                | Way::ProgramStopped
                | Way::RecorderStopped
        )
    }
}

/// Programs that end by themselves, soon.
pub(super) const TO_THE_END: &[Way] = &[
    Way::Off,
    Way::Idle,
    Way::Record,
    Way::Switches,
    Way::Observed,
    Way::Output,
    Way::Flight,
    Way::Limit,
];

/// Programs that last until they are told to end.
pub(super) const ALL: &[Way] = &[
    Way::Off,
    Way::Idle,
    Way::Record,
    Way::Switches,
    Way::Observed,
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

/// Programs whose callbacks, locks and threads are what is to be observed.
pub(super) const OBSERVED: &[Way] = &[
    Way::Off,
    Way::Record,
    Way::Output,
    Way::Switches,
    Way::Clocks,
    Way::Observed,
    Way::Attach,
];

/// Programs in whose surroundings a trace may be impossible.
pub(super) const HOSTILE: &[Way] = &[
    Way::Off,
    Way::Idle,
    Way::Record,
    Way::Switches,
    Way::Output,
    Way::Attach,
];
