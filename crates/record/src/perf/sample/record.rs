//! The records of a ring of samples: bytes of the kernel become what happened. Whatever the bytes are, nothing here fails.

use rostrace_symbols::Registers;

/// What happened, and to whom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'b> {
    pub(super) what: What<'b>,
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// On the monotonic clock.
    pub(super) time: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum What<'b> {
    /// The thread computed.
    Sample(Sample<'b>),
    /// The process has code of a file now.
    Mapping(Mapping<'b>),
    /// The process has become another program.
    Exec,
    /// A thread was started.
    Fork {
        tid: u32,
        pid: u32,
    },
    Exit {
        tid: u32,
        pid: u32,
    },
    /// There was no room for so many records.
    Lost {
        records: u64,
    },
    /// What the thread does is of no interest.
    Other,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<'b> {
    /// Where the thread was and its callers, by frame pointers: words, with marks among them.
    pub(super) chain: &'b [u8],
    pub(super) registers: Option<Registers>,
    /// From the stack pointer on.
    pub(super) stack: &'b [u8],
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Mapping<'b> {
    pub(super) begin: u64,
    pub(super) bytes: u64,
    pub(super) offset: u64,
    pub(super) path: &'b [u8],
}

const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;

const MISC_COMM_EXEC: u16 = 1 << 13;
const PROT_EXEC: u32 = 4;

/// What the kernel calls the registers that are needed, in the order in which it writes them.
#[cfg(target_arch = "x86_64")]
pub(super) const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
#[cfg(target_arch = "aarch64")]
pub(super) const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;
/// Stacks are not copied where nobody can read them.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) const REGISTERS: u64 = 0;

/// Registers of a program of 64 bits.
const ABI_64: u64 = 2;

const HEADER: usize = 8;
/// Thread, time, CPU: behind each record but samples.
const IDENTITY: usize = 24;

/// Cuts the first record off. Nothing if the rest are no records.
pub(super) fn first(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let size = usize::from(u16::from_ne_bytes(word(bytes, 6)?));
    (size >= HEADER).then(|| bytes.split_at_checked(size))?
}

pub(super) fn read(record: &[u8]) -> Option<Record<'_>> {
    let kind = u32::from_ne_bytes(word(record, 0)?);
    let misc = u16::from_ne_bytes(word(record, 4)?);
    if kind == SAMPLE {
        return sample(record.get(HEADER..)?);
    }
    let (body, identity) = record
        .get(HEADER..)?
        .split_at_checked(record.len().checked_sub(HEADER + IDENTITY)?)?;
    let number = |at: usize| word(body, at).map(u32::from_ne_bytes);
    let long = |at: usize| word(body, at).map(u64::from_ne_bytes);
    let what = match kind {
        MMAP2 if number(56)? & PROT_EXEC != 0 => {
            let path = body.get(64..)?;
            let end = path.iter().position(|byte| *byte == 0);
            What::Mapping(Mapping {
                begin: long(8)?,
                bytes: long(16)?,
                offset: long(24)?,
                path: &path[..end.unwrap_or(path.len())],
            })
        }
        COMM if misc & MISC_COMM_EXEC != 0 => What::Exec,
        FORK => What::Fork {
            pid: number(0)?,
            tid: number(8)?,
        },
        EXIT => What::Exit {
            pid: number(0)?,
            tid: number(8)?,
        },
        LOST => What::Lost { records: long(8)? },
        _ => What::Other,
    };
    Some(Record {
        what,
        pid: u32::from_ne_bytes(word(identity, 0)?),
        tid: u32::from_ne_bytes(word(identity, 4)?),
        time: u64::from_ne_bytes(word(identity, 8)?),
    })
}

/// Thread, time, CPU, callers, registers, stack: in the order of the bits that ask for them.
fn sample(body: &[u8]) -> Option<Record<'_>> {
    let long = |at: usize| word(body, at).map(u64::from_ne_bytes);
    let callers = usize::try_from(long(24)?).ok()?;
    let mut at = 32_usize;
    let chain = body.get(at..at.checked_add(callers.checked_mul(8)?)?)?;
    at += chain.len();
    let mut registers = None;
    let mut stack: &[u8] = &[];
    if REGISTERS != 0 {
        let abi = long(at)?;
        at += 8;
        if abi != 0 {
            if abi == ABI_64 {
                registers = Some(read_registers(body.get(at..)?)?);
            }
            at += 8 * REGISTERS.count_ones() as usize;
        }
        let copied = usize::try_from(long(at)?).ok()?;
        at += 8;
        if copied != 0 {
            let copy = body.get(at..at.checked_add(copied)?)?;
            let used = usize::try_from(long(at + copied)?).ok()?;
            stack = &copy[..used.min(copied)];
        }
    }
    Some(Record {
        what: What::Sample(Sample {
            chain,
            registers,
            stack,
        }),
        pid: u32::from_ne_bytes(word(body, 0)?),
        tid: u32::from_ne_bytes(word(body, 4)?),
        time: long(8)?,
    })
}

fn read_registers(words: &[u8]) -> Option<Registers> {
    let register = |number: usize| word(words, 8 * number).map(u64::from_ne_bytes);
    Some(match cfg!(target_arch = "aarch64") {
        true => Registers {
            frame: register(0)?,
            link: register(1)?,
            stack: register(2)?,
            instruction: register(3)?,
        },
        false => Registers {
            frame: register(0)?,
            stack: register(1)?,
            instruction: register(2)?,
            link: 0,
        },
    })
}

fn word<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<[u8; BYTES]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn longs(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|it| it.to_ne_bytes()).collect()
    }

    fn ints(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|it| it.to_ne_bytes()).collect()
    }

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let size = (HEADER + body.len()) as u16;
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    fn identity() -> Vec<u8> {
        [ints(&[10, 11]), longs(&[1_000, 3])].concat()
    }

    fn all() -> Vec<Vec<u8>> {
        let registers = vec![7; REGISTERS.count_ones() as usize];
        let sample = [
            ints(&[10, 11]),
            longs(&[1_000, 3, 2, u64::MAX - 511, 0x1234]),
            longs(&[ABI_64]),
            longs(&registers),
            longs(&[16, 1, 2, 8]),
        ];
        let mapping = [
            ints(&[10, 11]),
            longs(&[0x1000, 0x2000, 0x3000, 0, 0, 0]),
            ints(&[5, 2]),
            b"/lib/x\0\0".to_vec(),
            identity(),
        ];
        let lost = [longs(&[0, 9]), identity()];
        let fork = [ints(&[10, 9, 12, 11]), longs(&[0]), identity()];
        vec![
            record(SAMPLE, 2, &sample.concat()),
            record(MMAP2, 2, &mapping.concat()),
            record(LOST, 0, &lost.concat()),
            record(FORK, 0, &fork.concat()),
            record(EXIT, 0, &fork.concat()),
            record(COMM, MISC_COMM_EXEC, &identity()),
        ]
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn every_kind_of_record_is_read() {
        let all = all();
        let records: Vec<Record<'_>> = all.iter().map(|it| read(it).unwrap()).collect();
        assert!(
            records
                .iter()
                .all(|it| (it.pid, it.tid, it.time) == (10, 11, 1_000))
        );
        let What::Sample(sample) = records[0].what else {
            panic!("{:?}", records[0]);
        };
        assert_eq!(sample.chain, longs(&[u64::MAX - 511, 0x1234]));
        assert_eq!(sample.stack, longs(&[1]));
        assert_eq!(sample.registers.unwrap().instruction, 7);
        let What::Mapping(mapping) = records[1].what else {
            panic!("{:?}", records[1]);
        };
        assert_eq!(
            (mapping.begin, mapping.bytes, mapping.offset),
            (0x1000, 0x2000, 0x3000)
        );
        assert_eq!(mapping.path, b"/lib/x");
        assert!(matches!(records[2].what, What::Lost { records: 9 }));
        assert!(matches!(records[3].what, What::Fork { tid: 12, pid: 10 }));
        assert!(matches!(records[4].what, What::Exit { tid: 12, pid: 10 }));
        assert!(matches!(records[5].what, What::Exec));
    }

    #[test]
    fn damaged_bytes_are_no_records() {
        for bytes in all() {
            for end in 0..bytes.len() {
                let _ = read(&bytes[..end]);
                assert!(first(&bytes[..end]).is_none());
            }
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] = 0xff;
                if let Some((record, _)) = first(&damaged) {
                    let _ = read(record);
                }
            }
        }
    }
}
