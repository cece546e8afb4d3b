//! One event of `perf_event_open` on one CPU: a software event that counts nothing and has the kernel write a record at each context switch
//! of a thread, or a tracepoint of the kernel.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// `struct perf_event_attr`, as far as Linux 4.1 knows it (`PERF_ATTR_SIZE_VER5`); later ones take what is behind it for zero.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == 112);

const TYPE_SOFTWARE: u32 = 1;
const TYPE_TRACEPOINT: u32 = 2;
const COUNT_SW_CPU_CLOCK: u64 = 0;
const COUNT_SW_PAGE_FAULTS: u64 = 2;
const COUNT_SW_DUMMY: u64 = 9;

/// Bits of `sample_type`: what is behind each record.
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_CPU: u64 = 1 << 7;
/// Bits that only say what is in a sample itself.
const SAMPLE_ADDRESS: u64 = 1 << 3;
const SAMPLE_RAW: u64 = 1 << 10;
const SAMPLE_REGS_USER: u64 = 1 << 12;
const SAMPLE_STACK_USER: u64 = 1 << 13;

/// Bits of `flags`. `inherit_thread` stays 0: children that are processes inherit the event, too.
const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const MMAP: u64 = 1 << 8;
const COMM: u64 = 1 << 9;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const EXCLUDE_CALLCHAIN_KERNEL: u64 = 1 << 21;
const MMAP2: u64 = 1 << 23;
const COMM_EXEC: u64 = 1 << 24;
const USE_CLOCK: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;

const FLAG_CLOEXEC: u64 = 8;
const IOC_SET_OUTPUT: libc::c_ulong = 0x2405;

/// What an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To have a ring, into which other events write.
    Ring,
    /// A thread that runs, and those that it will start.
    Running,
    /// The next program that a child of this thread becomes, and whatever that starts.
    NextProgram,
}

/// What the kernel writes a record for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordedBy {
    /// A thread begins, ends, is called otherwise; with `switches` also when it gets a CPU and leaves it.
    Threads { switches: bool },
    /// The tracepoint of this number is passed.
    Tracepoint(u16),
    /// The kernel has got memory that a thread touched.
    PageFaults,
}

impl RecordedBy {
    fn attributes(self) -> Attributes {
        let place = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU;
        // Samples of all kinds look the same, because they come into one ring.
        let sample = place | SAMPLE_ADDRESS | SAMPLE_RAW;
        // Without code of the kernel and the hypervisor, ordinary users may have it.
        let of_users = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
        match self {
            RecordedBy::Threads { switches } => Attributes {
                kind: TYPE_SOFTWARE,
                config: COUNT_SW_DUMMY,
                sample_type: place,
                flags: of_users
                    | COMM
                    | COMM_EXEC
                    | TASK
                    | if switches { CONTEXT_SWITCH } else { 0 },
                ..Attributes::default()
            },
            RecordedBy::Tracepoint(id) => Attributes {
                kind: TYPE_TRACEPOINT,
                config: id.into(),
                sample_period: 1,
                sample_type: sample,
                ..Attributes::default()
            },
            RecordedBy::PageFaults => Attributes {
                kind: TYPE_SOFTWARE,
                config: COUNT_SW_PAGE_FAULTS,
                sample_period: 1,
                sample_type: sample,
                flags: of_users,
                ..Attributes::default()
            },
        }
    }
}

/// Whom an event is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The thread of this number, 0 for the one that calls, while it is on the event's CPU: a ring cannot have events that are inherited
    /// and of all CPUs.
    Thread(u32),
    /// Whoever is on the CPU.
    Everybody,
}

/// How samples are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Samples {
    /// Nanoseconds on a CPU from one to the next.
    pub(super) period: u64,
    /// Which registers are wanted, as bits; none if there is no use for the stack either.
    pub(super) registers: u64,
    /// How much of the stack is copied.
    pub(super) stack_bytes: u32,
}

#[derive(Debug)]
pub(super) struct Event(OwnedFd);

impl Event {
    pub(super) fn open(
        subject: RecordedBy,
        target: Target,
        cpu: u32,
        purpose: Purpose,
    ) -> io::Result<Event> {
        let flags = match (purpose, target) {
            (Purpose::Ring, _) => DISABLED,
            (_, Target::Everybody) => 0,
            (Purpose::Running, _) => INHERIT,
            (Purpose::NextProgram, _) => INHERIT | DISABLED | ENABLE_ON_EXEC,
        };
        let subject = subject.attributes();
        let attributes = Attributes {
            size: size_of::<Attributes>() as u32,
            flags: subject.flags | flags | WATERMARK | SAMPLE_ID_ALL | USE_CLOCK,
            // Nobody is woken: rings are looked at again and again.
            wakeup_watermark: u32::MAX,
            clock: libc::CLOCK_MONOTONIC,
            ..subject
        };
        let thread = match target {
            Target::Thread(thread) => thread.cast_signed(),
            Target::Everybody => -1,
        };
        Event::with(&attributes, thread, cpu)
    }

    /// The same for one that takes samples of the thread while it computes.
    pub(super) fn open_sampling(
        thread: u32,
        cpu: u32,
        purpose: Purpose,
        samples: &Samples,
    ) -> io::Result<Event> {
        let flags = match purpose {
            Purpose::NextProgram => INHERIT | DISABLED | ENABLE_ON_EXEC,
            Purpose::Ring | Purpose::Running => INHERIT,
        };
        let stack = match samples.registers {
            0 => 0,
            _ => SAMPLE_REGS_USER | SAMPLE_STACK_USER,
        };
        let attributes = Attributes {
            kind: TYPE_SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: COUNT_SW_CPU_CLOCK,
            sample_period: samples.period,
            sample_type: SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_CALLCHAIN | stack,
            sample_regs_user: samples.registers,
            sample_stack_user: if stack == 0 { 0 } else { samples.stack_bytes },
            flags: flags
                | EXCLUDE_KERNEL
                | EXCLUDE_HYPERVISOR
                | EXCLUDE_CALLCHAIN_KERNEL
                | MMAP
                | MMAP2
                | COMM
                | COMM_EXEC
                | TASK
                | WATERMARK
                | SAMPLE_ID_ALL
                | USE_CLOCK,
            wakeup_watermark: u32::MAX,
            clock: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        Event::with(&attributes, thread.cast_signed(), cpu)
    }

    fn with(attributes: &Attributes, thread: i32, cpu: u32) -> io::Result<Event> {
        let cpu = cpu.cast_signed();
        // SAFETY: the attributes live during the call and say how large they are; the descriptor is new and ours.
        unsafe {
            let file = libc::syscall(
                libc::SYS_perf_event_open,
                std::ptr::from_ref(attributes),
                thread,
                cpu,
                -1,
                FLAG_CLOEXEC,
            );
            match file {
                0.. => Ok(Event(OwnedFd::from_raw_fd(file as RawFd))),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    /// Has its records written into the ring of another event of the same CPU.
    pub(super) fn write_into(&self, ring: &Event) -> io::Result<()> {
        // SAFETY: a system call on descriptors that are open.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), IOC_SET_OUTPUT as _, ring.0.as_raw_fd()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn file(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
