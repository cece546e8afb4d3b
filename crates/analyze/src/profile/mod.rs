//! Inside callbacks: which functions they computed in, by samples of call stacks (`rostrace record --sample`).
//!
//! [`Profile`] joins samples, executions and the names of functions. `hot` says where most samples were, `call_tree` who called whom, and
//! `difference` what slow executions did that usual ones do not.

mod call_tree;
mod difference;
mod hot;

use std::cell::RefCell;
use std::path::PathBuf;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{InstanceId, ThreadId};
use rostrace_model::sampling::{Sample, Sampling};
use rostrace_symbols::{Function, FunctionId, Mapped, Resolver};

use crate::analysis::Analysis;

pub use call_tree::{CallTree, CallTreeNode};
pub use difference::{Difference, DifferenceRow, slow_and_usual};
pub use hot::{FunctionSamples, Hot};

/// The samples of a trace, and what the functions in them are called.
#[derive(Debug)]
pub struct Profile {
    pub sampling: Sampling,
    resolver: RefCell<Resolver>,
}

impl Profile {
    /// `folders` have programs, or what was separated from them when they were stripped.
    pub fn new(sampling: Sampling, folders: Vec<PathBuf>) -> Profile {
        Profile {
            sampling,
            resolver: RefCell::new(Resolver::new(folders)),
        }
    }

    /// The samples of an execution.
    pub fn of_instance(&self, analysis: &Analysis<'_>, instance: InstanceId) -> &[Sample] {
        let row = analysis.instance(instance);
        match row.end {
            Some(end) => self.between(row.thread, row.start, end),
            None => &[],
        }
    }

    /// The samples of a thread between two instants.
    pub fn between(&self, thread: ThreadId, from: Nanos, to: Nanos) -> &[Sample] {
        self.sampling.of_thread(thread, from, to)
    }

    /// The functions that a thread was in, the innermost first, with those that the compiler put into others.
    pub fn functions(&self, sample: &Sample) -> Vec<FunctionId> {
        let mut resolver = self.resolver.borrow_mut();
        let mut functions = Vec::new();
        for frame in self.sampling.stack(sample) {
            let code = frame.code.map(|id| self.sampling.code(id));
            let mapped = code.map(|code| Mapped {
                path: &code.path,
                build_id: &code.build_id,
                begin: code.begin,
                offset: code.offset,
                linked_at: code.linked_at,
            });
            let found = resolver.locations(mapped.as_ref(), frame.address, frame.is_return);
            functions.extend(found.iter().map(|location| location.function));
        }
        functions
    }

    pub fn function(&self, id: FunctionId) -> Function {
        self.resolver.borrow().function(id).clone()
    }

    fn is_library(&self, id: FunctionId) -> bool {
        self.resolver.borrow().function(id).is_library
    }

    /// Files whose functions have no names here.
    pub fn without_names(&self) -> Vec<String> {
        let resolver = self.resolver.borrow();
        let files = resolver.without_names().into_iter();
        files.map(str::to_owned).collect()
    }

    /// What one sample stands for, in nanoseconds on a CPU.
    pub fn period(&self) -> i64 {
        self.sampling.period
    }
}
