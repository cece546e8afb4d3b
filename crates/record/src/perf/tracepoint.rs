//! The kernel's own tracepoints: which of them are recorded, where the kernel says how their records look, and what is read from them.
//!
//! The folder of a tracepoint in tracefs has a file `format` with its number and the place of each field. Places differ between versions
//! and architectures, so nothing is known of them here but their names.

use std::fs;
use std::path::{Path, PathBuf};

use rostrace_session::keep::{SchedBuffer, SchedValue, sched};

use super::record::Sample;
use super::system_call;

/// A tracepoint that can be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tracepoint {
    SchedSwitch,
    SchedWaking,
    SchedWakeup,
    SchedWakeupNew,
    SchedMigrateTask,
    IrqHandlerEntry,
    IrqHandlerExit,
    SoftirqEntry,
    SoftirqExit,
    SystemCallEntry,
    SystemCallExit,
    PageFault,
}

impl Tracepoint {
    /// Its folder below `events`, and the fields that are read, in the order in which they are written.
    fn declaration(self) -> (&'static str, &'static [&'static str]) {
        const TASK: &[&str] = &["comm", "pid", "prio", "target_cpu"];
        match self {
            Tracepoint::SchedSwitch => (
                "sched/sched_switch",
                &[
                    "prev_comm",
                    "prev_pid",
                    "prev_prio",
                    "prev_state",
                    "next_comm",
                    "next_pid",
                    "next_prio",
                ],
            ),
            Tracepoint::SchedWaking => ("sched/sched_waking", TASK),
            Tracepoint::SchedWakeup => ("sched/sched_wakeup", TASK),
            Tracepoint::SchedWakeupNew => ("sched/sched_wakeup_new", TASK),
            Tracepoint::SchedMigrateTask => (
                "sched/sched_migrate_task",
                &["comm", "pid", "prio", "orig_cpu", "dest_cpu"],
            ),
            Tracepoint::IrqHandlerEntry => ("irq/irq_handler_entry", &["irq", "name"]),
            Tracepoint::IrqHandlerExit => ("irq/irq_handler_exit", &["irq", "ret"]),
            Tracepoint::SoftirqEntry => ("irq/softirq_entry", &["vec"]),
            Tracepoint::SoftirqExit => ("irq/softirq_exit", &["vec"]),
            Tracepoint::SystemCallEntry => ("raw_syscalls/sys_enter", &["id"]),
            Tracepoint::SystemCallExit => ("raw_syscalls/sys_exit", &["id", "ret"]),
            Tracepoint::PageFault => ("exceptions/page_fault_user", &["address"]),
        }
    }

    /// The number of the event that is written for it.
    pub(super) fn event(self) -> u16 {
        match self {
            Tracepoint::SchedSwitch => sched::SCHED_SWITCH,
            Tracepoint::SchedWaking => sched::SCHED_WAKING,
            Tracepoint::SchedWakeup => sched::SCHED_WAKEUP,
            Tracepoint::SchedWakeupNew => sched::SCHED_WAKEUP_NEW,
            Tracepoint::SchedMigrateTask => sched::SCHED_MIGRATE_TASK,
            Tracepoint::IrqHandlerEntry => sched::IRQ_HANDLER_ENTRY,
            Tracepoint::IrqHandlerExit => sched::IRQ_HANDLER_EXIT,
            Tracepoint::SoftirqEntry => sched::IRQ_SOFTIRQ_ENTRY,
            Tracepoint::SoftirqExit => sched::IRQ_SOFTIRQ_EXIT,
            Tracepoint::SystemCallEntry => sched::SYSCALL_ENTRY,
            Tracepoint::SystemCallExit => sched::SYSCALL_EXIT,
            Tracepoint::PageFault => sched::PAGE_FAULT,
        }
    }

    /// Whether it is recorded only where somebody asked for it.
    pub(super) fn is_chosen(self) -> bool {
        !matches!(
            self,
            Tracepoint::SchedSwitch
                | Tracepoint::SchedWaking
                | Tracepoint::SchedWakeup
                | Tracepoint::SchedWakeupNew
                | Tracepoint::SchedMigrateTask
        )
    }

    /// Whether it is recorded of followed threads only, and not of the whole machine.
    pub(super) fn is_of_threads(self) -> bool {
        matches!(
            self,
            Tracepoint::SystemCallEntry | Tracepoint::SystemCallExit | Tracepoint::PageFault
        )
    }
}

/// Where a tracepoint's record has a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FieldPlace {
    offset: usize,
    size: usize,
    is_signed: bool,
    kind: PlaceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlaceKind {
    Value,
    /// Where the bytes are is said here, from the begin of the record.
    Location,
    /// The same, from behind this field.
    RelativeLocation,
}

/// How the records of a tracepoint look on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) tracepoint: Tracepoint,
    /// Each record begins with it.
    pub(super) id: u16,
    places: Vec<FieldPlace>,
}

/// Bits of a record's flags: it was written in the handler of an interrupt, in deferred work of one, or in one that cannot be masked.
const IN_INTERRUPT: u8 = 0x08 | 0x10 | 0x40;
/// Where all records have their flags.
const FLAGS: usize = 2;
/// The kernel's priorities begin so much higher than LTTng's.
const PRIORITIES: i64 = 100;

impl Format {
    /// Reads the file of a tracepoint; says what is wrong with it.
    pub(super) fn read(tracefs: &Path, tracepoint: Tracepoint) -> Result<Format, String> {
        let (folder, _) = tracepoint.declaration();
        let path = tracefs.join("events").join(folder).join("format");
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("{} could not be read: {error}", path.display()))?;
        Format::parse(tracepoint, &text)
            .ok_or_else(|| format!("{} does not look as expected", path.display()))
    }

    fn parse(tracepoint: Tracepoint, text: &str) -> Option<Format> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
        let (_, names) = tracepoint.declaration();
        let places = names.iter().map(|name| {
            let mut lines = text.lines();
            lines.find_map(|line| place(line, name))
        });
        Some(Format {
            tracepoint,
            id: id.trim().parse().ok()?,
            places: places.collect::<Option<_>>()?,
        })
    }

    /// Of a context switch, the thread that gets the CPU.
    pub(super) fn next(&self, raw: &[u8]) -> Option<u32> {
        let is_switch = self.tracepoint == Tracepoint::SchedSwitch;
        let next = self.places.get(5).filter(|_| is_switch)?;
        u32::try_from(next.number(raw)?).ok()
    }

    /// Writes down what a record says. Returns whether it could be read.
    pub(super) fn write(&self, raw: &[u8], sample: Sample, buffer: &mut SchedBuffer) -> bool {
        self.try_write(raw, sample, buffer).is_some()
    }

    fn try_write(&self, raw: &[u8], sample: Sample, buffer: &mut SchedBuffer) -> Option<()> {
        use SchedValue::{Flag, Number, Text};
        let number = |field: usize| self.places.get(field)?.number(raw);
        let text = |field: usize| self.places.get(field)?.text(raw);
        let priority = |field: usize| Some(Number(number(field)? - PRIORITIES));
        let event = self.tracepoint.event();
        let mut write = |values: &[SchedValue<'_>]| {
            buffer.kernel_event(sample.cpu, sample.time, event, values);
        };
        let tid = Number(sample.tid.into());
        match self.tracepoint {
            Tracepoint::SchedSwitch => write(&[
                Text(text(0)?),
                Number(number(1)?),
                priority(2)?,
                Number(number(3)?),
                Text(text(4)?),
                Number(number(5)?),
                priority(6)?,
            ]),
            Tracepoint::SchedWaking => {
                let flags = raw.get(FLAGS)?;
                write(&[
                    Text(text(0)?),
                    Number(number(1)?),
                    priority(2)?,
                    Number(number(3)?),
                    Flag(flags & IN_INTERRUPT != 0),
                ]);
            }
            Tracepoint::SchedWakeup | Tracepoint::SchedWakeupNew => write(&[
                Text(text(0)?),
                Number(number(1)?),
                priority(2)?,
                Number(number(3)?),
            ]),
            Tracepoint::SchedMigrateTask => write(&[
                Text(text(0)?),
                Number(number(1)?),
                priority(2)?,
                Number(number(3)?),
                Number(number(4)?),
            ]),
            Tracepoint::IrqHandlerEntry => write(&[Number(number(0)?), Text(text(1)?)]),
            Tracepoint::IrqHandlerExit => write(&[Number(number(0)?), Number(number(1)?)]),
            Tracepoint::SoftirqEntry | Tracepoint::SoftirqExit => write(&[Number(number(0)?)]),
            Tracepoint::SystemCallEntry => {
                let name = system_call::name(number(0)?);
                write(&[tid, Text(name.as_bytes())]);
            }
            Tracepoint::SystemCallExit => write(&[Number(number(1)?), tid]),
            Tracepoint::PageFault => write(&[Number(number(0)?), tid]),
        }
        Some(())
    }
}

/// What is written of a context switch that only the thread that got the CPU tells of: whoever had it is taken for the idle loop, so that
/// readers claim nothing of a thread that had it before.
pub(super) fn switch_in(tid: u32, name: &[u8]) -> [SchedValue<'_>; 7] {
    use SchedValue::{Number, Text};
    [
        Text(b"(not reported)"),
        Number(0),
        Number(20),
        Number(0),
        Text(name),
        Number(tid.into()),
        Number(20),
    ]
}

impl FieldPlace {
    fn number(self, raw: &[u8]) -> Option<i64> {
        let bytes = raw.get(self.offset..self.offset.checked_add(self.size)?)?;
        let number = match *bytes {
            [byte] => i64::from(byte),
            [a, b] => i64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] if self.is_signed => i64::from(i32::from_ne_bytes([a, b, c, d])),
            [a, b, c, d] => i64::from(u32::from_ne_bytes([a, b, c, d])),
            _ => i64::from_ne_bytes(bytes.try_into().ok()?),
        };
        Some(number)
    }

    /// Up to the first zero.
    fn text(self, raw: &[u8]) -> Option<&[u8]> {
        let (begin, size) = match self.kind {
            PlaceKind::Value => (self.offset, self.size),
            PlaceKind::Location | PlaceKind::RelativeLocation => {
                let location = raw.get(self.offset..)?.first_chunk::<4>()?;
                let location = u32::from_ne_bytes(*location);
                let base = match self.kind {
                    PlaceKind::RelativeLocation => self.offset + self.size,
                    _ => 0,
                };
                (
                    base + (location & 0xffff) as usize,
                    (location >> 16) as usize,
                )
            }
        };
        let bytes = raw.get(begin..begin.checked_add(size)?)?;
        let end = bytes.iter().position(|byte| *byte == 0);
        Some(&bytes[..end.unwrap_or(bytes.len())])
    }
}

/// The place that a line of a format gives to the field of this name: `field:char comm[16]; offset:8; size:16; signed:0;`.
fn place(line: &str, name: &str) -> Option<FieldPlace> {
    let line = line.trim().strip_prefix("field:")?;
    let mut parts = line.split(';').map(str::trim);
    let declaration = parts.next()?;
    let declared = declaration.split(['[', ' ', '\t']);
    // `__data_loc char[] name` has its brackets before the name, `char comm[16]` behind it.
    let mut declared = declared.filter(|word| !word.is_empty() && !word.ends_with(']'));
    if declared.next_back()? != name {
        return None;
    }
    let mut value = |key: &str| {
        let part = parts.next()?.strip_prefix(key)?;
        part.parse::<usize>().ok()
    };
    let (offset, size, signed) = (value("offset:")?, value("size:")?, value("signed:")?);
    let kind = match declaration.split(' ').next()? {
        "__data_loc" => PlaceKind::Location,
        "__rel_loc" => PlaceKind::RelativeLocation,
        _ => PlaceKind::Value,
    };
    Some(FieldPlace {
        offset,
        size,
        is_signed: signed != 0,
        kind,
    })
}

/// Where tracefs is mounted; nothing if it is nowhere, or not for us.
pub(super) fn tracefs() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounted = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (_, place, kind) = (words.next()?, words.next()?, words.next()?);
        (kind == "tracefs").then(|| PathBuf::from(place.replace("\\040", " ")))
    });
    // Systems without it among the mounts may mount it when it is first looked at.
    let usual = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(PathBuf::from);
    let mut places = usual.into_iter().chain(mounted);
    places.find(|place| place.join("events/sched/sched_switch/format").exists())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// As Linux 6.18 prints them on x86.
    const SWITCH: &str = "name: sched_switch\nID: 372\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\
        \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
        \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\
        \tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n\
        print fmt: \"prev_comm=%s\", REC->prev_comm\n";
    const HANDLER: &str = "name: irq_handler_entry\nID: 225\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n\
        \tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n";

    fn number(bytes: &mut Vec<u8>, number: i32) {
        bytes.extend(number.to_ne_bytes());
    }

    fn comm(bytes: &mut Vec<u8>, name: &[u8]) {
        let mut field = [0; 16];
        field[..name.len()].copy_from_slice(name);
        bytes.extend(field);
    }

    #[test]
    fn the_places_of_fields_are_those_of_the_format() {
        let format = Format::parse(Tracepoint::SchedSwitch, SWITCH).unwrap();
        assert_eq!(format.id, 372);
        let mut raw = vec![0; 8];
        comm(&mut raw, b"hog");
        number(&mut raw, 4711);
        number(&mut raw, 120);
        raw.extend(256_i64.to_ne_bytes());
        comm(&mut raw, b"swapper/1");
        number(&mut raw, 0);
        number(&mut raw, -1);
        let read = |field: usize| format.places[field].number(&raw).unwrap();
        assert_eq!([read(1), read(2), read(3)], [4711, 120, 256]);
        assert_eq!([read(5), read(6)], [0, -1]);
        assert_eq!(format.places[0].text(&raw).unwrap(), b"hog");
        assert_eq!(format.places[4].text(&raw).unwrap(), b"swapper/1");
    }

    #[test]
    fn a_text_of_any_length_is_where_its_location_says() {
        let format = Format::parse(Tracepoint::IrqHandlerEntry, HANDLER).unwrap();
        let mut raw = vec![0; 8];
        number(&mut raw, 24);
        number(&mut raw, (6 << 16) | 16);
        raw.extend(b"eth0\0\0");
        assert_eq!(format.places[1].text(&raw).unwrap(), b"eth0");
        let relative = HANDLER.replace("__data_loc", "__rel_loc");
        let format = Format::parse(Tracepoint::IrqHandlerEntry, &relative).unwrap();
        raw[12..16].copy_from_slice(&(6_i32 << 16).to_ne_bytes());
        assert_eq!(format.places[1].text(&raw).unwrap(), b"eth0");
    }

    #[test]
    fn a_format_without_a_field_that_is_needed_is_refused() {
        let other = SWITCH.replace("prev_state", "state");
        assert_eq!(Format::parse(Tracepoint::SchedSwitch, &other), None);
        let unnumbered = SWITCH.replace("ID:", "Number:");
        assert_eq!(Format::parse(Tracepoint::SchedSwitch, &unnumbered), None);
        assert_eq!(Format::parse(Tracepoint::SchedSwitch, ""), None);
    }

    #[test]
    fn records_that_are_cut_are_not_read_and_nothing_fails() {
        let format = Format::parse(Tracepoint::SchedSwitch, SWITCH).unwrap();
        let handler = Format::parse(Tracepoint::IrqHandlerEntry, HANDLER).unwrap();
        let raw = [0xff; 64];
        let mut buffer = SchedBuffer::new(1 << 20);
        for end in 0..raw.len() {
            assert!(!format.write(&raw[..end], Sample::default(), &mut buffer));
            assert!(!handler.write(&raw[..end], Sample::default(), &mut buffer));
        }
        assert!(format.write(&raw, Sample::default(), &mut buffer));
    }
}
