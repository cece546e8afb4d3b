//! What applications say of themselves: message links, and text.

macro_rules! application {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// The application says that it publishes later, or on another thread, what these subscriptions stored.
MessageLinkPeriodicAsync = message_link_periodic_async: Init, User, MessageLinks {
    "ros2:message_link_periodic_async" since "Lyrical; topic branches of Humble and Iron", Repeated;

    SUBS: Pointers = "The `rcl_subscription_t` of the inputs.";
    PUBS: Pointers = "The `rcl_publisher_t` of the outputs.";
}

/// The application says that it publishes when the last of these inputs has arrived.
MessageLinkPartialSync = message_link_partial_sync: Init, User, MessageLinks {
    "ros2:message_link_partial_sync" since "Lyrical; topic branches of Humble and Iron", Repeated;

    SUBS: Pointers = "The `rcl_subscription_t` of the inputs.";
    PUBS: Pointers = "The `rcl_publisher_t` of the outputs.";
}

/// The application wrote a text.
UstTracef = ust_tracef: Run, User {
    "lttng_ust_tracef:event" since "LTTng 2.5";

    MSG: Text = "The text.";
}

/// The application wrote a text with a log level, which is the name of the event.
UstTracelog = ust_tracelog: Run, User {
    "lttng_ust_tracelog:*" since "LTTng 2.7";

    LINE: Signed = "Line in the source file.";
    FILE: Text = "Source file.";
    FUNC: Text = "Function.";
    MSG: Text = "The text.";
}

    } $($later)* } };
}

pub(super) use application;
