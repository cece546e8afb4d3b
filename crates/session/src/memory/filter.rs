//! Which nodes and topics are recorded: entities that are not wanted are known by their addresses.
//!
//! What happens to such an entity is not recorded; that it exists is, so that readers know what was left out. An entity whose node or
//! topic is not known is recorded. The rule is CARET's: if anything is selected, only that; otherwise all but what is ignored.
//!
//! The keeper judges everything that exists when a recording begins, the process itself everything new, in the event that tells of it:
//! nothing happens in between. Neither allocates. Addresses that are refused are in the `filter_table`.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::command::{FILTER_BYTES, Filters};
use crate::events;
use crate::glob;
use crate::memory::Memory;
use crate::memory::header::{FilterTexts, write_text};
use crate::statedump::entry::Entry;

/// Links may come before what they link to, and links to links: so often they are followed.
const LINKS: usize = 4;
/// Bytes of the longest name of a node that is compared, with its name space.
const LONGEST_NAME: usize = 2048;

/// Whether there is anything to filter by.
pub fn is_any(filters: &Filters) -> bool {
    let lists = [
        &filters.select_nodes,
        &filters.ignore_nodes,
        &filters.select_topics,
        &filters.ignore_topics,
    ];
    lists.iter().any(|list| !list.is_empty())
}

impl Memory {
    /// Says what is to be filtered by, for the process and for the description of the trace, which is written later.
    pub(crate) fn set_filter_texts(&self, filters: &Filters) {
        let texts = &self.header().filters;
        for (place, text) in [
            (&texts.select_nodes, &filters.select_nodes),
            (&texts.ignore_nodes, &filters.ignore_nodes),
            (&texts.select_topics, &filters.select_topics),
            (&texts.ignore_topics, &filters.ignore_topics),
        ] {
            write_text(place, text);
        }
    }

    /// Says what is to be filtered by, and judges everything that exists. The table is allocated, and nothing is recorded meanwhile.
    pub(crate) fn set_filters(&self, filters: &Filters, entries: &[Entry<'_>]) {
        self.set_filter_texts(filters);
        self.clear_filter_table();
        let node = |handle: u64| {
            let is_it = |entry: &&Entry<'_>| {
                entry.event == events::RCL_NODE_INIT && word(entry.payload, 0) == handle
            };
            entries.iter().rfind(is_it).copied()
        };
        for entry in entries {
            self.filter_entity(entry, &node);
        }
        for _ in 0..LINKS {
            for entry in entries {
                self.filter_link(entry);
            }
        }
    }

    /// Judges an entity that has just come into being. `node` finds the event that a node began with, `all` is everything that is remembered.
    pub fn filter_new<'a>(
        &self,
        entry: &Entry<'_>,
        node: &dyn Fn(u64) -> Option<Entry<'a>>,
        all: impl Iterator<Item = Entry<'a>> + Clone,
    ) {
        let is_entity = self.filter_entity(entry, node);
        let mut is_changed = self.filter_link(entry) || is_entity;
        // What was linked before it was known what it is linked to.
        for _ in 0..LINKS {
            if !std::mem::take(&mut is_changed) {
                return;
            }
            for link in all.clone() {
                is_changed |= self.filter_link(&link);
            }
        }
    }

    /// Judges what belongs to a node. False for events that tell of something else.
    fn filter_entity<'a>(
        &self,
        entry: &Entry<'_>,
        node: &dyn Fn(u64) -> Option<Entry<'a>>,
    ) -> bool {
        let payload = entry.payload;
        let (first, second, third) = (word(payload, 0), word(payload, 1), word(payload, 2));
        match entry.event {
            events::RCL_PUBLISHER_INIT | events::RCL_SUBSCRIPTION_INIT => {
                let is_wanted = self.is_wanted(node(second), Some(text(payload, 24, 0)));
                self.judge(first, is_wanted);
                self.judge(third, is_wanted);
            }
            events::RCL_SERVICE_INIT | events::RCL_CLIENT_INIT => {
                let is_wanted = self.is_wanted(node(second), None);
                self.judge(first, is_wanted);
                self.judge(third, is_wanted);
            }
            events::RCLCPP_TIMER_LINK_NODE => {
                self.judge(first, self.is_wanted(node(second), None));
            }
            events::RCL_LIFECYCLE_STATE_MACHINE_INIT => {
                self.judge(second, self.is_wanted(node(first), None));
            }
            _ => return false,
        }
        true
    }

    /// What belongs to something that is refused is refused, too. Returns whether that is new.
    fn filter_link(&self, entry: &Entry<'_>) -> bool {
        let (first, second) = (word(entry.payload, 0), word(entry.payload, 1));
        let (owner, owned) = match entry.event {
            events::RCLCPP_SUBSCRIPTION_INIT
            | events::RCLCPP_SUBSCRIPTION_CALLBACK_ADDED
            | events::RCLCPP_SERVICE_CALLBACK_ADDED
            | events::RCLCPP_TIMER_CALLBACK_ADDED => (first, second),
            events::RCLCPP_IPB_TO_SUBSCRIPTION | events::RCLCPP_BUFFER_TO_IPB => (second, first),
            _ => return false,
        };
        self.judge(owned, !self.is_in_filter_table(owner))
    }

    fn is_wanted(&self, node: Option<Entry<'_>>, topic: Option<&[u8]>) -> bool {
        let Some(node) = node else {
            return true;
        };
        let (name, space) = (text(node.payload, 16, 0), text(node.payload, 16, 1));
        let mut full = [0; LONGEST_NAME];
        let slash: &[u8] = if space.last() == Some(&b'/') {
            b""
        } else {
            b"/"
        };
        let mut used = 0;
        for piece in [space, slash, name] {
            let bytes = piece.len().min(LONGEST_NAME - used);
            full[used..used + bytes].copy_from_slice(&piece[..bytes]);
            used += bytes;
        }
        let node = &full[..used];
        let FilterTexts {
            select_nodes,
            ignore_nodes,
            select_topics,
            ignore_topics,
        } = &self.header().filters;
        let topic_in = |patterns| topic.is_some_and(|topic| is_in(patterns, topic));
        if is_set(select_nodes) || is_set(select_topics) {
            return is_in(select_nodes, node) || topic_in(select_topics);
        }
        !is_in(ignore_nodes, node) && !topic_in(ignore_topics)
    }
}

fn is_set(patterns: &[AtomicU8; FILTER_BYTES]) -> bool {
    patterns[0].load(Ordering::Relaxed) != 0
}

fn is_in(patterns: &[AtomicU8; FILTER_BYTES], name: &[u8]) -> bool {
    let mut bytes = [0; FILTER_BYTES];
    let mut used = 0;
    for (place, byte) in bytes.iter_mut().zip(patterns) {
        match byte.load(Ordering::Relaxed) {
            0 => break,
            byte => *place = byte,
        }
        used += 1;
    }
    glob::matches_any(&bytes[..used], name)
}

/// The address at this place of a payload that begins with addresses.
fn word(payload: &[u8], at: usize) -> u64 {
    let bytes = payload.get(at * 8..at * 8 + 8);
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u64::from_ne_bytes)
}

/// The text of this number behind the addresses.
fn text(payload: &[u8], from: usize, number: usize) -> &[u8] {
    payload
        .get(from..)
        .and_then(|texts| texts.split(|byte| *byte == 0).nth(number))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::*;
    use crate::memory::filter_table::tests::memory;

    const NODES: [&str; 3] = ["/talker", "/lidar/front", "/lidar/rear"];
    const TOPICS: [&str; 3] = ["/chatter", "/points", "/lidar/points"];
    const PATTERNS: [&str; 5] = ["/talker", "/lidar/*", "*points", "/nobody", "*"];

    /// Something that is made with a node and perhaps a topic, and what is linked to it: a chain of so many.
    #[derive(Debug, Clone)]
    struct Entity {
        kind: u16,
        /// The last is one that nobody knows.
        node: usize,
        topic: usize,
        links: Vec<u16>,
    }

    impl Entity {
        fn has_topic(&self) -> bool {
            matches!(
                self.kind,
                events::RCL_PUBLISHER_INIT | events::RCL_SUBSCRIPTION_INIT
            )
        }

        /// What is known by an address of its own: the entity, and its rmw handle where it has one.
        fn addresses(&self, number: usize) -> Vec<u64> {
            let address = address(number);
            match self.kind {
                events::RCLCPP_TIMER_LINK_NODE | events::RCL_LIFECYCLE_STATE_MACHINE_INIT => {
                    vec![address]
                }
                _ => vec![address, address + 8],
            }
        }
    }

    fn address(number: usize) -> u64 {
        0x7f00_0000_0000 + 0x1000 * number as u64
    }

    fn linked(number: usize, link: usize) -> u64 {
        address(number) + 16 * (link as u64 + 1)
    }

    fn node_handle(node: usize) -> u64 {
        0x5500_0000_0000 + 64 * node as u64
    }

    /// The events that tell of it, one after the other.
    fn reported(number: usize, entity: &Entity) -> Vec<(u16, Vec<u8>)> {
        let (own, node) = (address(number), node_handle(entity.node));
        let words = match entity.kind {
            events::RCL_LIFECYCLE_STATE_MACHINE_INIT => vec![node, own],
            events::RCLCPP_TIMER_LINK_NODE => vec![own, node],
            _ => vec![own, node, own + 8],
        };
        let mut payload: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        if entity.has_topic() {
            payload.extend(TOPICS[entity.topic].as_bytes());
            payload.push(0);
        }
        let mut all = vec![(entity.kind, payload)];
        let mut owner = own;
        for (link, kind) in entity.links.iter().enumerate() {
            let owned = linked(number, link);
            let words = match *kind {
                events::RCLCPP_IPB_TO_SUBSCRIPTION | events::RCLCPP_BUFFER_TO_IPB => [owned, owner],
                _ => [owner, owned],
            };
            all.push((
                *kind,
                words.iter().flat_map(|word| word.to_ne_bytes()).collect(),
            ));
            owner = owned;
        }
        all
    }

    fn nodes() -> Vec<(u16, Vec<u8>)> {
        let reported = NODES.iter().enumerate().map(|(number, full)| {
            let (space, name) = full.rsplit_once('/').expect("full names");
            let space = if space.is_empty() { "/" } else { space };
            let handle = node_handle(number).to_ne_bytes();
            let payload = [
                &handle,
                &handle,
                name.as_bytes(),
                b"\0",
                space.as_bytes(),
                b"\0",
            ];
            (events::RCL_NODE_INIT, payload.concat())
        });
        reported.collect()
    }

    fn entries(reported: &[(u16, Vec<u8>)]) -> Vec<Entry<'_>> {
        let numbered = reported.iter().zip(1..);
        numbered
            .map(|((event, payload), number)| Entry {
                event: *event,
                number,
                time: number,
                is_live: true,
                context: &[0; 32],
                payload,
            })
            .collect()
    }

    /// The rule, as it is written at the top of this file.
    fn is_recorded(filters: &Filters, entity: &Entity) -> bool {
        let Some(node) = NODES.get(entity.node) else {
            return true;
        };
        let topic = entity.has_topic().then(|| TOPICS[entity.topic]);
        let is_in = |patterns: &[u8], name: &str| glob::matches_any(patterns, name.as_bytes());
        let topic_is_in = |patterns: &[u8]| topic.is_some_and(|topic| is_in(patterns, topic));
        if filters.select_nodes.is_empty() && filters.select_topics.is_empty() {
            !is_in(&filters.ignore_nodes, node) && !topic_is_in(&filters.ignore_topics)
        } else {
            is_in(&filters.select_nodes, node) || topic_is_in(&filters.select_topics)
        }
    }

    fn assert_judged(memory: &Memory, filters: &Filters, world: &[Entity]) {
        for (number, entity) in world.iter().enumerate() {
            let is_refused = !is_recorded(filters, entity);
            let links = (0..entity.links.len()).map(|link| linked(number, link));
            for address in entity.addresses(number).into_iter().chain(links) {
                assert_eq!(
                    memory.refuses(address),
                    is_refused,
                    "{address:x} {entity:?}"
                );
            }
        }
        for node in 0..NODES.len() {
            assert!(!memory.refuses(node_handle(node)), "nodes are recorded");
        }
    }

    fn pattern_lists() -> impl Strategy<Value = Vec<u8>> {
        let list = prop::collection::vec(prop::sample::select(&PATTERNS[..]), 0..3);
        list.prop_map(|patterns| patterns.join(":").into_bytes())
    }

    fn filters() -> impl Strategy<Value = Filters> {
        let lists = [(); 4].map(|()| pattern_lists());
        lists.prop_map(
            |[select_nodes, ignore_nodes, select_topics, ignore_topics]| Filters {
                select_nodes,
                ignore_nodes,
                select_topics,
                ignore_topics,
                ignore_processes: Vec::new(),
            },
        )
    }

    fn worlds() -> impl Strategy<Value = Vec<Entity>> {
        let kinds = prop::sample::select(vec![
            events::RCL_PUBLISHER_INIT,
            events::RCL_SUBSCRIPTION_INIT,
            events::RCL_SERVICE_INIT,
            events::RCL_CLIENT_INIT,
            events::RCLCPP_TIMER_LINK_NODE,
            events::RCL_LIFECYCLE_STATE_MACHINE_INIT,
        ]);
        let links = prop::sample::select(vec![
            events::RCLCPP_SUBSCRIPTION_INIT,
            events::RCLCPP_SUBSCRIPTION_CALLBACK_ADDED,
            events::RCLCPP_SERVICE_CALLBACK_ADDED,
            events::RCLCPP_TIMER_CALLBACK_ADDED,
            events::RCLCPP_IPB_TO_SUBSCRIPTION,
            events::RCLCPP_BUFFER_TO_IPB,
        ]);
        let links = prop::collection::vec(links, 0..=LINKS);
        let entity = (kinds, 0..=NODES.len(), 0..TOPICS.len(), links);
        let entity = entity.prop_map(|(kind, node, topic, links)| Entity {
            kind,
            node,
            topic,
            links,
        });
        prop::collection::vec(entity, 0..12)
    }

    proptest! {
        #[test]
        fn what_exists_is_judged_by_its_node_and_topic_in_whatever_order_it_is_reported(
            filters in filters(),
            world in worlds(),
            seed in any::<u64>(),
        ) {
            static MEMORY: OnceLock<Memory> = OnceLock::new();
            let memory = memory(&MEMORY);
            let reported_of = |(number, entity)| reported(number, entity);
            let mut reported = nodes();
            reported.extend(world.iter().enumerate().flat_map(reported_of));
            shuffle(&mut reported, seed);
            memory.set_filters(&filters, &entries(&reported));
            assert_judged(memory, &filters, &world);
        }

        #[test]
        fn what_is_new_is_judged_as_if_it_had_been_there(
            filters in filters(),
            world in worlds(),
            seed in any::<u64>(),
        ) {
            static MEMORY: OnceLock<Memory> = OnceLock::new();
            let memory = memory(&MEMORY);
            let mut new: Vec<_> = world.iter().enumerate().flat_map(|(number, entity)| reported(number, entity)).collect();
            // A node is there before what belongs to it.
            shuffle(&mut new, seed);
            let mut reported = nodes();
            reported.extend(new);
            let all = entries(&reported);
            let first = &all[..NODES.len()];
            memory.set_filters(&filters, first);
            let node = |handle: u64| first.iter().find(|entry| word(entry.payload, 0) == handle).copied();
            for at in NODES.len()..all.len() {
                memory.filter_new(&all[at], &node, all[..=at].iter().copied());
            }
            assert_judged(memory, &filters, &world);
        }
    }

    /// In an order that the seed decides.
    fn shuffle<T>(things: &mut [T], mut seed: u64) {
        for at in (1..things.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            things.swap(at, (seed >> 33) as usize % (at + 1));
        }
    }
}
