//! What a call would have reached without us: the definition that the dynamic linker finds for the object that calls.
//!
//! The linker looks into the global scope first: the program, its libraries, and what was loaded with `RTLD_GLOBAL`. A library that was
//! loaded otherwise, as Python and plugins load theirs, is seen only by those that were loaded together with it, so two callers may mean
//! two functions of the same name. The order here is the linker's:
//!
//! 1. the next definition behind us in the global scope, for all callers;
//! 2. those in the scope of the object whose loading brought the caller: itself, then what it needs, breadth first;
//! 3. the same for every other object that needs the caller, directly or not, in the order in which they were loaded;
//! 4. those of libraries that are known to have it, and then of any object: a caller that is in no scope with a definition cannot
//!    have meant another one.
//!
//! Neither this library nor another copy of the tracer is ever an original, except for a copy inside a program, which leaves everything
//! to the one that is a library (`sibling`). Nothing is allocated by us: objects are read in memory (`elf`), and what has to be
//! remembered meanwhile lies on the stack.

use std::ffi::{CStr, c_void};
use std::ops::{ControlFlow, Range};

use crate::dl::elf::{Name, Object};
use crate::dl::linker::Looking;
use crate::dl::loaded::{self, Library, Objects, PathBytes};
use crate::dl::sibling;

/// More objects than this are not looked at one by one; then the first definition counts.
const MOST_OBJECTS: usize = 1024;
/// More definitions of one function are not told apart.
const MOST_DEFINITIONS: usize = 16;

/// What was found.
#[derive(Debug)]
pub(crate) struct Original {
    pub(crate) address: *const c_void,
    /// Whether it stays loaded for as long as the process lives.
    pub(crate) is_kept: bool,
    pub(crate) holds_for: HoldsFor,
}

/// Which other calls reach the same function, for as long as the process lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HoldsFor {
    /// All.
    Everybody,
    /// Those from code at these addresses.
    CallersIn(Range<usize>),
    /// Perhaps none.
    ThisCall,
}

/// Who defines a function.
#[derive(Debug, Clone, Copy)]
struct Definition {
    /// Number of the object.
    object: usize,
    address: usize,
}

/// Finds what a call from this address would have reached.
pub(crate) fn original(name: &CStr, libraries: &[&str], caller: *const c_void) -> Option<Original> {
    let _looking = Looking::begin();
    let wanted = Name::of(name);
    // Asking in vain would make the linker write a complaint into memory that it allocates.
    loaded::holding(|objects| {
        let definitions = Definitions::of(objects, wanted);
        definitions.slice().first().copied()
    })??;
    if let Some(next) = next(name) {
        let is_kept = keep(next as usize);
        return Some(Original {
            address: next,
            is_kept,
            holds_for: match is_kept {
                true => HoldsFor::Everybody,
                false => HoldsFor::ThisCall,
            },
        });
    }
    let (address, range) = loaded::holding(|objects| {
        let definitions = Definitions::of(objects, wanted);
        choose(objects, definitions.slice(), libraries, caller as usize)
    })??;
    let is_kept = keep(address);
    Some(Original {
        address: address as *const c_void,
        is_kept,
        holds_for: match range.filter(|_| is_kept && keep(caller as usize)) {
            Some(range) => HoldsFor::CallersIn(range),
            None => HoldsFor::ThisCall,
        },
    })
}

/// The function of this name in the object that this address belongs to, or what that object would call by it.
pub(crate) fn beside(address: *const c_void, name: &CStr) -> Option<Original> {
    let wanted = Name::of(name);
    let found = {
        let _looking = Looking::begin();
        loaded::holding(|objects| {
            let number = number_of(objects, address as usize)?;
            objects.with(number, |object| object.function(wanted))
        })??
    };
    match found {
        Some(found) => Some(Original {
            address: found as *const c_void,
            is_kept: keep(found),
            holds_for: HoldsFor::ThisCall,
        }),
        None => original(name, &[], address),
    }
}

/// The next definition in the global scope, if it is not the tracer's.
fn next(name: &CStr) -> Option<*const c_void> {
    // SAFETY: the name ends with a zero.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if next.is_null() {
        loaded::forget_complaint();
        return None;
    }
    let is_original = loaded::holding(|objects| {
        let number = number_of(objects, next as usize)?;
        objects.with(number, is_original)
    });
    // What no object has, the vDSO perhaps, is no tracer either.
    is_original?.unwrap_or(true).then_some(next.cast_const())
}

/// Whether a definition in this object may be an original.
fn is_original(object: &Object<'_>) -> bool {
    if object.contains(is_original as *const c_void as usize) {
        return false;
    }
    !loaded::is_tracer(object)
        || !sibling::is_library() && sibling::is_name_of_library(object.file_name())
}

/// All definitions of a function, in the order in which objects were loaded.
struct Definitions {
    found: [Definition; MOST_DEFINITIONS],
    count: usize,
}

impl Definitions {
    fn of(objects: &Objects, name: Name<'_>) -> Definitions {
        let none = Definition {
            object: 0,
            address: 0,
        };
        let mut definitions = Definitions {
            found: [none; MOST_DEFINITIONS],
            count: 0,
        };
        objects.each(|number, object| {
            if let Some(address) = object.function(name)
                && is_original(object)
            {
                definitions.found[definitions.count] = Definition {
                    object: number,
                    address,
                };
                definitions.count += 1;
            }
            match definitions.count < MOST_DEFINITIONS {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        definitions
    }

    fn slice(&self) -> &[Definition] {
        &self.found[..self.count]
    }
}

fn number_of(objects: &Objects, address: usize) -> Option<usize> {
    objects.each(|number, object| match object.contains(address) {
        true => ControlFlow::Break(number),
        false => ControlFlow::Continue(()),
    })
}

/// The definition that a caller means, and where the caller's object lies.
fn choose(
    objects: &Objects,
    definitions: &[Definition],
    libraries: &[&str],
    caller: usize,
) -> Option<(usize, Option<Range<usize>>)> {
    let first = definitions.first()?;
    let calling = number_of(objects, caller);
    let range = calling.and_then(|number| objects.with(number, |object| object.range()));
    let by_scope = || Scopes::of(objects)?.definition(objects, calling?, definitions);
    let by_name = || {
        libraries.iter().find_map(|name| {
            definitions.iter().find(|definition| {
                let is_it = |object: &Object<'_>| loaded::is_called(object.file_name(), name);
                objects.with(definition.object, is_it) == Some(true)
            })
        })
    };
    let chosen = match definitions {
        [only] => only,
        _ => by_scope().or_else(by_name).unwrap_or(first),
    };
    Some((chosen.address, range))
}

/// Which objects need which.
struct Scopes {
    /// Of the name that others need an object by.
    names: [u64; MOST_OBJECTS],
    count: usize,
}

/// A set of objects.
struct Set([u64; MOST_OBJECTS / 64]);

impl Set {
    const EMPTY: Set = Set([0; MOST_OBJECTS / 64]);

    fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    /// False if it was there before.
    fn add(&mut self, number: usize) -> bool {
        let is_new = !self.has(number);
        self.0[number / 64] |= 1 << (number % 64);
        is_new
    }
}

/// FNV-1a: only to tell the names of a process's libraries apart.
pub(crate) const fn hash(text: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < text.len() {
        hash = (hash ^ text[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

impl Scopes {
    /// None with more objects than there is room for.
    fn of(objects: &Objects) -> Option<Scopes> {
        let mut scopes = Scopes {
            names: [0; MOST_OBJECTS],
            count: 0,
        };
        let is_full = objects.each(|number, object| {
            let Some(name) = scopes.names.get_mut(number) else {
                return ControlFlow::Break(());
            };
            *name = hash(object.own_name());
            scopes.count = number + 1;
            ControlFlow::Continue(())
        });
        is_full.is_none().then_some(scopes)
    }

    /// The object that is needed by this name, which may be a path.
    fn named(&self, name: &[u8]) -> Option<usize> {
        let folder = name.iter().rposition(|byte| *byte == b'/');
        let wanted = hash(&name[folder.map_or(0, |slash| slash + 1)..]);
        (self.names[..self.count].iter()).position(|name| *name == wanted)
    }

    /// The definition that comes first in the scopes that the caller is in.
    fn definition<'d>(
        &self,
        objects: &Objects,
        caller: usize,
        definitions: &'d [Definition],
    ) -> Option<&'d Definition> {
        let users = self.users(objects, caller);
        let users = (0..self.count).filter(|number| users.has(*number));
        users
            .into_iter()
            .find_map(|user| self.first_in_scope(objects, user, definitions))
    }

    /// An object, and all that need it, directly or not.
    fn users(&self, objects: &Objects, of: usize) -> Set {
        let mut users = Set::EMPTY;
        users.add(of);
        loop {
            let mut is_complete = true;
            objects.each(|number, object| {
                let mut needed = object.needed().filter_map(|name| self.named(name));
                if number < self.count
                    && !users.has(number)
                    && needed.any(|number| users.has(number))
                {
                    users.add(number);
                    is_complete = false;
                }
                ControlFlow::<()>::Continue(())
            });
            if is_complete {
                return users;
            }
        }
    }

    /// The first definition in an object, in what it needs, in what that needs, and so on.
    fn first_in_scope<'d>(
        &self,
        objects: &Objects,
        object: usize,
        definitions: &'d [Definition],
    ) -> Option<&'d Definition> {
        let mut order = [0_u16; MOST_OBJECTS];
        let mut seen = Set::EMPTY;
        let (mut next, mut end) = (0, 1);
        order[0] = object as u16;
        seen.add(object);
        while next < end {
            let number = usize::from(order[next]);
            next += 1;
            let found = definitions.iter().find(|it| it.object == number);
            if found.is_some() {
                return found;
            }
            objects.with(number, |object| {
                for needed in object.needed().filter_map(|name| self.named(name)) {
                    if seen.add(needed) {
                        order[end] = needed as u16;
                        end += 1;
                    }
                }
            });
        }
        None
    }
}

/// Sees to it that the object which has this address is never unloaded, as the linker would have done for the sake of a caller.
/// False if that is not possible.
fn keep(address: usize) -> bool {
    let number = |objects: &Objects| number_of(objects, address);
    let is_program = loaded::holding(|objects| {
        objects.with(number(objects)?, |object| object.path().is_empty())
    });
    if is_program.flatten() == Some(true) {
        return true;
    }
    let path = loaded::holding(|objects| objects.with(number(objects)?, PathBytes::of)?);
    path.flatten()
        .is_some_and(|path| Library::open(&path).is_some())
}
