//! The longest tracepoint, since one that takes long is what a control loop notices: beside a bag on a slow disk, and when a recording
//! begins while the program runs. Ours, LTTng's and none, in turn; what it is without a tracer, the system does to any program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::counted::{Counted, counted};
use super::realtime::{Ending, Loops, Setting, Slow, Times, Tracer};
use crate::torture::build::RealTime;
use crate::torture::case::Storage;
use crate::torture::{build, disk};
use crate::workspace::Workspace;

/// Seconds for each tracer.
pub(super) const SECONDS: u32 = 60;
/// The tracers take turns so often.
const PIECES: u32 = 3;
/// Nanoseconds under which the worst tracepoint beside the bag is to stay, and the worst when a recording begins.
const DISK_BAR: u32 = 200_000;
const ATTACH_BAR: u32 = 100_000;
/// The program that is attached to.
const ATTACHED: Setting = Setting {
    milliseconds: 20_000,
    threads: 64,
    rate: 100,
    windows: 8,
};
/// Runs of it for each tracer and disk.
const ATTACHED_RUNS: u32 = 3;

const TRACERS: [Tracer; 4] = [Tracer::None, Tracer::Work, Tracer::Lttng, Tracer::Rostrace];

/// The programs, and where all is done.
#[derive(Debug)]
pub(super) struct Worst<'a> {
    rostrace: &'a Path,
    programs: RealTime,
    folder: PathBuf,
}

/// One tracer on one disk.
#[derive(Debug, Clone, Default)]
struct WorstRow {
    times: Times,
    counted: Option<Counted>,
}

impl<'a> Worst<'a> {
    pub(super) fn new(
        workspace: &Workspace,
        rostrace: &'a Path,
        scratch: &Path,
    ) -> Result<Worst<'a>> {
        let folder = scratch.join("loops");
        let programs = build::realtime(&workspace.root, &folder.join("programs"))?;
        Ok(Worst {
            rostrace,
            programs,
            folder,
        })
    }

    /// A loop of 1 kHz with four tracepoints, while a bag is written to the disk that the trace goes to.
    pub(super) fn under_disk_load(&self, seconds: u32) -> Result<String> {
        if let Some(reason) = disk::reason_without(Storage::Slow) {
            return Ok(format!("Left out: {reason}.\n"));
        }
        let setting = Setting {
            milliseconds: u64::from(seconds) * 1000 / u64::from(PIECES),
            threads: 1,
            rate: 1000,
            windows: 0,
        };
        let (rows, load) = self.in_turn(Storage::Slow, &setting, PIECES)?;
        let mut text = head();
        lines(&mut text, "", &rows);
        let _ = writeln!(text, "\n{load}");
        verdicts(&mut text, "", &rows, DISK_BAR, true);
        Ok(text)
    }

    /// 64 threads that are there already when `record --attach` begins, on an ordinary and on the slow disk.
    pub(super) fn when_attached(&self) -> Result<String> {
        let mut text = head();
        let mut below = String::new();
        for (place, disk) in [
            (Storage::Plain, "ordinary disk"),
            (Storage::Slow, "slow disk"),
        ] {
            if let Some(reason) = disk::reason_without(place) {
                let _ = writeln!(below, "{disk}: left out, because {reason}.");
                continue;
            }
            let (rows, load) = self.in_turn(place, &ATTACHED, ATTACHED_RUNS)?;
            lines(&mut text, disk, &rows);
            let _ = writeln!(below, "{disk}: {load}");
            verdicts(&mut below, disk, &rows, ATTACH_BAR, false);
        }
        let _ = write!(text, "\n{below}");
        Ok(text)
    }

    /// Every tracer so often, one after the other, and how busy the machine was.
    fn in_turn(
        &self,
        place: Storage,
        setting: &Setting,
        rounds: u32,
    ) -> Result<(Vec<(Tracer, WorstRow)>, String)> {
        let before = load()?;
        let mut rows: Vec<(Tracer, WorstRow)> = Vec::new();
        for _ in 0..rounds {
            for tracer in TRACERS {
                if tracer == Tracer::Lttng && self.programs.lttng.is_none() {
                    continue;
                }
                let one = self
                    .once(tracer, place, setting)
                    .with_context(|| format!("the loops with {} failed", tracer.name()))?;
                match rows.iter_mut().find(|(other, _)| *other == tracer) {
                    Some((_, row)) => row.add(&one),
                    None => rows.push((tracer, one)),
                }
            }
        }
        let load = format!("Load of the machine: {before} before, {} after.", load()?);
        Ok((rows, load))
    }

    fn once(&self, tracer: Tracer, place: Storage, setting: &Setting) -> Result<WorstRow> {
        let folder = self.folder.join("run");
        let loops = Loops::new(folder, place)?;
        let ending = loops.run(tracer, self.rostrace, &self.programs, setting)?;
        if ending == Ending::Hung {
            bail!(
                "something did not end; {} says where it was",
                loops.scene.folder.join("hang.txt").display()
            );
        }
        let counted = match tracer {
            Tracer::None | Tracer::Work => None,
            _ => Some(counted(self.rostrace, &loops.traces())?),
        };
        Ok(WorstRow {
            times: loops.times()?,
            counted,
        })
    }
}

impl WorstRow {
    fn add(&mut self, other: &WorstRow) {
        self.times.add(&other.times);
        if let (Some(mine), Some(more)) = (&mut self.counted, other.counted) {
            mine.events += more.events;
            mine.lost += more.lost;
        }
    }
}

fn head() -> String {
    "| | tracepoints | recorded | lost | p50 ns | p99.9 ns | worst µs | worst turn of four µs | over 50 µs | of these with a page fault, a wait, a preemption |\n\
     |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned()
}

fn lines(text: &mut String, disk: &str, rows: &[(Tracer, WorstRow)]) {
    for (tracer, row) in rows {
        let name = match disk {
            "" => tracer.name().to_owned(),
            disk => format!("{disk}, {}", tracer.name()),
        };
        let (recorded, lost) = row.counted.map_or(("–".to_owned(), "–".to_owned()), |it| {
            (it.events.to_string(), it.lost.to_string())
        });
        let slow = &row.times.slow;
        let counted = |of: fn(&Slow) -> u64| slow.iter().filter(|it| of(it) > 0).count();
        let _ = writeln!(
            text,
            "| {name} | {} | {recorded} | {lost} | {} | {} | {:.1} | {:.1} | {} | {}, {}, {} |",
            row.times.count(),
            row.times.quantile(0.5),
            row.times.quantile(0.999),
            f64::from(row.times.worst()) / 1e3,
            row.times.worst_turn as f64 / 1e3,
            slow.len(),
            counted(|it| it.faults),
            counted(|it| it.waits),
            counted(|it| it.preemptions),
        );
    }
}

/// What is wanted of our worst, and whether it is so.
fn verdicts(text: &mut String, disk: &str, rows: &[(Tracer, WorstRow)], bar: u32, is_beside: bool) {
    let worst = |tracer: Tracer| {
        let row = rows.iter().find(|(other, _)| *other == tracer);
        row.map(|(_, row)| row.times.worst())
    };
    let Some(ours) = worst(Tracer::Rostrace) else {
        return;
    };
    let said = |is_met: bool| if is_met { "met" } else { "MISSED" };
    let micros = |nanos: u64| nanos as f64 / 1e3;
    let where_ = match disk {
        "" => String::new(),
        disk => format!(", {disk}"),
    };
    let _ = writeln!(
        text,
        "Bar{where_}: worst under {:.0} µs: {:.1} µs, {}.",
        micros(bar.into()),
        micros(ours.into()),
        said(ours < bar)
    );
    let row = rows.iter().find(|(tracer, _)| *tracer == Tracer::Rostrace);
    let with_cause = row.map_or(0, |(_, row)| row.times.worst_with_cause());
    let _ = writeln!(
        text,
        "Of ours over 50 µs, the worst in which the thread faulted, waited or was preempted: {}.",
        match with_cause {
            0 => "none".to_owned(),
            nanos => format!("{:.1} µs", micros(nanos)),
        }
    );
    match worst(Tracer::Lttng) {
        Some(theirs) if is_beside => {
            let _ = writeln!(
                text,
                "Bar{where_}: at most LTTng's worst: {:.1} µs against {:.1} µs, {}.",
                micros(ours.into()),
                micros(theirs.into()),
                said(ours <= theirs)
            );
        }
        Some(_) => {}
        None => text.push_str("Left out: LTTng, whose provider could not be compiled here.\n"),
    }
}

/// Of the last minute, for each processor.
fn load() -> Result<String> {
    let text = std::fs::read_to_string("/proc/loadavg")?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let now = text.split_whitespace().next().unwrap_or("?");
    Ok(format!("{now} on {processors} processors"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_that_is_missed_says_so() {
        let row = |worst: u32| WorstRow {
            times: Times::of(&worst.to_ne_bytes()),
            counted: None,
        };
        let rows = [
            (Tracer::Lttng, row(50_000)),
            (Tracer::Rostrace, row(60_000)),
        ];
        let mut text = String::new();
        verdicts(&mut text, "", &rows, DISK_BAR, true);
        assert!(text.contains("under 200 µs: 60.0 µs, met"), "{text}");
        assert!(text.contains("60.0 µs against 50.0 µs, MISSED"), "{text}");
    }

    #[test]
    fn every_row_has_as_many_cells_as_the_head() {
        let mut text = head();
        lines(
            &mut text,
            "slow disk",
            &[(Tracer::None, WorstRow::default())],
        );
        let cells: Vec<_> = text.lines().map(|line| line.matches('|').count()).collect();
        assert!(cells.iter().all(|count| *count == cells[0]), "{text}");
    }
}
