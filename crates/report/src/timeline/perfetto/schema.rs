//! The numbers of the fields of Perfetto's messages that are written, message by message. A test compares them with the
//! definitions that Perfetto publishes.

pub(super) mod trace {
    pub(crate) const PACKET: u32 = 1;
}

pub(super) mod trace_packet {
    pub(crate) const FTRACE_EVENTS: u32 = 1;
    pub(crate) const PROCESS_TREE: u32 = 2;
    pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
    pub(crate) const TIMESTAMP: u32 = 8;
    pub(crate) const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const INTERNED_DATA: u32 = 12;
    pub(crate) const SEQUENCE_FLAGS: u32 = 13;
    pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
    pub(crate) const FIRST_PACKET_ON_SEQUENCE: u32 = 87;
    pub(crate) const TRACE_ATTRIBUTES: u32 = 126;

    /// Values of `sequence_flags`.
    pub(crate) const INCREMENTAL_STATE_CLEARED: u64 = 1;
    pub(crate) const NEEDS_INCREMENTAL_STATE: u64 = 2;
}

pub(super) mod trace_attributes {
    pub(crate) const ATTRIBUTE: u32 = 1;
    /// Of an attribute.
    pub(crate) const KEY: u32 = 1;
    pub(crate) const STRING_VALUE: u32 = 3;
}

pub(super) mod clock_snapshot {
    pub(crate) const CLOCKS: u32 = 1;
    pub(crate) const PRIMARY_TRACE_CLOCK: u32 = 2;
    /// Of a clock.
    pub(crate) const CLOCK_ID: u32 = 1;
    pub(crate) const TIMESTAMP: u32 = 2;

    pub(crate) const REALTIME: u64 = 1;
    pub(crate) const BOOTTIME: u64 = 6;
}

pub(super) mod track_descriptor {
    pub(crate) const UUID: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const PROCESS: u32 = 3;
    pub(crate) const THREAD: u32 = 4;
    pub(crate) const PARENT_UUID: u32 = 5;
    pub(crate) const COUNTER: u32 = 8;
    pub(crate) const CHILD_ORDERING: u32 = 11;
    pub(crate) const SIBLING_ORDER_RANK: u32 = 12;

    /// Of a process.
    pub(crate) const PROCESS_PID: u32 = 1;
    pub(crate) const PROCESS_NAME: u32 = 6;
    /// Of a thread.
    pub(crate) const THREAD_PID: u32 = 1;
    pub(crate) const THREAD_TID: u32 = 2;
    pub(crate) const THREAD_NAME: u32 = 5;
    /// Of a counter.
    pub(crate) const UNIT: u32 = 3;
    pub(crate) const UNIT_SIZE_BYTES: u64 = 3;

    /// Children in the order of `sibling_order_rank`.
    pub(crate) const EXPLICIT: u64 = 3;
}

pub(super) mod track_event {
    pub(crate) const CATEGORY_IIDS: u32 = 3;
    pub(crate) const DEBUG_ANNOTATIONS: u32 = 4;
    pub(crate) const TYPE: u32 = 9;
    pub(crate) const NAME_IID: u32 = 10;
    pub(crate) const TRACK_UUID: u32 = 11;
    pub(crate) const NAME: u32 = 23;
    pub(crate) const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub(crate) const FLOW_IDS: u32 = 47;
    pub(crate) const TERMINATING_FLOW_IDS: u32 = 48;

    pub(crate) const SLICE_BEGIN: u64 = 1;
    pub(crate) const SLICE_END: u64 = 2;
    pub(crate) const INSTANT: u64 = 3;
    pub(crate) const COUNTER: u64 = 4;
}

pub(super) mod debug_annotation {
    pub(crate) const NAME_IID: u32 = 1;
    pub(crate) const BOOL_VALUE: u32 = 2;
    pub(crate) const INT_VALUE: u32 = 4;
    pub(crate) const DOUBLE_VALUE: u32 = 5;
    pub(crate) const STRING_VALUE: u32 = 6;
    pub(crate) const NAME: u32 = 10;
    pub(crate) const STRING_VALUE_IID: u32 = 17;
}

pub(super) mod interned_data {
    pub(crate) const EVENT_CATEGORIES: u32 = 1;
    pub(crate) const EVENT_NAMES: u32 = 2;
    pub(crate) const DEBUG_ANNOTATION_NAMES: u32 = 3;
    pub(crate) const DEBUG_ANNOTATION_STRING_VALUES: u32 = 29;
    /// Of each of them.
    pub(crate) const IID: u32 = 1;
    pub(crate) const VALUE: u32 = 2;
}

pub(super) mod ftrace_event_bundle {
    pub(crate) const CPU: u32 = 1;
    pub(crate) const EVENT: u32 = 2;
}

pub(super) mod ftrace_event {
    pub(crate) const TIMESTAMP: u32 = 1;
    pub(crate) const PID: u32 = 2;
    pub(crate) const SCHED_SWITCH: u32 = 4;
    pub(crate) const SCHED_WAKING: u32 = 20;
}

pub(super) mod sched_switch {
    pub(crate) const PREV_COMM: u32 = 1;
    pub(crate) const PREV_PID: u32 = 2;
    pub(crate) const PREV_PRIO: u32 = 3;
    pub(crate) const PREV_STATE: u32 = 4;
    pub(crate) const NEXT_COMM: u32 = 5;
    pub(crate) const NEXT_PID: u32 = 6;
    pub(crate) const NEXT_PRIO: u32 = 7;
}

pub(super) mod sched_waking {
    pub(crate) const COMM: u32 = 1;
    pub(crate) const PID: u32 = 2;
    pub(crate) const PRIO: u32 = 3;
    pub(crate) const SUCCESS: u32 = 4;
    pub(crate) const TARGET_CPU: u32 = 5;
}

pub(super) mod process_tree {
    pub(crate) const THREADS: u32 = 2;
    /// Of a thread.
    pub(crate) const TID: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const TGID: u32 = 3;
}
