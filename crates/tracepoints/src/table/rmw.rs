//! rmw: what the middleware implementation does, with the stamps and numbers that leave the process.

macro_rules! rmw {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// The middleware has created a publisher.
RmwPublisherInit = rmw_publisher_init: Init, Rmw {
    "ros2:rmw_publisher_init" since "Humble";

    RMW_PUBLISHER_HANDLE: Pointer = "The `rmw_publisher_t`.";
    GID: Gid = "24 bytes up to Jazzy, 16 from Kilted; in Iron and Jazzy only the first 16 mean something.";
}

/// The middleware has created a subscription.
RmwSubscriptionInit = rmw_subscription_init: Init, Rmw {
    "ros2:rmw_subscription_init" since "Humble";

    RMW_SUBSCRIPTION_HANDLE: Pointer = "The `rmw_subscription_t`.";
    GID: Gid = "24 bytes up to Jazzy, 16 from Kilted; in Iron and Jazzy only the first 16 mean something.";
}

/// The middleware has created a client.
RmwClientInit = rmw_client_init: Init, Rmw {
    "ros2:rmw_client_init" since "Kilted";

    RMW_CLIENT_HANDLE: Pointer = "The `rmw_client_t`.";
    GID: Gid = "16 bytes; requests carry them as `client_gid`.";
}

/// The middleware is about to write a message.
RmwPublish = rmw_publish: Run, Rmw, Publish {
    "ros2:rmw_publish" since "Humble", ByHand("first: *const c_void, message: *const c_void, stamp: i64");

    RMW_PUBLISHER_HANDLE: Pointer only Versions("Jazzy and later") = "The `rmw_publisher_t`.";
    MESSAGE: Pointer = "The message, serialised or not.";
    TIMESTAMP: Signed only Versions("Jazzy and later")
        = "Source timestamp that takers will see: ns since 1970, wall clock.";
}

/// The middleware returns from a take, successful or not.
RmwTake = rmw_take: Run, Rmw, Take {
    "ros2:rmw_take" since "Humble";

    RMW_SUBSCRIPTION_HANDLE: Pointer = "The `rmw_subscription_t`.";
    MESSAGE: Pointer = "Where the message was put.";
    SOURCE_TIMESTAMP: Signed = "Source timestamp of the message; 0 when nothing was taken or nobody asked.";
    TAKEN: Flag = "1 when there was a message.";
}

/// A client is sending a request; Fast DDS says so after the write, Cyclone DDS before it.
RmwSendRequest = rmw_send_request: Run, Rmw, Services {
    "ros2:rmw_send_request" since "Kilted";

    RMW_CLIENT_HANDLE: Pointer = "The `rmw_client_t`.";
    REQUEST: Pointer = "The request.";
    SEQUENCE_NUMBER: Signed = "With the client's gid it identifies the request.";
}

/// A service returns from taking a request, successful or not.
RmwTakeRequest = rmw_take_request: Run, Rmw, Services {
    "ros2:rmw_take_request" since "Kilted";

    RMW_SERVICE_HANDLE: Pointer = "The `rmw_service_t`.";
    REQUEST: Pointer = "Where the request was put.";
    CLIENT_GID: Gid = "16 bytes: who asks; valid only when something was taken.";
    SEQUENCE_NUMBER: Signed = "Number of the request; valid only when something was taken.";
    TAKEN: Flag = "1 when there was a request.";
}

/// A service is about to write its response.
RmwSendResponse = rmw_send_response: Run, Rmw, Services {
    "ros2:rmw_send_response" since "Kilted";

    RMW_SERVICE_HANDLE: Pointer = "The `rmw_service_t`.";
    RESPONSE: Pointer = "The response.";
    CLIENT_GID: Gid = "16 bytes: who asked.";
    SEQUENCE_NUMBER: Signed = "Number of the request that it answers.";
    TIMESTAMP: Signed = "Source timestamp that the client will see: ns since 1970, wall clock.";
}

/// A client returns from taking a response, successful or not.
RmwTakeResponse = rmw_take_response: Run, Rmw, Services {
    "ros2:rmw_take_response" since "Kilted";

    RMW_CLIENT_HANDLE: Pointer = "The `rmw_client_t`.";
    RESPONSE: Pointer = "Where the response was put.";
    SEQUENCE_NUMBER: Signed = "Number of the request that it answers.";
    SOURCE_TIMESTAMP: Signed = "Source timestamp of the response.";
    TAKEN: Flag = "1 when there was a response.";
}

    } $($later)* } };
}

pub(super) use rmw;
