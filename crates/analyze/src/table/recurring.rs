//! Columns that mean the same in several tables, each described once.

use super::Column;

pub(super) const HOST: Column = Column::text("host", "Name of the machine.");

pub(super) const PID: Column = Column::pid("pid", "Process.");

pub(super) const PROCESS: Column = Column::text(
    "process",
    "Name of the process; empty if the trace does not tell.",
);

pub(super) const DISTRIBUTION: Column = Column::text(
    "distribution",
    "ROS 2 distribution that its events tell of; nothing if they do not.",
)
.optional();

pub(super) const RMW: Column = Column::text(
    "rmw_implementation",
    "Middleware that it uses; nothing if the trace does not tell.",
)
.optional();

pub(super) const CREATED: Column = Column::time("created_ns", "When it was made.");

pub(super) const TID: Column = Column::integer("tid", "Thread.");

pub(super) const RAN_ON: Column = Column::integer("tid", "Thread that it ran on.");

pub(super) const NODE: Column = Column::node("node", "Node; empty if the trace does not name it.");

pub(super) const TOPIC: Column = Column::topic("topic", "Topic.");

pub(super) const CALLBACK_NODE: Column = Column::node(
    "node",
    "Node that the callback belongs to; empty if the trace does not name it.",
);

pub(super) const CALLBACK_NAME: Column = Column::text(
    "name",
    "The callback as people say it; empty if the trace does not name it.",
);

pub(super) const CALLBACK_START: Column = Column::time("start_ns", "`callback_start`.");

pub(super) const SOURCE_TIMESTAMP: Column = Column::integer(
    "source_timestamp_ns",
    "The stamp that receivers see, on the middleware's clock.",
)
.optional();

pub(super) const RCLCPP_PUBLISH: Column =
    Column::time("rclcpp_publish_ns", "rclcpp was called.").optional();

pub(super) const RCL_PUBLISH: Column = Column::time("rcl_publish_ns", "rcl was called.").optional();

/// Where it is the number of the row itself, another table refers to it.
pub(super) const INSTANCE: Column = Column::integer(
    "instance",
    "Number of the execution in `callback_instances`.",
);

pub(super) const PUBLICATION: Column =
    Column::integer("publication", "Number of the message in `publications`.");

pub(super) const PUBLISHER: Column =
    Column::integer("publisher", "Number of the publisher in `publishers`.");

pub(super) const SUBSCRIPTION: Column = Column::integer(
    "subscription",
    "Number of the subscription in `subscriptions`.",
);

pub(super) const BUILT_IN: Column = Column::flag(
    "built_in",
    "Whether nobody wrote it: `/rosout`, `/parameter_events`, parameter services and the like. Terminal tables leave it out without `--all`.",
);

pub(super) const STAGE: Column = Column::integer("stage", "Number of the stage, from 0.");

pub(super) const CASE: Column = Column::text(
    "response_case",
    "`all`, `best`, `worst` or `worst_with_external_latency`.",
);

pub(super) const RESPONSE_START: Column =
    Column::time("start_ns", "Publication that it is counted from.");

pub(super) const RESPONSE_TIME: Column = Column::duration(
    "response_time_ns",
    "From there to the start of the last callback.",
);
