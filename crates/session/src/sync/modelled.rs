//! Atomics that lie in raw memory as the real ones do, and that loom knows by their addresses.
//!
//! An atomic that a model has *adopted* is one of loom's: whoever loads it may find any value that the memory model of Rust allows. All others
//! (texts, statistics) are plain memory, which no model depends on. Bytes that are not atomic are checked for races.
//!
//! Every access is a *step*. A model may end a thread before any step, as SIGKILL and `siglongjmp` do, or have it do something else there, as
//! a signal does.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use loom::thread::ThreadId;

// All threads of a model are one thread of the system.
thread_local! {
    static WORLD: World = World::default();
}

/// What loom knows of the memory in one execution of a model.
#[derive(Default)]
struct World {
    words: RefCell<HashMap<usize, Rc<loom::sync::atomic::AtomicU64>>>,
    halves: RefCell<HashMap<usize, Rc<loom::sync::atomic::AtomicU32>>>,
    bytes: RefCell<HashMap<usize, Rc<loom::cell::UnsafeCell<()>>>>,
    interruption: RefCell<Option<Interruption>>,
    /// Of the modelled clock.
    time: Cell<u64>,
    /// The system has no memory.
    is_full: Cell<bool>,
}

/// What happens before a step of a thread.
struct Interruption {
    thread: ThreadId,
    steps: usize,
    action: Action,
}

enum Action {
    /// The thread goes no further.
    End,
    /// A signal handler runs.
    Handler(Box<dyn FnOnce()>),
}

/// What a thread that goes no further unwinds with.
struct Ended;

/// A new execution begins: whatever was known of memory is forgotten.
pub(crate) fn reset() {
    WORLD.with(|world| {
        world.words.borrow_mut().clear();
        world.halves.borrow_mut().clear();
        world.bytes.borrow_mut().clear();
        world.interruption.borrow_mut().take();
        world.time.set(1_000_000);
        world.is_full.set(false);
    });
}

/// Whether the system has memory that can be allocated.
pub(crate) fn set_full(is_full: bool) {
    WORLD.with(|world| world.is_full.set(is_full));
}

/// What the system says when a process allocates.
pub(crate) fn populate(_at: usize, _bytes: usize) -> Result<(), i32> {
    match WORLD.with(|world| world.is_full.get()) {
        true => Err(libc::ENOMEM),
        false => Ok(()),
    }
}

/// A clock that goes on with every look, so that every execution sees the same times.
pub(crate) fn monotonic() -> u64 {
    WORLD.with(|world| {
        world.time.set(world.time.get() + 1);
        world.time.get()
    })
}

/// Does something that goes no further than the given number of steps. None if it was ended there.
pub(crate) fn ended_after<R>(steps: usize, work: impl FnOnce() -> R) -> Option<R> {
    interrupt(steps, Action::End);
    let result = catch_unwind(AssertUnwindSafe(work));
    WORLD.with(|world| world.interruption.borrow_mut().take());
    match result {
        Ok(result) => Some(result),
        Err(reason) if reason.is::<Ended>() => None,
        Err(reason) => resume_unwind(reason),
    }
}

/// Does something that a signal handler interrupts after so many steps. Also says whether there were so many.
pub(crate) fn interrupted_after<R>(
    steps: usize,
    handler: impl FnOnce() + 'static,
    work: impl FnOnce() -> R,
) -> (R, bool) {
    interrupt(steps, Action::Handler(Box::new(handler)));
    let result = work();
    let is_left = WORLD.with(|world| world.interruption.borrow_mut().take().is_some());
    (result, !is_left)
}

fn interrupt(steps: usize, action: Action) {
    let thread = loom::thread::current().id();
    WORLD.with(|world| {
        *world.interruption.borrow_mut() = Some(Interruption {
            thread,
            steps,
            action,
        });
    });
}

fn step() {
    let action = WORLD.with(|world| {
        let mut interruption = world.interruption.borrow_mut();
        let due = interruption.as_mut().is_some_and(|it| {
            if it.thread != loom::thread::current().id() {
                return false;
            }
            let is_due = it.steps == 0;
            it.steps = it.steps.saturating_sub(1);
            is_due
        });
        if due { interruption.take() } else { None }
    });
    match action.map(|interruption| interruption.action) {
        // Not a panic: nobody is told.
        Some(Action::End) => resume_unwind(Box::new(Ended)),
        Some(Action::Handler(handler)) => handler(),
        None => {}
    }
}

pub(crate) fn fence(order: Ordering) {
    step();
    loom::sync::atomic::fence(order);
}

/// So many bytes there are written next, by this thread: nobody else may be using them.
pub(crate) fn will_write(at: *const u8, bytes: usize) {
    step();
    for at in sample(at, bytes) {
        cell(at).with_mut(|_| {});
    }
}

/// So many bytes there are read next, by this thread: nobody may be writing them.
pub(crate) fn will_read(at: *const u8, bytes: usize) {
    step();
    for at in sample(at, bytes) {
        cell(at).with(|_| {});
    }
}

/// The bytes that are checked: every eighth, of which an event has several.
fn sample(at: *const u8, bytes: usize) -> impl Iterator<Item = usize> {
    let at = at as usize;
    (at.next_multiple_of(8)..at + bytes).step_by(8)
}

/// Whoever looks first makes it, which is that access.
fn cell(at: usize) -> Rc<loom::cell::UnsafeCell<()>> {
    WORLD.with(|world| {
        let mut bytes = world.bytes.borrow_mut();
        let cell = bytes
            .entry(at)
            .or_insert_with(|| Rc::new(loom::cell::UnsafeCell::new(())));
        Rc::clone(cell)
    })
}

macro_rules! atomic {
    ($name:ident, $number:ty, $adopted:ident) => {
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name(UnsafeCell<$number>);

        // SAFETY: one thread of the system runs all threads of a model.
        unsafe impl Sync for $name {}

        impl $name {
            pub const fn new(value: $number) -> $name {
                $name(UnsafeCell::new(value))
            }

            /// Makes loom watch it, with the value that it has. To be done before there are threads.
            pub(crate) fn adopt(&self) {
                let value = self.plain(|value| *value);
                let atomic = Rc::new(loom::sync::atomic::$name::new(value));
                WORLD.with(|world| {
                    let mut adopted = world.$adopted.borrow_mut();
                    adopted.insert(self.0.get() as usize, atomic);
                });
            }

            fn adopted(&self) -> Option<Rc<loom::sync::atomic::$name>> {
                step();
                WORLD.with(|world| {
                    let adopted = world.$adopted.borrow();
                    adopted.get(&(self.0.get() as usize)).cloned()
                })
            }

            fn plain<R>(&self, work: impl FnOnce(&mut $number) -> R) -> R {
                // SAFETY: nothing else runs meanwhile.
                work(unsafe { &mut *self.0.get() })
            }

            pub fn load(&self, order: Ordering) -> $number {
                match self.adopted() {
                    Some(atomic) => atomic.load(order),
                    None => self.plain(|value| *value),
                }
            }

            pub fn store(&self, value: $number, order: Ordering) {
                match self.adopted() {
                    Some(atomic) => atomic.store(value, order),
                    None => self.plain(|place| *place = value),
                }
            }

            pub fn swap(&self, value: $number, order: Ordering) -> $number {
                match self.adopted() {
                    Some(atomic) => atomic.swap(value, order),
                    None => self.plain(|place| std::mem::replace(place, value)),
                }
            }

            pub fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                match self.adopted() {
                    Some(atomic) => atomic.fetch_add(value, order),
                    None => self.plain(|place| std::mem::replace(place, place.wrapping_add(value))),
                }
            }

            pub fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                match self.adopted() {
                    Some(atomic) => atomic.fetch_sub(value, order),
                    None => self.plain(|place| std::mem::replace(place, place.wrapping_sub(value))),
                }
            }

            pub fn fetch_max(&self, value: $number, order: Ordering) -> $number {
                match self.adopted() {
                    Some(atomic) => atomic.fetch_max(value, order),
                    None => self.plain(|place| std::mem::replace(place, value.max(*place))),
                }
            }

            pub fn compare_exchange(
                &self,
                before: $number,
                after: $number,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                match self.adopted() {
                    Some(atomic) => atomic.compare_exchange(before, after, success, failure),
                    None => self.plain(|place| match *place == before {
                        true => Ok(std::mem::replace(place, after)),
                        false => Err(*place),
                    }),
                }
            }

            pub fn compare_exchange_weak(
                &self,
                before: $number,
                after: $number,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                self.compare_exchange(before, after, success, failure)
            }

            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($number) -> Option<$number>,
            ) -> Result<$number, $number> {
                let mut before = self.load(failure);
                while let Some(after) = change(before) {
                    match self.compare_exchange_weak(before, after, success, failure) {
                        Ok(before) => return Ok(before),
                        Err(now) => before = now,
                    }
                }
                Err(before)
            }
        }
    };
}

atomic!(AtomicU64, u64, words);
atomic!(AtomicU32, u32, halves);
