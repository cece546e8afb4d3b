//! The CPU clock of a thread at both ends of a callback, where the kernel does not tell context switches: what passed on this clock was
//! computed, and the rest was not.
//!
//! The recorder asks for it with the bit of the event `rostrace:thread_clock`. It costs two system calls at each end, which take about half a
//! microsecond, so only so many executions of a thread are measured in a second; the others are recorded without. The system calls take
//! no lock, open nothing, and may happen in signal handlers; they are made directly, since a program may have functions of its own in the place of the C
//! library's.

use std::ffi::c_void;

use crate::events;
use crate::ring::{clock, emit, thread};

/// A thread may have one execution measured in so many nanoseconds: 2,000 in a second, which costs 0.3 % of a CPU.
const INTERVAL: u64 = 500_000;
/// What it did not use may be used later, up to so much: 500 executions one after the other.
const SAVED: u64 = 250_000_000;

/// What a thread may still measure. All zeroes at the beginning.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Budget {
    /// When everything that was measured is paid for.
    paid_at: u64,
    /// Callbacks whose begin was measured, the last one first: another one may run inside of one. An end that never came is forgotten.
    begun: [u64; 2],
}

impl Budget {
    /// Whether one more may be measured now, which is then paid.
    fn pays(&mut self, now: u64) -> bool {
        let from = self.paid_at.max(now);
        let pays = from - now <= SAVED;
        if pays {
            self.paid_at = from + INTERVAL;
        }
        pays
    }

    fn begin(&mut self, callback: u64) {
        self.begun = [callback, self.begun[0]];
    }

    /// Whether the begin of this callback was measured, and its end was not.
    fn end(&mut self, callback: u64) -> bool {
        match self.begun.iter().position(|begun| *begun == callback) {
            None => false,
            Some(0) => {
                self.begun = [self.begun[1], 0];
                true
            }
            // The one above it has ended without saying so.
            Some(_) => {
                self.begun = [0; 2];
                true
            }
        }
    }
}

/// Which end of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    End,
}

/// After the event of its begin.
pub(crate) fn callback_begins(callback: *const c_void) {
    // SAFETY: the block belongs to this thread. A handler that comes in between may change what can still be measured, no more.
    let budget = unsafe { &mut *thread::clock_budget() };
    if budget.pays(clock::monotonic()) {
        budget.begin(callback as u64);
        emit_reading(callback, At::Begin);
    }
}

/// Before the event of its end.
pub(crate) fn callback_ends(callback: *const c_void) {
    // SAFETY: as above.
    if unsafe { &mut *thread::clock_budget() }.end(callback as u64) {
        emit_reading(callback, At::End);
    }
}

/// The time of the event is that after the reading at a begin, and that before it at an end: what passes in a reading and is not computed is a wait
/// for a CPU, and nothing else.
fn emit_reading(callback: *const c_void, at: At) {
    let before = clock::monotonic();
    // Who filters system calls to the death is reported where it happened.
    let Some(reading) = thread::at_work(|| Reading::now(at)) else {
        return;
    };
    let time = match at {
        At::Begin => clock::monotonic(),
        At::End => before,
    };
    // SAFETY: the payload has the size that is said.
    emit::event_of(events::ROSTRACE_THREAD_CLOCK, time, 32, |payload| unsafe {
        payload
            .pointer(callback)
            .unsigned(reading.cpu_time)
            .unsigned(reading.voluntary)
            .unsigned(reading.involuntary);
    });
}

/// What the kernel counts of a thread.
struct Reading {
    cpu_time: u64,
    voluntary: u64,
    involuntary: u64,
}

impl Reading {
    /// None if the system refuses one of the two, as a seccomp filter may.
    ///
    /// A thread that has used up its slice is made to leave its CPU when its clock is read, not first at the next tick. That is not to be among
    /// what is counted of the callback, so the counts are taken after the clock at its begin, and before it at its end.
    fn now(at: At) -> Option<Reading> {
        let errno = errno();
        // SAFETY: the place of errno, which tracepoints must not change, is always valid for its thread.
        let before = unsafe { *errno };
        let reading = match at {
            At::Begin => cpu_time().and_then(|cpu_time| Some((cpu_time, counts()?))),
            At::End => counts().and_then(|counts| Some((cpu_time()?, counts))),
        };
        // SAFETY: as above.
        unsafe { *errno = before };
        reading.map(|(cpu_time, (voluntary, involuntary))| Reading {
            cpu_time,
            voluntary,
            involuntary,
        })
    }
}

fn errno() -> *mut libc::c_int {
    // SAFETY: a question without arguments.
    unsafe { libc::__errno_location() }
}

/// Nanoseconds that this thread was on a CPU.
fn cpu_time() -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let clock = libc::CLOCK_THREAD_CPUTIME_ID;
    // SAFETY: the kernel writes no more than the structure holds.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &raw mut time) };
    (result == 0).then(|| {
        (time.tv_sec as u64)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(time.tv_nsec as u64)
    })
}

/// How often this thread left its CPU voluntarily, and how often not.
fn counts() -> Option<(u64, u64)> {
    // SAFETY: zeroes are a valid value, and the kernel writes no more than the structure holds.
    let (result, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let result = libc::syscall(libc::SYS_getrusage, libc::RUSAGE_THREAD, &raw mut usage);
        (result, usage)
    };
    (result == 0).then_some((usage.ru_nvcsw as u64, usage.ru_nivcsw as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Budget = Budget {
        paid_at: 0,
        begun: [0; 2],
    };

    #[test]
    fn a_thread_measures_so_many_in_a_second_however_many_there_are() {
        let mut budget = NOTHING;
        // One execution in each microsecond of ten seconds.
        let begin = 5_000_000_000;
        let measured = (0..10_000_000).filter(|number| budget.pays(begin + 1000 * number));
        let most = 10_000_000_000 / INTERVAL + SAVED / INTERVAL + 1;
        let measured = measured.count() as u64;
        assert!((most - 1..=most).contains(&measured), "{measured}");
        // All of them where they are fewer.
        let later = begin + 60_000_000_000;
        assert!((0..1000).all(|number| budget.pays(later + number * INTERVAL)));
    }

    #[test]
    fn an_end_is_measured_where_the_begin_was() {
        let mut budget = NOTHING;
        assert!(!budget.end(7));
        budget.begin(7);
        budget.begin(8);
        assert!(budget.end(8) && budget.end(7) && !budget.end(7));
        // The inner one has thrown an exception.
        budget.begin(7);
        budget.begin(8);
        assert!(budget.end(7) && !budget.end(8));
        // Nobody measured the begin of the inner one.
        budget.begin(7);
        assert!(!budget.end(8) && budget.end(7));
    }

    #[test]
    fn the_clock_of_a_thread_goes_on_while_it_computes() {
        let begin = Reading::now(At::Begin).unwrap();
        let mut number = 1_u64;
        while Reading::now(At::End).unwrap().cpu_time - begin.cpu_time < 1_000_000 {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(Reading::now(At::End).unwrap().voluntary > begin.voluntary);
    }
}
