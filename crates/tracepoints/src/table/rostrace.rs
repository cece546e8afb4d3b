//! What rostrace's own tracer adds: the end of entities, the clocks of timers, when requests are handed over, what it cannot see, and what
//! applications say through `rostrace.h`.

macro_rules! rostrace {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// A node is about to be destroyed.
RclNodeFini = rcl_node_fini: Run, Rcl, Destruction {
    "rostrace:rcl_node_fini" since "rostrace 0.1";

    NODE_HANDLE: Pointer = "The `rcl_node_t`.";
}

/// A publisher is about to be destroyed.
RclPublisherFini = rcl_publisher_fini: Run, Rcl, Destruction {
    "rostrace:rcl_publisher_fini" since "rostrace 0.1";

    PUBLISHER_HANDLE: Pointer = "The `rcl_publisher_t`.";
}

/// A subscription is about to be destroyed.
RclSubscriptionFini = rcl_subscription_fini: Run, Rcl, Destruction {
    "rostrace:rcl_subscription_fini" since "rostrace 0.1";

    SUBSCRIPTION_HANDLE: Pointer = "The `rcl_subscription_t`.";
}

/// A service is about to be destroyed.
RclServiceFini = rcl_service_fini: Run, Rcl, Destruction {
    "rostrace:rcl_service_fini" since "rostrace 0.1";

    SERVICE_HANDLE: Pointer = "The `rcl_service_t`.";
}

/// A client is about to be destroyed.
RclClientFini = rcl_client_fini: Run, Rcl, Destruction {
    "rostrace:rcl_client_fini" since "rostrace 0.1";

    CLIENT_HANDLE: Pointer = "The `rcl_client_t`.";
}

/// A timer is about to be destroyed.
RclTimerFini = rcl_timer_fini: Run, Rcl, Destruction {
    "rostrace:rcl_timer_fini" since "rostrace 0.1";

    TIMER_HANDLE: Pointer = "The `rcl_timer_t`.";
}

/// A timer was created that goes by this clock.
RclTimerClock = rcl_timer_clock: Init, Rcl {
    "rostrace:rcl_timer_clock" since "rostrace 0.1";

    TIMER_HANDLE: Pointer = "The `rcl_timer_t`.";
    CLOCK_TYPE: Unsigned = "1: the clock of ROS, which may be simulated; 2: the system's; 3: a steady one.";
}

/// An executor is about to run the callback of a client: the response was taken on this thread.
ClientCallbackStart = client_callback_start: Run, Rclcpp, Services {
    "rostrace:client_callback_start" since "rostrace 0.1";

    RMW_CLIENT_HANDLE: Pointer = "The `rmw_client_t`.";
    SEQUENCE_NUMBER: Signed = "The client's number of the request that was answered.";
}

/// The callback of a client has ended, be it by an exception.
ClientCallbackEnd = client_callback_end: Run, Rclcpp, Services {
    "rostrace:client_callback_end" since "rostrace 0.1";

    RMW_CLIENT_HANDLE: Pointer = "The `rmw_client_t`.";
    SEQUENCE_NUMBER: Signed = "The client's number of the request that was answered.";
}

/// A message is published in serialised form: its size is known.
RmwPublishSerialized = rmw_publish_serialized: Run, Rmw, MessageSizes {
    "rostrace:rmw_publish_serialized" since "rostrace 0.1";

    RMW_PUBLISHER_HANDLE: Pointer = "The `rmw_publisher_t`.";
    MESSAGE: Pointer = "The serialised message.";
    SIZE: Unsigned = "Its bytes.";
}

/// A message was taken in serialised form: its size is known.
RmwTakeSerialized = rmw_take_serialized: Run, Rmw, MessageSizes {
    "rostrace:rmw_take_serialized" since "rostrace 0.1";

    RMW_SUBSCRIPTION_HANDLE: Pointer = "The `rmw_subscription_t`.";
    MESSAGE: Pointer = "The serialised message.";
    SIZE: Unsigned = "Its bytes.";
}

/// A message was taken by the `ros2:rmw_take` before; the middleware tells when it arrived, and its publisher's number of it.
RmwTakeInfo = rmw_take_info: Run, Rmw, Take {
    "rostrace:rmw_take_info" since "rostrace 0.1";

    RMW_SUBSCRIPTION_HANDLE: Pointer = "The `rmw_subscription_t`.";
    RECEIVED_TIMESTAMP: Signed = "When the message arrived, as the middleware says: ns since 1970, wall clock.";
    WALL_CLOCK: Signed = "The wall clock at the time of this event: the arrival was so much earlier as the two differ.";
    PUBLICATION_SEQUENCE_NUMBER: Unsigned
        = "The publisher's number of the message: one more than that of the message before.";
    RECEPTION_SEQUENCE_NUMBER: Unsigned = "The subscription's number of the message; 18446744073709551615 if the middleware does not report it.";
}

/// A client hands a request to the middleware; its number is in the `ros2:rmw_send_request` that follows on this thread.
RmwSendRequestBegin = rmw_send_request_begin: Run, Rmw, Services {
    "rostrace:rmw_send_request_begin" since "rostrace 0.1";

    RMW_CLIENT_HANDLE: Pointer = "The `rmw_client_t`.";
    REQUEST: Pointer = "The request.";
}

/// A callback has just begun, or is about to end: what its thread has computed until now, where the system refuses context switches.
ThreadClock = thread_clock: Run, Rclcpp, Scheduling {
    "rostrace:thread_clock" since "rostrace 0.1";

    CALLBACK: Pointer = "The callback object that begins or ends.";
    CPU_TIME: Unsigned = "Nanoseconds of the CPU clock of the thread.";
    VOLUNTARY: Unsigned = "How often it left its CPU because it had to wait for something.";
    INVOLUNTARY: Unsigned = "How often it had to leave its CPU although it could have gone on.";
}

/// The tracer found out whether calls of a function that it interposes reach it; recorded if they do not, and again if one does.
HookState = hook_state: Init, Tracer {
    "rostrace:hook_state" since "rostrace 0.1", Repeated;

    HOOK: Text = "Symbol of the function.";
    STATE: Text = "`bypassed`: its library was linked or loaded so that calls go past the tracer; `on`: one was seen after all.";
    LIBRARY: Text = "File name of the library that defines the function.";
}

/// The application marks a moment.
UserInstant = user_instant: Run, User {
    "rostrace:instant" since "rostrace 0.1";

    NAME: Text = "What the application calls it.";
    INTEGER_NAMES: Texts = "Names of the whole numbers.";
    INTEGERS: Numbers = "The whole numbers that the application gave.";
    REAL_NAMES: Texts = "Names of the real numbers.";
    REALS: Reals = "The real numbers that the application gave.";
    TEXT_NAMES: Texts = "Names of the texts.";
    TEXTS: Texts = "The texts that the application gave.";
}

/// Something that takes time begins in the application.
UserSpanBegin = user_span_begin: Run, User {
    "rostrace:span_begin" since "rostrace 0.1";

    NAME: Text = "What the application calls it.";
    SPAN: Unsigned = "Identity of the span within the process; its end carries the same.";
    INTEGER_NAMES: Texts = "Names of the whole numbers.";
    INTEGERS: Numbers = "The whole numbers that the application gave.";
    REAL_NAMES: Texts = "Names of the real numbers.";
    REALS: Reals = "The real numbers that the application gave.";
    TEXT_NAMES: Texts = "Names of the texts.";
    TEXTS: Texts = "The texts that the application gave.";
}

/// Something that takes time has ended in the application.
UserSpanEnd = user_span_end: Run, User {
    "rostrace:span_end" since "rostrace 0.1";

    NAME: Text = "What the application calls it.";
    SPAN: Unsigned = "Identity of the span within the process.";
}

/// A quantity of the application has this value now.
UserCounter = user_counter: Run, User {
    "rostrace:counter" since "rostrace 0.1";

    NAME: Text = "What the application calls it.";
    VALUE: Real = "The value.";
}

    } $($later)* } };
}

pub(super) use rostrace;
