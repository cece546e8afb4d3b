//! What calls callbacks: a loop of one thread or several, and the callback groups it serves.

use super::Extras;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executor {
    /// `single_threaded_executor`, `multi_threaded_executor`, …; applications may bring their own.
    pub executor_type: String,
    pub name: String,
    /// Names of callback groups, of any nodes.
    pub callback_groups: Vec<String>,
    pub extras: Extras,
}

impl Executor {
    pub fn new(
        executor_type: impl Into<String>,
        name: impl Into<String>,
        callback_groups: Vec<String>,
    ) -> Executor {
        Executor {
            executor_type: executor_type.into(),
            name: name.into(),
            callback_groups,
            extras: Extras::default(),
        }
    }
}
