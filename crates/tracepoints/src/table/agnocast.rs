//! Agnocast, with its own contexts, nodes and executors beside those of rclcpp. CARET repeats the initialisation.

macro_rules! agnocast {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// An Agnocast context was initialised.
AgnocastInit = agnocast_init: Init, Agnocast {
    "agnocast:agnocast_init" since "Agnocast 2.3.1 or later";
    "ros2_caret:agnocast_init" since "CARET 0.7.2";

    CONTEXT_HANDLE: Pointer = "The context.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// An Agnocast node was created.
AgnocastNodeInit = agnocast_node_init: Init, Agnocast {
    "agnocast:agnocast_node_init" since "Agnocast 2.3.1 or later";
    "ros2_caret:agnocast_node_init" since "CARET 0.7.2";

    NODE_HANDLE: Pointer = "The `agnocast::Node`.";
    NODE_NAME: Text = "Name without the namespace.";
    NAMESPACE: Text = "Namespace.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// An Agnocast publisher was created.
AgnocastPublisherInit = agnocast_publisher_init: Init, Agnocast {
    "agnocast:agnocast_publisher_init" since "Agnocast 2.3.1";
    "ros2_caret:agnocast_publisher_init" since "CARET 0.7.0";

    PUBLISHER_HANDLE: Pointer = "The publisher.";
    NODE_HANDLE: Pointer = "The node that owns it.";
    TOPIC_NAME: Text = "Full name of the topic.";
    QUEUE_DEPTH: Unsigned = "Requested depth of the history.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// An Agnocast subscription was created, with its callback.
AgnocastSubscriptionInit = agnocast_subscription_init: Init, Agnocast {
    "agnocast:agnocast_subscription_init" since "Agnocast 2.3.1";
    "ros2_caret:agnocast_subscription_init" since "CARET 0.7.0";

    SUBSCRIPTION_HANDLE: Pointer = "The subscription.";
    NODE_HANDLE: Pointer = "The node that owns it.";
    CALLBACK: Pointer = "The callback.";
    CALLBACK_GROUP: Pointer = "The callback group.";
    SYMBOL: Text = "Demangled name of the callback.";
    TOPIC_NAME: Text = "Full name of the topic.";
    QUEUE_DEPTH: Unsigned = "Requested depth of the history.";
    PID_CALLBACK_INFO_ID: Unsigned also "pid_ciid" = "Process and number of the callback; callables carry it.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// An Agnocast timer was created, with its callback.
AgnocastTimerInit = agnocast_timer_init: Init, Agnocast {
    "agnocast:agnocast_timer_init" since "Agnocast 2.3.1 or later";
    "ros2_caret:agnocast_timer_init" since "CARET 0.7.2";

    TIMER_HANDLE: Pointer = "The timer.";
    NODE_HANDLE: Pointer = "The node that owns it.";
    CALLBACK: Pointer = "The callback.";
    CALLBACK_GROUP: Pointer = "The callback group.";
    SYMBOL: Text = "Demangled name of the callback.";
    PERIOD: Signed = "Period in ns.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A callback group was added to an Agnocast executor.
AgnocastAddCallbackGroup = agnocast_add_callback_group: Init, Agnocast, Executors {
    "agnocast:agnocast_add_callback_group" since "Agnocast 2.3.1 or later";
    "ros2_caret:agnocast_add_callback_group" since "CARET 0.7.2";

    EXECUTOR_ADDR: Pointer = "The executor.";
    NODE_HANDLE: Pointer = "The node of the group.";
    CALLBACK_GROUP_ADDR: Pointer = "The callback group.";
    GROUP_TYPE_NAME: Text = "`mutually_exclusive`, `reentrant` or `unknown`.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// An Agnocast executor was created.
AgnocastConstructExecutor = agnocast_construct_executor: Init, Agnocast, Executors {
    "agnocast:agnocast_construct_executor" since "Agnocast 2.3.1";
    "ros2_caret:agnocast_construct_executor" since "CARET 0.7.0";

    EXECUTOR_ADDR: Pointer = "The executor.";
    EXECUTOR_TYPE_NAME: Text = "Kind of the executor.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A message was published through Agnocast.
AgnocastPublish = agnocast_publish: Run, Agnocast {
    "agnocast:agnocast_publish" since "Agnocast 2.3.1";

    PUBLISHER_HANDLE: Pointer = "The publisher.";
    ENTRY_ID: Signed = "Number of the message in its topic.";
}

/// A message became a callable for an executor.
AgnocastCreateCallable = agnocast_create_callable: Run, Agnocast {
    "agnocast:agnocast_create_callable" since "Agnocast 2.3.1";

    CALLABLE: Pointer = "The callable.";
    ENTRY_ID: Signed = "Number of the message in its topic.";
    PID_CALLBACK_INFO_ID: Unsigned also "pid_ciid" = "Which callback, as `agnocast_subscription_init` says it.";
}

/// An expired timer became a callable for an executor.
AgnocastCreateTimerCallable = agnocast_create_timer_callable: Run, Agnocast {
    "agnocast:agnocast_create_timer_callable" since "Agnocast 2.3.1 or later";

    CALLABLE: Pointer = "The callable.";
    TIMER_HANDLE: Pointer = "The timer.";
}

/// A callable begins.
AgnocastCallableStart = agnocast_callable_start: Run, Agnocast {
    "agnocast:agnocast_callable_start" since "Agnocast 2.3.1";

    CALLABLE: Pointer = "The callable.";
}

/// A callable has returned.
AgnocastCallableEnd = agnocast_callable_end: Run, Agnocast {
    "agnocast:agnocast_callable_end" since "Agnocast 2.3.1";

    CALLABLE: Pointer = "The callable.";
}

/// A subscription that is polled was asked for a message.
AgnocastTake = agnocast_take: Run, Agnocast {
    "agnocast:agnocast_take" since "Agnocast 2.3.1";

    SUBSCRIPTION_HANDLE: Pointer = "The subscription.";
    MESSAGE: Pointer = "The message, 0 when there was none.";
    ENTRY_ID: Signed = "Number of the message in its topic.";
}

    } $($later)* } };
}

pub(super) use agnocast;
