//! An interposed function: where its original is, and how it stands.

use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use super::caller::Caller;
use crate::dl::scope::{self, HoldsFor};
use crate::ring::thread;

/// One interposed function.
#[derive(Debug)]
pub(crate) struct Hook {
    pub(super) name: &'static CStr,
    /// Where its original is to be looked for if neither the order of search nor the caller tells.
    pub(super) libraries: &'static [&'static str],
    pub(super) called: Called,
    /// For all callers alike.
    original: AtomicPtr<c_void>,
    /// For each caller its own, where libraries were loaded so that not everybody sees them.
    originals: FunctionsByCaller<8>,
    state: AtomicU8,
}

/// The hooks of one subject, in the order of their states: for each a [`Hook`], the function that stands before its original, and the
/// symbol that leads there.
///
/// A block gets `[original]`, with the type of its own function; where there is none, it is not run, and what stands behind the type of the
/// result is returned. A block that has to be run in any case gets `[original?]`, which returns an option, and if it likes the address.
macro_rules! hooks {
    ($(
        $(#[$about:meta])*
        $hook:ident = $called:ident $libraries:ident $symbol:literal,
        fn $function:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty $(= $failure:expr)?;)?
        [$($original:tt)+] $body:block
    )+) => {
        $(
            static $hook: Hook = Hook::new(concat!($symbol, "\0"), $libraries, Called::$called);

            $(#[$about])*
            ///
            /// # Safety
            /// As the original.
            unsafe extern "C-unwind" fn $function(
                $($argument: $kind,)*
                caller: Caller,
            ) $(-> $result)? {
                type Original = unsafe extern "C-unwind" fn($($kind),*) $(-> $result)?;
                hooks! {
                    @body [$($original)+] $hook.original(caller), ($($argument),*), ($($($failure)?)?), $body
                }
            }
        )+
        interpose! { $($symbol => $function;)+ }
        pub(super) static HOOKS: [&Hook; [$($symbol),+].len()] = [$(&$hook),+];
    };
    (@body [$original:ident] $found:expr, $arguments:tt, ($($failure:expr)?), $body:block) => {
        let Some(found) = $found else {
            return $($failure)?;
        };
        // SAFETY: a function of this symbol has these arguments; it gets those of our caller, who promises what it asks for.
        unsafe {
            let $original = std::mem::transmute::<*const c_void, Original>(found);
            $body
        }
    };
    (@body [$original:ident? $(, $address:ident)?] $found:expr, ($($argument:ident),*), (), $body:block) => {
        let found: Option<*const c_void> = $found;
        $(let $address = found;)?
        // SAFETY: as above.
        unsafe {
            let $original = |$($argument),*| {
                found.map(|it| std::mem::transmute::<*const c_void, Original>(it)($($argument),*))
            };
            $body
        }
    };
}

pub(super) use hooks;

/// Who calls a function in every version of ROS 2 that has it. It decides what it means that nobody asked the linker for it (`visibility`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    /// The library that defines it, itself; perhaps others too.
    Within,
    /// Other libraries or the application, which may not be loaded yet.
    Across,
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
    /// What it would tell happens without it being called.
    Bypassed = 5,
}

impl Hook {
    /// Of a symbol with a zero at its end.
    pub(crate) const fn new(
        symbol: &'static str,
        libraries: &'static [&'static str],
        called: Called,
    ) -> Hook {
        let Ok(name) = CStr::from_bytes_with_nul(symbol.as_bytes()) else {
            panic!("a symbol has a zero at its end and nowhere else")
        };
        Hook {
            name,
            libraries,
            called,
            original: AtomicPtr::new(std::ptr::null_mut()),
            originals: FunctionsByCaller::new(),
            state: AtomicU8::new(0),
        }
    }

    /// The function that the caller would have reached without us. None if no object in the process defines it: then nobody could have
    /// called it either, and it is said once.
    #[inline]
    pub(crate) fn original(&self, caller: Caller) -> Option<*const c_void> {
        // Another thread may have found it in a library that was loaded just now: what the linker wrote there has to be seen too.
        let known = self.original.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known.cast_const());
        }
        let caller = caller.address();
        self.originals
            .get(caller as usize)
            .or_else(|| self.find(caller))
    }

    #[cold]
    #[inline(never)]
    fn find(&self, caller: *const c_void) -> Option<*const c_void> {
        let found = thread::undisturbed(|| scope::original(self.name, self.libraries, caller));
        let Some(found) = found else {
            if self.state.swap(State::Missing as u8, Ordering::Relaxed) != State::Missing as u8 {
                thread::undisturbed(|| say_missing(self.name));
            }
            return None;
        };
        match found.holds_for {
            HoldsFor::Everybody => {
                let address = found.address.cast_mut();
                self.original.store(address, Ordering::Release);
            }
            HoldsFor::CallersIn(range) => self.originals.add(range, found.address),
            HoldsFor::ThisCall => {}
        }
        for before in [0, State::Bypassed as u8, State::Missing as u8] {
            self.change(before, State::On);
        }
        Some(found.address)
    }

    pub(crate) fn set(&self, state: State) {
        if self.state.swap(state as u8, Ordering::Relaxed) != state as u8 {
            super::publish();
        }
    }

    /// Says that what it would tell happened without it, unless it was called before.
    pub(crate) fn bypass(&self) {
        self.change(0, State::Bypassed);
    }

    fn change(&self, before: u8, state: State) {
        let relaxed = Ordering::Relaxed;
        let changed = (self.state).compare_exchange(before, state as u8, relaxed, relaxed);
        if changed.is_ok() {
            super::publish();
        }
    }

    /// As the control page has it; 0 for one that nothing is known of.
    pub(super) fn state(&self) -> u8 {
        self.state.load(Ordering::Relaxed)
    }

    pub(crate) fn is_unexpected(&self) -> bool {
        self.state() == State::Unexpected as u8
    }
}

/// A function of the same library as an original, which is called but not interposed.
#[derive(Debug)]
pub(crate) struct Companion {
    name: &'static CStr,
    known: FunctionsByCaller<4>,
}

impl Companion {
    pub(crate) const fn new(name: &'static CStr) -> Companion {
        Companion {
            name,
            known: FunctionsByCaller::new(),
        }
    }

    /// The one that belongs to this original.
    pub(crate) fn beside(&self, original: *const c_void) -> Option<*const c_void> {
        let at = original as usize;
        if let Some(known) = self.known.get(at) {
            return Some(known);
        }
        let found = thread::undisturbed(|| scope::beside(original, self.name))?;
        if found.is_kept {
            self.known.add(at..at + 1, found.address);
        }
        Some(found.address)
    }
}

/// Addresses of functions by the code that they are for. It is only ever added to; what finds no room is looked up again.
#[derive(Debug)]
struct FunctionsByCaller<const ROWS: usize> {
    rows: [FunctionOfRange; ROWS],
}

#[derive(Debug)]
struct FunctionOfRange {
    /// 0 for a free row, 1 for one that is being written.
    start: AtomicUsize,
    end: AtomicUsize,
    function: AtomicPtr<c_void>,
}

impl<const ROWS: usize> FunctionsByCaller<ROWS> {
    const fn new() -> FunctionsByCaller<ROWS> {
        FunctionsByCaller {
            rows: [const {
                FunctionOfRange {
                    start: AtomicUsize::new(0),
                    end: AtomicUsize::new(0),
                    function: AtomicPtr::new(std::ptr::null_mut()),
                }
            }; ROWS],
        }
    }

    fn get(&self, at: usize) -> Option<*const c_void> {
        for row in &self.rows {
            let start = row.start.load(Ordering::Acquire);
            if start == 0 {
                return None;
            }
            if start > 1 && (start..row.end.load(Ordering::Relaxed)).contains(&at) {
                return Some(row.function.load(Ordering::Relaxed).cast_const());
            }
        }
        None
    }

    fn add(&self, range: Range<usize>, function: *const c_void) {
        let claim = |row: &&FunctionOfRange| {
            let (order, failure) = (Ordering::Acquire, Ordering::Relaxed);
            row.start.compare_exchange(0, 1, order, failure).is_ok()
        };
        if let Some(row) = self.rows.iter().find(claim) {
            row.end.store(range.end, Ordering::Relaxed);
            row.function.store(function.cast_mut(), Ordering::Relaxed);
            row.start.store(range.start, Ordering::Release);
        }
    }
}

/// On standard error, in one piece and without memory of our own.
fn say_missing(name: &CStr) {
    let parts: [&[u8]; 3] = [
        b"rostrace: ",
        name.to_bytes(),
        b" was called, but nothing that is loaded in this process defines it: the call fails.\n",
    ];
    let parts = parts.map(|part| libc::iovec {
        iov_base: part.as_ptr().cast_mut().cast(),
        iov_len: part.len(),
    });
    // SAFETY: the texts live during the call. Nothing is done if it fails.
    unsafe { libc::writev(2, parts.as_ptr(), parts.len() as i32) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_has_its_own_original_and_a_full_table_knows_no_more() {
        let table: FunctionsByCaller<2> = FunctionsByCaller::new();
        let function = |number: usize| number as *const c_void;
        table.add(100..200, function(7));
        table.add(300..400, function(8));
        table.add(500..600, function(9));
        assert_eq!(table.get(99), None);
        assert_eq!(table.get(100), Some(function(7)));
        assert_eq!(table.get(399), Some(function(8)));
        assert_eq!(table.get(400), None);
        assert_eq!(table.get(550), None);
    }
}
