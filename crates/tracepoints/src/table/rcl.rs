//! rcl and rcl_lifecycle: contexts, nodes and their communication endpoints. CARET repeats the initialisation.

macro_rules! rcl {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// A ROS context was initialised.
RclInit = rcl_init: Init, Rcl {
    "ros2:rcl_init" since "Foxy", ByHand("context_handle: *const c_void");
    "ros2_caret:rcl_init" since "CARET 0.4.0";

    CONTEXT_HANDLE: Pointer = "The `rcl_context_t`.";
    VERSION: Text only Provider("ros2") = "Version of the package tracetools; names the distribution.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A node was created.
RclNodeInit = rcl_node_init: Init, Rcl {
    "ros2:rcl_node_init" since "Foxy";
    "ros2_caret:rcl_node_init" since "CARET 0.4.0";

    NODE_HANDLE: Pointer = "The `rcl_node_t`.";
    RMW_HANDLE: Pointer = "The `rmw_node_t`; no other event refers to it.";
    NODE_NAME: Text = "Name after remapping, without the namespace.";
    NAMESPACE: Text = "Namespace after remapping.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A publisher was created.
RclPublisherInit = rcl_publisher_init: Init, Rcl {
    "ros2:rcl_publisher_init" since "Foxy", Repeated;
    "ros2_caret:rcl_publisher_init" since "CARET 0.4.0";

    PUBLISHER_HANDLE: Pointer = "The `rcl_publisher_t`; for `/rosout` a temporary copy.";
    NODE_HANDLE: Pointer = "The `rcl_node_t` that owns it.";
    RMW_PUBLISHER_HANDLE: Pointer = "The `rmw_publisher_t` below it.";
    TOPIC_NAME: Text = "Full name of the topic, after remapping.";
    QUEUE_DEPTH: Unsigned = "Requested depth of the history.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A subscription was created.
RclSubscriptionInit = rcl_subscription_init: Init, Rcl {
    "ros2:rcl_subscription_init" since "Foxy";
    "ros2_caret:rcl_subscription_init" since "CARET 0.4.0";

    SUBSCRIPTION_HANDLE: Pointer = "The `rcl_subscription_t`.";
    NODE_HANDLE: Pointer = "The `rcl_node_t` that owns it.";
    RMW_SUBSCRIPTION_HANDLE: Pointer = "The `rmw_subscription_t` below it.";
    TOPIC_NAME: Text = "Full name of the topic, after remapping.";
    QUEUE_DEPTH: Unsigned = "Requested depth of the history.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A service was created.
RclServiceInit = rcl_service_init: Init, Rcl {
    "ros2:rcl_service_init" since "Foxy";
    "ros2_caret:rcl_service_init" since "CARET 0.4.0";

    SERVICE_HANDLE: Pointer = "The `rcl_service_t`.";
    NODE_HANDLE: Pointer = "The `rcl_node_t` that owns it.";
    RMW_SERVICE_HANDLE: Pointer = "The `rmw_service_t` below it.";
    SERVICE_NAME: Text = "Full name of the service, after remapping.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A client of a service was created.
RclClientInit = rcl_client_init: Init, Rcl {
    "ros2:rcl_client_init" since "Foxy";
    "ros2_caret:rcl_client_init" since "CARET 0.4.0";

    CLIENT_HANDLE: Pointer = "The `rcl_client_t`.";
    NODE_HANDLE: Pointer = "The `rcl_node_t` that owns it.";
    RMW_CLIENT_HANDLE: Pointer = "The `rmw_client_t` below it.";
    SERVICE_NAME: Text = "Full name of the service, after remapping.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A timer was created.
RclTimerInit = rcl_timer_init: Init, Rcl {
    "ros2:rcl_timer_init" since "Foxy";
    "ros2_caret:rcl_timer_init" since "CARET 0.4.0";

    TIMER_HANDLE: Pointer = "The `rcl_timer_t`.";
    PERIOD: Signed = "Period in ns; later changes are not traced.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A node got the state machine of a lifecycle node.
RclLifecycleStateMachineInit = rcl_lifecycle_state_machine_init: Init, RclLifecycle, Lifecycle {
    "ros2:rcl_lifecycle_state_machine_init" since "Galactic";
    "ros2_caret:rcl_lifecycle_state_machine_init" since "CARET 0.4.0";

    NODE_HANDLE: Pointer = "The `rcl_node_t` that owns it.";
    STATE_MACHINE: Pointer = "The `rcl_lifecycle_state_machine_t`.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A lifecycle node changed its state and announced it.
RclLifecycleTransition = rcl_lifecycle_transition: Run, RclLifecycle, Lifecycle {
    "ros2:rcl_lifecycle_transition" since "Galactic";

    STATE_MACHINE: Pointer = "The `rcl_lifecycle_state_machine_t`.";
    START_LABEL: Text = "The state that it left.";
    GOAL_LABEL: Text = "The state that it is in now; `configuring` and the like are states as well.";
}

/// rcl hands a message to the middleware.
RclPublish = rcl_publish: Run, Rcl, Publish {
    "ros2:rcl_publish" since "Galactic";

    PUBLISHER_HANDLE: Pointer = "The `rcl_publisher_t`.";
    MESSAGE: Pointer = "The message, serialised or not.";
}

/// rcl returns from a take, successful or not.
RclTake = rcl_take: Run, Rcl, Take {
    "ros2:rcl_take" since "Humble", Chatty;

    MESSAGE: Pointer = "Where the message was put.";
}

    } $($later)* } };
}

pub(super) use rcl;
