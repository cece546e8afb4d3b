//! What a trace holds: the numbers of all events, lane by lane, and what `rostrace info` says of it. babeltrace2, where it is installed, is asked too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use rostrace_ctf::{Conversion, Cursor, Raw, TraceSet};

/// The event one of whose arguments is a lane and a number, and that argument.
const NUMBERED: &str = "ros2:rclcpp_publish";
const ARGUMENT: &str = "message";
const LANE_SHIFT: u32 = 40;

/// What the recorder writes beside the processes: context switches and samples, which no program emits.
const OF_THE_RECORDER: &[&str] = &["sched", "samples"];
/// What the tracer observes by itself in a process, how often nobody can say.
const OBSERVED: &[&str] = &[
    "rostrace:thread_clock",
    "rostrace:lock_wait_begin",
    "rostrace:lock_wait_end",
    "rostrace:condition_notify",
];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Recorded {
    /// Sorted numbers of each lane that has any.
    pub(super) lanes: BTreeMap<u64, Vec<u64>>,
    /// Events that are not numbered, without the next ones.
    pub(super) others: u64,
    /// Events that say the end of an entity.
    pub(super) ends: u64,
    /// Events of what is observed beside what the program emits.
    pub(super) observed: u64,
    pub(super) info: Info,
}

/// What `rostrace info` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Info {
    pub(super) code: i32,
    pub(crate) events: u64,
    pub(crate) discarded: u64,
    pub(super) lost_packets: u64,
    pub(super) has_damage: bool,
    pub(super) bytes: u64,
}

impl Recorded {
    pub(super) fn numbered(&self) -> u64 {
        self.lanes
            .values()
            .map(|numbers| numbers.len() as u64)
            .sum()
    }

    pub(super) fn total(&self) -> u64 {
        self.numbered() + self.others + self.ends + self.observed
    }
}

/// None if no trace is there.
pub(super) fn read(rostrace: &Path, trace: &Path) -> Result<Option<Recorded>> {
    // Whoever reads a trace whose processes and recorder were killed finds what they left in memory.
    let all = info(rostrace, &[trace.to_owned()]);
    let folders = of_processes(trace);
    if !folders.iter().any(|folder| has_metadata(folder)) {
        return Ok(None);
    }
    let info = match folders.as_slice() {
        [folder] if folder == trace => all?,
        folders => all.and_then(|_| info(rostrace, folders))?,
    };
    let set = TraceSet::open(&folders)
        .with_context(|| format!("{} could not be read", trace.display()))?;
    let mut recorded = Recorded {
        info,
        ..Recorded::default()
    };
    let mut cursor = Cursor::new(&set, Conversion::Exact);
    while let Some(event) = cursor.next() {
        match event.class().name.as_deref() {
            Some(NUMBERED) => {
                let leaf = event.layout().leaf(ARGUMENT);
                let Some(Raw::Number(value)) = leaf.map(|leaf| event.read(leaf)) else {
                    bail!("an event {NUMBERED} has no number {ARGUMENT}");
                };
                let lane = recorded.lanes.entry(value >> LANE_SHIFT).or_default();
                lane.push(value & ((1 << LANE_SHIFT) - 1));
            }
            Some(name) if name.ends_with("_fini") => recorded.ends += 1,
            Some(name) if OBSERVED.contains(&name) => recorded.observed += 1,
            _ => recorded.others += 1,
        }
    }
    for numbers in recorded.lanes.values_mut() {
        numbers.sort_unstable();
    }
    Ok(Some(recorded))
}

/// The trace itself, or its folders without those of the recorder where there are such.
pub(super) fn of_processes(trace: &Path) -> Vec<PathBuf> {
    if !OF_THE_RECORDER.iter().any(|name| trace.join(name).is_dir()) {
        return vec![trace.to_owned()];
    }
    let entries = std::fs::read_dir(trace).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_none_or(|name| !OF_THE_RECORDER.contains(&name))
        })
        .collect();
    folders.sort_unstable();
    folders
}

fn has_metadata(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        entry.file_name() == "metadata" || entry.path().is_dir() && has_metadata(&entry.path())
    })
}

pub(crate) fn info(rostrace: &Path, folders: &[PathBuf]) -> Result<Info> {
    let output = Command::new(rostrace)
        .args(["info", "--format", "json"])
        .args(folders)
        .output()
        .context("`rostrace info` could not be started")?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text, output.status.code().unwrap_or(-1)).with_context(|| {
        format!(
            "`rostrace info {}` ended with {} and said: {}",
            folders
                .first()
                .map_or(Path::new(""), PathBuf::as_path)
                .display(),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )
    })
}

fn parse(text: &str, code: i32) -> Option<Info> {
    let number = |name: &str| -> Option<u64> {
        let (_, after) = text.split_once(&format!("\"{name}\": "))?;
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    Some(Info {
        code,
        events: number("events")?,
        discarded: number("discarded_events")?,
        lost_packets: number("lost_packets")?,
        has_damage: !text.contains("\"damage\": []"),
        bytes: number("bytes")?,
    })
}

pub(super) fn has_second_opinion() -> bool {
    Command::new("babeltrace2")
        .arg("--version")
        .output()
        .is_ok()
}

/// How many events babeltrace2 finds; None if it is not installed.
pub(super) fn second_opinion(folders: &[PathBuf]) -> Result<Option<u64>> {
    let output = Command::new("babeltrace2")
        .args(folders)
        .arg("--component=sink.utils.counter")
        .output();
    let Ok(output) = output else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        bail!(
            "babeltrace2 cannot read the trace: {}",
            reason.lines().next().unwrap_or("it does not say why")
        );
    }
    // The last count is the final one.
    let count = text.lines().rev().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [number, "Event", "messages", ..] => number.replace(',', "").parse().ok(),
            _ => None,
        }
    });
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_info_says_is_understood() {
        let text = "{\n  \"events\": 12,\n  \"discarded_events\": 3,\n  \"lost_packets\": 0,\n  \"bytes\": 77,\n  \"damage\": [\n    {}\n  ]\n}";
        let expected = Info {
            code: 3,
            events: 12,
            discarded: 3,
            lost_packets: 0,
            has_damage: true,
            bytes: 77,
        };
        assert_eq!(parse(text, 3), Some(expected));
        assert_eq!(parse("", 1), None);
    }
}
