//! The tracer's own heap. What it allocates never comes from the program's: a program whose `malloc` fails, waits, counts or runs on a budget
//! must not notice the tracer, nor the tracer such a program.
//!
//! The library is linked with `--wrap` for the functions below (see build.rs), so that Rust's allocator ends up here; in a Rust program that
//! uses the tracer as a crate they are not called.
//!
//! Blocks have powers of two as sizes, with a list of free ones for each, without a lock: a fork at any moment, also one that does not run the
//! handlers of `pthread_atfork`, leaves a child with a heap that works. Memory of the lists is never given back to the system, so who looks at
//! a block that another has just taken looks at memory that is there. Large blocks are maps of their own.
//!
//! Where the system has no memory left, a thread of the tracer waits for some, and ends its work if the process ends first
//! ([`wait_for_memory`]): Rust aborts the process where an allocation fails. Threads of the program, which allocate a little when the tracer
//! attaches, have a reserve.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The first word says where the block begins and what it is, the second that it is one of ours.
const HEAD: usize = 16;
/// Block sizes of the lists: 32 bytes to 256 KB.
const CLASSES: usize = 14;
const SMALLEST: usize = 32;
const LARGEST: usize = SMALLEST << (CLASSES - 1);
/// In place of a class: a map of its own, whose length is in its first word.
const MAPPED: usize = 15;
/// Small blocks come from the system so many bytes at a time.
const SLAB: usize = 16 << 10;
const PAGE: usize = 4096;
/// Combined with the address of a block: no other heap has that in front of one.
const OURS: u64 = 0x726f_7374_7261_6365;

/// Heads of the lists: the address of the first block, which is a multiple of 16 below 2⁴⁸, and 20 bits that change with each removal.
static FREE: [AtomicU64; CLASSES] = [const { AtomicU64::new(0) }; CLASSES];

fn packed(block: usize, tag: u64) -> u64 {
    (block as u64 >> 4) | tag << 44
}

fn block_of(packed: u64) -> usize {
    ((packed & ((1 << 44) - 1)) << 4) as usize
}

fn turn_of(packed: u64) -> u64 {
    packed >> 44
}

/// # Safety
/// The block is of this class, and nobody uses it.
unsafe fn put(class: usize, block: usize) {
    let list = &FREE[class];
    let mut head = list.load(Ordering::Relaxed);
    loop {
        // SAFETY: as the caller promises; who still has an old head may read this word, atomically, too.
        unsafe { &*(block as *const AtomicU64) }.store(head, Ordering::Relaxed);
        let new = packed(block, turn_of(head));
        match list.compare_exchange_weak(head, new, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

fn take(class: usize) -> Option<usize> {
    let list = &FREE[class];
    let mut head = list.load(Ordering::Acquire);
    while block_of(head) != 0 {
        // SAFETY: memory of the lists stays mapped. If another thread has the block now, the word means nothing and the exchange fails.
        let next = unsafe { &*(block_of(head) as *const AtomicU64) }.load(Ordering::Relaxed);
        let new = packed(block_of(next), turn_of(head) + 1);
        match list.compare_exchange_weak(head, new, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => return Some(block_of(head)),
            Err(now) => head = now,
        }
    }
    None
}

fn map(bytes: usize) -> Option<usize> {
    // SAFETY: a new map, wherever there is room.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    (mapped != libc::MAP_FAILED).then_some(mapped as usize)
}

/// A block of the class, made by dividing new memory if none is free.
fn block(class: usize) -> Option<usize> {
    if let Some(block) = take(class) {
        return Some(block);
    }
    let size = SMALLEST << class;
    let bytes = size.max(SLAB);
    let first = map(bytes)?;
    for other in (first + size..first + bytes).step_by(size) {
        // SAFETY: a part of the new memory that nothing else has.
        unsafe { put(class, other) };
    }
    Some(first)
}

thread_local! {
    /// The thread belongs to the tracer.
    static MAY_WAIT: Cell<Option<&'static (dyn Fn() + Sync)>> = const { Cell::new(None) };
}

/// The calling thread is of the tracer: where there is no memory, it calls the function and tries again.
pub(crate) fn wait_for_memory(meanwhile: &'static (dyn Fn() + Sync)) {
    MAY_WAIT.set(Some(meanwhile));
}

const BETWEEN_TRIES: Duration = Duration::from_millis(1);

fn allocate(size: usize, alignment: usize) -> *mut c_void {
    loop {
        let allocated = try_to_allocate(size, alignment);
        if !allocated.is_null() {
            return allocated;
        }
        match MAY_WAIT.get() {
            Some(meanwhile) => {
                meanwhile();
                std::thread::sleep(BETWEEN_TRIES);
            }
            None => return from_reserve(size, alignment),
        }
    }
}

fn try_to_allocate(size: usize, alignment: usize) -> *mut c_void {
    let alignment = alignment.max(HEAD);
    let room = HEAD + if alignment > HEAD { alignment } else { 0 };
    let Some(bytes) = size.checked_add(room).filter(|it| *it < 1 << 46) else {
        return std::ptr::null_mut();
    };
    let class = bytes.div_ceil(SMALLEST).next_power_of_two().ilog2() as usize;
    let (base, kind) = if bytes <= LARGEST {
        (block(class), class)
    } else {
        let length = (bytes + HEAD).next_multiple_of(PAGE);
        let base = map(length);
        if let Some(base) = base {
            // SAFETY: the beginning of the new map.
            unsafe { (base as *mut usize).write(length) };
        }
        (base, MAPPED)
    };
    let Some(base) = base else {
        return std::ptr::null_mut();
    };
    let first = base + HEAD + if kind == MAPPED { HEAD } else { 0 };
    // SAFETY: the block has room for a head in front of the next multiple of the alignment, and for the size behind it.
    unsafe { marked(first.next_multiple_of(alignment), base | kind) }
}

/// # Safety
/// There is room for a head in front of the address.
unsafe fn marked(at: usize, origin: usize) -> *mut c_void {
    // SAFETY: as the caller promises.
    unsafe {
        ((at - 16) as *mut usize).write(origin);
        ((at - 8) as *mut u64).write(at as u64 ^ OURS);
    }
    at as *mut c_void
}

/// For threads of the program when the system gives nothing. What comes from here is never free again.
#[repr(align(16))]
struct Reserve(std::cell::UnsafeCell<[u8; RESERVE]>);
const RESERVE: usize = 64 << 10;
/// In place of a class, too.
const RESERVED: usize = 14;
// SAFETY: each byte is given away once.
unsafe impl Sync for Reserve {}
static RESERVED_BYTES: Reserve = Reserve(std::cell::UnsafeCell::new([0; RESERVE]));
static RESERVE_USED: AtomicUsize = AtomicUsize::new(0);

fn from_reserve(size: usize, alignment: usize) -> *mut c_void {
    let alignment = alignment.max(HEAD);
    let bytes = size.saturating_add(HEAD + alignment);
    let taken = RESERVE_USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
        used.checked_add(bytes)
            .filter(|used| *used <= RESERVE)
            .map(|used| used.next_multiple_of(16))
    });
    let Ok(before) = taken else {
        return std::ptr::null_mut();
    };
    let base = RESERVED_BYTES.0.get() as usize + before;
    // SAFETY: `bytes` from there on are nobody else's. The head says where they end.
    unsafe {
        let end = (base + bytes) & !15;
        marked((base + HEAD).next_multiple_of(alignment), end | RESERVED)
    }
}

/// Where the block of this address begins and what it is, if it is one of ours.
///
/// # Safety
/// The address is one that an allocator gave.
unsafe fn origin(at: usize) -> Option<(usize, usize)> {
    // SAFETY: every allocator has something in front of what it gives, and two words are within the same page or mapped before it.
    unsafe {
        if ((at - 8) as *const u64).read() != at as u64 ^ OURS {
            return None;
        }
        let origin = ((at - 16) as *const usize).read();
        Some((origin & !15, origin & 15))
    }
}

/// How many bytes from this address on belong to the block.
///
/// # Safety
/// As `origin` said of this address.
unsafe fn capacity(at: usize, (base, kind): (usize, usize)) -> usize {
    match kind {
        // SAFETY: a map begins with its length.
        MAPPED => base + unsafe { (base as *const usize).read() } - at,
        RESERVED => base - at,
        class => base + (SMALLEST << class) - at,
    }
}

extern "C" fn own_malloc(size: usize) -> *mut c_void {
    allocate(size, HEAD)
}

extern "C" fn own_calloc(count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else {
        return std::ptr::null_mut();
    };
    let at = allocate(bytes, HEAD);
    if !at.is_null() {
        // SAFETY: so many bytes were just allocated.
        unsafe { at.write_bytes(0, bytes) };
    }
    at
}

unsafe extern "C" fn own_posix_memalign(
    result: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    let at = allocate(size, alignment);
    if at.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller wants the address there.
    unsafe { result.write(at) };
    0
}

/// What is not ours is left as it is. Nothing here gets memory of the program's that it would have to free.
unsafe extern "C" fn own_free(at: *mut c_void) {
    let at = at as usize;
    // SAFETY: the caller got the address from an allocator, and nobody uses it any more.
    unsafe {
        match (at != 0).then(|| origin(at)).flatten() {
            None | Some((_, RESERVED)) => {}
            Some((base, MAPPED)) => {
                let length = (base as *const usize).read();
                libc::munmap(base as *mut c_void, length);
            }
            Some((base, class)) => {
                ((at - 8) as *mut u64).write(0);
                put(class, base);
            }
        }
    }
}

unsafe extern "C" fn own_realloc(before: *mut c_void, size: usize) -> *mut c_void {
    if before.is_null() {
        return own_malloc(size);
    }
    let at = before as usize;
    // SAFETY: the caller got the address from here; the new block has room for what of the old one is copied.
    unsafe {
        let Some(origin) = origin(at) else {
            return std::ptr::null_mut();
        };
        let capacity = capacity(at, origin);
        if size <= capacity {
            return before;
        }
        let new = own_malloc(size);
        if !new.is_null() {
            new.cast::<u8>()
                .copy_from_nonoverlapping(before.cast(), capacity);
            own_free(before);
        }
        new
    }
}

/// The names that `--wrap` gives to references. Not exported: a program may have functions of the same names.
macro_rules! wrapped {
    ($($name:literal => $function:ident),* $(,)?) => {
        std::arch::global_asm!(
            ".pushsection .text.rostrace_own_heap, \"ax\", %progbits",
            $(
                concat!(".hidden __wrap_", $name),
                concat!(".globl __wrap_", $name),
                concat!(".type __wrap_", $name, ", %function"),
                concat!("__wrap_", $name, ":"),
                #[cfg(target_arch = "x86_64")]
                concat!("jmp {", stringify!($function), "}"),
                #[cfg(not(target_arch = "x86_64"))]
                concat!("b {", stringify!($function), "}"),
            )*
            ".popsection",
            $($function = sym $function,)*
        );
    };
}

wrapped! {
    "malloc" => own_malloc,
    "calloc" => own_calloc,
    "realloc" => own_realloc,
    "posix_memalign" => own_posix_memalign,
    "free" => own_free,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of a generator, so that runs repeat.
    fn next(state: &mut u64) -> usize {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    fn fill(at: *mut c_void, size: usize, mark: u8) {
        // SAFETY: the tests own the block.
        unsafe { at.cast::<u8>().write_bytes(mark, size) };
    }

    fn is_filled(at: *mut c_void, size: usize, mark: u8) -> bool {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(at.cast::<u8>(), size) }
            .iter()
            .all(|byte| *byte == mark)
    }

    /// Blocks of all sizes and alignments, each full of a mark of its own, in four threads that also free what others allocated.
    #[test]
    fn blocks_never_overlap() {
        let handed_over = std::sync::Mutex::new(Vec::<(usize, usize, u8)>::new());
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let handed_over = &handed_over;
                scope.spawn(move || {
                    let mut state = thread + 1;
                    let mut held: Vec<(usize, usize, u8)> = Vec::new();
                    for round in 0..20_000_u32 {
                        let limit = [40, 600, 5_000, 70_000, 600_000][(round % 97 / 24) as usize];
                        let size = next(&mut state) % limit;
                        let mark = next(&mut state) as u8;
                        match next(&mut state) % 5 {
                            0 | 1 => {
                                let alignment = 16 << (next(&mut state) % 9);
                                let mut at = std::ptr::null_mut();
                                // SAFETY: the result is wanted there.
                                let status =
                                    unsafe { own_posix_memalign(&mut at, alignment, size) };
                                assert_eq!(status, 0);
                                assert_eq!(at as usize % alignment, 0);
                                fill(at, size, mark);
                                held.push((at as usize, size, mark));
                            }
                            2 if !held.is_empty() => {
                                let index = next(&mut state) % held.len();
                                let (at, before, old) = held[index];
                                // SAFETY: the block is ours.
                                let at = unsafe { own_realloc(at as *mut c_void, size) };
                                assert!(is_filled(at, size.min(before), old));
                                fill(at, size, mark);
                                held[index] = (at as usize, size, mark);
                            }
                            3 if !held.is_empty() => {
                                let index = next(&mut state) % held.len();
                                let given = held.swap_remove(index);
                                handed_over.lock().unwrap().push(given);
                            }
                            _ => {
                                let Some((at, size, mark)) = handed_over.lock().unwrap().pop()
                                else {
                                    continue;
                                };
                                assert!(is_filled(at as *mut c_void, size, mark));
                                // SAFETY: nobody else knows the block any more.
                                unsafe { own_free(at as *mut c_void) };
                            }
                        }
                    }
                    for (at, size, mark) in held {
                        assert!(is_filled(at as *mut c_void, size, mark));
                        // SAFETY: as above.
                        unsafe { own_free(at as *mut c_void) };
                    }
                });
            }
        });
    }

    #[test]
    fn cleared_memory_is_clear_when_used_again() {
        for _ in 0..3 {
            let at = own_calloc(10, 100);
            assert!(is_filled(at, 1000, 0));
            fill(at, 1000, 7);
            // SAFETY: the block is ours.
            unsafe { own_free(at) };
        }
    }

    #[test]
    fn what_cannot_be_is_null() {
        assert!(own_calloc(usize::MAX, 2).is_null());
        assert!(try_to_allocate(usize::MAX - 8, 16).is_null());
    }

    #[test]
    fn blocks_of_others_are_left_alone() {
        // SAFETY: the block is freed by its own allocator, after ours refused to.
        unsafe {
            let theirs = libc::malloc(100);
            own_free(theirs);
            fill(theirs, 100, 3);
            libc::free(theirs);
        }
    }

    #[test]
    fn the_reserve_ends() {
        let mut count = 0;
        let mut last = 0;
        loop {
            let at = from_reserve(1000, 64);
            if at.is_null() {
                break;
            }
            assert!(at as usize >= last + 1000);
            assert_eq!(at as usize % 64, 0);
            fill(at, 1000, 9);
            last = at as usize;
            count += 1;
        }
        assert!((50..=64).contains(&count), "{count}");
    }
}
