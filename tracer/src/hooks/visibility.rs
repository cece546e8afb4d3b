//! Which interposed functions the tracer cannot see being called, because the library was linked or loaded so that calls go past it.
//!
//! A call is seen where the linker fills in an address, that of our function, since we come before the library in the order of search. A
//! library that was linked with `-Bsymbolic-functions`, with link-time optimisation or without semantic interposition jumps to its own
//! functions directly and has no such place; one that was loaded with `RTLD_DEEPBIND` has it, with another address in it. The rule:
//!
//! - A function that no object defines is not bypassed: this version of ROS 2 has not got it.
//! - A function that its library calls itself ([`Called::Within`]) is bypassed if that library does not import it, or imports it from
//!   elsewhere. Whoever else imports it does not matter: the library's own calls are those that tell.
//! - Any other one ([`Called::Across`]) is bypassed if somebody imports it and nobody from us. If nobody imports it, nobody who calls it is
//!   loaded yet.
//! - An address that is not filled in yet will be ours, unless the library looks into itself first (`-Bsymbolic`).
//! - A function that was called through us is not bypassed, whatever this file thinks.
//!
//! Runs before the program begins, and when a node is made after libraries were loaded. The linker's list is held for one object at a time.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use super::{Called, Hook, State, all, records};
use crate::dl::elf::{Name, Object};
use crate::dl::linker::Looking;
use crate::dl::loaded::{self, Objects};
use crate::dl::scope;
use crate::events;
use crate::ring::emit::{self, Text};

/// As many as the control page has places.
const MOST_HOOKS: usize = 64;
/// More definitions of one function are not looked at.
const MOST_DEFINITIONS: usize = 4;
/// Names of libraries are cut behind this.
const LONGEST_NAME: usize = 64;
/// Beginnings of the names of hooks; there are few different ones.
const MOST_BEGINNINGS: usize = 16;

/// What is known of one function.
#[derive(Debug, Clone, Copy)]
struct Sight {
    /// Of its name.
    hash: u64,
    definitions: [Definition; MOST_DEFINITIONS],
    count: usize,
    /// Somebody imports it from us, or will.
    leads_here: bool,
    leads_elsewhere: bool,
    /// File name of the first library that defines it.
    library: [u8; LONGEST_NAME],
}

#[derive(Debug, Clone, Copy)]
struct Definition {
    address: usize,
    /// Its library imports it from us, or will.
    leads_here: bool,
}

impl Sight {
    const NOTHING: Sight = Sight {
        hash: 0,
        definitions: [Definition {
            address: 0,
            leads_here: false,
        }; MOST_DEFINITIONS],
        count: 0,
        leads_here: false,
        leads_elsewhere: false,
        library: [0; LONGEST_NAME],
    };

    fn definitions(&mut self) -> &mut [Definition] {
        &mut self.definitions[..self.count]
    }

    fn is_bypassed(&self, called: Called) -> bool {
        let mut definitions = self.definitions[..self.count].iter();
        match called {
            Called::Within => definitions.any(|definition| !definition.leads_here),
            Called::Across => self.count > 0 && self.leads_elsewhere && !self.leads_here,
        }
    }

    fn define(&mut self, object: &Object<'_>, address: usize) {
        if self.count == 0 {
            let name = object.file_name();
            let name = match name {
                // That of the program, which has no path.
                b"" => b"the program",
                name => &name[..name.len().min(LONGEST_NAME)],
            };
            self.library[..name.len()].copy_from_slice(name);
        }
        if self.count < MOST_DEFINITIONS {
            self.definitions[self.count].address = address;
            self.count += 1;
        }
    }
}

/// Finds out which hooks are bypassed, and records it.
pub(crate) fn survey() {
    /// How often libraries had been loaded and unloaded when this was done last.
    static DONE: [AtomicU64; 2] = [const { AtomicU64::new(u64::MAX) }; 2];
    let changes = {
        let _looking = Looking::begin();
        loaded::changes()
    };
    let changes = [changes.0, changes.1];
    let done = DONE.each_ref().map(|it| it.load(Ordering::Relaxed));
    static IS_LOOKING: AtomicBool = AtomicBool::new(false);
    if done != changes && !IS_LOOKING.swap(true, Ordering::Acquire) {
        // SAFETY: only who has set the flag is here.
        look(unsafe { &mut *SIGHTS.0.get() });
        IS_LOOKING.store(false, Ordering::Release);
        for (place, change) in DONE.iter().zip(changes) {
            place.store(change, Ordering::Relaxed);
        }
    }
    for (hook, reported) in all().zip(&REPORTED) {
        tell(hook, reported);
    }
}

/// Too large for the stacks of some threads.
struct Guarded(UnsafeCell<[Sight; MOST_HOOKS]>);
// SAFETY: used by one thread at a time, see `survey`.
unsafe impl Sync for Guarded {}
static SIGHTS: Guarded = Guarded(UnsafeCell::new([Sight::NOTHING; MOST_HOOKS]));

/// What was recorded of each hook, and of which library.
static REPORTED: [Reported; MOST_HOOKS] = [const { Reported::new() }; MOST_HOOKS];

#[derive(Debug)]
struct Reported {
    state: AtomicU8,
    library: [AtomicU8; LONGEST_NAME],
}

impl Reported {
    const fn new() -> Reported {
        Reported {
            state: AtomicU8::new(0),
            library: [const { AtomicU8::new(0) }; LONGEST_NAME],
        }
    }
}

/// Records that a hook is bypassed, or is not any more.
fn tell(hook: &Hook, reported: &Reported) {
    let before = reported.state.load(Ordering::Relaxed);
    let now = hook.state();
    let is_bypassed = now == State::Bypassed as u8;
    let was_bypassed = before == State::Bypassed as u8;
    let event = events::ROSTRACE_HOOK_STATE;
    if is_bypassed == was_bypassed || !records(event) {
        return;
    }
    let state: &[u8] = match is_bypassed {
        true => b"bypassed",
        false => b"on",
    };
    let library = reported.library.each_ref();
    let library = library.map(|byte| byte.load(Ordering::Relaxed));
    let texts = [hook.name.to_bytes(), state, &library].map(Text::from_bytes);
    let size = texts.iter().map(|text| text.size()).sum();
    // SAFETY: the payload has the size that is said.
    emit::initialisation(event, size, |payload| unsafe {
        let [name, state, library] = texts;
        payload.text(name).text(state).text(library);
    });
    reported.state.store(now, Ordering::Relaxed);
}

/// Looks at all objects.
fn look(sights: &mut [Sight; MOST_HOOKS]) {
    sights.fill(Sight::NOTHING);
    let mut beginnings = [[0; 4]; MOST_BEGINNINGS];
    let mut different = 0;
    for (hook, sight) in all().zip(&mut *sights) {
        let name = hook.name.to_bytes();
        sight.hash = scope::hash(name);
        if let Some(beginning) = name.first_chunk()
            && !beginnings[..different].contains(beginning)
            && different < MOST_BEGINNINGS
        {
            beginnings[different] = *beginning;
            different += 1;
        }
    }
    let beginnings = &beginnings[..different];
    each_object(|object| {
        for (hook, sight) in all().zip(&mut *sights) {
            if let Some(address) = object.function(Name::of(hook.name)) {
                sight.define(object, address);
            }
        }
    });
    let own = own_range();
    each_object(|object| {
        for import in object.imports(beginnings) {
            let hash = scope::hash(import.name);
            let Some(sight) = sights.iter_mut().find(|sight| sight.hash == hash) else {
                continue;
            };
            let is_defined_here = |definition: &Definition| object.contains(definition.address);
            let leads_here = if own.contains(&import.value) {
                true
            } else if sight
                .definitions()
                .iter()
                .any(|it| it.address == import.value)
            {
                false
            } else {
                // Nothing is filled in yet.
                !(object.is_symbolic() && sight.definitions().iter().any(is_defined_here))
            };
            match leads_here {
                true => sight.leads_here = true,
                false => sight.leads_elsewhere = true,
            }
            let definitions = sight.definitions().iter_mut();
            for definition in definitions.filter(|it| is_defined_here(it)) {
                definition.leads_here |= leads_here;
            }
        }
    });
    for ((hook, sight), reported) in all().zip(&*sights).zip(&REPORTED) {
        if sight.is_bypassed(hook.called) {
            for (place, byte) in reported.library.iter().zip(sight.library) {
                place.store(byte, Ordering::Relaxed);
            }
            hook.bypass();
        }
    }
}

/// Shows all objects but those that have the tracer in them; the list is held for one at a time.
fn each_object(mut show: impl FnMut(&Object<'_>)) {
    let mut number = 0;
    loop {
        let _looking = Looking::begin();
        let is_there = loaded::holding(|objects: &Objects| {
            objects.with(number, |object| {
                if !loaded::is_tracer(object) {
                    show(object);
                }
            })
        });
        if is_there.flatten().is_none() {
            return;
        }
        number += 1;
    }
}

/// Where this library lies.
fn own_range() -> std::ops::Range<usize> {
    let own = own_range as *const c_void as usize;
    let range = loaded::holding(|objects| {
        objects.each(|_, object| match object.contains(own) {
            true => ControlFlow::Break(object.range()),
            false => ControlFlow::Continue(()),
        })
    });
    range.flatten().unwrap_or(0..0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_all_hooks() {
        assert!(all().count() <= MOST_HOOKS);
        let beginnings: std::collections::BTreeSet<_> =
            all().map(|hook| &hook.name.to_bytes()[..4]).collect();
        assert!(beginnings.len() <= MOST_BEGINNINGS, "{beginnings:?}");
    }
}
