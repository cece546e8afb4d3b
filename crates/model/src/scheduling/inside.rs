//! What threads were inside of, and CPUs: system calls, page faults, interrupts.

use rostrace_ctf::schema::Nanos;
use rustc_hash::FxHashMap;

/// The name of a system call, or of an interrupt's handler: a row of [`super::Scheduling::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub(super) u32);

/// What of the kernel had a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Inside {
    SystemCall(NameId),
    /// It touched memory that it did not have.
    PageFault,
    /// A device or a timer took its CPU for a moment, or deferred work of one.
    Interrupt(NameId),
}

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    pub begin: Nanos,
    pub end: Nanos,
    pub inside: Inside,
}

/// One after the other, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Stays {
    list: Vec<Stay>,
    /// Those that have not ended yet, the innermost last.
    open: Vec<(Nanos, Inside)>,
}

impl Stays {
    /// A thread is in one at a time: where the end of the last one is missing, nobody knows when it was.
    pub(super) fn begin_instead(&mut self, at: Nanos, inside: Inside) {
        self.open.clear();
        self.open.push((at, inside));
    }

    /// An interrupt can interrupt another one, which goes on later.
    pub(super) fn begin_inner(&mut self, at: Nanos, inside: Inside) {
        if let Some((begin, outer)) = self.open.last().copied() {
            self.push(begin, at, outer);
        }
        self.open.push((at, inside));
    }

    /// What began last ends, if it is such.
    pub(super) fn end(&mut self, at: Nanos, is_such: impl Fn(Inside) -> bool) {
        match self.open.pop() {
            Some((begin, inside)) if is_such(inside) => self.push(begin, at, inside),
            _ => self.open.clear(),
        }
        if let Some(outer) = self.open.last_mut() {
            outer.0 = at;
        }
    }

    /// What had begun can have ended unseen.
    pub(super) fn forget(&mut self) {
        self.open.clear();
    }

    fn push(&mut self, begin: Nanos, end: Nanos, inside: Inside) {
        // Where a stream's time goes back, the order of the events is still right.
        let begin = self.list.last().map_or(begin, |last| begin.max(last.end));
        if begin < end {
            self.list.push(Stay { begin, end, inside });
        }
    }

    pub(super) fn between(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = Stay> + '_ {
        let first = self.list.partition_point(|stay| stay.end <= from);
        let stays = self.list[first..].iter().copied();
        stays.take_while(move |stay| stay.begin < to)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Names of system calls and handlers.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) list: Vec<String>,
    known: FxHashMap<String, NameId>,
}

impl Names {
    pub(super) fn intern(&mut self, name: &str) -> NameId {
        if let Some(id) = self.known.get(name) {
            return *id;
        }
        let id = NameId(self.list.len() as u32);
        self.list.push(name.to_owned());
        self.known.insert(name.to_owned(), id);
        id
    }
}

/// What Linux calls the kinds of deferred work of interrupts.
const DEFERRED: [&str; 10] = [
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];

/// `deferred work NET_RX`
pub(super) fn deferred(kind: u64) -> String {
    let name = usize::try_from(kind)
        .ok()
        .and_then(|kind| DEFERRED.get(kind));
    name.map_or_else(
        || format!("deferred work {kind}"),
        |name| format!("deferred work {name}"),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(stays: &Stays) -> Vec<(i64, i64, Inside)> {
        let all = stays.between(Nanos(i64::MIN), Nanos(i64::MAX));
        all.map(|it| (it.begin.0, it.end.0, it.inside)).collect()
    }

    const A: Inside = Inside::Interrupt(NameId(0));
    const B: Inside = Inside::Interrupt(NameId(1));

    #[test]
    fn an_interrupted_interrupt_goes_on_when_the_other_is_over() {
        let mut stays = Stays::default();
        stays.begin_inner(Nanos(1), A);
        stays.begin_inner(Nanos(3), B);
        stays.end(Nanos(5), |it| it == B);
        stays.end(Nanos(9), |it| it == A);
        assert_eq!(of(&stays), [(1, 3, A), (3, 5, B), (5, 9, A)]);
    }

    #[test]
    fn what_has_no_begin_or_no_end_is_not_reported() {
        let mut stays = Stays::default();
        stays.end(Nanos(1), |_| true);
        stays.begin_instead(Nanos(2), A);
        stays.begin_instead(Nanos(3), B);
        stays.end(Nanos(4), |it| it == A);
        stays.begin_instead(Nanos(5), A);
        stays.forget();
        stays.end(Nanos(6), |_| true);
        assert!(stays.is_empty());
    }

    #[test]
    fn only_those_that_overlap_are_between() {
        let mut stays = Stays::default();
        for at in [10, 20, 30] {
            stays.begin_instead(Nanos(at), A);
            stays.end(Nanos(at + 5), |_| true);
        }
        let between = |from, to| stays.between(Nanos(from), Nanos(to)).count();
        assert_eq!(between(15, 20), 0);
        assert_eq!(between(14, 21), 2);
        assert_eq!(between(0, 100), 3);
    }
}
