//! Executors and callback groups: the phases that rclcpp traces, and the objects that CARET hooks.

macro_rules! executor {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// An executor begins to look for something that is ready.
RclcppExecutorGetNextReady = rclcpp_executor_get_next_ready: Run, Rclcpp, ExecutorPhases {
    "ros2:rclcpp_executor_get_next_ready" since "Humble", Chatty;
}

/// An executor begins to wait for work.
RclcppExecutorWaitForWork = rclcpp_executor_wait_for_work: Run, Rclcpp, ExecutorPhases {
    "ros2:rclcpp_executor_wait_for_work" since "Humble", Chatty;

    TIMEOUT: Signed = "Longest wait in ns, -1 for ever.";
}

/// An executor begins to execute a timer or a subscription.
RclcppExecutorExecute = rclcpp_executor_execute: Run, Rclcpp, ExecutorPhases {
    "ros2:rclcpp_executor_execute" since "Humble", Chatty;

    HANDLE: Pointer = "The `rcl_timer_t` or `rcl_subscription_t`.";
}

/// A single-threaded or multi-threaded executor was created.
ConstructExecutor = construct_executor: Init, Rclcpp, Executors {
    "ros2_caret:construct_executor" since "CARET 0.2", Recorded;

    EXECUTOR_ADDR: Pointer = "The executor.";
    EXECUTOR_TYPE_NAME: Text = "`single_threaded_executor` or `multi_threaded_executor`; of rostrace's tracer also `static_single_threaded_executor`, `events_executor` and `events_cbg_executor`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// A static single-threaded executor was created.
ConstructStaticExecutor = construct_static_executor: Init, Rclcpp, Executors {
    "ros2_caret:construct_static_executor" since "CARET 0.2", Recorded;

    EXECUTOR_ADDR: Pointer = "The executor.";
    ENTITIES_COLLECTOR_ADDR: Pointer = "Its collector of entities.";
    EXECUTOR_TYPE_NAME: Text = "`static_single_threaded_executor`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// An executor got its collector of entities.
ExecutorEntityCollectorToExecutor = executor_entity_collector_to_executor: Init, Rclcpp, Executors {
    "ros2_caret:executor_entity_collector_to_executor" since "CARET 0.6.0 on Jazzy", Recorded, Repeated;

    EXECUTOR_ADDR: Pointer = "The executor.";
    ENTITIES_COLLECTOR_ADDR: Pointer = "Its collector of entities.";
    INIT_TIMESTAMP: Signed = "When it happened: the trace's clock, in ns.";
}

/// A callback group was added to an executor.
AddCallbackGroup = add_callback_group: Init, Rclcpp, Executors {
    "ros2_caret:add_callback_group" since "CARET 0.2" until "CARET 0.6.0 on Jazzy", Recorded, Repeated;

    EXECUTOR_ADDR: Pointer = "The executor.";
    CALLBACK_GROUP_ADDR: Pointer = "The callback group.";
    GROUP_TYPE_NAME: Text = "`mutually_exclusive`, `reentrant` or `unknown`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// A callback group was added to a static executor.
AddCallbackGroupStaticExecutor = add_callback_group_static_executor: Init, Rclcpp, Executors {
    "ros2_caret:add_callback_group_static_executor" since "CARET 0.2" until "CARET 0.6.0 on Jazzy", Recorded, Repeated;

    ENTITIES_COLLECTOR_ADDR: Pointer = "The executor's collector of entities.";
    CALLBACK_GROUP_ADDR: Pointer = "The callback group.";
    GROUP_TYPE_NAME: Text = "`mutually_exclusive`, `reentrant` or `unknown`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// A callback group was added to an executor's collector of entities.
CallbackGroupToExecutorEntityCollector = callback_group_to_executor_entity_collector: Init, Rclcpp, Executors {
    "ros2_caret:callback_group_to_executor_entity_collector" since "CARET 0.6.0 on Jazzy", Recorded, Repeated;

    ENTITIES_COLLECTOR_ADDR: Pointer = "The executor's collector of entities.";
    CALLBACK_GROUP_ADDR: Pointer = "The callback group.";
    GROUP_TYPE_NAME: Text = "`mutually_exclusive`, `reentrant` or `unknown`.";
    INIT_TIMESTAMP: Signed = "When it happened: the trace's clock, in ns.";
}

/// A timer was added to a callback group.
CallbackGroupAddTimer = callback_group_add_timer: Init, Rclcpp, Executors {
    "ros2_caret:callback_group_add_timer" since "CARET 0.2", Recorded, Repeated;

    CALLBACK_GROUP_ADDR: Pointer = "The callback group.";
    TIMER_HANDLE: Pointer = "The `rcl_timer_t`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// A subscription was added to a callback group.
CallbackGroupAddSubscription = callback_group_add_subscription: Init, Rclcpp, Executors {
    "ros2_caret:callback_group_add_subscription" since "CARET 0.2", Recorded, Repeated;

    CALLBACK_GROUP_ADDR: Pointer = "The callback group.";
    SUBSCRIPTION_HANDLE: Pointer = "The `rcl_subscription_t`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// A service was added to a callback group.
CallbackGroupAddService = callback_group_add_service: Init, Rclcpp, Executors {
    "ros2_caret:callback_group_add_service" since "CARET 0.2", Recorded, Repeated;

    CALLBACK_GROUP_ADDR: Pointer = "The callback group.";
    SERVICE_HANDLE: Pointer = "The `rcl_service_t`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// A client was added to a callback group.
CallbackGroupAddClient = callback_group_add_client: Init, Rclcpp, Executors {
    "ros2_caret:callback_group_add_client" since "CARET 0.2", Recorded, Repeated;

    CALLBACK_GROUP_ADDR: Pointer = "The callback group.";
    CLIENT_HANDLE: Pointer = "The `rcl_client_t`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// A node of r2r begins to wait for work.
R2rSpinStart = r2r_spin_start: Run, R2r {
    "r2r:spin_start" since "r2r with the feature `tracing`";

    NODE_HANDLE: Pointer = "The `rcl_node_t`.";
    TIMEOUT_S: Unsigned = "Longest wait, whole seconds.";
    TIMEOUT_NS: Unsigned = "Longest wait, the rest in ns.";
}

/// A node of r2r has handled what was ready.
R2rSpinEnd = r2r_spin_end: Run, R2r {
    "r2r:spin_end" since "r2r with the feature `tracing`";

    NODE_HANDLE: Pointer = "The `rcl_node_t`.";
}

/// A node of r2r woke because something is ready.
R2rSpinWake = r2r_spin_wake: Run, R2r {
    "r2r:spin_wake" since "r2r with the feature `tracing`";

    NODE_HANDLE: Pointer = "The `rcl_node_t`.";
}

/// A node of r2r woke because its time was over.
R2rSpinTimeout = r2r_spin_timeout: Run, R2r {
    "r2r:spin_timeout" since "r2r with the feature `tracing`";

    NODE_HANDLE: Pointer = "The `rcl_node_t`.";
}

/// A subscriber of r2r received simulated time.
R2rUpdateTime = r2r_update_time: Run, R2r {
    "r2r:update_time" since "r2r with the feature `tracing`";

    SUBSCRIBER: Pointer = "The subscriber of the clock.";
    TIME_S: Signed = "The time, whole seconds.";
    TIME_NS: Unsigned = "The time, the rest in ns.";
}

    } $($later)* } };
}

pub(super) use executor;
