//! What a program says of itself while it runs: how many events it has begun, lane by lane, in a file that it has mapped.
//!
//! The layout is that of `xtask/torture/torture.h`. A file and a mapping of it are the same memory to the kernel, so the file is simply read,
//! also after its writer was killed.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

const HEAD: u64 = 512;
const LANE: u64 = 32;
const LANES: u64 = 65_535;

const HANDED_OUT: u64 = 0;
const OTHERS: u64 = 8;
const WORST: u64 = 16;
const READY: u64 = 32;
const STOP: u64 = 40;
const OTHERS_RETURNED: u64 = 48;
const ENDS: u64 = 56;
const ENDS_RETURNED: u64 = 64;

#[derive(Debug)]
pub(crate) struct Report(File);

/// Events of one lane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) begun: u64,
    pub(super) returned: u64,
    /// Of those that were begun: after the program had said that it ends.
    pub(super) late: u64,
}

/// Everything that a program had emitted at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Emitted {
    pub(super) lanes: Vec<Lane>,
    /// Events that describe entities: begun, and returned.
    pub(super) others: u64,
    pub(super) others_returned: u64,
    /// Events that say the end of an entity.
    pub(super) ends: u64,
    pub(super) ends_returned: u64,
}

impl Report {
    pub(super) fn create(path: &Path) -> io::Result<Report> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        file.set_len(HEAD + LANES * LANE)?;
        // Some programs change their user.
        file.set_permissions(PermissionsExt::from_mode(0o666))?;
        Ok(Report(file))
    }

    fn word(&self, at: u64) -> u64 {
        let mut bytes = [0; 8];
        match self.0.read_exact_at(&mut bytes, at) {
            Ok(()) => u64::from_ne_bytes(bytes),
            Err(_) => 0,
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.word(READY) != 0
    }

    /// Asks programs that last to end.
    pub(crate) fn stop(&self) -> io::Result<()> {
        self.0.write_all_at(&1_u64.to_ne_bytes(), STOP)
    }

    /// The longest tracepoint, in nanoseconds.
    pub(super) fn worst(&self) -> u64 {
        self.word(WORST)
    }

    /// Where the program still runs: each lane's `returned` is read before its `begun`, so that never more have returned than begun.
    pub(super) fn emitted(&self) -> Emitted {
        let lanes = self.word(HANDED_OUT).min(LANES);
        Emitted {
            lanes: (0..lanes)
                .map(|lane| {
                    let at = HEAD + lane * LANE;
                    let returned = self.word(at + 8);
                    Lane {
                        begun: self.word(at),
                        returned,
                        late: self.word(at + 16),
                    }
                })
                .collect(),
            others_returned: self.word(OTHERS_RETURNED),
            others: self.word(OTHERS),
            ends_returned: self.word(ENDS_RETURNED),
            ends: self.word(ENDS),
        }
    }
}

impl Emitted {
    pub(super) fn begun(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.begun).sum()
    }

    pub(super) fn returned(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.returned).sum()
    }

    /// Events of which nobody can say whether they should be in the trace: calls that never returned, and those after the end had begun.
    pub(super) fn in_doubt(&self) -> u64 {
        let lanes = self.lanes.iter().map(|lane| {
            let open = lane.begun.saturating_sub(lane.returned);
            lane.begun.min(open + lane.late)
        });
        lanes.sum::<u64>()
            + self.others.saturating_sub(self.others_returned)
            + self.ends.saturating_sub(self.ends_returned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_did_not_return_and_late_ones_are_in_doubt() {
        let lane = |begun, returned, late| Lane {
            begun,
            returned,
            late,
        };
        let emitted = Emitted {
            lanes: vec![lane(10, 10, 0), lane(10, 9, 0), lane(10, 9, 4)],
            others: 3,
            others_returned: 3,
            ..Emitted::default()
        };
        assert_eq!((emitted.begun(), emitted.in_doubt()), (30, 6));
    }

    #[test]
    fn a_new_report_says_nothing() {
        let path = std::env::temp_dir().join(format!("torture-report-{}", std::process::id()));
        let report = Report::create(&path).unwrap();
        report.stop().unwrap();
        assert_eq!(report.emitted(), Emitted::default());
        assert!(!report.is_ready());
        std::fs::remove_file(path).unwrap();
    }
}
