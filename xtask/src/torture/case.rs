//! The table of cases: which program, with which arguments, under which ways of recording, and what may be expected of its trace.

use super::way::{ALL, HOSTILE, OBSERVED, TO_THE_END, Way};

#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// A program of `build::PROGRAMS`.
    pub(super) program: &'static str,
    /// For each argument, those of which one is taken. The last of programs that last is milliseconds.
    pub(super) arguments: &'static [&'static [&'static str]],
    pub(super) ways: &'static [Way],
    pub(super) surroundings: Surroundings,
}

/// What else is odd.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    /// Limits that hold before the program starts, as the witness reads them.
    pub(super) limits: &'static [&'static str],
    /// A trace may be impossible; then the recorder must say so.
    pub(super) may_fail: bool,
    pub(super) place: Storage,
    pub(super) user: User,
    /// Threads come and go all the time, or the program holds what it is given: its own maps change.
    pub(super) grows: bool,
    /// How often `record --attach` is run, at least and at most.
    pub(super) windows: (u32, u32),
}

/// Where traces are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    Plain,
    /// A file system of 1 MB.
    Full,
    /// One that cannot be written to.
    ReadOnly,
    /// The folder is removed while the program runs.
    Deleted,
    /// A disk of 4 MB/s.
    Slow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Same,
    /// Needs root: everything is run by somebody without rights.
    Nobody,
    /// Needs root: the program itself does what only root can.
    Root,
}

const PLAIN: Surroundings = Surroundings {
    limits: &[],
    may_fail: false,
    place: Storage::Plain,
    user: User::Same,
    grows: false,
    windows: (3, 6),
};
const GROWING: Surroundings = Surroundings {
    grows: true,
    ..PLAIN
};
const HARD: Surroundings = Surroundings {
    may_fail: true,
    grows: true,
    ..PLAIN
};
const AS_ROOT: Surroundings = Surroundings {
    user: User::Root,
    ..HARD
};

const fn placed(place: Storage) -> Surroundings {
    Surroundings {
        place,
        may_fail: !matches!(place, Storage::Slow),
        user: User::Root,
        ..GROWING
    }
}

const fn limited(limits: &'static [&'static str]) -> Surroundings {
    Surroundings { limits, ..HARD }
}

const MS: &[&str] = &["200", "300"];

macro_rules! case {
    ($name:literal, $program:literal, $arguments:expr, $ways:expr, $surroundings:expr) => {
        Case {
            name: $name,
            program: $program,
            arguments: &$arguments,
            ways: $ways,
            surroundings: $surroundings,
        }
    };
}

/// One case, one line.
#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    case!("steady", "steady", [&["1", "4", "16"], &["100", "1000", "5000"], MS], ALL, PLAIN),
    case!("leak", "steady", [&["4"], &["1000"], MS], &[Way::Attach], Surroundings { windows: (50, 50), ..PLAIN }),
    case!("leak-flood", "steady", [&["2", "4"], &["0"], MS], &[Way::Attach], Surroundings { windows: (25, 25), ..PLAIN }),
    case!("flood", "steady", [&["1", "2", "4"], &["0"], MS], ALL, PLAIN),
    case!("threads-64", "steady", [&["64"], &["100", "500"], MS], ALL, PLAIN),
    case!("threads-500", "steady", [&["500"], &["20", "50"], MS], ALL, PLAIN),
    case!("churn", "churn", [&["1", "4", "16"], &["3", "20", "200"], MS], ALL, GROWING),
    case!("publishers", "publishers", [&["2500"], &["4"], &["500"], &["400"]], ALL, GROWING),
    case!("flight-names", "publishers", [&["2500"], &["4"], &["10"], &["4500"]], &[Way::FlightTime], GROWING),
    case!("duration", "steady", [&["4"], &["1000"], MS], &[Way::DurationKilled], PLAIN),
    case!("hooks", "hooks", [&["plain", "local", "deep", "namespace"], &["libnode.so"]], TO_THE_END, PLAIN),
    case!("callbacks", "callbacks", [&["1", "4", "16"], MS], OBSERVED, PLAIN),
    case!("exceptions", "exceptions", [&["1", "4"], MS], ALL, PLAIN),
    case!("loading", "loading", [&["libemitting.so"], MS], ALL, GROWING),
    case!("cancel", "cancel", [&["deferred", "asynchronous"], MS], ALL, GROWING),
    case!("stack", "stack", [&["20", "200", "3000"], MS], ALL, GROWING),
    case!("large", "large", [&["3", "40", "70", "300"], &["1", "20"]], TO_THE_END, PLAIN),
    case!("signals-alarm", "signals", [&["alarm"], &["1", "3"], MS], ALL, PLAIN),
    case!("signals-profile", "signals", [&["profile"], &["1", "3"], MS], ALL, PLAIN),
    case!("signals-malloc", "signals", [&["malloc"], &["1", "3"], MS], ALL, PLAIN),
    case!("signals-altstack", "signals", [&["altstack"], &["1", "3"], MS], ALL, PLAIN),
    case!("signals-nested", "signals", [&["nested"], &["1", "3"], MS], ALL, PLAIN),
    case!("signals-jump", "signals", [&["jump"], &["1", "3"], MS], ALL, PLAIN),
    case!("signals-first", "signals", [&["first"], &["1", "3"], MS], ALL, PLAIN),
    case!("fork-storm", "fork", [&["storm"], &["10", "40"], &["0", "50"]], TO_THE_END, PLAIN),
    case!("fork-thread", "fork", [&["thread"], &["10", "40"], &["0", "50"]], TO_THE_END, PLAIN),
    case!("fork-raw", "fork", [&["raw"], &["10", "40"], &["0", "50"]], TO_THE_END, PLAIN),
    case!("fork-double", "fork", [&["double"], &["5", "10"], &["0", "50"]], TO_THE_END, PLAIN),
    case!("fork-daemon", "fork", [&["daemon"], &["1"], &["10"]], TO_THE_END, PLAIN),
    case!("vfork", "fork", [&["vfork"], &["10", "100"], &["0"]], TO_THE_END, PLAIN),
    case!("spawn", "fork", [&["spawn"], &["10", "30"], &["0"]], TO_THE_END, PLAIN),
    case!("exec", "exec", [&["1", "5"], &["1", "100"]], TO_THE_END, PLAIN),
    case!("ending-return", "ending", [&["return"], &["0", "5000"]], TO_THE_END, PLAIN),
    case!("ending-exit", "ending", [&["exit"], &["0", "5000"]], TO_THE_END, PLAIN),
    case!("ending-_exit", "ending", [&["_exit"], &["0", "5000"]], TO_THE_END, PLAIN),
    case!("ending-quick_exit", "ending", [&["quick_exit"], &["0", "5000"]], TO_THE_END, PLAIN),
    case!("ending-abort", "ending", [&["abort"], &["0", "5000"]], TO_THE_END, PLAIN),
    case!("ending-segv", "ending", [&["segv"], &["0", "5000"]], TO_THE_END, PLAIN),
    case!("ending-handler", "ending", [&["handler"], &["0", "5000"]], TO_THE_END, PLAIN),
    case!("ending-proper-handler", "ending", [&["proper-handler"], &["5000"]], TO_THE_END, PLAIN),
    case!("ending-kill", "ending", [&["kill"], &["0", "5000"]], TO_THE_END, PLAIN),
    case!("memory-malloc", "memory", [&["malloc"], MS], HOSTILE, HARD),
    case!("memory-address-space", "memory", [&["address-space"], MS], HOSTILE, HARD),
    case!("memory-locked", "memory", [&["locked"], MS], HOSTILE, HARD),
    case!("limit-file-0", "limits", [&["none"], MS], HOSTILE, limited(&["fsize=0"])),
    case!("limit-file-4k", "limits", [&["none"], MS], HOSTILE, limited(&["fsize=4096"])),
    case!("limit-file-16k", "limits", [&["none"], MS], HOSTILE, limited(&["fsize=16384"])),
    case!("limit-file-28k", "limits", [&["none"], MS], HOSTILE, limited(&["fsize=28672"])),
    case!("limit-files", "limits", [&["files"], MS], HOSTILE, HARD),
    case!("limit-files-own", "limits", [&["own-files"], MS], HOSTILE, HARD),
    case!("limit-few-files", "limits", [&["none"], MS], HOSTILE, limited(&["nofile=5"])),
    case!("limit-processes", "limits", [&["processes"], MS], HOSTILE, Surroundings { user: User::Nobody, ..HARD }),
    case!("seccomp-files", "seccomp", [&["files"], &["thread"], MS], HOSTILE, HARD),
    case!("seccomp-memory", "seccomp", [&["memory"], &["thread"], MS], HOSTILE, HARD),
    case!("seccomp-threads", "seccomp", [&["threads"], &["thread"], MS], HOSTILE, HARD),
    case!("seccomp-process", "seccomp", [&["all"], &["process"], MS], &[Way::Off, Way::Idle], HARD),
    case!("descriptors-close", "descriptors", [&["close"], MS], HOSTILE, HARD),
    case!("descriptors-replace", "descriptors", [&["replace"], MS], HOSTILE, HARD),
    case!("descriptors-flicker", "descriptors", [&["flicker"], MS], HOSTILE, GROWING),
    case!("folder-chroot", "folders", [&["chroot"], MS], HOSTILE, AS_ROOT),
    case!("folder-gone", "folders", [&["gone"], MS], HOSTILE, GROWING),
    case!("folder-user", "folders", [&["user"], MS], HOSTILE, AS_ROOT),
    // A preloaded library is loaded before ASan's, which ASan refuses by itself; a recorder can put them in order.
    case!("asan", "steady-asan", [&["4"], &["1000"], MS], &[Way::Idle, Way::Record, Way::Observed, Way::Attach], GROWING),
    case!("asan-static", "steady-asan-static", [&["4"], &["1000"], MS], HOSTILE, GROWING),
    case!("asan-churn", "churn-asan", [&["4"], &["20"], MS], &[Way::Idle, Way::Record, Way::Observed, Way::Attach], GROWING),
    case!("tsan", "steady-tsan", [&["4"], &["1000"], MS], &[Way::Idle, Way::Record, Way::Observed, Way::Attach], GROWING),
    case!("disk-full", "steady", [&["4"], &["0", "5000"], &["300"]], &[Way::Record, Way::Output, Way::Attach], placed(Storage::Full)),
    case!("disk-read-only", "steady", [&["4"], &["1000"], MS], &[Way::Output], placed(Storage::ReadOnly)),
    case!("disk-deleted", "steady", [&["4"], &["0", "1000"], &["300"]], &[Way::Record, Way::Output], Surroundings { user: User::Same, ..placed(Storage::Deleted) }),
    case!("disk-slow", "steady", [&["4"], &["5000"], &["500"]], &[Way::Record, Way::Output, Way::Attach, Way::ProgramKilled], placed(Storage::Slow)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own_and_ways() {
        let mut names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CASES.len());
        assert!(CASES.iter().all(|case| !case.ways.is_empty()));
    }

    #[test]
    fn programs_that_are_interfered_with_can_be_told_to_last() {
        for case in CASES
            .iter()
            .filter(|case| case.ways.iter().any(|way| way.interferes()))
        {
            let last = case.arguments.last().and_then(|words| words.first());
            let milliseconds = last.and_then(|word| word.parse::<u64>().ok());
            assert!(milliseconds.is_some_and(|ms| ms >= 100), "{}", case.name);
        }
    }
}
