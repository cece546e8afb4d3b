//! The set of addresses of entities that are not recorded, in shared memory: the keeper fills it, every event of the process asks it.

use std::sync::atomic::Ordering;

use crate::memory::Memory;

/// In the table: nothing was ever here, something was.
const EMPTY: u64 = 0;
const GONE: u64 = 1;

/// Allocates the table when a filter is to be used.
pub(crate) fn allocate(
    memory: &Memory,
    allocate: &dyn Fn(usize, usize) -> Result<(), i32>,
) -> Result<(), i32> {
    match memory
        .header()
        .recording
        .is_filtered
        .load(Ordering::Relaxed)
    {
        0 => Ok(()),
        _ => allocate(
            memory.layout().filter_at(),
            crate::memory::layout::FILTER_SLOTS * 8,
        ),
    }
}

impl Memory {
    /// Whether what happens to this entity is left out.
    #[inline(always)]
    pub fn refuses(&self, address: u64) -> bool {
        self.header().recording.is_filtered.load(Ordering::Relaxed) != 0
            && self.is_in_filter_table(address)
    }

    #[inline(never)]
    pub(super) fn is_in_filter_table(&self, address: u64) -> bool {
        let table = self.filter_table();
        for step in 0..table.len() {
            match table[place(address, step, table.len())].load(Ordering::Relaxed) {
                EMPTY => return false,
                found if found == address => return address > GONE,
                _ => {}
            }
        }
        false
    }

    pub(super) fn refuse(&self, address: u64) -> bool {
        let table = self.filter_table();
        if address <= GONE || self.is_in_filter_table(address) {
            return false;
        }
        // Half of it stays free; what does not fit is recorded although it is not wanted.
        for step in 0..table.len() / 2 {
            let place = &table[place(address, step, table.len())];
            if matches!(place.load(Ordering::Relaxed), EMPTY | GONE) {
                place.store(address, Ordering::Relaxed);
                return true;
            }
        }
        false
    }

    pub(super) fn accept(&self, address: u64) -> bool {
        let table = self.filter_table();
        for step in 0..table.len() {
            let place = &table[place(address, step, table.len())];
            match place.load(Ordering::Relaxed) {
                EMPTY => return false,
                found if found == address && address > GONE => {
                    place.store(GONE, Ordering::Relaxed);
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// Returns whether that is new.
    pub(super) fn judge(&self, address: u64, is_wanted: bool) -> bool {
        match is_wanted {
            true => self.accept(address),
            false => self.refuse(address),
        }
    }

    /// Nothing is refused any more.
    pub(super) fn clear_filter_table(&self) {
        for place in self.filter_table() {
            place.store(EMPTY, Ordering::Relaxed);
        }
    }
}

fn place(address: u64, step: usize, places: usize) -> usize {
    let hash = address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (hash as usize + step) % places
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashSet;
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::*;
    use crate::memory::header::Introduction;
    use crate::memory::layout::FILTER_SLOTS;

    /// Memory with a table; each test has its own.
    pub(crate) fn memory(place: &'static OnceLock<Memory>) -> &'static Memory {
        place.get_or_init(|| {
            let memory = Memory::anonymous(&Introduction::OF_A_TEST).expect("there is memory");
            memory
                .header()
                .recording
                .is_filtered
                .store(1, Ordering::Relaxed);
            memory
        })
    }

    fn address(number: usize) -> u64 {
        0x7f00_0000_0000 + 0x1000 * number as u64
    }

    proptest! {
        #[test]
        fn the_table_is_a_set(changes in prop::collection::vec((0..40_u64, any::<bool>()), 0..200)) {
            static MEMORY: OnceLock<Memory> = OnceLock::new();
            let memory = memory(&MEMORY);
            memory.clear_filter_table();
            let mut expected = HashSet::new();
            for (address, is_wanted) in changes {
                memory.judge(address, is_wanted);
                match is_wanted {
                    true => expected.remove(&address),
                    // Nothing lies at the first addresses, which mean something else in the table.
                    false => address > GONE && expected.insert(address),
                };
                for address in 0..40 {
                    prop_assert_eq!(memory.refuses(address), expected.contains(&address));
                }
            }
        }
    }

    #[test]
    fn a_table_that_is_full_refuses_nothing_that_was_not_put_there() {
        static MEMORY: OnceLock<Memory> = OnceLock::new();
        let memory = memory(&MEMORY);
        memory.clear_filter_table();
        let addresses = |from: usize| (from..from + FILTER_SLOTS).map(address);
        for address in addresses(0) {
            memory.refuse(address);
        }
        // Some of the last ones may not have found a place; whoever was not refused never is.
        assert!(addresses(0).filter(|it| memory.refuses(*it)).count() > FILTER_SLOTS / 2);
        assert!(!addresses(FILTER_SLOTS).any(|it| memory.refuses(it)));
        for address in addresses(0) {
            memory.accept(address);
        }
        assert!(!addresses(0).any(|it| memory.refuses(it)));
        memory.refuse(address(7));
        assert!(memory.refuses(address(7)));
    }
}
