//! Columns that mean the same in several tables, each described once.

use super::Column;

/// Constants: what it is and what it is called, as in `columns!`, and what it means.
macro_rules! recurring {
    () => {};
    ($(#[$about:meta])* $constant:ident = $kind:ident ? $name:literal $means:literal; $($rest:tt)*) => {
        $(#[$about])*
        pub(super) const $constant: Column = Column::$kind($name, $means).optional();
        recurring!($($rest)*);
    };
    ($(#[$about:meta])* $constant:ident = $kind:ident $name:literal $means:literal; $($rest:tt)*) => {
        $(#[$about])*
        pub(super) const $constant: Column = Column::$kind($name, $means);
        recurring!($($rest)*);
    };
}

recurring! {
    HOST = text "host" "Name of the machine.";
    PID = pid "pid" "Process.";
    PROCESS = text "process" "Name of the process; empty if unknown.";
    DISTRIBUTION = text? "distribution" "ROS 2 distribution, inferred from its events; empty if unknown.";
    RMW = text? "rmw_implementation" "Middleware that it uses; empty if unknown.";
    CREATED = time "created_ns" "When it was made.";
    TID = integer "tid" "Thread.";
    RAN_ON = integer "tid" "Thread that it ran on.";
    NODE = node "node" "Node; empty if the trace does not name it.";
    TOPIC = topic "topic" "Topic.";
    CALLBACK_NODE = node "node" "Node that the callback belongs to; empty if the trace does not name it.";
    CALLBACK_NAME = text "name" "The callback as people say it; empty if the trace does not name it.";
    CALLBACK_START = time "start_ns" "`callback_start`.";
    SOURCE_TIMESTAMP = integer? "source_timestamp_ns" "The stamp that receivers see, on the middleware's clock.";
    RCLCPP_PUBLISH = time? "rclcpp_publish_ns" "rclcpp was called.";
    RCL_PUBLISH = time? "rcl_publish_ns" "rcl was called.";
    /// Where it is the number of the row itself, another table refers to it.
    INSTANCE = integer "instance" "Number of the execution in `callback_instances`.";
    PUBLICATION = integer "publication" "Number of the message in `publications`.";
    PUBLISHER = integer "publisher" "Number of the publisher in `publishers`.";
    SUBSCRIPTION = integer "subscription" "Number of the subscription in `subscriptions`.";
    BUILT_IN = flag "built_in" "Whether nobody wrote it: `/rosout`, `/parameter_events`, parameter services and the like. Terminal tables leave it out without `--all`.";
    STAGE = integer "stage" "Number of the stage, from 0.";
    CASE = text "response_case" "`all`, `best`, `worst` or `worst_with_external_latency`.";
    RESPONSE_START = time "start_ns" "Publication that it is counted from.";
    RESPONSE_TIME = duration "response_time_ns" "From there to the start of the last callback.";
}
