//! Parts cut where their thread waited for a lock, or for a condition variable, and who let it wait.
//!
//! A thread that waits for work, or for its timer, is meant to wait: only what it does otherwise is cut.

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::names;
use rostrace_model::entity::{InstanceId, LockWaitId, ThreadId};
use rostrace_model::flow::{LockHolder, LockKind, LockWait};

use super::cause::Cause;
use super::part::Part;
use crate::analysis::Analysis;

/// What a thread waited for, and who let it wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AtLock {
    pub wait: LockWaitId,
    pub kind: LockKind,
    /// Who held the lock; for a condition variable who notified. Nothing if that is not known.
    pub by: Option<LockHolder>,
    /// The callback that this thread executed then, where it was one.
    pub ran: Option<InstanceId>,
    pub timed_out: bool,
}

impl AtLock {
    /// As tables and JSON call it.
    pub fn name(self) -> &'static str {
        match self.kind {
            LockKind::Condition => "waiting_for_condition",
            LockKind::Mutex | LockKind::Read | LockKind::Write => "waiting_for_lock",
        }
    }

    /// What it was, for people; `of` is who waited.
    pub(super) fn describe(self, analysis: &Analysis<'_>, of: &str) -> String {
        let own = analysis.lock_wait(self.wait).thread;
        let by = self.by.map(|by| match by.thread == Some(own) {
            true => "this thread itself".to_owned(),
            false => format!("thread {}", by.tid),
        });
        let ran = self.ran.map_or(String::new(), |instance| {
            let row = analysis.instance(instance);
            let name = match row.callback {
                Some(callback) => analysis.names.callback(callback).to_owned(),
                None => names::unnamed_callback(row.address),
            };
            format!(", which ran {name}")
        });
        let lock = match self.kind {
            LockKind::Condition => {
                let end = match (by, self.timed_out) {
                    (_, true) => "until its time limit".to_owned(),
                    (Some(by), false) => format!("until {by} notified it{ran}"),
                    (None, false) => "who notified it is not known".to_owned(),
                };
                return format!("blocked: {of} waited for a condition variable, {end}");
            }
            LockKind::Mutex => "mutex",
            LockKind::Read => "read-write lock to read",
            LockKind::Write => "read-write lock to write",
        };
        match by {
            Some(by) => format!("blocked: {of} waited for a {lock} held by {by}{ran}"),
            None => {
                format!("blocked: {of} waited for a {lock}, who held it is not known")
            }
        }
    }
}

/// A part, cut where its thread waited. The pieces add up to it.
pub(super) fn at_locks(analysis: &Analysis<'_>, part: Part) -> Vec<Part> {
    let instance = match part.cause {
        Cause::Execution(instance) | Cause::ServiceExecution(instance) => Some(instance),
        Cause::Publishing | Cause::Executor | Cause::Dispatch | Cause::OutsideCallbacks => None,
        _ => return vec![part],
    };
    // Time goes back only between hosts whose clocks differ.
    let Some(thread) = part.thread.filter(|_| part.duration() > 0) else {
        return vec![part];
    };
    let on_thread = analysis.lock_waits_on(thread);
    let row = |id: &LockWaitId| analysis.lock_wait(*id);
    // A thread waits for one thing at a time: their ends are in order too. One without an end was the last.
    let first = on_thread.partition_point(|id| row(id).end.is_some_and(|end| end <= part.begin));
    let mut at = part.begin;
    let mut cut: Vec<Part> = Vec::new();
    let mut push = |to: Nanos, cause: Cause| {
        let to = to.min(part.end);
        if to > at {
            let begin = std::mem::replace(&mut at, to);
            match cut.last_mut() {
                Some(last) if last.cause == cause => last.end = to,
                _ => cut.push(Part {
                    begin,
                    end: to,
                    cause,
                    ..part
                }),
            }
        }
    };
    for id in &on_thread[first..] {
        let wait = row(id);
        if wait.begin >= part.end {
            break;
        }
        push(wait.begin, part.cause);
        for (until, by, since) in stretches(analysis, wait) {
            let at_lock = AtLock {
                wait: *id,
                kind: wait.kind,
                by,
                ran: by.and_then(|by| analysis.execution_at(by.thread?, since)),
                timed_out: wait.timed_out,
            };
            push(until, Cause::Lock(at_lock, instance));
        }
    }
    push(part.end, part.cause);
    cut
}

/// Until when whose fault it was, and since when.
fn stretches(analysis: &Analysis<'_>, wait: &LockWait) -> Vec<(Nanos, Option<LockHolder>, Nanos)> {
    let end = wait.end.unwrap_or(Nanos(i64::MAX));
    if wait.kind == LockKind::Condition {
        let notifier = notifier(analysis, wait, end);
        return vec![match notifier {
            Some((time, thread)) => {
                let tid = analysis.model.threads[thread.index()].tid;
                let by = LockHolder {
                    tid,
                    thread: Some(thread),
                };
                (end, Some(by), time)
            }
            None => (end, None, wait.begin),
        }];
    }
    let mut stretches = Vec::with_capacity(wait.holders.len() + 1);
    let mut holder = (wait.begin, None);
    for (since, by) in &wait.holders {
        if *since > holder.0 {
            stretches.push((*since, holder.1, holder.0));
        }
        holder = (*since, Some(*by));
    }
    stretches.push((end, holder.1, holder.0));
    stretches
}

/// Who ended a wait for a condition variable, and when: the first that notified all, or that notified one while no other thread waited. Of
/// several that may have meant another thread it is known only if all of them are one.
fn notifier(analysis: &Analysis<'_>, wait: &LockWait, end: Nanos) -> Option<(Nanos, ThreadId)> {
    if wait.timed_out || wait.end.is_none() {
        return None;
    }
    let model = analysis.model;
    let process = model.process_of(wait.thread);
    let all = &model.condition_notifications;
    let first = all.partition_point(|row| row.time < wait.begin);
    let mut found: Option<(Nanos, ThreadId)> = None;
    for row in &all[first..] {
        if row.time > end {
            break;
        }
        if row.condition != wait.lock || model.process_of(row.thread) != process {
            continue;
        }
        match found {
            Some((_, thread)) if thread != row.thread => return None,
            Some(_) => {}
            None => found = Some((row.time, row.thread)),
        }
        if row.all || !others_wait(analysis, wait, row.time) {
            return found;
        }
    }
    found
}

/// Whether other threads waited for the same condition variable at an instant.
fn others_wait(analysis: &Analysis<'_>, wait: &LockWait, at: Nanos) -> bool {
    let process = analysis.model.process_of(wait.thread);
    let threads = analysis.model.threads.iter().enumerate();
    let mut others = threads
        .filter(|(_, thread)| thread.process == process)
        .map(|(index, _)| ThreadId::from_index(index))
        .filter(|thread| *thread != wait.thread);
    others.any(|thread| {
        let on_thread = analysis.lock_waits_on(thread);
        let begun = on_thread.partition_point(|id| analysis.lock_wait(*id).begin <= at);
        let last = begun
            .checked_sub(1)
            .map(|last| analysis.lock_wait(on_thread[last]));
        last.is_some_and(|last| last.lock == wait.lock && last.end.is_none_or(|end| end >= at))
    })
}
