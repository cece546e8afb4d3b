//! A process that is about to lock all its memory: packets that nobody uses are closed to it, and opened when it has done so.
//!
//! `mlockall` allocates what can be touched. Most of a process's packets are never used, so they are closed meanwhile: they keep their place, but
//! nothing is allocated. They still count against what the process may lock. Where it has such a limit and `mlockall` refuses, they
//! are taken out altogether, and put back afterwards, not locked: a mapping is made longer again at its end, which needs no file. Where that
//! fails, because somebody else has mapped something there meanwhile, or may not have so many addresses, they stay away, and the process is
//! recorded with what is left.

use std::sync::atomic::Ordering;

use crate::memory::Memory;
use crate::memory::supply::Class;

/// Free packets that threads find meanwhile.
const KEPT: usize = 4;
/// Free packets that are looked at.
const MOST: usize = 256;

/// What was closed or taken out, of each class.
#[derive(Debug)]
pub struct Spare {
    classes: [SpareOfClass; 2],
    /// Their places are not ours any more.
    is_out: bool,
}

#[derive(Debug)]
struct SpareOfClass {
    /// Free packets, with the smallest number first.
    free: [u32; MOST],
    count: usize,
    /// From this one on they were never handed out.
    unused: u32,
}

fn classes(memory: &Memory) -> [(Class<'static>, u32); 2] {
    [
        (Class::small(memory), memory.layout.small),
        (Class::large(memory), memory.layout.large),
    ]
}

impl Spare {
    /// Closes spare packets to this process. Nobody is given one until they are open again.
    pub fn shut(memory: &Memory) -> Spare {
        let spare = Spare {
            classes: classes(memory).map(|(class, all)| class.set_aside(memory, all)),
            is_out: false,
        };
        spare.each_part(memory, |at, bytes| memory.shut(at, bytes));
        spare
    }

    /// Takes them out of the process, so that they do not count: also the large ones that were kept, since small ones will do meanwhile.
    pub fn take_out(&mut self, memory: &Memory) {
        self.is_out = true;
        let [_, large] = &mut self.classes;
        large.take_free(&Class::large(memory), memory);
        self.each_part(memory, |at, bytes| memory.unmap(at, bytes));
    }

    fn each_part(&self, memory: &Memory, mut with: impl FnMut(usize, usize)) {
        for ((class, all), spare) in classes(memory).into_iter().zip(&self.classes) {
            for packet in &spare.free[..spare.count] {
                let (at, bytes) = memory.layout.packet(*packet);
                with(at, bytes);
            }
            if spare.unused < all {
                let (at, bytes) = class.unused(memory, spare.unused, all);
                with(at, bytes);
            }
        }
    }

    /// Everything is as before. False if something stays away for good.
    pub fn put_back(self, memory: &Memory) -> bool {
        let classes = classes(memory);
        // In the order of their addresses: each needs what lies before it.
        let all = classes.into_iter().zip(&self.classes);
        all.fold(true, |is_whole, ((class, all), spare)| {
            class.put_back(memory, all, spare, self.is_out) && is_whole
        })
    }
}

impl SpareOfClass {
    /// Takes the free packets, too.
    fn take_free(&mut self, class: &Class<'_>, memory: &Memory) {
        while self.count < MOST
            && let Some(packet) = class.list.pop(&memory.packets())
        {
            self.free[self.count] = packet;
            self.count += 1;
        }
        self.free[..self.count].sort_unstable();
    }
}

impl Class<'_> {
    /// Packets that nobody can get until they are put back.
    fn set_aside(&self, memory: &Memory, all: u32) -> SpareOfClass {
        // Nobody claims one after this.
        let unused = self.supplied.swap(all, Ordering::AcqRel).min(all);
        let mut spare = SpareOfClass {
            free: [u32::MAX; MOST],
            count: 0,
            unused,
        };
        let mut kept = [u32::MAX; KEPT];
        for kept in &mut kept {
            *kept = self.list.pop(&memory.packets()).unwrap_or(u32::MAX);
        }
        spare.take_free(self, memory);
        for packet in kept.into_iter().filter(|packet| *packet != u32::MAX) {
            self.list.push(&memory.packets(), packet);
        }
        spare
    }

    fn put_back(&self, memory: &Memory, all: u32, spare: &SpareOfClass, is_out: bool) -> bool {
        let back = |at, bytes| match is_out {
            true => memory.map_again(at, bytes),
            false => memory.open_again(at, bytes),
        };
        let mut is_whole = true;
        for packet in &spare.free[..spare.count] {
            let (at, bytes) = memory.layout.packet(*packet);
            match back(at, bytes) {
                true => self.list.push(&memory.packets(), *packet),
                false => is_whole = false,
            }
        }
        if spare.unused < all {
            let (at, bytes) = self.unused(memory, spare.unused, all);
            match back(at, bytes) {
                true => self.supplied.store(spare.unused, Ordering::Release),
                false => is_whole = false,
            }
        }
        is_whole
    }

    fn unused(&self, memory: &Memory, unused: u32, all: u32) -> (usize, usize) {
        let (at, _) = memory.layout.packet(self.first + unused);
        (at, (all - unused) as usize * self.bytes)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::ffi::CString;

    use super::*;
    use crate::memory::header::Introduction;
    use crate::memory::supply::{Supply, take_packet};
    use crate::process::Identity;

    /// For one test.
    pub(in crate::memory) fn memory(name: &str) -> Memory {
        let path = format!("/dev/shm/rostrace-test-{name}-{}", std::process::id());
        let path = CString::new(path).unwrap();
        let who = Introduction {
            identity: Identity {
                pid: 1,
                start_time: 1,
                pid_namespace: 1,
                name: [0; 16],
            },
            tracetools_version: b"8.2.0",
            program: b"test",
            host: b"host",
            is_kept_by_itself: false,
        };
        let memory = Memory::create(&path, &who).unwrap();
        // SAFETY: the name ends with a zero; what is mapped stays.
        unsafe { libc::unlink(path.as_ptr()) };
        memory
    }

    fn supply(memory: &Memory) {
        let populate = |at, bytes| memory.populate(at, bytes);
        let (_, error) = Supply::new(64 << 20).top_up(memory, &populate);
        assert_eq!(error, None);
    }

    /// Takes packets until there are none, and writes to all of each.
    fn use_up(memory: &Memory) -> usize {
        let mut count = 0;
        while let Some(packet) = take_packet(memory, 100, true) {
            let (place, bytes) = memory.packet(packet);
            // SAFETY: taken by this thread alone.
            unsafe { place.0.write_bytes(1, bytes) };
            count += 1;
        }
        count
    }

    fn is_mapped(memory: &Memory, packet: u32) -> bool {
        let (place, bytes) = memory.packet(packet);
        // SAFETY: only asks; the addresses are multiples of a page.
        unsafe { libc::msync(place.0.cast(), bytes, libc::MS_ASYNC) == 0 }
    }

    #[test]
    fn what_was_taken_out_comes_back_and_can_all_be_used() {
        for (is_out, name) in [(false, "spare-opened"), (true, "spare-comes-back")] {
            let memory = memory(name);
            supply(&memory);
            let mut spare = Spare::shut(&memory);
            let last = memory.layout().packets() - 1;
            if is_out {
                spare.take_out(&memory);
            }
            assert_eq!(is_mapped(&memory, last), !is_out);
            let meanwhile = use_up(&memory);
            assert_eq!(meanwhile, if is_out { KEPT } else { 2 * KEPT });
            assert!(spare.put_back(&memory));
            assert!(is_mapped(&memory, last));
            let all = memory.layout().packets() as usize;
            assert_eq!(meanwhile + use_up(&memory), all);
        }
    }

    #[test]
    fn a_process_that_is_not_recorded_yet_has_packets_afterwards() {
        let memory = memory("spare-before");
        assert!(Spare::shut(&memory).put_back(&memory));
        supply(&memory);
        assert_eq!(use_up(&memory), memory.layout().packets() as usize);
    }

    /// Maps something where a packet is, unless there is something already.
    fn map_over(memory: &Memory) -> (*mut u8, *mut u8) {
        let (place, bytes) = memory.packet(memory.layout().packets() - 2);
        // SAFETY: nothing is there, or the call fails.
        let theirs = unsafe {
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            libc::mmap(place.0.cast(), bytes, rights, flags, -1, 0).cast::<u8>()
        };
        (theirs, place.0)
    }

    #[test]
    fn what_somebody_else_has_mapped_there_stays_theirs() {
        let memory = memory("spare-of-others");
        supply(&memory);
        let mut spare = Spare::shut(&memory);
        spare.take_out(&memory);
        let (theirs, place) = map_over(&memory);
        assert_eq!(theirs, place);
        assert!(!spare.put_back(&memory));
        let used = use_up(&memory);
        assert!((200..memory.layout().packets() as usize).contains(&used));
        // SAFETY: mapped above.
        assert_eq!(unsafe { theirs.read() }, 0);
    }

    #[test]
    fn nobody_gets_the_place_of_what_is_only_shut() {
        let memory = memory("spare-keeps-its-place");
        supply(&memory);
        let spare = Spare::shut(&memory);
        let (theirs, _) = map_over(&memory);
        assert_eq!(theirs.cast(), libc::MAP_FAILED);
        assert!(spare.put_back(&memory));
    }
}
