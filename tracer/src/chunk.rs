//! A chunk: one stream file with a number of packets, made complete before anybody sees it.
//!
//! A stream that grows gets further files, which readers put together by the stream's number. The file is made under a hidden
//! name, its blocks are reserved (a full disk is noticed here, not as SIGBUS later), every packet gets a valid empty
//! head, and only then it gets its name, at once. So there is no moment at which a killed process leaves half a packet.
//! No file stays open.

use std::ffi::{CStr, c_int};

use crate::packet::{NEVER, Packet};
use crate::path::PathBuffer;

/// Bytes of a page: 4096 on x86-64. Kernels for AArch64 are also built with pages of 16 or 64 KiB, that of the Raspberry Pi 5 for one.
///
/// Packets begin with a page, for only whole pages can be unmapped or made present.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: only returns a number that the C library knows from the start of the process.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).map_or(4096, |bytes| bytes.max(4096))
}

/// Where a chunk lies in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk {
    pub(crate) memory: *mut u8,
    /// Bytes before the first usable packet: a page or nothing.
    pub(crate) lead: usize,
    pub(crate) packets: u32,
    /// Its place among the chunks of the stream.
    pub(crate) number: u32,
    /// Number of its first usable packet in the stream.
    pub(crate) first_packet: u64,
    /// Packets that are no longer mapped.
    pub(crate) released: u32,
    /// Packets whose pages were made present.
    pub(crate) present: u32,
}

/// What is to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) folder: &'a CStr,
    pub(crate) uuid: &'a [u8; 16],
    pub(crate) stream: u32,
    pub(crate) number: u32,
    pub(crate) packet_bytes: usize,
    pub(crate) packets: u32,
    pub(crate) first_packet: u64,
    /// When the stream was opened; the first chunk begins with an empty packet of that time.
    pub(crate) opened: u64,
}

impl Plan<'_> {
    /// Makes the file and maps it; `finish` gets the chunk before anybody else can see the file. Only system calls: no allocation.
    pub(crate) fn make(&self, finish: &mut dyn FnMut(Chunk)) -> Result<Chunk, c_int> {
        // An empty packet opens a stream. Losses are differences between packets: the first must be without.
        let lead = if self.number == 0 { page_bytes() } else { 0 };
        let bytes = lead + self.packets as usize * self.packet_bytes;
        if bytes as u64 > largest_file() {
            return Err(libc::EFBIG);
        }
        let hidden = file_name(self.folder, b"/.", self.stream, self.number);
        let visible = file_name(self.folder, b"/", self.stream, self.number);
        let memory = create(hidden.as_c_str(), bytes)?;
        // SAFETY: the packets lie within the new mapping, which nobody else knows.
        unsafe {
            if lead > 0 {
                let number = self.first_packet.wrapping_sub(1);
                Packet(memory).prepare(self.uuid, self.stream.into(), lead, number, self.opened, 0);
            }
            for at in 0..self.packets as usize {
                let number = self.first_packet + at as u64;
                Packet(memory.add(lead + at * self.packet_bytes)).prepare(
                    self.uuid,
                    self.stream.into(),
                    self.packet_bytes,
                    number,
                    NEVER + number,
                    0,
                );
            }
        }
        let chunk = Chunk {
            memory,
            lead,
            packets: self.packets,
            number: self.number,
            first_packet: self.first_packet,
            released: 0,
            present: 0,
        };
        finish(chunk);
        // SAFETY: both paths end with a zero.
        let renamed =
            unsafe { libc::rename(hidden.as_c_str().as_ptr(), visible.as_c_str().as_ptr()) };
        if renamed != 0 {
            let error = errno();
            // The folder is gone, most likely. The mapping stays: `finish` may have told others of it.
            // SAFETY: the path ends with a zero.
            unsafe { libc::unlink(hidden.as_c_str().as_ptr()) };
            return Err(error);
        }
        Ok(chunk)
    }
}

impl Chunk {
    /// Stands where there is none.
    pub(crate) const NONE: Chunk = Chunk {
        memory: std::ptr::null_mut(),
        lead: 0,
        packets: 0,
        number: u32::MAX,
        first_packet: 0,
        released: 0,
        present: 0,
    };

    pub(crate) fn packet(&self, at: u32, packet_bytes: usize) -> Packet {
        debug_assert!(at < self.packets);
        // SAFETY: within the mapping.
        Packet(unsafe { self.memory.add(self.lead + at as usize * packet_bytes) })
    }

    /// Says in all packets, none of which is in use, how many events were dropped before them.
    ///
    /// # Safety
    /// All packets are mapped.
    pub(crate) unsafe fn foresee(&self, discarded: u64, packet_bytes: usize) {
        if discarded > 0 {
            // The last one first: whenever the process is killed, no number is smaller than the one before it.
            for at in (0..self.packets).rev() {
                // SAFETY: as the caller promises.
                unsafe { self.packet(at, packet_bytes).foresee(discarded) };
            }
        }
    }

    /// Makes the pages of packets present, so that their writer meets no page fault. A kernel without this only is slower.
    pub(crate) fn make_present(&mut self, until: u32, packet_bytes: usize) {
        const MADV_POPULATE_WRITE: c_int = 23;
        let until = until.min(self.packets);
        if until <= self.present {
            return;
        }
        let first = self.packet(self.present, packet_bytes);
        let bytes = (until - self.present) as usize * packet_bytes;
        // SAFETY: the packets are mapped: the helper releases only those that were used.
        unsafe { libc::madvise(first.0.cast(), bytes, MADV_POPULATE_WRITE) };
        self.present = until;
    }

    /// Unmaps packets that nobody will write to any more.
    ///
    /// # Safety
    /// Nobody uses the packets before `until`.
    pub(crate) unsafe fn release(&mut self, until: u32, packet_bytes: usize) {
        let until = until.min(self.packets);
        if until <= self.released {
            return;
        }
        let skipped = if self.released == 0 { 0 } else { self.lead };
        let from = skipped + self.released as usize * packet_bytes;
        let to = self.lead + until as usize * packet_bytes;
        // SAFETY: as the caller promises.
        unsafe { libc::munmap(self.memory.add(from).cast(), to - from) };
        self.released = until;
    }
}

/// Cuts the file of a chunk behind its used packets, or deletes it if there are none.
pub(crate) fn trim(folder: &CStr, stream: u32, number: u32, bytes: usize) {
    let path = file_name(folder, b"/", stream, number);
    // SAFETY: the path ends with a zero.
    unsafe {
        if bytes == 0 {
            libc::unlink(path.as_c_str().as_ptr());
        } else {
            libc::truncate(path.as_c_str().as_ptr(), bytes as libc::off_t);
        }
    }
}

fn file_name(folder: &CStr, before: &[u8], stream: u32, number: u32) -> PathBuffer {
    let mut path = PathBuffer::new();
    path.push(folder.to_bytes());
    path.push(before);
    path.push(if stream == 0 { b"init" } else { b"thread_" });
    if stream > 0 {
        path.push_number(stream.into());
    }
    path.push(b"_");
    path.push_number(number.into());
    path
}

/// A new file of this size, reserved on the disk and mapped.
fn create(path: &CStr, bytes: usize) -> Result<*mut u8, c_int> {
    // SAFETY: the path ends with a zero; the descriptor is closed on every way out, and the mapping is handed over.
    unsafe {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
        let file = libc::open(path.as_ptr(), flags, 0o644 as libc::c_uint);
        if file < 0 {
            return Err(errno());
        }
        let reserved = reserve(file, bytes);
        let mut memory = libc::MAP_FAILED;
        let mut result = reserved;
        if reserved.is_ok() {
            memory = libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file,
                0,
            );
            if memory == libc::MAP_FAILED {
                result = Err(errno());
            }
        }
        libc::close(file);
        match result {
            Ok(()) => Ok(memory.cast()),
            Err(error) => {
                libc::unlink(path.as_ptr());
                Err(error)
            }
        }
    }
}

/// Reserves blocks; where the file system cannot, writes zeroes, which comes to the same.
fn reserve(file: c_int, bytes: usize) -> Result<(), c_int> {
    // SAFETY: a descriptor that is open, and a buffer that is as long as said.
    unsafe {
        if libc::fallocate(file, 0, 0, bytes as libc::off_t) == 0 {
            return Ok(());
        }
        let error = errno();
        if !matches!(error, libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) {
            return Err(error);
        }
        let zeroes = [0_u8; 4096];
        let mut written = 0;
        while written < bytes {
            let count = zeroes.len().min(bytes - written);
            let done = libc::write(file, zeroes.as_ptr().cast(), count);
            if done < 0 {
                match errno() {
                    libc::EINTR => continue,
                    error => return Err(error),
                }
            }
            written += done as usize;
        }
        Ok(())
    }
}

/// Asked before, because the answer afterwards is a signal that ends the process.
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

pub(crate) fn errno() -> c_int {
    // SAFETY: the place of errno is always valid for its thread.
    unsafe { *libc::__errno_location() }
}
