//! The records of a ring: bytes of the kernel become what happened. Whatever the bytes are, nothing here fails.

/// What happened, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'b> {
    pub(super) what: RecordContent<'b>,
    pub(super) sample: Sample,
}

/// What the kernel says behind each record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sample {
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// On the monotonic clock.
    pub(super) time: u64,
    pub(super) cpu: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordContent<'b> {
    /// The thread of the sample got the CPU.
    SwitchIn,
    /// It left the CPU, although it could have gone on or not.
    SwitchOut {
        preempted: bool,
    },
    /// A thread has this name now; it may have become another program.
    Name {
        pid: u32,
        tid: u32,
        name: &'b [u8],
        is_exec: bool,
    },
    /// A thread was started, by the one of the sample.
    Fork {
        pid: u32,
        tid: u32,
        parent: u32,
    },
    Exit {
        pid: u32,
        tid: u32,
    },
    /// A tracepoint was passed, and this is its record.
    Tracepoint(&'b [u8]),
    /// The thread of the sample touched this address, and goes on.
    PageFaultDone {
        address: u64,
    },
    /// There was no room for so many records.
    Lost {
        records: u64,
    },
    /// What follows are no records.
    Torn,
}

const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE_RECORD: u32 = 9;
const SWITCH: u32 = 14;
const SWITCH_CPU_WIDE: u32 = 15;

const MISC_COMM_EXEC: u16 = 1 << 13;
const MISC_SWITCH_OUT: u16 = 1 << 13;
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;

const HEADER: usize = 8;
/// Thread, time, CPU.
const SAMPLE: usize = 24;

/// The records in these bytes, one after the other; those of other kinds are left out.
#[derive(Debug)]
pub(super) struct Records<'b>(&'b [u8]);

impl<'b> Records<'b> {
    pub(super) fn of(bytes: &'b [u8]) -> Records<'b> {
        Records(bytes)
    }
}

impl<'b> Iterator for Records<'b> {
    type Item = Record<'b>;

    fn next(&mut self) -> Option<Record<'b>> {
        while !self.0.is_empty() {
            let size = word::<2>(self.0, 6).map_or(0, u16::from_ne_bytes);
            let size = usize::from(size);
            if size < HEADER || size > self.0.len() {
                self.0 = &[];
                return Some(Record {
                    what: RecordContent::Torn,
                    sample: Sample::default(),
                });
            }
            let (record, rest) = self.0.split_at(size);
            self.0 = rest;
            if let Some(record) = read(record) {
                return Some(record);
            }
        }
        None
    }
}

/// A sample: thread, time, address, CPU, and the bytes of a tracepoint behind their number. There are always some: those of other
/// events begin with the number that no tracepoint has.
fn read_sample(body: &[u8]) -> Option<Record<'_>> {
    let raw = body.get(36..)?;
    let size = u32::from_ne_bytes(word(body, 32)?) as usize;
    let raw = raw.get(..size)?;
    let what = match word(raw, 0).map(u16::from_ne_bytes)? {
        0 => RecordContent::PageFaultDone {
            address: u64::from_ne_bytes(word(body, 16)?),
        },
        _ => RecordContent::Tracepoint(raw),
    };
    let sample = Sample {
        pid: u32::from_ne_bytes(word(body, 0)?),
        tid: u32::from_ne_bytes(word(body, 4)?),
        time: u64::from_ne_bytes(word(body, 8)?),
        cpu: u32::from_ne_bytes(word(body, 24)?),
    };
    Some(Record { what, sample })
}

fn read(record: &[u8]) -> Option<Record<'_>> {
    let kind = u32::from_ne_bytes(word(record, 0)?);
    if kind == SAMPLE_RECORD {
        return read_sample(&record[HEADER..]);
    }
    let misc = u16::from_ne_bytes(word(record, 4)?);
    let (body, sample) =
        record[HEADER..].split_at_checked(record.len().checked_sub(HEADER + SAMPLE)?)?;
    let number = |at: usize| word(body, at).map(u32::from_ne_bytes);
    let what = match kind {
        SWITCH | SWITCH_CPU_WIDE if misc & MISC_SWITCH_OUT == 0 => RecordContent::SwitchIn,
        SWITCH | SWITCH_CPU_WIDE => RecordContent::SwitchOut {
            preempted: misc & MISC_SWITCH_OUT_PREEMPT != 0,
        },
        COMM => {
            let name = body.get(8..)?;
            let end = name.iter().position(|byte| *byte == 0);
            RecordContent::Name {
                pid: number(0)?,
                tid: number(4)?,
                name: &name[..end.unwrap_or(name.len())],
                is_exec: misc & MISC_COMM_EXEC != 0,
            }
        }
        FORK => RecordContent::Fork {
            pid: number(0)?,
            tid: number(8)?,
            parent: number(12)?,
        },
        EXIT => RecordContent::Exit {
            pid: number(0)?,
            tid: number(8)?,
        },
        LOST => RecordContent::Lost {
            records: u64::from_ne_bytes(word(body, 8)?),
        },
        _ => return None,
    };
    let sample = Sample {
        pid: u32::from_ne_bytes(word(sample, 0)?),
        tid: u32::from_ne_bytes(word(sample, 4)?),
        time: u64::from_ne_bytes(word(sample, 8)?),
        cpu: u32::from_ne_bytes(word(sample, 16)?),
    };
    Some(Record { what, sample })
}

fn word<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<[u8; BYTES]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const BY: Sample = Sample {
        pid: 10,
        tid: 11,
        time: 123_456_789_012,
        cpu: 3,
    };

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let size = (HEADER + body.len() + SAMPLE) as u16;
        let mut bytes = Vec::new();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(misc.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(body);
        bytes.extend(BY.pid.to_ne_bytes());
        bytes.extend(BY.tid.to_ne_bytes());
        bytes.extend(BY.time.to_ne_bytes());
        bytes.extend(BY.cpu.to_ne_bytes());
        bytes.extend(0_u32.to_ne_bytes());
        bytes
    }

    fn words(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|it| it.to_ne_bytes()).collect()
    }

    /// One of each kind, as the kernel writes them, and what they say.
    fn all() -> Vec<(Vec<u8>, Option<RecordContent<'static>>)> {
        let task = [words(&[20, 10, 21, 11]), vec![0; 8]].concat();
        let named = [words(&[20, 21]), b"worker\0\0".to_vec()].concat();
        let lost = [vec![0; 8], 7_u64.to_ne_bytes().to_vec()].concat();
        let name = |is_exec| RecordContent::Name {
            pid: 20,
            tid: 21,
            name: b"worker",
            is_exec,
        };
        vec![
            (record(SWITCH, 0, &[]), Some(RecordContent::SwitchIn)),
            (
                record(SWITCH, MISC_SWITCH_OUT, &[]),
                Some(RecordContent::SwitchOut { preempted: false }),
            ),
            (
                record(SWITCH, MISC_SWITCH_OUT | MISC_SWITCH_OUT_PREEMPT, &[]),
                Some(RecordContent::SwitchOut { preempted: true }),
            ),
            (
                record(SWITCH_CPU_WIDE, 0, &words(&[1, 2])),
                Some(RecordContent::SwitchIn),
            ),
            (record(COMM, 0, &named), Some(name(false))),
            (record(COMM, MISC_COMM_EXEC, &named), Some(name(true))),
            (
                record(FORK, 0, &task),
                Some(RecordContent::Fork {
                    pid: 20,
                    tid: 21,
                    parent: 11,
                }),
            ),
            (
                record(EXIT, 0, &task),
                Some(RecordContent::Exit { pid: 20, tid: 21 }),
            ),
            (
                record(LOST, 0, &lost),
                Some(RecordContent::Lost { records: 7 }),
            ),
            // Of a kind that was not asked for.
            (record(10, 0, &[0; 16]), None),
            (
                sample(&[0x74, 1, 9, 9]),
                Some(RecordContent::Tracepoint(&[0x74, 1, 9, 9])),
            ),
            (
                sample(&[0; 4]),
                Some(RecordContent::PageFaultDone { address: 0xa000 }),
            ),
        ]
    }

    /// A sample, by the same thread as the others.
    fn sample(raw: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(SAMPLE_RECORD.to_ne_bytes());
        bytes.extend(0_u16.to_ne_bytes());
        bytes.extend(((HEADER + 36 + raw.len()) as u16).to_ne_bytes());
        bytes.extend(words(&[BY.pid, BY.tid]));
        bytes.extend(BY.time.to_ne_bytes());
        bytes.extend(0xa000_u64.to_ne_bytes());
        bytes.extend(words(&[BY.cpu, 0, raw.len() as u32]));
        bytes.extend(raw);
        bytes
    }

    #[test]
    fn every_kind_of_record_is_read() {
        let bytes: Vec<u8> = all().into_iter().flat_map(|(bytes, _)| bytes).collect();
        let expected: Vec<Record<'_>> = (all().into_iter())
            .filter_map(|(_, what)| {
                Some(Record {
                    what: what?,
                    sample: BY,
                })
            })
            .collect();
        assert_eq!(Records::of(&bytes).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_cut_anywhere_is_torn_there_and_whole_before() {
        let bytes: Vec<u8> = all().into_iter().flat_map(|(bytes, _)| bytes).collect();
        let whole: Vec<Record<'_>> = Records::of(&bytes).collect();
        for end in 0..bytes.len() {
            let mut read: Vec<Record<'_>> = Records::of(&bytes[..end]).collect();
            if read
                .last()
                .is_some_and(|last| last.what == RecordContent::Torn)
            {
                read.pop();
            }
            assert_eq!(read, whole[..read.len()], "cut at {end}");
        }
    }

    /// Bytes that are changed at random, and bytes that never were records.
    #[test]
    fn no_bytes_make_it_fail() {
        let good: Vec<u8> = all().into_iter().flat_map(|(bytes, _)| bytes).collect();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for round in 0..20_000 {
            let mut bytes = good.clone();
            if round % 2 == 0 {
                bytes.truncate(random() as usize % good.len());
                bytes.iter_mut().for_each(|byte| *byte = random() as u8);
            } else {
                for _ in 0..1 + random() % 8 {
                    let at = random() as usize % bytes.len();
                    bytes[at] = random() as u8;
                }
            }
            let read = Records::of(&bytes).count();
            assert!(read <= bytes.len() / HEADER + 1);
        }
    }
}
