//! Which of the kernel's threads a thread of the model is.
//!
//! User-space events tell the thread's number in its own namespace of process ids (`vtid`), scheduling events the number in the
//! outermost one (`tid`); LTTng-UST has no context that tells the latter. The two are the same outside containers. For containers
//! LTTng's list of processes and `sched_process_fork` tell both. Where neither was recorded, equal numbers are taken for the
//! same thread.

use rustc_hash::FxHashMap;

/// What is known of the numbers of one host's threads.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// The process of a thread, both in the outermost namespace.
    process: FxHashMap<i64, i64>,
    /// The innermost namespace that a thread was seen in.
    inner: FxHashMap<i64, Inner>,
}

#[derive(Debug, Clone, Copy)]
struct Inner {
    level: i64,
    vpid: Option<i64>,
    vtid: i64,
}

impl Namespaces {
    pub(super) fn note_process(&mut self, tid: i64, pid: i64) {
        self.process.insert(tid, pid);
    }

    /// A thread has this number in a namespace so many levels below the outermost.
    pub(super) fn note(&mut self, tid: i64, level: i64, vpid: Option<i64>, vtid: i64) {
        let inner = Inner { level, vpid, vtid };
        let known = self.inner.entry(tid).or_insert(inner);
        if known.level <= level {
            *known = inner;
        }
    }

    /// A new thread and its numbers, the outermost first.
    pub(super) fn note_fork(&mut self, tid: i64, pid: i64, numbers: &[i64]) {
        self.note_process(tid, pid);
        // What an earlier thread of this number was is over.
        self.inner.remove(&tid);
        if let [_, .., vtid] = numbers {
            let vpid = match self.inner.get(&pid) {
                _ if pid == tid => Some(*vtid),
                Some(main) => Some(main.vtid),
                None => None,
            };
            self.note(tid, numbers.len() as i64 - 1, vpid, *vtid);
        }
    }

    /// For the threads that live in an inner namespace, their kernel's numbers by (process, thread) there.
    pub(super) fn inner_threads(&self) -> FxHashMap<(i64, i64), Vec<i64>> {
        let mut threads: FxHashMap<(i64, i64), Vec<i64>> = FxHashMap::default();
        for (tid, inner) in &self.inner {
            if let (1.., Some(vpid)) = (inner.level, inner.vpid) {
                threads.entry((vpid, inner.vtid)).or_default().push(*tid);
            }
        }
        threads
    }

    /// The kernel's number of a thread that user space knows by these numbers; nothing if several threads could be meant.
    pub(super) fn tid(
        &self,
        inner_threads: &FxHashMap<(i64, i64), Vec<i64>>,
        vpid: i64,
        vtid: i64,
    ) -> Option<i64> {
        let inside = inner_threads.get(&(vpid, vtid));
        let inside = inside.map_or(&[][..], Vec::as_slice);
        let lives_inside = self.inner.get(&vtid).is_some_and(|inner| inner.level > 0);
        let outside = match self.process.get(&vtid) {
            _ if lives_inside => Outside::Another,
            Some(pid) if *pid == vpid => Outside::Same,
            Some(_) => Outside::Another,
            None => Outside::Unheard,
        };
        match (inside, outside) {
            ([], Outside::Same | Outside::Unheard) => Some(vtid),
            ([tid], Outside::Another | Outside::Unheard) => Some(*tid),
            _ => None,
        }
    }
}

/// Whether the outermost namespace has a thread of this number in a process of this number.
enum Outside {
    Same,
    Another,
    Unheard,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tid(namespaces: &Namespaces, vpid: i64, vtid: i64) -> Option<i64> {
        namespaces.tid(&namespaces.inner_threads(), vpid, vtid)
    }

    #[test]
    fn without_a_list_of_processes_equal_numbers_mean_the_same_thread() {
        assert_eq!(tid(&Namespaces::default(), 7, 8), Some(8));
    }

    #[test]
    fn a_thread_of_a_container_is_found_by_its_inner_numbers() {
        let mut namespaces = Namespaces::default();
        namespaces.note_fork(5000, 5000, &[5000, 1]);
        namespaces.note_fork(5001, 5000, &[5001, 8]);
        namespaces.note_process(8, 8);
        assert_eq!(tid(&namespaces, 1, 8), Some(5001));
        assert_eq!(tid(&namespaces, 8, 8), Some(8));
    }

    #[test]
    fn of_two_containers_with_the_same_numbers_none_is_chosen() {
        let mut namespaces = Namespaces::default();
        namespaces.note(5000, 1, Some(1), 1);
        namespaces.note(6000, 1, Some(1), 1);
        assert_eq!(tid(&namespaces, 1, 1), None);
    }

    #[test]
    fn a_number_that_is_known_to_be_of_another_process_is_not_taken() {
        let mut namespaces = Namespaces::default();
        namespaces.note_process(8, 3);
        assert_eq!(tid(&namespaces, 7, 8), None);
    }
}
