//! Who waits for which lock: from our own library, which tells of waits alone, and from LTTng's, which tells of every call.
//!
//! A thread that gets a lock while others wait for it is the next one that holds it.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};
use rustc_hash::FxHashMap;

use super::Import;
use crate::binding::Fields;
use crate::entity::{Address, ProcessId, ThreadId};
use crate::flow::{ConditionNotification, LockHolder, LockKind, LockWait};

/// Error numbers, which are part of the ABI of Linux.
const EDEADLK: i64 = 35;
const ETIMEDOUT: i64 = 110;
const EOWNERDEAD: i64 = 130;

/// What has to be remembered from one event to the next.
#[derive(Debug, Default)]
pub(super) struct Locks {
    /// Waits that have begun. A request of LTTng's is one too, until it turns out that nobody held the lock.
    open: FxHashMap<ThreadId, Open>,
    /// Who waits for a lock.
    waiting: FxHashMap<(ProcessId, Address), Vec<ThreadId>>,
    /// Who holds a mutex, and how many times: LTTng tells of each.
    held: FxHashMap<(ProcessId, Address), Held>,
}

#[derive(Debug)]
struct Open {
    wait: LockWait,
    /// Whether somebody else is known to have held the lock; our own tracer tells of no others.
    is_contended: bool,
}

#[derive(Debug)]
struct Held {
    by: ThreadId,
    times: u32,
    since: Nanos,
}

/// Whether events of this kind tell of locks: they happen in the middle of anything else.
pub(super) fn is_of_locks(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::LockWaitBegin
            | Kind::LockWaitEnd
            | Kind::ConditionNotify
            | Kind::PthreadMutexLockReq
            | Kind::PthreadMutexLockAcq
            | Kind::PthreadMutexTrylock
            | Kind::PthreadMutexUnlock
    )
}

impl Import {
    pub(super) fn lock(&mut self, kind: Kind, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        match kind {
            Kind::LockWaitBegin => {
                use field::lock_wait_begin::*;
                let owner = fields.signed(OWNER).filter(|owner| *owner > 0);
                let holder = owner.map(|tid| (time, LockHolder { tid, thread: None }));
                let kind = match fields.number(KIND) {
                    Some(0) => LockKind::Mutex,
                    Some(1) => LockKind::Read,
                    Some(2) => LockKind::Write,
                    Some(3) => LockKind::Condition,
                    _ => return,
                };
                let wait = LockWait {
                    thread,
                    lock: fields.address(LOCK),
                    kind,
                    begin: time,
                    end: None,
                    timed_out: false,
                    holders: holder.into_iter().collect(),
                    caller: fields.address(CALLER).non_null(),
                };
                self.begin_wait(wait, true);
            }
            Kind::LockWaitEnd => {
                use field::lock_wait_end::*;
                let status = fields.signed(STATUS).unwrap_or(0);
                self.end_wait(thread, time, fields.address(LOCK), status);
            }
            Kind::ConditionNotify => {
                use field::condition_notify::*;
                self.out
                    .condition_notifications
                    .push(ConditionNotification {
                        thread,
                        condition: fields.address(CONDITION),
                        time,
                        all: fields.flag(ALL),
                    });
            }
            Kind::PthreadMutexLockReq => {
                let lock = fields.address(field::pthread_mutex_lock_req::MUTEX);
                let held = self.locks.held.get(&(self.process(thread), lock));
                // That it was given back may be lost.
                let held = held.filter(|held| !self.out.losses.between(held.since, time));
                let holder = held.map(|held| held.by).filter(|holder| *holder != thread);
                let since = holder.map(|holder| (time, self.holder(holder)));
                let wait = LockWait {
                    thread,
                    lock,
                    kind: LockKind::Mutex,
                    begin: time,
                    end: None,
                    timed_out: false,
                    holders: since.into_iter().collect(),
                    caller: None,
                };
                self.begin_wait(wait, holder.is_some());
            }
            Kind::PthreadMutexLockAcq => {
                use field::pthread_mutex_lock_acq::*;
                let (lock, status) = (fields.address(MUTEX), fields.signed(STATUS).unwrap_or(0));
                self.end_wait(thread, time, lock, status);
                self.hold(thread, time, lock, status);
            }
            Kind::PthreadMutexTrylock => {
                use field::pthread_mutex_trylock::*;
                let (lock, status) = (fields.address(MUTEX), fields.signed(STATUS).unwrap_or(0));
                if is_held(status) {
                    self.pass_on(thread, time, lock);
                }
                self.hold(thread, time, lock, status);
            }
            _ => {
                use field::pthread_mutex_unlock::*;
                if fields.signed(STATUS) == Some(0) {
                    self.release(thread, fields.address(MUTEX));
                }
            }
        }
    }

    /// Those that wait still, when everything was read.
    pub(super) fn end_locks(&mut self) {
        let open = std::mem::take(&mut self.locks.open);
        let open = open.into_values().filter(|open| open.is_contended);
        self.out.lock_waits.extend(open.map(|open| open.wait));
        let order = |wait: &LockWait| (wait.begin, wait.thread);
        self.out.lock_waits.sort_by_key(order);
    }

    fn begin_wait(&mut self, wait: LockWait, is_contended: bool) {
        // One that never ended was left by a jump, or its end is lost.
        self.forget_wait(wait.thread);
        let key = (self.process(wait.thread), wait.lock);
        self.locks.waiting.entry(key).or_default().push(wait.thread);
        let thread = wait.thread;
        let open = Open { wait, is_contended };
        self.locks.open.insert(thread, open);
    }

    fn forget_wait(&mut self, thread: ThreadId) -> Option<Open> {
        let open = self.locks.open.remove(&thread)?;
        let key = (self.process(thread), open.wait.lock);
        if let Some(waiting) = self.locks.waiting.get_mut(&key) {
            waiting.retain(|other| *other != thread);
            if waiting.is_empty() {
                self.locks.waiting.remove(&key);
            }
        }
        Some(open)
    }

    fn end_wait(&mut self, thread: ThreadId, time: Nanos, lock: Address, status: i64) {
        if let Some(mut open) = self.forget_wait(thread)
            && open.wait.lock == lock
            && open.is_contended
            && status != EDEADLK
            && !self.out.losses.between(open.wait.begin, time)
        {
            open.wait.end = Some(time);
            open.wait.timed_out = status == ETIMEDOUT;
            self.out.lock_waits.push(open.wait);
        }
        if is_held(status) {
            self.pass_on(thread, time, lock);
        }
    }

    /// A thread has got a lock that others wait for.
    fn pass_on(&mut self, thread: ThreadId, time: Nanos, lock: Address) {
        let holder = self.holder(thread);
        let key = (self.process(thread), lock);
        for waiting in self.locks.waiting.get(&key).into_iter().flatten() {
            if let Some(open) = self.locks.open.get_mut(waiting)
                && open.wait.kind != LockKind::Condition
                && *waiting != thread
            {
                open.is_contended = true;
                open.wait.holders.push((time, holder));
            }
        }
    }

    fn hold(&mut self, thread: ThreadId, time: Nanos, lock: Address, status: i64) {
        if is_held(status) {
            let key = (self.process(thread), lock);
            let held = self.locks.held.entry(key);
            let held = held.or_insert(Held {
                by: thread,
                times: 0,
                since: time,
            });
            if held.by != thread {
                *held = Held {
                    by: thread,
                    times: 0,
                    since: time,
                };
            }
            held.times += 1;
        }
    }

    fn release(&mut self, thread: ThreadId, lock: Address) {
        let key = (self.process(thread), lock);
        let holder = self.holder(thread);
        // Who gives it back had it, also where that began before the recording.
        for waiting in self.locks.waiting.get(&key).into_iter().flatten() {
            if let Some(open) = self.locks.open.get_mut(waiting)
                && open.wait.holders.is_empty()
                && *waiting != thread
            {
                open.is_contended = true;
                open.wait.holders.push((open.wait.begin, holder));
            }
        }
        if let Some(held) = self.locks.held.get_mut(&key) {
            held.times = held.times.saturating_sub(1);
            if held.by != thread || held.times == 0 {
                self.locks.held.remove(&key);
            }
        }
    }

    fn process(&self, thread: ThreadId) -> ProcessId {
        self.out.population.process_of(thread)
    }

    fn holder(&self, thread: ThreadId) -> LockHolder {
        LockHolder {
            tid: self.out.population.threads[thread.index()].tid,
            thread: None,
        }
    }
}

fn is_held(status: i64) -> bool {
    status == 0 || status == EOWNERDEAD
}
