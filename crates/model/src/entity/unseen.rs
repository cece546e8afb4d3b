//! Functions whose calls went past our tracer, because their library was linked or loaded so: what they would have reported is missing.

/// A function that the tracer interposes, and could not see being called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Unseen {
    pub function: String,
    /// File name of the library that has it; empty if the trace does not say it.
    pub library: String,
}

/// What the trace does not have because of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnseenSubject {
    /// Executors, callback groups, and who is in them.
    Executors,
    ClientCallbacks,
    Services,
    SourceTimestamps,
    Other,
}

impl Unseen {
    pub fn subject(&self) -> UnseenSubject {
        let has = |part: &str| self.function.contains(part);
        if has("execute_client") || has("10ClientBase7execute") {
            UnseenSubject::ClientCallbacks
        } else if has("Executor") || has("executor") || has("CallbackGroup") {
            UnseenSubject::Executors
        } else if has("_request") || has("_response") {
            UnseenSubject::Services
        } else if has("set_fragments") || has("dds_write") {
            UnseenSubject::SourceTimestamps
        } else {
            UnseenSubject::Other
        }
    }
}

impl UnseenSubject {
    pub fn name(self) -> &'static str {
        match self {
            UnseenSubject::Executors => "executors and callback groups",
            UnseenSubject::ClientCallbacks => "callbacks of clients",
            UnseenSubject::Services => "requests and responses",
            UnseenSubject::SourceTimestamps => "source timestamps",
            UnseenSubject::Other => "other things",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_says_what_is_missing_without_it() {
        let subject = |function: &str| {
            let (function, library) = (function.to_owned(), String::new());
            Unseen { function, library }.subject()
        };
        let clients = "_ZN6rclcpp8Executor14execute_clientESt10shared_ptrINS_10ClientBaseEE";
        assert_eq!(subject(clients), UnseenSubject::ClientCallbacks);
        let group = "_ZN6rclcpp13CallbackGroup9add_timerESt10shared_ptrINS_9TimerBaseEE";
        assert_eq!(subject(group), UnseenSubject::Executors);
        assert_eq!(subject("rmw_send_request"), UnseenSubject::Services);
        assert_eq!(subject("dds_write_ts"), UnseenSubject::SourceTimestamps);
        assert_eq!(subject("rcl_timer_init"), UnseenSubject::Other);
    }
}
