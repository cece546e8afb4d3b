//! Which nodes and topics are recorded: entities that are not wanted are known by their addresses.
//!
//! What happens to such an entity is not recorded; that it exists is, so that readers know what was left out. An entity whose node or
//! topic is not known is recorded. The rule is CARET's: if anything is selected, only that; otherwise all but what is ignored.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rostrace_session::Filters;

use crate::events;
use crate::glob;

/// Addresses that fit; more are recorded although they are not wanted.
const PLACES: usize = 4096;

/// One table is read while the other is made.
static TABLES: [[AtomicU64; PLACES]; 2] = [const { [const { AtomicU64::new(0) }; PLACES] }; 2];
static CURRENT: AtomicUsize = AtomicUsize::new(0);
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

/// Whether what happens to this entity is left out.
#[inline(always)]
pub(crate) fn refuses(address: u64) -> bool {
    IS_ACTIVE.load(Ordering::Relaxed) && is_in_table(address)
}

#[inline(never)]
fn is_in_table(address: u64) -> bool {
    let table = &TABLES[CURRENT.load(Ordering::Acquire) & 1];
    for step in 0..PLACES {
        match table[place(address, step)].load(Ordering::Relaxed) {
            0 => return false,
            found if found == address => return true,
            _ => {}
        }
    }
    false
}

fn place(address: u64, step: usize) -> usize {
    let hash = address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (hash as usize + step) % PLACES
}

/// No filter.
pub(crate) fn open() {
    IS_ACTIVE.store(false, Ordering::Release);
}

/// Whether there is anything to filter by.
pub(crate) fn is_any(filters: &Filters) -> bool {
    let lists = [
        &filters.select_nodes,
        &filters.ignore_nodes,
        &filters.select_topics,
        &filters.ignore_topics,
    ];
    lists.iter().any(|list| !list.is_empty())
}

/// Makes the table anew from what is remembered: number and payload of each event. The memory lock is held.
pub(crate) fn apply<'a>(
    filters: &Filters,
    remembered: impl Iterator<Item = (u16, &'a [u8])> + Clone,
) {
    let next = (CURRENT.load(Ordering::Relaxed) + 1) & 1;
    let table = &TABLES[next];
    for place in table {
        place.store(0, Ordering::Relaxed);
    }
    let mut room = PLACES / 2;
    for (address, owner) in owners(remembered) {
        if room > 0 && address != 0 && !is_wanted(filters, &owner) {
            room -= 1;
            for step in 0..PLACES {
                let place = &table[place(address, step)];
                if place.load(Ordering::Relaxed) == 0 {
                    place.store(address, Ordering::Relaxed);
                    break;
                }
            }
        }
    }
    CURRENT.store(next, Ordering::Release);
    IS_ACTIVE.store(true, Ordering::Release);
}

/// What an address belongs to.
#[derive(Debug, Clone, Default, PartialEq)]
struct Owner {
    node: Option<Vec<u8>>,
    topic: Option<Vec<u8>>,
    /// Kinds that have a topic are recorded as long as it is not known.
    has_topic: bool,
}

fn is_wanted(filters: &Filters, owner: &Owner) -> bool {
    let Some(node) = &owner.node else {
        return true;
    };
    if owner.has_topic && owner.topic.is_none() {
        return true;
    }
    let node_in = |patterns: &[u8]| glob::matches_any(patterns, node);
    let topic_in = |patterns: &[u8]| {
        let topic = owner.topic.as_deref();
        topic.is_some_and(|topic| glob::matches_any(patterns, topic))
    };
    if !filters.select_nodes.is_empty() || !filters.select_topics.is_empty() {
        return node_in(&filters.select_nodes) || topic_in(&filters.select_topics);
    }
    !node_in(&filters.ignore_nodes) && !topic_in(&filters.ignore_topics)
}

/// Follows the events of initialisation from nodes to everything that belongs to them.
fn owners<'a>(remembered: impl Iterator<Item = (u16, &'a [u8])> + Clone) -> HashMap<u64, Owner> {
    let mut nodes: HashMap<u64, Vec<u8>> = HashMap::new();
    let mut owners: HashMap<u64, Owner> = HashMap::new();
    for (event, payload) in remembered.clone() {
        if event == events::RCL_NODE_INIT {
            let (name, space) = (text(payload, 16, 0), text(payload, 16, 1));
            let mut full = space;
            if full.last() != Some(&b'/') {
                full.push(b'/');
            }
            full.extend(name);
            nodes.insert(word(payload, 0), full);
        }
    }
    // Links may come before what they link to: intra-process twins and timers do.
    for _ in 0..3 {
        for (event, payload) in remembered.clone() {
            let first = word(payload, 0);
            let second = word(payload, 1);
            match event {
                events::RCL_PUBLISHER_INIT | events::RCL_SUBSCRIPTION_INIT => {
                    let owner = Owner {
                        node: nodes.get(&second).cloned(),
                        topic: Some(text(payload, 24, 0)),
                        has_topic: true,
                    };
                    owners.insert(word(payload, 2), owner.clone());
                    owners.insert(first, owner);
                }
                events::RCL_SERVICE_INIT | events::RCL_CLIENT_INIT => {
                    let owner = Owner {
                        node: nodes.get(&second).cloned(),
                        ..Owner::default()
                    };
                    owners.insert(word(payload, 2), owner.clone());
                    owners.insert(first, owner);
                }
                events::RCLCPP_TIMER_LINK_NODE => {
                    let node = nodes.get(&second).cloned();
                    owners.insert(
                        first,
                        Owner {
                            node,
                            ..Owner::default()
                        },
                    );
                }
                events::RCL_LIFECYCLE_STATE_MACHINE_INIT => {
                    let node = nodes.get(&first).cloned();
                    owners.insert(
                        second,
                        Owner {
                            node,
                            ..Owner::default()
                        },
                    );
                }
                // The second belongs to the first.
                events::RCLCPP_SUBSCRIPTION_INIT
                | events::RCLCPP_SUBSCRIPTION_CALLBACK_ADDED
                | events::RCLCPP_SERVICE_CALLBACK_ADDED
                | events::RCLCPP_TIMER_CALLBACK_ADDED => {
                    if let Some(owner) = owners.get(&first).cloned() {
                        owners.insert(second, owner);
                    }
                }
                // The first belongs to the second.
                events::RCLCPP_IPB_TO_SUBSCRIPTION | events::RCLCPP_BUFFER_TO_IPB => {
                    if let Some(owner) = owners.get(&second).cloned() {
                        owners.insert(first, owner);
                    }
                }
                _ => {}
            }
        }
    }
    owners
}

/// The address at this place of a payload that begins with addresses.
fn word(payload: &[u8], at: usize) -> u64 {
    let bytes = payload.get(at * 8..at * 8 + 8);
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u64::from_ne_bytes)
}

/// The text of this number behind the addresses.
fn text(payload: &[u8], from: usize, number: usize) -> Vec<u8> {
    payload
        .get(from..)
        .and_then(|texts| texts.split(|byte| *byte == 0).nth(number))
        .unwrap_or_default()
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(words: &[u64], texts: &[&str]) -> Vec<u8> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for text in texts {
            bytes.extend(text.bytes());
            bytes.push(0);
        }
        bytes
    }

    fn application() -> Vec<(u16, Vec<u8>)> {
        vec![
            (events::RCL_NODE_INIT, payload(&[1, 2], &["talker", "/"])),
            (
                events::RCL_NODE_INIT,
                payload(&[3, 4], &["listener", "/ns"]),
            ),
            (
                events::RCL_PUBLISHER_INIT,
                payload(&[10, 1, 11], &["/chatter"]),
            ),
            (
                events::RCL_SUBSCRIPTION_INIT,
                payload(&[20, 3, 21], &["/chatter"]),
            ),
            // Before the subscription that it belongs to.
            (
                events::RCLCPP_SUBSCRIPTION_CALLBACK_ADDED,
                payload(&[22, 23], &[]),
            ),
            (events::RCLCPP_SUBSCRIPTION_INIT, payload(&[20, 22], &[])),
            (events::RCLCPP_TIMER_CALLBACK_ADDED, payload(&[30, 31], &[])),
            (events::RCLCPP_TIMER_LINK_NODE, payload(&[30, 1], &[])),
        ]
    }

    fn refused(filters: &Filters) -> Vec<u64> {
        let application = application();
        let remembered = application
            .iter()
            .map(|(event, bytes)| (*event, &bytes[..]));
        let mut refused: Vec<u64> = owners(remembered)
            .into_iter()
            .filter(|(_, owner)| !is_wanted(filters, owner))
            .map(|(address, _)| address)
            .collect();
        refused.sort();
        refused
    }

    #[test]
    fn everything_of_an_ignored_node_is_refused() {
        let filters = Filters {
            ignore_nodes: b"/other:/ns/*".to_vec(),
            ..Filters::default()
        };
        assert_eq!(refused(&filters), [20, 21, 22, 23]);
    }

    #[test]
    fn everything_but_what_is_selected_is_refused() {
        let filters = Filters {
            select_topics: b"/chat*".to_vec(),
            ignore_nodes: b"*".to_vec(),
            ..Filters::default()
        };
        assert_eq!(refused(&filters), [30, 31]);
    }

    #[test]
    fn an_address_in_the_table_is_refused_until_there_is_no_filter() {
        let filters = Filters {
            ignore_nodes: b"/talker".to_vec(),
            ..Filters::default()
        };
        let application = application();
        apply(
            &filters,
            application
                .iter()
                .map(|(event, bytes)| (*event, &bytes[..])),
        );
        assert!(refuses(10) && refuses(31) && !refuses(20) && !refuses(99));
        open();
        assert!(!refuses(10));
    }
}
