//! Models of what threads, keepers and signals do to the shared memory at once, in every order.
//!
//! `cargo xtask test` runs them (`cargo test -p rostrace-session --features models models::`). What is modelled is the code itself: in these
//! tests its atomics are [those of loom](crate::sync), which runs a model again and again until every order of its steps, with so many
//! switches between threads as it says, was tried with every value that a load may see. What a model shows is said by the names of its tests.
//!
//! What is not modelled: the statedump (a lock guards it in the process), how the tracer finds its thread, and what the kernel does.

mod free_list;
mod nesting;
mod packet;
mod recording;
mod stream;
mod supply;
mod trace;

use std::alloc::{Layout as Bytes, alloc_zeroed};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::clock;
use crate::command::Command;
use crate::events;
use crate::keep::{Kept, Mapped, start_recording};
use crate::memory::Memory;
use crate::memory::header::{Introduction, is_set};
use crate::memory::layout::Layout;
use crate::memory::packet::HEAD;
use crate::memory::writer::Writer;
use crate::process::Identity;
use crate::sync::modelled;

/// Words that loom's threads may use of the stack: keepers make files.
const STACK: usize = 64 << 10;
/// Of the only memory that a modelled process has.
const INCARNATION: u64 = 1 << 48;

/// Runs a model in every order of its steps, with at most so many switches from a thread that could have gone on. Says how many orders there were.
fn explore(name: &str, switches: usize, model: impl Fn() + Send + Sync + 'static) -> usize {
    let begun = Instant::now();
    let orders = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&orders);
    let model = Arc::new(model);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.max_branches = 100_000;
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        modelled::reset();
        let model = Arc::clone(&model);
        start(move || model()).join().expect("the model holds");
    });
    let _ = std::fs::remove_dir_all(trace::folder());
    let orders = orders.load(Ordering::Relaxed);
    println!("{name}: {orders} orders in {:.1?}", begun.elapsed());
    orders
}

/// A thread with a stack that is large enough.
fn start<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> loom::thread::JoinHandle<R> {
    let builder = loom::thread::Builder::new().stack_size(STACK);
    builder.spawn(work).expect("threads can be made")
}

/// What a modelled process has: memory, and a place for its traces.
#[derive(Clone)]
struct Process {
    memory: Memory,
    mapped: Arc<Mapped>,
    folder: PathBuf,
}

impl Process {
    /// A process that has just made its memory.
    fn new(layout: Layout) -> Process {
        let memory = zeroes(layout);
        memory.introduce(&Introduction {
            identity: Identity {
                pid: 7,
                start_time: 1,
                pid_namespace: 1,
                name: *b"modelled\0\0\0\0\0\0\0\0",
            },
            tracetools_version: b"8.2.4",
            program: b"modelled",
            host: b"host",
            is_kept_by_itself: true,
        });
        let folder = trace::folder();
        let _ = std::fs::remove_dir_all(&folder);
        Process {
            memory,
            mapped: Arc::new(Mapped::own(memory, None)),
            folder,
        }
    }

    /// Where the trace of a recording is.
    fn trace(&self, generation: u64) -> PathBuf {
        self.folder.join(generation.to_string())
    }

    /// Begins a recording, as a keeper does.
    fn record(&self, generation: u64) -> Kept {
        let path = self.trace(generation);
        let command = Command::record(path.as_os_str().as_encoded_bytes());
        let allocate = |at, bytes| self.mapped.allocate(at, bytes);
        start_recording(&self.memory, generation, &command, &allocate).expect("there is memory");
        Kept::new(Arc::clone(&self.mapped), generation, &command)
    }

    /// From now on loom watches everything on which the recorded events depend.
    fn adopt(&self) {
        let header = self.memory.header();
        let (recording, free) = (&header.recording, &header.free);
        for word in recording.enabled.iter().chain(&recording.recorded) {
            word.adopt();
        }
        for word in [
            &recording.active,
            &recording.epoch,
            &recording.last_epoch,
            &recording.deadline,
            &recording.generation,
            &recording.uuid[0],
            &recording.uuid[1],
            &header.reports.lost,
            &header.reports.lost_before,
            &free.small.0,
            &free.large.0,
            &free.streams.0,
        ] {
            word.adopt();
        }
        for half in [
            &free.streams_made,
            &free.streams_supplied,
            &free.small_supplied,
            &free.large_supplied,
            &free.large_limit,
            &free.full,
        ] {
            half.adopt();
        }
        for number in 0..self.memory.layout().streams {
            let stream = self.memory.stream(number).expect("there are so many");
            stream.packet.adopt();
            stream.next.adopt();
            for word in [
                &stream.epoch,
                &stream.discarded,
                &stream.events,
                &stream.unwritten,
            ] {
                word.adopt();
            }
        }
        for number in 0..self.memory.layout().packets() {
            let info = self.memory.info(number).expect("there are so many");
            info.epoch.adopt();
            for half in [&info.state, &info.next, &info.stream, &info.events] {
                half.adopt();
            }
            let (packet, _) = self.memory.packet(number);
            for at in (0..HEAD).step_by(8) {
                // SAFETY: mapped.
                unsafe { packet.word(at) }.adopt();
            }
        }
    }
}

/// Memory of its own for each test, the same in all executions of its model.
fn zeroes(layout: Layout) -> Memory {
    thread_local! {
        static MEMORY: RefCell<Option<(*mut u8, usize)>> = const { RefCell::new(None) };
    }
    let bytes = layout.bytes();
    MEMORY.with_borrow_mut(|memory| {
        let (base, had) = memory.unwrap_or_else(|| {
            let aligned = Bytes::from_size_align(bytes, 64 << 10).expect("a sound layout");
            // SAFETY: more than no bytes.
            (unsafe { alloc_zeroed(aligned) }, bytes)
        });
        assert!(bytes <= had, "all layouts of a test have the same size");
        *memory = Some((base, had));
        // SAFETY: so many bytes were allocated, for ever, and nobody uses them now.
        unsafe {
            base.write_bytes(0, bytes);
            Memory::at(base, layout)
        }
    })
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emitted {
    /// Nothing was recorded.
    Unwanted,
    /// There was no room; it is counted.
    Dropped,
    /// It is in a packet of this recording.
    Written(u64),
}

/// Any event that is not one of initialisation.
fn some_event() -> u16 {
    let it = events::EVENTS.iter().position(|it| !it.is_initialisation);
    it.expect("there are such events") as u16
}

/// Emits an event as the tracer does: through the gate, with the writer of this thread and level.
fn emit(memory: &Memory, writer: &mut Writer, event: trace::Event) -> Emitted {
    let recording = &memory.header().recording;
    if !is_set(&recording.enabled, some_event()) {
        return Emitted::Unwanted;
    }
    writer.begin();
    let (epoch, key) = recording.running(INCARNATION);
    if writer.key != key {
        if epoch == 0 {
            return Emitted::Unwanted;
        }
        if !writer.attach(memory, epoch, key, clock::monotonic()) {
            return Emitted::Dropped;
        }
    }
    let now = clock::monotonic();
    let context = trace::context();
    match writer.reserve(memory, some_event(), now, &context, event.bytes) {
        None => Emitted::Dropped,
        Some(reserved) => {
            modelled::will_write(reserved.at, event.bytes);
            // SAFETY: there is room for so many bytes.
            unsafe { event.fill(reserved.at) };
            writer.commit(now, reserved);
            Emitted::Written(epoch)
        }
    }
}
