//! Functions of other libraries that are interposed because no tracepoint covers what they do.
//!
//! Each calls the original ([`hook`]), which is that of whoever calls ([`caller`], `scope`), does nothing else where nothing is recorded, and
//! is off with a reason that the recorder can show when its original is not what it is expected to be, or when calls cannot be seen
//! ([`visibility`]). One file per subject.

mod callback_group;
mod caller;
mod client;
mod cyclone_dds;
mod destruction;
mod executor;
mod fast_dds;
mod hook;
pub(crate) mod rclpy;
mod returned;
mod scheduler;
mod serialized_message;
mod service;
mod shared_pointer;
mod sim_time;
mod take_info;
mod timer_clock;
mod visibility;

use std::sync::atomic::{AtomicU8, Ordering};

use caller::{Caller, interpose};
use hook::{Called, Companion, Hook, State, hooks};

use crate::control::gate;

/// Whether an event is recorded or remembered now.
pub(crate) fn records(event: u16) -> bool {
    gate::may_want(event) && gate::wants(event)
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
    &take_info::HOOKS,
    &rclpy::HOOKS,
];

fn all() -> impl Iterator<Item = &'static Hook> {
    ALL.iter().flat_map(|hooks| hooks.iter().copied())
}

/// Names of the hooks in the order of the bytes in the control page.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|hook| hook.name.to_str().unwrap_or("?"))
}

/// Functions that their own libraries call, with the names of these libraries: a library may be linked so that nobody sees it.
pub fn called_within() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    all()
        .filter(|hook| hook.called == Called::Within)
        .map(|hook| (hook.name.to_str().unwrap_or("?"), hook.libraries))
}

/// Finds out which hooks are gone past, if libraries were loaded since the last time. Takes a moment: not for events that happen again and again.
pub(crate) fn survey() {
    visibility::survey();
}

/// Says to the recorder what has changed.
fn publish() {
    if let Some(memory) = gate::memory() {
        report(&memory.header().reports.hooks);
    }
}

pub(crate) fn report(places: &[AtomicU8]) {
    for (place, hook) in places.iter().zip(all()) {
        place.store(hook.state(), Ordering::Relaxed);
    }
}
