//! One event of `perf_event_open` on one CPU: a software event that counts nothing and has the kernel write a record at each context switch
//! of a thread, or a tracepoint of the kernel.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

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

/// Between two looks for events of threads that have ended.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

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

/// The events of threads, which are files of this process each, and the kernel's memory.
#[derive(Debug)]
pub(super) struct Events {
    open: Vec<Event>,
    looked: Instant,
}

impl Events {
    pub(super) fn of(open: Vec<Event>) -> Events {
        Events {
            open,
            looked: Instant::now(),
        }
    }

    pub(super) fn extend(&mut self, opened: Vec<Event>) {
        self.open.extend(opened);
    }

    /// Closes those that nobody has any more, now and then: their thread has ended, and so have all that inherited them. What they wrote into
    /// the rings stays there. Each has to have a ring: without one the kernel says of any event that it has ended.
    pub(super) fn close_ended(&mut self) {
        if self.looked.elapsed() < BETWEEN_LOOKS {
            return;
        }
        self.looked = Instant::now();
        let asked = self.open.iter().map(|event| libc::pollfd {
            fd: event.file(),
            events: 0,
            revents: 0,
        });
        let mut asked: Vec<libc::pollfd> = asked.collect();
        // SAFETY: the kernel writes into the list, which has so many entries; the call does not wait.
        let answers = unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, 0) };
        if answers > 0 {
            let mut answers = asked.iter();
            (self.open).retain(|_| {
                answers
                    .next()
                    .is_none_or(|it| it.revents & libc::POLLHUP == 0)
            });
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc::channel;

    use super::super::ring::Ring;
    use super::*;

    #[test]
    fn events_of_threads_that_have_ended_are_closed_unless_others_inherited_them() {
        let (end_first, first) = channel::<()>();
        let (end_heir, heir) = channel::<()>();
        let (say_tid, tid) = channel();
        let (begin, begun) = channel::<()>();
        let thread = std::thread::spawn(move || {
            // SAFETY: a question without arguments.
            say_tid.send(unsafe { libc::gettid() }).unwrap();
            begun.recv().unwrap();
            let heir = std::thread::spawn(move || heir.recv().unwrap());
            first.recv().unwrap();
            heir
        });
        let target = Target::Thread(tid.recv().unwrap().cast_unsigned());
        let subject = RecordedBy::Threads { switches: true };
        let opened = Ring::new(0, false).and_then(|ring| {
            let event = Event::open(subject, target, 0, Purpose::Running)?;
            event.write_into(&ring.event)?;
            Ok((ring, event))
        });
        let Ok((_ring, event)) = opened else {
            eprintln!("SKIPPED: perf_event_open is refused");
            return;
        };
        let mut events = Events::of(vec![event]);
        let mut open_after_a_look = || {
            events.looked -= BETWEEN_LOOKS;
            events.close_ended();
            events.open.len()
        };
        begin.send(()).unwrap();
        assert_eq!(open_after_a_look(), 1);
        end_first.send(()).unwrap();
        let heir = thread.join().unwrap();
        assert_eq!(open_after_a_look(), 1);
        end_heir.send(()).unwrap();
        heir.join().unwrap();
        // The kernel may still be about to end it.
        let mut looks = (0..1000).map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            open_after_a_look()
        });
        assert!(looks.any(|open| open == 0));
    }
}
