//! The memory of one recorded process: everything that its threads write, in a file that no disk is behind.
//!
//! A process makes the file (in `/dev/shm`, or wherever its recorder said) and maps it once, for the rest of its life: nothing that a
//! thread may still touch is ever unmapped. From then on an event is a few stores. A *keeper* maps the same file, gives out packets,
//! writes full ones to the disk and gives them out again ([`crate::keep`]). It is the recorder, or a thread of the process where there is
//! no recorder that can reach the file. The file outlives both: whoever is killed, what was written is there.
//!
//! Read next: [`layout`], [`header`], then [`writer`] for the way of an event, [`pool`] for what it takes, [`crate::statedump`] for what is remembered.

pub mod at_work;
pub mod filter;
mod filter_table;
pub mod header;
pub mod layout;
pub mod locked;
pub(crate) mod losses;
pub mod packet;
pub mod pool;
pub mod spare;
pub mod stream;
pub mod supply;
pub mod writer;

use std::ffi::CStr;
use std::sync::atomic::Ordering;

use crate::VERSION;
use crate::sync::{AtomicU32, AtomicU64};
use header::{Header, Introduction, MAGIC};
use layout::{FILTER_SLOTS, Layout};
use packet::Packet;
use pool::{Links, PacketInfo};
use stream::Stream;

/// A process's memory, mapped. Copies are of the address, which stays valid: see [`Memory::create`] and [`crate::keep::Mapped`].
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    base: *mut u8,
    layout: Layout,
}

// SAFETY: everything in it is atomic, or written by one thread at a time as `writer`, `dump` and `keep` say.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// # Safety
    /// So many bytes as the layout says are mapped there as long as the result or a copy of it is used, and they are aligned to a page.
    pub(crate) unsafe fn at(base: *mut u8, layout: Layout) -> Memory {
        Memory { base, layout }
    }

    /// Makes the file for this process, maps it for ever, and allocates what is needed while nothing is recorded. Only system calls: no
    /// memory of the application is allocated. The error is an `errno`.
    pub fn create(path: &CStr, who: &Introduction<'_>) -> Result<Memory, i32> {
        let mut result = Err(libc::ENOMEM);
        for layout in [Layout::ORDINARY, Layout::SMALLER] {
            result = map_new(path, layout);
            if !matches!(result, Err(libc::ENOMEM | libc::EAGAIN)) {
                break;
            }
        }
        let memory = result?;
        memory.introduce(who);
        Ok(memory)
    }

    /// The same without a file, for processes that cannot make one: what is not written to the disk is lost when the process is killed.
    pub fn anonymous(who: &Introduction<'_>) -> Result<Memory, i32> {
        let layout = Layout::SMALLER;
        // SAFETY: a new mapping at an address that the system chooses.
        let memory = unsafe {
            let base = map(-1, layout.bytes(), libc::MAP_ANONYMOUS)?;
            Memory::at(base, layout)
        };
        memory.introduce(who);
        Ok(memory)
    }

    pub(crate) fn introduce(&self, who: &Introduction<'_>) {
        let header = self.header();
        header.introduce(who, self.layout, VERSION);
        header
            .free
            .large_limit
            .store(self.layout.large, Ordering::Relaxed);
        let allocated = self.layout.dump_bytes.min(supply::FIRST_DUMP_BYTES);
        header.dump.allocated[0].store(allocated, Ordering::Relaxed);
        header.free.streams_supplied.store(
            supply::FIRST_STREAMS.min(self.layout.streams),
            Ordering::Relaxed,
        );
    }

    /// Keepers may use it from now on.
    pub fn publish(&self) {
        self.header().magic.store(MAGIC, Ordering::Release);
    }

    #[inline(always)]
    pub fn header(&self) -> &'static Header {
        // SAFETY: mapped at the beginning, for as long as anybody asks; any bytes are a valid `Header`.
        unsafe { &*self.base.cast::<Header>() }
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    #[inline(always)]
    pub(crate) fn info(&self, packet: u32) -> Option<&'static PacketInfo> {
        (packet < self.layout.packets()).then(|| {
            // SAFETY: the descriptions of all packets are mapped, and any bytes are valid ones.
            unsafe {
                let infos = self.base.add(self.layout.infos()).cast::<PacketInfo>();
                &*infos.add(packet as usize)
            }
        })
    }

    pub(crate) fn stream(&self, stream: u32) -> Option<&'static Stream> {
        (stream < self.layout.streams).then(|| {
            // SAFETY: as above.
            unsafe {
                let streams = self.base.add(self.layout.streams_at()).cast::<Stream>();
                &*streams.add(stream as usize)
            }
        })
    }

    /// Where a packet is and how long. Whoever writes has to know that it is allocated.
    pub(crate) fn packet(&self, packet: u32) -> (Packet, usize) {
        let packet = packet.min(self.layout.packets() - 1);
        let (at, bytes) = self.layout.packet(packet);
        // SAFETY: within the mapping.
        (Packet(unsafe { self.base.add(at) }), bytes)
    }

    pub(crate) fn dump_space(&self, space: u32) -> *mut u8 {
        // SAFETY: within the mapping.
        unsafe { self.base.add(self.layout.dump_at(space)) }
    }

    pub(crate) fn filter_table(&self) -> &'static [AtomicU64] {
        // SAFETY: within the mapping, aligned, and any bytes are valid.
        unsafe {
            let table = self.base.add(self.layout.filter_at()).cast::<AtomicU64>();
            std::slice::from_raw_parts(table, FILTER_SLOTS)
        }
    }

    pub(crate) fn packets(&self) -> PacketLinks {
        PacketLinks(*self)
    }

    pub(crate) fn streams(&self) -> StreamLinks {
        StreamLinks(*self)
    }

    /// Makes sure that a part can be written to, without the file. The call takes no longer than clearing the pages does. Kernels before 5.14
    /// do not know it. The error is an `errno`, which is left as it was.
    #[cfg(not(all(test, feature = "models")))]
    pub fn populate(&self, at: usize, bytes: usize) -> Result<(), i32> {
        const MADV_POPULATE_WRITE: i32 = 23;
        let end = (at + bytes).next_multiple_of(4096).min(self.layout.bytes());
        let at = at / 4096 * 4096;
        let before = errno();
        // SAFETY: within the mapping; the place of errno is always valid for its thread.
        unsafe {
            let populated = libc::madvise(self.base.add(at).cast(), end - at, MADV_POPULATE_WRITE);
            let error = errno();
            *libc::__errno_location() = before;
            match populated {
                0 => Ok(()),
                _ => Err(error),
            }
        }
    }

    #[cfg(all(test, feature = "models"))]
    pub fn populate(&self, at: usize, bytes: usize) -> Result<(), i32> {
        crate::sync::modelled::populate(at, bytes)
    }

    /// Whole pages of a part.
    fn pages(&self, at: usize, bytes: usize) -> Option<(*mut libc::c_void, usize)> {
        let page = page_size();
        let begin = at.next_multiple_of(page);
        let end = (at + bytes) / page * page;
        // SAFETY: within the mapping.
        (begin < end).then(|| (unsafe { self.base.add(begin) }.cast(), end - begin))
    }

    /// Closes whole pages of a part to this process: nobody can touch them, and the kernel does not allocate them, but their place is taken.
    pub(crate) fn shut(&self, at: usize, bytes: usize) {
        if let Some((place, bytes)) = self.pages(at, bytes) {
            // SAFETY: within the mapping; the caller promises that nobody uses it.
            unsafe { libc::mprotect(place, bytes, libc::PROT_NONE) };
        }
    }

    /// Opens again what [`shut`](Self::shut) closed, not locked.
    pub(crate) fn open_again(&self, at: usize, bytes: usize) -> bool {
        let Some((place, bytes)) = self.pages(at, bytes) else {
            return true;
        };
        // SAFETY: within the mapping. What is locked would be allocated, so the lock is taken off first.
        unsafe {
            libc::munlock(place, bytes);
            libc::mprotect(place, bytes, libc::PROT_READ | libc::PROT_WRITE) == 0
        }
    }

    /// Takes whole pages of a part out of this process, which never touches it again.
    pub(crate) fn unmap(&self, at: usize, bytes: usize) {
        if let Some((place, bytes)) = self.pages(at, bytes) {
            // SAFETY: within the mapping; as the caller promises.
            unsafe { libc::munmap(place, bytes) };
        }
    }

    /// Maps again what [`unmap`](Self::unmap) took out, not locked, if nobody has anything else there. Needs what lies before it.
    pub(crate) fn map_again(&self, at: usize, bytes: usize) -> bool {
        let Some((place, bytes)) = self.pages(at, bytes) else {
            return true;
        };
        let page = page_size();
        // SAFETY: the page before is ours, and stays where it is; the call fails where it cannot be made longer. What is locked would
        // be allocated, so the lock is taken off that page first.
        unsafe {
            let before = place.cast::<u8>().sub(page).cast();
            libc::munlock(before, page);
            libc::mremap(before, page, page + bytes, 0) == before
        }
    }

    /// Events that are in packets of the recording that runs, or were.
    pub fn events(&self) -> u64 {
        let header = self.header();
        let epoch = header.recording.epoch.load(Ordering::Acquire);
        let made = header.free.streams_made.load(Ordering::Acquire);
        let mut events = 0;
        for stream in (0..made).filter_map(|number| self.stream(number)) {
            if epoch != 0 && stream.epoch.load(Ordering::Acquire) == epoch {
                events = stream.events.load(Ordering::Relaxed).saturating_add(events);
                let packet = stream.packet.load(Ordering::Acquire);
                if let Some(info) = packet.checked_sub(1).and_then(|packet| self.info(packet)) {
                    let in_packet = u64::from(info.events.load(Ordering::Relaxed));
                    events = events.saturating_add(in_packet);
                }
            }
        }
        events
    }
}

pub(crate) fn page_size() -> usize {
    // SAFETY: only returns a number that the C library knows from the start of the process.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(4096) as usize
}

/// The list of free packets goes through their descriptions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketLinks(Memory);

impl Links for PacketLinks {
    fn link(&self, number: u32) -> Option<&AtomicU32> {
        self.0.info(number).map(|info| &info.next)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamLinks(Memory);

impl Links for StreamLinks {
    fn link(&self, number: u32) -> Option<&AtomicU32> {
        self.0.stream(number).map(|stream| &stream.next)
    }
}

/// A new file of this size with its first parts allocated, mapped.
fn map_new(path: &CStr, layout: Layout) -> Result<Memory, i32> {
    let file = match new_file(path, layout) {
        Ok(file) => file,
        // Larger than this process may make files: the recorder has some ready.
        Err(libc::EFBIG) => take_spare(path)?,
        Err(error) => return Err(error),
    };
    let layout = match file.bytes == Layout::ORDINARY.bytes() {
        true => Layout::ORDINARY,
        false => layout,
    };
    match map(file.descriptor, file.bytes, 0) {
        // SAFETY: so many bytes are mapped, for ever.
        Ok(base) => Ok(unsafe { Memory::at(base, layout) }),
        Err(error) => {
            // SAFETY: the path ends with a zero.
            unsafe { libc::unlink(path.as_ptr()) };
            Err(error)
        }
    }
}

/// An open file for memory, closed at the end.
#[derive(Debug)]
pub(crate) struct NewFile {
    descriptor: i32,
    bytes: usize,
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours and is not used again.
        unsafe { libc::close(self.descriptor) };
    }
}

/// Makes a file, which must not exist, and allocates its first parts. Does not allocate memory.
pub(crate) fn new_file(path: &CStr, layout: Layout) -> Result<NewFile, i32> {
    let bytes = layout.bytes();
    // Asked before, because the answer afterwards is a signal that ends the process.
    if bytes as u64 > largest_file() {
        return Err(libc::EFBIG);
    }
    // SAFETY: the path ends with a zero; the descriptor is handed over.
    unsafe {
        let flags =
            libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let descriptor = libc::open(path.as_ptr(), flags, 0o600 as libc::c_uint);
        if descriptor < 0 {
            return Err(errno());
        }
        let file = NewFile { descriptor, bytes };
        let mut made = match libc::ftruncate(descriptor, bytes as libc::off_t) {
            0 => Ok(()),
            _ => Err(errno()),
        };
        for (at, bytes) in supply::first_parts(&layout) {
            made = made.and_then(|()| allocate(descriptor, at, bytes));
        }
        made.map(|()| file).inspect_err(|_| {
            libc::unlink(path.as_ptr());
        })
    }
}

/// Takes a file that the recorder has made, which lies beside the one that is wanted.
fn take_spare(path: &CStr) -> Result<NewFile, i32> {
    let bytes = path.to_bytes();
    let folder = bytes
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(&bytes[..0], |at| &bytes[..at]);
    for number in spare::numbers() {
        let mut name = [0_u8; 1100];
        let mut used = 0;
        spare::path(folder, number, &mut |piece| {
            let end = (used + piece.len()).min(name.len() - 1);
            name[used..end].copy_from_slice(&piece[..end - used]);
            used = end;
        });
        // SAFETY: both names end with a zero; `stat` is filled in when the call succeeds; the descriptor is handed over.
        unsafe {
            if libc::rename(name.as_ptr().cast(), path.as_ptr()) != 0 {
                continue;
            }
            let flags = libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CLOEXEC;
            let descriptor = libc::open(path.as_ptr(), flags);
            if descriptor < 0 {
                return Err(errno());
            }
            let mut stat: libc::stat = std::mem::zeroed();
            libc::fstat(descriptor, &mut stat);
            let bytes = stat.st_size as usize;
            let file = NewFile { descriptor, bytes };
            return match bytes == Layout::ORDINARY.bytes() {
                true => Ok(file),
                false => Err(libc::EINVAL),
            };
        }
    }
    Err(libc::EFBIG)
}

/// Maps so many bytes of a file. A program that locks all its memory, also future mappings, would lock and so allocate all of it: the
/// mapping gets its rights only after the lock was taken off.
pub(crate) fn map(file: i32, bytes: usize, flags: i32) -> Result<*mut u8, i32> {
    // SAFETY: a new mapping at an address that the system chooses.
    unsafe {
        let base = libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_NONE,
            libc::MAP_SHARED | libc::MAP_NORESERVE | flags,
            file,
            0,
        );
        if base == libc::MAP_FAILED {
            return Err(errno());
        }
        libc::munlock(base, bytes);
        if libc::mprotect(base, bytes, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            let error = errno();
            libc::munmap(base, bytes);
            return Err(error);
        }
        // What a debugger or the kernel writes of a crash need not hold the trace.
        libc::madvise(base, bytes, libc::MADV_DONTDUMP);
        Ok(base.cast())
    }
}

/// Allocates a part of a file, so that writing to it cannot fail. The error is an `errno`.
pub(crate) fn allocate(file: i32, at: usize, bytes: usize) -> Result<(), i32> {
    // SAFETY: a system call on a descriptor that is open.
    match unsafe { libc::fallocate(file, 0, at as libc::off_t, bytes as libc::off_t) } {
        0 => Ok(()),
        _ => Err(errno()),
    }
}

fn largest_file() -> u64 {
    // SAFETY: the limit is a valid place for the result.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        match libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) {
            0 => limit.rlim_cur as u64,
            _ => u64::MAX,
        }
    }
}

pub(crate) fn errno() -> i32 {
    // SAFETY: the place of errno is always valid for its thread.
    unsafe { *libc::__errno_location() }
}
