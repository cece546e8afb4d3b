//! rclcpp: callbacks and the objects that own them, publications, takes.

macro_rules! rclcpp {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// An object of rclcpp was tied to its rcl subscription; with intra-process communication there are two.
RclcppSubscriptionInit = rclcpp_subscription_init: Init, Rclcpp {
    "ros2:rclcpp_subscription_init" since "Foxy", Repeated;
    "ros2_caret:rclcpp_subscription_init" since "CARET 0.4.0";

    SUBSCRIPTION_HANDLE: Pointer = "The `rcl_subscription_t`.";
    SUBSCRIPTION: Pointer = "The `rclcpp::Subscription`, or the intra-process subscription.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A subscription object got its callback.
RclcppSubscriptionCallbackAdded = rclcpp_subscription_callback_added: Init, Rclcpp {
    "ros2:rclcpp_subscription_callback_added" since "Foxy";
    "ros2_caret:rclcpp_subscription_callback_added" since "CARET 0.4.0";

    SUBSCRIPTION: Pointer = "The `rclcpp::Subscription`, or the intra-process subscription.";
    CALLBACK: Pointer = "The callback object.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A service got its callback.
RclcppServiceCallbackAdded = rclcpp_service_callback_added: Init, Rclcpp {
    "ros2:rclcpp_service_callback_added" since "Foxy";
    "ros2_caret:rclcpp_service_callback_added" since "CARET 0.4.0";

    SERVICE_HANDLE: Pointer = "The `rcl_service_t`.";
    CALLBACK: Pointer = "The callback object.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A timer got its callback.
RclcppTimerCallbackAdded = rclcpp_timer_callback_added: Init, Rclcpp {
    "ros2:rclcpp_timer_callback_added" since "Foxy";
    "ros2_caret:rclcpp_timer_callback_added" since "CARET 0.4.0";

    TIMER_HANDLE: Pointer = "The `rcl_timer_t`.";
    CALLBACK: Pointer = "The callback object.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A timer was added to a node.
RclcppTimerLinkNode = rclcpp_timer_link_node: Init, Rclcpp {
    "ros2:rclcpp_timer_link_node" since "Galactic";
    "ros2_caret:rclcpp_timer_link_node" since "CARET 0.4.0";

    TIMER_HANDLE: Pointer = "The `rcl_timer_t`.";
    NODE_HANDLE: Pointer = "The `rcl_node_t`.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A callback object got its name.
RclcppCallbackRegister = rclcpp_callback_register: Init, Rclcpp {
    "ros2:rclcpp_callback_register" since "Foxy";
    "ros2_caret:rclcpp_callback_register" since "CARET 0.4.0";

    CALLBACK: Pointer = "The callback object.";
    SYMBOL: Text = "Demangled function or type; `(null)` or `UNKNOWN…` where that failed.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A callback of a timer, subscription or service begins.
CallbackStart = callback_start: Run, Rclcpp, Callbacks {
    "ros2:callback_start" since "Foxy", ByHand("callback: *const c_void, is_intra_process: bool");

    CALLBACK: Pointer = "The callback object.";
    IS_INTRA_PROCESS: Flag = "1 when the message came through intra-process communication.";
}

/// A callback has returned.
CallbackEnd = callback_end: Run, Rclcpp, Callbacks {
    "ros2:callback_end" since "Foxy", ByHand("callback: *const c_void");

    CALLBACK: Pointer = "The callback object.";
}

/// rclcpp hands a message to rcl.
RclcppPublish = rclcpp_publish: Run, Rclcpp, Publish {
    "ros2:rclcpp_publish" since "Galactic", ByHand("publisher_handle: *const c_void, message: *const c_void");

    PUBLISHER_HANDLE: Pointer only Versions("Galactic; CARET's fork of Humble") = "The `rcl_publisher_t`.";
    MESSAGE: Pointer = "The message.";
    MESSAGE_TIMESTAMP: Unsigned only Fork("CARET's forks, 0.2 to 0.4.13")
        = "`header.stamp` of the message in ns, 0 without a header.";
}

/// rclcpp returns from a take, successful or not.
RclcppTake = rclcpp_take: Run, Rclcpp, Take {
    "ros2:rclcpp_take" since "Humble", Chatty;

    MESSAGE: Pointer = "Where the message was put.";
}

/// A message that came through the middleware is about to be given to its callback.
DispatchSubscriptionCallback = dispatch_subscription_callback: Run, Rclcpp, Take {
    "ros2:dispatch_subscription_callback" since "CARET's forks of Galactic and Humble";

    MESSAGE: Pointer = "The message.";
    CALLBACK: Pointer = "The callback object.";
    SOURCE_STAMP: Unsigned = "Source timestamp of the message in ns.";
    MESSAGE_TIMESTAMP: Unsigned only Versions("CARET 0.2 and later")
        = "`header.stamp` of the message in ns, 0 without a header.";
}

    } $($later)* } };
}

pub(super) use rclcpp;
