//! What CARET's library says of itself, of the middleware and of simulated time. The events that it shares with ROS 2
//! or hooks in executors stand with their layers.

macro_rules! caret {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// CARET's library is ready in a process, or a recording began.
CaretInit = caret_init: Init, Caret {
    "ros2_caret:caret_init" since "CARET 0.4.0";

    CLOCK_OFFSET: Signed = "The trace's clock now, in ns; relates `init_timestamp` to the time of this event.";
    DISTRIBUTION: Text only Versions("CARET 0.5.0 and later") = "`ROS_DISTRO` of the process.";
}

/// The process uses this middleware implementation.
RmwImplementation = rmw_implementation: Init, Caret {
    "ros2_caret:rmw_implementation" since "CARET 0.1", Recorded, Repeated;

    RMW_IMPL: Text = "Name of the implementation, such as `rmw_cyclonedds_cpp`.";
    INIT_TIMESTAMP: Signed only Versions("CARET 0.4.0 and later") = "When it happened: the trace's clock, in ns.";
}

/// The middleware is about to write a message; from CARET 0.3 this is `rmw_publish` under another name.
DdsWrite = dds_write: Run, Caret, Publish {
    "ros2_caret:dds_write" since "CARET 0.1";

    RMW_PUBLISHER_HANDLE: Pointer only Versions("CARET 0.6.0 and later, on Jazzy") = "The `rmw_publisher_t`.";
    MESSAGE: Pointer = "The message.";
    TIMESTAMP: Signed only Versions("CARET 0.6.0 and later, on Jazzy")
        = "Source timestamp that takers will see: ns since 1970, wall clock.";
}

/// The middleware has given a source timestamp to the message that it wrote.
DdsBindAddrToStamp = dds_bind_addr_to_stamp: Run, Caret, Publish {
    "ros2_caret:dds_bind_addr_to_stamp" since "CARET 0.1", Recorded;

    ADDR: Pointer = "The message; 0 with Fast DDS.";
    SOURCE_STAMP: Unsigned = "Source timestamp in ns.";
}

/// The middleware has copied a message.
DdsBindAddrToAddr = dds_bind_addr_to_addr: Run, Caret {
    "ros2_caret:dds_bind_addr_to_addr" since "CARET 0.1" until "CARET 0.3";

    ADDR_FROM: Pointer = "The message that was copied.";
    ADDR_TO: Pointer = "The copy.";
}

/// A message has arrived in the middleware.
OnDataAvailable = on_data_available: Run, Caret {
    "ros2_caret:on_data_available" since "CARET 0.1" until "CARET 0.3";

    SOURCE_STAMP: Unsigned = "Source timestamp in ns.";
}

/// The simulated time at this moment: CARET once a second, rostrace's tracer with each message on `/clock`.
SimTime = sim_time: Run, Caret, SimulatedTime {
    "ros2_caret:sim_time" since "CARET 0.2", Recorded;

    STAMP: Unsigned = "Simulated time in ns.";
}

/// TILDE has created a subscription.
TildeSubscriptionInit = tilde_subscription_init: Init, Tilde {
    "ros2_caret:tilde_subscription_init" since "TILDE on Galactic";

    SUBSCRIPTION: Pointer = "TILDE's subscription.";
    NODE_NAME: Text = "Full name of the node.";
    TOPIC_NAME: Text = "Name of the topic.";
}

/// TILDE has created a publisher.
TildePublisherInit = tilde_publisher_init: Init, Tilde {
    "ros2_caret:tilde_publisher_init" since "TILDE on Galactic";

    PUBLISHER: Pointer = "TILDE's publisher.";
    NODE_NAME: Text = "Full name of the node.";
    TOPIC_NAME: Text = "Name of the topic.";
}

/// TILDE has declared an input of a publisher.
TildeSubscribeAdded = tilde_subscribe_added: Init, Tilde {
    "ros2_caret:tilde_subscribe_added" since "TILDE on Galactic";

    SUBSCRIPTION_ID: Pointer = "TILDE's identity of the input.";
    NODE_NAME: Text = "Full name of the node.";
    TOPIC_NAME: Text = "Name of the input's topic.";
}

/// A subscription of TILDE has received a message.
TildeSubscribe = tilde_subscribe: Run, Tilde {
    "ros2_caret:tilde_subscribe" since "TILDE on Galactic";

    SUBSCRIPTION: Pointer = "TILDE's subscription.";
    TILDE_MESSAGE_ID: Unsigned = "Identity of the message.";
}

/// A publisher of TILDE says which input its message came from.
TildePublish = tilde_publish: Run, Tilde {
    "ros2_caret:tilde_publish" since "TILDE on Galactic";

    PUBLISHER: Pointer = "TILDE's publisher.";
    TILDE_PUBLISH_TIMESTAMP: Unsigned = "When it was published, in ns.";
    SUBSCRIPTION_ID: Pointer = "TILDE's identity of the input.";
    TILDE_MESSAGE_ID: Unsigned = "Identity of the input's message.";
}

    } $($later)* } };
}

pub(super) use caret;
