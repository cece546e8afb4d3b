//! The memory that the kernel writes the records of one CPU into, and that we read them from.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::event::{Event, Purpose, RecordedBy, Target};

/// What an ordinary user may lock on a system as it comes: 516 KiB for each CPU, one page of which is not data.
const LARGEST: usize = 512 << 10;
/// Who hears of the whole machine may lock more, and needs it.
const LARGEST_OF_MACHINE: usize = 4 << 20;
/// Somebody else of the same user may have taken most of it.
const SMALLEST: usize = 32 << 10;

/// Places in the first page (`struct perf_event_mmap_page`).
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

#[derive(Debug)]
pub(super) struct Ring {
    pub(super) cpu: u32,
    pub(super) event: Event,
    /// The first page, with the data behind it.
    map: *mut u8,
    page: usize,
    data: usize,
    tail: u64,
}

// SAFETY: the map belongs to the value alone; the kernel's side is synchronised by head and tail.
unsafe impl Send for Ring {}
// SAFETY: nothing that a shared reference allows touches the map.
unsafe impl Sync for Ring {}

impl Ring {
    pub(super) fn new(cpu: u32, is_of_machine: bool) -> io::Result<Ring> {
        let largest = if is_of_machine {
            LARGEST_OF_MACHINE
        } else {
            LARGEST
        };
        Ring::sized(cpu, largest, SMALLEST)
    }

    /// With room for so many bytes, or fewer if not so many may be locked; both are powers of two.
    pub(super) fn sized(cpu: u32, largest: usize, smallest: usize) -> io::Result<Ring> {
        let nothing = RecordedBy::Threads { switches: false };
        let event = Event::open(nothing, Target::Thread(0), cpu, Purpose::Ring)?;
        // SAFETY: a plain question.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).unwrap_or(4096);
        let mut data = largest.max(page);
        loop {
            // SAFETY: a new map of the event's ring, unmapped when this value is dropped.
            let map = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    page + data,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED,
                    event.file(),
                    0,
                )
            };
            if map != libc::MAP_FAILED {
                return Ok(Ring {
                    cpu,
                    event,
                    map: map.cast(),
                    page,
                    data,
                    tail: 0,
                });
            }
            let error = io::Error::last_os_error();
            if data / 2 < smallest.max(page) {
                return Err(error);
            }
            data /= 2;
        }
    }

    /// Moves what the kernel has written to the end of `records`. Returns whether the ring was so full that it should be looked at sooner.
    pub(super) fn take(&mut self, records: &mut Vec<u8>) -> bool {
        // SAFETY: both numbers lie in the first page, which is mapped, and are aligned.
        let (head, tail) = unsafe {
            (
                &*self.map.add(DATA_HEAD).cast::<AtomicU64>(),
                &*self.map.add(DATA_TAIL).cast::<AtomicU64>(),
            )
        };
        let end = head.load(Ordering::Acquire);
        // More than the ring holds cannot be there: then only the newest part is, and what comes first in it is torn.
        let waiting = end.wrapping_sub(self.tail).min(self.data as u64) as usize;
        let begin = (end.wrapping_sub(waiting as u64) % self.data as u64) as usize;
        let first = waiting.min(self.data - begin);
        // SAFETY: both parts lie within the data; the kernel does not write there before the tail says that they were read.
        unsafe {
            let data = self.map.add(self.page);
            records.extend_from_slice(std::slice::from_raw_parts(data.add(begin), first));
            records.extend_from_slice(std::slice::from_raw_parts(data, waiting - first));
        }
        self.tail = end;
        tail.store(end, Ordering::Release);
        waiting > self.data / 4
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the map was made with this size, and nobody has a reference into it.
        unsafe { libc::munmap(self.map.cast(), self.page + self.data) };
    }
}
