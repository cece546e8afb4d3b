//! Executors, callback groups, and what is in them: rclcpp has no tracepoints for these. The events are CARET's.
//!
//! No private member is read. An executor's collector of entities (from Jazzy on) is the one that is constructed on the same
//! thread while the executor is; that of a static executor (before Jazzy) is the one that gets a group while the executor does; an events
//! executor by callback group has a scheduler (`scheduler`), which gets a group while the executor takes it up. The
//! originals may throw exceptions of C++, which must pass through. Lyrical passes shared pointers by reference; a call looks the same,
//! since they were passed by their address before, but the names of the functions differ.

use std::ffi::c_void;

use super::shared_pointer::SharedPointer;
use super::{Called, Caller, Companion, Hook, hooks, interpose, records};
use crate::events;
use crate::ring::emit::{self, Text};
use crate::ring::{clock, thread};

const RCLCPP: &[&str] = &["librclcpp.so"];

type GroupType = unsafe extern "C-unwind" fn(*const c_void) -> *const i32;

static GROUP_TYPE: Companion = Companion::new(c"_ZNK6rclcpp13CallbackGroup4typeEv");

/// The executor that this thread has to do with, until this is dropped, also by an exception.
struct Busy {
    before: u64,
}

impl Busy {
    fn with(executor: *const c_void) -> Busy {
        Busy {
            before: thread::set_executor(executor as u64),
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        thread::set_executor(self.before);
    }
}

/// Two addresses and when.
pub(super) fn pair(event: u16, first: *const c_void, second: *const c_void) {
    if records(event) {
        let now = clock::monotonic() as i64;
        // SAFETY: the payload has the size that is said.
        emit::initialisation(event, 24, |payload| unsafe {
            payload.pointer(first).pointer(second).signed(now);
        });
    }
}

fn constructed(executor: *const c_void, kind: &[u8]) {
    let event = events::CARET_CONSTRUCT_EXECUTOR;
    if records(event) {
        let (kind, now) = (Text::from_bytes(kind), clock::monotonic() as i64);
        // SAFETY: the payload has the size that is said.
        emit::initialisation(event, 16 + kind.size(), |payload| unsafe {
            payload.pointer(executor).text(kind).signed(now);
        });
    }
}

/// Says which static executor a collector belongs to, if this thread adds something to one.
fn tie_static(collector: *const c_void) {
    let executor = thread::set_executor(0);
    thread::set_executor(executor);
    let event = events::CARET_CONSTRUCT_STATIC_EXECUTOR;
    if executor != 0 && records(event) {
        let kind = Text::from_bytes(b"static_single_threaded_executor");
        let now = clock::monotonic() as i64;
        // SAFETY: the payload has the size that is said.
        emit::initialisation(event, 24 + kind.size(), |payload| unsafe {
            let payload = payload.pointer(executor as *const c_void);
            payload.pointer(collector).text(kind).signed(now);
        });
    }
}

/// Says which group an owner got; the accessor of the group's type is in the same library as the original.
///
/// # Safety
/// The pointer is null or a callback group.
pub(super) unsafe fn grouped(
    event: u16,
    owner: *const c_void,
    group: *const c_void,
    original: Option<*const c_void>,
) {
    if group.is_null() || !records(event) {
        return;
    }
    let accessor = original.and_then(|original| GROUP_TYPE.beside(original));
    // SAFETY: the accessor of rclcpp returns a reference into the group.
    let kind = accessor.map(|accessor| unsafe {
        *std::mem::transmute::<*const c_void, GroupType>(accessor)(group)
    });
    let name: &[u8] = match kind {
        Some(0) => b"mutually_exclusive",
        Some(1) => b"reentrant",
        _ => b"unknown",
    };
    let (name, now) = (Text::from_bytes(name), clock::monotonic() as i64);
    // SAFETY: the payload has the size that is said.
    emit::initialisation(event, 24 + name.size(), |payload| unsafe {
        payload.pointer(owner).pointer(group).text(name).signed(now);
    });
}

/// Says which executor a collector belongs to, if one is being constructed on this thread.
fn tie_collector(collector: *const c_void) {
    let executor = thread::set_executor(0);
    if executor != 0 {
        let event = events::CARET_EXECUTOR_ENTITY_COLLECTOR_TO_EXECUTOR;
        pair(event, executor as *const c_void, collector);
    }
}

hooks! {
    SINGLE = Within RCLCPP "_ZN6rclcpp9executors22SingleThreadedExecutorC1ERKNS_15ExecutorOptionsE",
    fn construct_single(this: *mut c_void, options: *const c_void) [original?] {
        original(this, options);
        constructed(this, b"single_threaded_executor");
    }

    STATIC = Across RCLCPP "_ZN6rclcpp9executors28StaticSingleThreadedExecutorC1ERKNS_15ExecutorOptionsE",
    fn construct_static(this: *mut c_void, options: *const c_void) [original?] {
        original(this, options);
        constructed(this, b"static_single_threaded_executor");
    }

    /// Has a collector of its own beside that of its base, and uses that one.
    EVENTS = Across RCLCPP "_ZN6rclcpp12experimental9executors14EventsExecutorC1ESt10unique_ptrINS1_11EventsQueueESt14default_deleteIS4_EEbRKNS_15ExecutorOptionsE",
    fn construct_events(
        this: *mut c_void,
        queue: *mut c_void,
        separate: bool,
        options: *const c_void,
    ) [original?] {
        let busy = Busy::with(this);
        original(this, queue, separate, options);
        drop(busy);
        constructed(this, b"events_executor");
    }

    /// From Lyrical on.
    EVENTS_OPTIONS_FIRST = Across RCLCPP "_ZN6rclcpp12experimental9executors14EventsExecutorC1ERKNS_15ExecutorOptionsESt10unique_ptrINS1_11EventsQueueESt14default_deleteIS7_EEb",
    fn construct_events_options_first(
        this: *mut c_void,
        options: *const c_void,
        queue: *mut c_void,
        separate: bool,
    ) [original?] {
        let busy = Busy::with(this);
        original(this, options, queue, separate);
        drop(busy);
        constructed(this, b"events_executor");
    }

    /// In Lyrical, and in later releases of Jazzy and Kilted.
    EVENTS_BY_GROUP = Across RCLCPP "_ZN6rclcpp9executors17EventsCBGExecutorC1ERKNS_15ExecutorOptionsEmNSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE",
    fn construct_events_by_group(
        this: *mut c_void,
        options: *const c_void,
        threads: usize,
        timeout: i64,
    ) [original?] {
        original(this, options, threads, timeout);
        constructed(this, b"events_cbg_executor");
    }

    /// Takes up the groups that were added since.
    SYNCHRONISE = Within RCLCPP "_ZN6rclcpp9executors17EventsCBGExecutor20sync_callback_groupsEv",
    fn synchronise(this: *mut c_void) [original] {
        let _busy = Busy::with(this);
        original(this);
    }

    STATIC_ADD_NODE = Within RCLCPP "_ZN6rclcpp9executors28StaticSingleThreadedExecutor8add_nodeESt10shared_ptrINS_15node_interfaces17NodeBaseInterfaceEEb",
    fn static_add_node(this: *mut c_void, node: *mut SharedPointer, notify: bool) [original] {
        let _busy = Busy::with(this);
        original(this, node, notify);
    }

    STATIC_ADD_GROUP = Within RCLCPP "_ZN6rclcpp9executors28StaticSingleThreadedExecutor18add_callback_groupESt10shared_ptrINS_13CallbackGroupEES2_INS_15node_interfaces17NodeBaseInterfaceEEb",
    fn static_add_group(
        this: *mut c_void,
        group: *mut SharedPointer,
        node: *mut SharedPointer,
        notify: bool,
    ) [original] {
        let _busy = Busy::with(this);
        original(this, group, node, notify);
    }

    MULTI = Across RCLCPP "_ZN6rclcpp9executors21MultiThreadedExecutorC1ERKNS_15ExecutorOptionsEmbNSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE",
    fn construct_multi(
        this: *mut c_void,
        options: *const c_void,
        threads: usize,
        yields: bool,
        timeout: i64,
    ) [original?] {
        original(this, options, threads, yields, timeout);
        constructed(this, b"multi_threaded_executor");
    }

    BASE = Within RCLCPP "_ZN6rclcpp8ExecutorC2ERKNS_15ExecutorOptionsE",
    fn construct_base(this: *mut c_void, options: *const c_void) [original] {
        let _busy = Busy::with(this);
        original(this, options);
    }

    COLLECTOR = Within RCLCPP "_ZN6rclcpp9executors25ExecutorEntitiesCollectorC1ESt10shared_ptrINS0_22ExecutorNotifyWaitableEE",
    fn construct_collector(this: *mut c_void, waitable: *mut SharedPointer) [original?] {
        original(this, waitable);
        tie_collector(this);
    }

    COLLECTOR_BY_REFERENCE = Within RCLCPP "_ZN6rclcpp9executors25ExecutorEntitiesCollectorC1ERKSt10shared_ptrINS0_22ExecutorNotifyWaitableEE",
    fn construct_collector_by_reference(
        this: *mut c_void,
        waitable: *mut SharedPointer,
    ) [original?] {
        original(this, waitable);
        tie_collector(this);
    }

    /// The original may move out of the pointer to a group, so that is read before, here as below.
    ADD_TO_MAP = Within RCLCPP "_ZN6rclcpp8Executor25add_callback_group_to_mapESt10shared_ptrINS_13CallbackGroupEES1_INS_15node_interfaces17NodeBaseInterfaceEERSt3mapISt8weak_ptrIS2_ES8_IS5_ESt10owner_lessIS9_ESaISt4pairIKS9_SA_EEEb",
    fn add_to_map(
        this: *mut c_void,
        group: *mut SharedPointer,
        node: *mut SharedPointer,
        map: *mut c_void,
        notify: bool,
    ) [original?, found] {
        let added = (*group).object;
        original(this, group, node, map, notify);
        grouped(events::CARET_ADD_CALLBACK_GROUP, this, added, found);
    }

    ADD_STATIC = Within RCLCPP "_ZN6rclcpp9executors31StaticExecutorEntitiesCollector18add_callback_groupESt10shared_ptrINS_13CallbackGroupEES2_INS_15node_interfaces17NodeBaseInterfaceEERSt3mapISt8weak_ptrIS3_ES9_IS6_ESt10owner_lessISA_ESaISt4pairIKSA_SB_EEE",
    fn add_static(
        this: *mut c_void,
        group: *mut SharedPointer,
        node: *mut SharedPointer,
        map: *mut c_void,
    ) -> bool; [original?, found] {
        let added = (*group).object;
        let is_new = original(this, group, node, map).unwrap_or(false);
        tie_static(this);
        let event = events::CARET_ADD_CALLBACK_GROUP_STATIC_EXECUTOR;
        grouped(event, this, added, found);
        is_new
    }

    ADD_TO_COLLECTION = Within RCLCPP "_ZN6rclcpp9executors25ExecutorEntitiesCollector32add_callback_group_to_collectionESt10shared_ptrINS_13CallbackGroupEERSt3setISt8weak_ptrIS3_ESt10owner_lessIS7_ESaIS7_EE",
    fn add_to_collection(
        this: *mut c_void,
        group: *mut SharedPointer,
        collection: *mut c_void,
    ) [original?, found] {
        let added = (*group).object;
        original(this, group, collection);
        let event = events::CARET_CALLBACK_GROUP_TO_EXECUTOR_ENTITY_COLLECTOR;
        grouped(event, this, added, found);
    }

    ADD_TO_COLLECTION_BY_REFERENCE = Within RCLCPP "_ZN6rclcpp9executors25ExecutorEntitiesCollector32add_callback_group_to_collectionERKSt10shared_ptrINS_13CallbackGroupEERSt3setISt8weak_ptrIS3_ESt10owner_lessIS9_ESaIS9_EE",
    fn add_to_collection_by_reference(
        this: *mut c_void,
        group: *mut SharedPointer,
        collection: *mut c_void,
    ) [original?, found] {
        let added = (*group).object;
        original(this, group, collection);
        let event = events::CARET_CALLBACK_GROUP_TO_EXECUTOR_ENTITY_COLLECTOR;
        grouped(event, this, added, found);
    }
}
