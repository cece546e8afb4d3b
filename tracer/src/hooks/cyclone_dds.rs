//! Source timestamps of Cyclone DDS, for distributions before Jazzy, whose `rmw_publish` does not tell them.
//!
//! `dds_write` takes the time itself; `dds_write_ts` does the same with a time that is given, so the one is replaced by the other.
//! A serialised message gets its time inside the call and keeps it at a place that was never moved; what is found there is
//! believed only if it lies between the beginning and the end of the call.

use std::ffi::c_void;

use super::{Called, Caller, Companion, Hook, State, hooks, interpose, records};
use crate::abi::left_out::{self, Direction};
use crate::abi::original;
use crate::events;
use crate::ring::{emit, thread};

const DDS: &[&str] = &["libddsc.so"];
const DDS_RETCODE_ERROR: i32 = -1;
/// Of the timestamp in `struct ddsi_serdata`.
const TIMESTAMP: usize = 32;

static TIME: Companion = Companion::new(c"dds_time");
static WRITE_TS_BESIDE: Companion = Companion::new(c"dds_write_ts");
static REFERENCE: Companion = Companion::new(c"ddsi_serdata_ref");
static UNREFERENCE: Companion = Companion::new(c"ddsi_serdata_unref");

type WriteTs = unsafe extern "C-unwind" fn(i32, *const c_void, i64) -> i32;
type Time = unsafe extern "C-unwind" fn() -> i64;
type Reference = unsafe extern "C-unwind" fn(*const c_void) -> *mut c_void;
type Unreference = unsafe extern "C-unwind" fn(*mut c_void);

fn is_ours(hook: &Hook) -> bool {
    if !records(events::CARET_DDS_BIND_ADDR_TO_STAMP) {
        return false;
    }
    if original::stamps_publications() {
        hook.set(State::Needless);
        return false;
    }
    !hook.is_unexpected()
}

pub(super) fn bind(message: u64, stamp: u64) {
    if message == thread::LEFT_OUT || left_out::has(message as *const c_void, Direction::Published)
    {
        return;
    }
    // SAFETY: the payload has the size that is said.
    emit::event(events::CARET_DDS_BIND_ADDR_TO_STAMP, 16, |payload| unsafe {
        payload.unsigned(message).unsigned(stamp);
    });
}

hooks! {
    WRITE = Across DDS "dds_write",
    fn dds_write(writer: i32, data: *const c_void) -> i32 = DDS_RETCODE_ERROR; [original] {
        let found = original as *const c_void;
        if is_ours(&WRITE)
            && let Some((time, write_ts)) = (TIME.beside(found)).zip(WRITE_TS_BESIDE.beside(found))
        {
            let now = std::mem::transmute::<*const c_void, Time>(time)();
            let result = std::mem::transmute::<*const c_void, WriteTs>(write_ts)(writer, data, now);
            bind(data as u64, now as u64);
            return result;
        }
        original(writer, data)
    }

    WRITE_TS = Across DDS "dds_write_ts",
    fn dds_write_ts(writer: i32, data: *const c_void, time: i64) -> i32 = DDS_RETCODE_ERROR; [original] {
        let result = original(writer, data, time);
        if is_ours(&WRITE_TS) {
            bind(data as u64, time as u64);
        }
        result
    }

    /// The call gives our caller's reference away, so the timestamp is read with one of our own.
    WRITE_CDR = Across DDS "dds_writecdr",
    fn dds_writecdr(writer: i32, serialised: *mut c_void) -> i32 = DDS_RETCODE_ERROR; [original] {
        let found = original as *const c_void;
        if is_ours(&WRITE_CDR)
            && !serialised.is_null()
            && let (Some(time), Some(reference), Some(unreference)) =
                (TIME.beside(found), REFERENCE.beside(found), UNREFERENCE.beside(found))
        {
            let time = std::mem::transmute::<*const c_void, Time>(time);
            let held = std::mem::transmute::<*const c_void, Reference>(reference)(serialised);
            let before = time();
            let result = original(writer, serialised);
            let after = time();
            let stamp = thread::at_work(|| held.byte_add(TIMESTAMP).cast::<i64>().read());
            std::mem::transmute::<*const c_void, Unreference>(unreference)(held);
            if (before..=after).contains(&stamp) {
                bind(thread::take_published(), stamp as u64);
            } else if result == 0 {
                WRITE_CDR.set(State::Unexpected);
            }
            return result;
        }
        original(writer, serialised)
    }
}
