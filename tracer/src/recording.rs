//! One recording of one process: its folder, its buffers, and its end.
//!
//! Made when an order to record is carried out, never freed (a few hundred bytes each), so that threads may look at it at any time.

use std::ffi::CString;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use rostrace_session::{Buffers, Filters, Order, State};

use crate::buffer::Buffer;
use crate::chunk::{self, Chunk, Plan};
use crate::clock;
use crate::folder;
use crate::lock::Lock;
use crate::metadata;

/// Threads with more than so many others at once begin with small files.
const MANY_THREADS: u32 = 64;

#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) folder: CString,
    pub(crate) epoch: u64,
    pub(crate) process: u32,
    uuid: [u8; 16],
    buffers: Buffers,
    pub(crate) filters: Filters,
    is_flight: bool,
    /// Guards the two lists, and the end.
    lock: Lock,
    /// Guards the making of chunks: the end of the process must not come in between.
    supplying: Lock,
    /// All buffers but that of initialisation.
    all: AtomicPtr<Buffer>,
    /// Those that no thread holds.
    free: AtomicPtr<Buffer>,
    is_closed: AtomicBool,
    streams: AtomicU32,
    /// Bytes of all files, used or not.
    pub(crate) bytes: AtomicU64,
    /// Events that found no buffer at all.
    pub(crate) lost: AtomicU64,
    /// Of the last file that could not be made.
    pub(crate) error: AtomicI32,
    /// Wakes the helper.
    pub(crate) kick: AtomicU32,
    pub(crate) is_stopping: AtomicBool,
    /// Initialisation, guarded by the gate's memory lock.
    pub(crate) initialisation: AtomicPtr<Buffer>,
    /// Complete chunks in the order in which they became so. Only the helper looks.
    complete: Mutex<Vec<Complete>>,
}

/// A file that is no longer written to; the flight recorder deletes the oldest.
#[derive(Debug, Clone, Copy)]
struct Complete {
    stream: u32,
    number: u32,
    bytes: u64,
    at: u64,
}

/// Numbers recordings, over forks as well.
static EPOCHS: AtomicU64 = AtomicU64::new(0);

impl Recording {
    /// Makes the folder, its metadata and the stream of initialisation. The error is an `errno`.
    pub(crate) fn begin(
        order: &Order,
        process: u32,
        first_time: u64,
    ) -> Result<&'static Recording, i32> {
        let uuid = random_uuid();
        let mut buffers = order.buffers.usable();
        // A power of two, as pages are: the larger one is a multiple of the other.
        buffers.packet_bytes = buffers.packet_bytes.max(chunk::page_bytes() as u32);
        let folder = folder::make(&order.directory, process)?;
        if let Err(error) = metadata::write(&folder, &uuid, clock::offset(), process) {
            folder::remove(&folder);
            return Err(error);
        }
        let recording = Box::new(Recording {
            folder,
            epoch: EPOCHS.fetch_add(1, Ordering::Relaxed) + 1,
            process,
            uuid,
            buffers,
            filters: order.filters.clone(),
            is_flight: order.state == State::Flight,
            lock: Lock::new(),
            supplying: Lock::new(),
            all: AtomicPtr::new(std::ptr::null_mut()),
            free: AtomicPtr::new(std::ptr::null_mut()),
            is_closed: AtomicBool::new(false),
            streams: AtomicU32::new(0),
            bytes: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            error: AtomicI32::new(0),
            kick: AtomicU32::new(0),
            is_stopping: AtomicBool::new(false),
            initialisation: AtomicPtr::new(std::ptr::null_mut()),
            complete: Mutex::new(Vec::new()),
        });
        let initialisation = Buffer::open(&recording, 0, 1, first_time)
            .inspect_err(|_| folder::remove(&recording.folder))?;
        let recording = Box::leak(recording);
        recording
            .initialisation
            .store(initialisation, Ordering::Release);
        Ok(recording)
    }

    pub(crate) fn packet_bytes(&self) -> usize {
        self.buffers.packet_bytes as usize
    }

    /// A buffer for the calling thread: one that another thread left, or a new one. Does not allocate.
    pub(crate) fn lend(&self, now: u64) -> Option<*mut Buffer> {
        let buffer = self.lock.with(|| {
            if self.is_closed.load(Ordering::Relaxed) {
                return None;
            }
            let free = self.free.load(Ordering::Relaxed);
            if !free.is_null() {
                // SAFETY: buffers in the list are alive until the recording is closed, under this lock.
                unsafe {
                    self.free.store((*free).following_free, Ordering::Relaxed);
                    (*free).hold();
                }
                return Some(free);
            }
            let stream = self.streams.load(Ordering::Relaxed) + 1;
            let packets = match stream {
                ..=MANY_THREADS => self.buffers.first_packets,
                _ => self.buffers.first_packets.min(2),
            };
            match Buffer::open(self, stream, packets, now) {
                Ok(buffer) => {
                    self.streams.store(stream, Ordering::Relaxed);
                    // SAFETY: new, and only published below.
                    unsafe {
                        (*buffer).following = self.all.load(Ordering::Relaxed);
                        (*buffer).hold();
                    }
                    self.all.store(buffer, Ordering::Release);
                    Some(buffer)
                }
                Err(error) => {
                    self.error.store(error, Ordering::Relaxed);
                    None
                }
            }
        });
        // A new thread may be about to write a lot.
        self.kick.fetch_add(1, Ordering::Release);
        crate::futex::wake(&self.kick);
        buffer
    }

    /// The calling thread no longer needs its buffer.
    pub(crate) fn take_back(&self, buffer: *mut Buffer) {
        self.lock.with(|| {
            // SAFETY: the thread had it, so it is alive; from here on nobody writes to it.
            unsafe {
                (*buffer).held.store(false, Ordering::Relaxed);
                if !self.is_closed.load(Ordering::Relaxed) {
                    (*buffer).following_free = self.free.load(Ordering::Relaxed);
                    self.free.store(buffer, Ordering::Relaxed);
                }
                Buffer::let_go(buffer);
            }
        });
    }

    /// Makes a file with packets; with fewer, if there is no room for all. `finish` is called before the file is seen.
    pub(crate) fn make_chunk(
        &self,
        stream: u32,
        number: u32,
        packets: u32,
        first_packet: u64,
        opened: u64,
        finish: &mut dyn FnMut(Chunk),
    ) -> Result<Chunk, i32> {
        let mut packets = packets;
        loop {
            let bytes = u64::from(packets) * u64::from(self.buffers.packet_bytes);
            let limit = self.buffers.process_bytes;
            let is_over = limit > 0 && self.bytes.load(Ordering::Relaxed) + bytes > limit;
            let made = if is_over {
                Err(libc::ENOSPC)
            } else {
                Plan {
                    folder: &self.folder,
                    uuid: &self.uuid,
                    stream,
                    number,
                    packet_bytes: self.packet_bytes(),
                    packets,
                    first_packet,
                    opened,
                }
                .make(finish)
            };
            match made {
                Ok(chunk) => {
                    self.bytes.fetch_add(bytes, Ordering::Relaxed);
                    return Ok(chunk);
                }
                Err(libc::ENOSPC | libc::EFBIG | libc::EDQUOT | libc::ENOMEM) if packets > 1 => {
                    packets /= 2;
                }
                Err(error) => {
                    self.error.store(error, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    }

    /// Packets of the chunk after one with so many. A flight recorder keeps them small, to be able to delete them.
    pub(crate) fn later_packets(&self, packets: u32) -> u32 {
        let most = match self.is_flight {
            true => self.buffers.most_packets.min(16),
            false => self.buffers.most_packets,
        };
        (packets * 2).min(most).max(1)
    }

    /// The helper found that a chunk is no longer in use.
    pub(crate) fn note_complete(&self, stream: u32, chunk: &Chunk, packet_bytes: usize) {
        if self.is_flight {
            let complete = Complete {
                stream,
                number: chunk.number,
                bytes: u64::from(chunk.packets) * packet_bytes as u64,
                at: clock::monotonic(),
            };
            if let Ok(mut list) = self.complete.lock() {
                list.push(complete);
            }
        }
    }

    /// Deletes what the flight recorder need not keep.
    fn forget_old(&self) {
        let Ok(mut list) = self.complete.lock() else {
            return;
        };
        let oldest = match self.buffers.flight_nanos {
            0 => 0,
            nanos => clock::monotonic().saturating_sub(nanos),
        };
        let most = match self.buffers.flight_bytes {
            0 => u64::MAX,
            bytes => bytes,
        };
        let mut count = 0;
        for file in list.iter() {
            if file.at >= oldest && self.bytes.load(Ordering::Relaxed) <= most {
                break;
            }
            chunk::trim(&self.folder, file.stream, file.number, 0);
            self.bytes.fetch_sub(file.bytes, Ordering::Relaxed);
            count += 1;
        }
        list.drain(..count);
    }

    /// What the helper does again and again: returns how many packets were used since the last time.
    pub(crate) fn supply(&self) -> u32 {
        self.supplying.with(|| {
            if self.is_closed.load(Ordering::Acquire) {
                return 0;
            }
            self.supply_all()
        })
    }

    fn supply_all(&self) -> u32 {
        let mut used = 0;
        let mut buffer = self.all.load(Ordering::Acquire);
        while !buffer.is_null() {
            // SAFETY: buffers are freed only after the recording was closed, which the helper itself does, or the end of
            // the process, when nothing is freed.
            unsafe {
                used += Buffer::supply(buffer, self).0;
                buffer = (*buffer).following;
            }
        }
        if self.is_flight {
            self.forget_old();
        }
        used
    }

    /// Cuts all files to what was used. With `free`, buffers that no thread holds are given back.
    pub(crate) fn close(&self, free: bool) {
        self.supplying.take();
        self.lock.with(|| {
            if self.is_closed.swap(true, Ordering::AcqRel) {
                return;
            }
            let mut buffer = self.all.load(Ordering::Acquire);
            while !buffer.is_null() {
                // SAFETY: the recording's own reference ends here; the list is not used again.
                unsafe {
                    let following = (*buffer).following;
                    Buffer::close(buffer, self);
                    if free {
                        Buffer::let_go(buffer);
                    }
                    buffer = following;
                }
            }
        });
        self.supplying.release();
    }

    /// Events, drops and buffers until now.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let (mut events, mut discarded, mut threads) = (0, self.lost.load(Ordering::Relaxed), 0);
        let mut add = |buffer: &Buffer| {
            events += buffer.events.load(Ordering::Relaxed);
            discarded += buffer.discarded.load(Ordering::Relaxed);
            threads += u64::from(buffer.held.load(Ordering::Relaxed));
        };
        let mut buffer = self.all.load(Ordering::Acquire);
        // SAFETY: as in `supply`.
        unsafe {
            while let Some(alive) = buffer.as_ref() {
                add(alive);
                buffer = alive.following;
            }
            if let Some(initialisation) = self.initialisation.load(Ordering::Acquire).as_ref() {
                add(initialisation);
            }
        }
        (events, discarded, threads)
    }
}

fn random_uuid() -> [u8; 16] {
    let mut uuid = [0_u8; 16];
    // SAFETY: writes at most 16 bytes.
    let got = unsafe { libc::getrandom(uuid.as_mut_ptr().cast(), 16, libc::GRND_NONBLOCK) };
    if got < 16 {
        // Early at boot: the time and the place in memory differ as well.
        uuid[..8].copy_from_slice(&clock::monotonic().to_ne_bytes());
        let place = (&raw const uuid) as u64;
        uuid[8..].copy_from_slice(&(place ^ clock::monotonic()).to_ne_bytes());
    }
    uuid[6] = uuid[6] & 0x0f | 0x40;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}
