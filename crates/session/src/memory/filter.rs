//! Which nodes and topics are recorded: entities that are not wanted are known by their addresses.
//!
//! What happens to such an entity is not recorded; that it exists is, so that readers know what was left out. An entity whose node or
//! topic is not known is recorded. The rule is CARET's: if anything is selected, only that; otherwise all but what is ignored.
//!
//! The keeper judges everything that exists when a recording begins, the process itself everything new, in the event that tells of it:
//! nothing happens in between. Neither allocates.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::events;
use crate::glob;
use crate::memory::Memory;
use crate::memory::dump::Entry;
use crate::memory::header::{FilterTexts, write_text};
use crate::order::{FILTER_BYTES, Filters};

/// In the table: nothing was ever here, something was.
const EMPTY: u64 = 0;
const GONE: u64 = 1;
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
    /// Whether what happens to this entity is left out.
    #[inline(always)]
    pub fn refuses(&self, address: u64) -> bool {
        self.header().orders.is_filtered.load(Ordering::Relaxed) != 0
            && self.is_in_filter_table(address)
    }

    #[inline(never)]
    fn is_in_filter_table(&self, address: u64) -> bool {
        let table = self.filter_table();
        for step in 0..table.len() {
            match table[place(address, step, table.len())].load(Ordering::Relaxed) {
                EMPTY => return false,
                found if found == address => return true,
                _ => {}
            }
        }
        false
    }

    fn refuse(&self, address: u64) {
        let table = self.filter_table();
        if address <= GONE || self.is_in_filter_table(address) {
            return;
        }
        // Half of it stays free; what does not fit is recorded although it is not wanted.
        for step in 0..table.len() / 2 {
            let place = &table[place(address, step, table.len())];
            if matches!(place.load(Ordering::Relaxed), EMPTY | GONE) {
                place.store(address, Ordering::Relaxed);
                return;
            }
        }
    }

    fn accept(&self, address: u64) {
        let table = self.filter_table();
        for step in 0..table.len() {
            let place = &table[place(address, step, table.len())];
            match place.load(Ordering::Relaxed) {
                EMPTY => return,
                found if found == address => return place.store(GONE, Ordering::Relaxed),
                _ => {}
            }
        }
    }

    fn judge(&self, address: u64, is_wanted: bool) {
        match is_wanted {
            true => self.accept(address),
            false => self.refuse(address),
        }
    }

    /// Says what is to be filtered by, and judges everything that exists. The table is allocated, and nothing is recorded meanwhile.
    pub(crate) fn set_filters(&self, filters: &Filters, entries: &[Entry<'_>]) {
        let texts = &self.header().filters;
        for (place, text) in [
            (&texts.select_nodes, &filters.select_nodes),
            (&texts.ignore_nodes, &filters.ignore_nodes),
            (&texts.select_topics, &filters.select_topics),
            (&texts.ignore_topics, &filters.ignore_topics),
        ] {
            write_text(place, text);
        }
        for place in self.filter_table() {
            place.store(EMPTY, Ordering::Relaxed);
        }
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
        self.filter_link(entry);
        if is_entity {
            for _ in 0..LINKS {
                for link in all.clone() {
                    self.filter_link(&link);
                }
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
            events::RCLCPP_TIMER_LINK_NODE => self.judge(first, self.is_wanted(node(second), None)),
            events::RCL_LIFECYCLE_STATE_MACHINE_INIT => {
                self.judge(second, self.is_wanted(node(first), None));
            }
            _ => return false,
        }
        true
    }

    /// What belongs to something that is refused is refused, too.
    fn filter_link(&self, entry: &Entry<'_>) {
        let (first, second) = (word(entry.payload, 0), word(entry.payload, 1));
        let (owner, owned) = match entry.event {
            events::RCLCPP_SUBSCRIPTION_INIT
            | events::RCLCPP_SUBSCRIPTION_CALLBACK_ADDED
            | events::RCLCPP_SERVICE_CALLBACK_ADDED
            | events::RCLCPP_TIMER_CALLBACK_ADDED => (first, second),
            events::RCLCPP_IPB_TO_SUBSCRIPTION | events::RCLCPP_BUFFER_TO_IPB => (second, first),
            _ => return,
        };
        self.judge(owned, !self.is_in_filter_table(owner));
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

fn place(address: u64, step: usize, places: usize) -> usize {
    let hash = address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (hash as usize + step) % places
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
