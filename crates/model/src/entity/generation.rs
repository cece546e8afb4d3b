//! Which of several entities at one address existed at a time.

use rostrace_ctf::schema::Nanos;
use rustc_hash::FxHashMap;

use super::{Address, ProcessId};

/// For one kind of address: the entities that were created there, in the order of time.
#[derive(Debug)]
pub(crate) struct Generations<T> {
    by_address: FxHashMap<(ProcessId, Address), Vec<(Nanos, T)>>,
}

impl<T> Default for Generations<T> {
    fn default() -> Generations<T> {
        Generations {
            by_address: FxHashMap::default(),
        }
    }
}

impl<T: Copy + PartialEq> Generations<T> {
    /// Creations come in the order of time.
    pub(crate) fn create(&mut self, process: ProcessId, address: Address, at: Nanos, entity: T) {
        self.by_address
            .entry((process, address))
            .or_default()
            .push((at, entity));
    }

    /// The entity that an event at this time means: the youngest that existed.
    pub(crate) fn at(&self, process: ProcessId, address: Address, time: Nanos) -> Option<T> {
        let generations = self.by_address.get(&(process, address))?;
        let younger = generations.partition_point(|(created, _)| *created <= time);
        younger.checked_sub(1).map(|last| generations[last].1)
    }

    /// The entity that an event of the initialisation means: the youngest that existed or, if the events came
    /// in an unusual order, the first that follows.
    pub(crate) fn around(&self, process: ProcessId, address: Address, time: Nanos) -> Option<T> {
        self.at(process, address, time).or_else(|| {
            let generations = self.by_address.get(&(process, address))?;
            generations.first().map(|(_, entity)| *entity)
        })
    }

    /// The first entity that was created after a time.
    pub(crate) fn after(&self, process: ProcessId, address: Address, time: Nanos) -> Option<T> {
        let generations = self.by_address.get(&(process, address))?;
        let younger = generations.partition_point(|(created, _)| *created <= time);
        generations.get(younger).map(|(_, entity)| *entity)
    }

    /// The entity whose creation is nearest in time.
    pub(crate) fn nearest(&self, process: ProcessId, address: Address, time: Nanos) -> Option<T> {
        let generations = self.by_address.get(&(process, address))?;
        let distance = |created: &Nanos| created.0.abs_diff(time.0);
        generations
            .iter()
            .min_by_key(|(created, _)| distance(created))
            .map(|(_, entity)| *entity)
    }

    /// When the address was used again after an entity that was created there at a time.
    pub(crate) fn end_of(
        &self,
        process: ProcessId,
        address: Address,
        created: Nanos,
        entity: T,
    ) -> Option<Nanos> {
        let generations = self.by_address.get(&(process, address))?;
        let first = generations.partition_point(|(at, _)| *at < created);
        let place = generations[first..]
            .iter()
            .position(|(_, other)| *other == entity)?;
        generations.get(first + place + 1).map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: ProcessId = ProcessId(0);
    const ADDRESS: Address = Address(0x1000);

    fn two() -> Generations<char> {
        let mut generations = Generations::default();
        generations.create(PROCESS, ADDRESS, Nanos(100), 'a');
        generations.create(PROCESS, ADDRESS, Nanos(200), 'b');
        generations
    }

    #[test]
    fn an_address_that_is_used_again_means_the_younger_entity_from_then_on() {
        let generations = two();
        assert_eq!(generations.at(PROCESS, ADDRESS, Nanos(99)), None);
        assert_eq!(generations.at(PROCESS, ADDRESS, Nanos(100)), Some('a'));
        assert_eq!(generations.at(PROCESS, ADDRESS, Nanos(199)), Some('a'));
        assert_eq!(generations.at(PROCESS, ADDRESS, Nanos(200)), Some('b'));
        assert_eq!(
            generations.end_of(PROCESS, ADDRESS, Nanos(100), 'a'),
            Some(Nanos(200))
        );
        assert_eq!(generations.end_of(PROCESS, ADDRESS, Nanos(200), 'b'), None);
    }

    #[test]
    fn an_initialisation_event_may_come_before_what_it_refers_to() {
        let generations = two();
        assert_eq!(generations.around(PROCESS, ADDRESS, Nanos(99)), Some('a'));
        assert_eq!(generations.nearest(PROCESS, ADDRESS, Nanos(180)), Some('b'));
    }

    #[test]
    fn the_same_address_in_another_process_is_another_thing() {
        assert_eq!(two().around(ProcessId(1), ADDRESS, Nanos(150)), None);
    }
}
