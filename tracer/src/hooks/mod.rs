//! Functions of other libraries that are interposed because no tracepoint covers what they do.
//!
//! Each calls the original, does nothing else where nothing is recorded, and is off with a reason that the recorder can
//! show when its original is not found or not what it is expected to be. One file per subject.

mod callback_group;
mod client;
mod cyclone_dds;
mod destruction;
mod executor;
mod fast_dds;
pub(crate) mod rclpy;
mod returned;
mod scheduler;
mod serialized_message;
mod service;
mod shared_pointer;
mod sim_time;
mod timer_clock;

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use crate::{gate, loaded, thread};

/// One interposed function.
#[derive(Debug)]
pub(crate) struct Hook {
    name: &'static CStr,
    /// Where its original may be, if not in the ordinary order of search.
    libraries: &'static [&'static str],
    original: AtomicPtr<c_void>,
    state: AtomicU8,
}

/// What the control page says of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// It was called and does its work.
    On = 1,
    /// It was called, but there is no original.
    Missing = 2,
    /// The original's data do not look as expected.
    Unexpected = 3,
    /// This version of ROS 2 has a tracepoint for the same.
    Needless = 4,
    /// What it would tell happened without it being called.
    Bypassed = 5,
}

impl Hook {
    pub(crate) const fn new(name: &'static CStr, libraries: &'static [&'static str]) -> Hook {
        Hook {
            name,
            libraries,
            original: AtomicPtr::new(std::ptr::null_mut()),
            state: AtomicU8::new(0),
        }
    }

    /// Of a symbol with a zero at its end, for macros that export a function under the same name.
    pub(crate) const fn of_symbol(
        symbol: &'static str,
        libraries: &'static [&'static str],
    ) -> Hook {
        match CStr::from_bytes_with_nul(symbol.as_bytes()) {
            Ok(name) => Hook::new(name, libraries),
            Err(_) => panic!("a symbol has a zero at its end and nowhere else"),
        }
    }

    /// The function that would have been called without us.
    pub(crate) fn original(&self) -> Option<*const c_void> {
        // Another thread may have found it in a library that was loaded just now: what the linker wrote there has to be seen too.
        let known = self.original.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known.cast_const());
        }
        let found = thread::undisturbed(|| loaded::original(self.name, self.libraries));
        match found {
            Some(address) => {
                self.original.store(address.cast_mut(), Ordering::Release);
                for before in [0, State::Bypassed as u8] {
                    self.change(before, State::On);
                }
            }
            None => self.set(State::Missing),
        }
        found
    }

    pub(crate) fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    /// Says that what it would tell happened without it, unless it was called before.
    pub(crate) fn bypass(&self) {
        self.change(0, State::Bypassed);
    }

    fn change(&self, before: u8, state: State) {
        let relaxed = Ordering::Relaxed;
        let _ = (self.state).compare_exchange(before, state as u8, relaxed, relaxed);
    }

    pub(crate) fn is_unexpected(&self) -> bool {
        self.state.load(Ordering::Relaxed) == State::Unexpected as u8
    }
}

/// Whether an event is recorded or remembered now.
pub(crate) fn records(event: u16) -> bool {
    gate::attends(event) && gate::wants(event)
}

/// In the order of the bytes in the control page.
static ALL: &[&[&Hook]] = &[
    &destruction::HOOKS,
    &service::HOOKS,
    &cyclone_dds::HOOKS,
    &fast_dds::HOOKS,
    &executor::HOOKS,
    &scheduler::HOOKS,
    &callback_group::HOOKS,
    &serialized_message::HOOKS,
    &client::HOOKS,
    &sim_time::HOOKS,
    &timer_clock::HOOKS,
    &rclpy::HOOKS,
];

/// Names of the hooks in the order of the bytes in the control page.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter()
        .flat_map(|hooks| hooks.iter())
        .map(|hook| hook.name.to_str().unwrap_or("?"))
}

pub(crate) fn report(places: &[AtomicU8]) {
    let hooks = ALL.iter().flat_map(|hooks| hooks.iter());
    for (place, hook) in places.iter().zip(hooks) {
        place.store(hook.state.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
