//! Communication within a process: the intra-process manager of rclcpp and its ring buffers.

macro_rules! intra_process {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// A ring buffer for intra-process messages was created.
RclcppConstructRingBuffer = rclcpp_construct_ring_buffer: Init, Rclcpp {
    "ros2:rclcpp_construct_ring_buffer" since "Iron";
    "ros2_caret:rclcpp_construct_ring_buffer" since "CARET 0.5.0";

    BUFFER: Pointer = "The ring buffer.";
    CAPACITY: Unsigned = "How many messages fit.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// A ring buffer became part of an intra-process buffer.
RclcppBufferToIpb = rclcpp_buffer_to_ipb: Init, Rclcpp {
    "ros2:rclcpp_buffer_to_ipb" since "Iron";
    "ros2_caret:rclcpp_buffer_to_ipb" since "CARET 0.5.0";

    BUFFER: Pointer = "The ring buffer.";
    IPB: Pointer = "The intra-process buffer around it.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// An intra-process buffer was given to its subscription.
RclcppIpbToSubscription = rclcpp_ipb_to_subscription: Init, Rclcpp {
    "ros2:rclcpp_ipb_to_subscription" since "Iron";
    "ros2_caret:rclcpp_ipb_to_subscription" since "CARET 0.5.0";

    IPB: Pointer = "The intra-process buffer.";
    SUBSCRIPTION: Pointer = "The `SubscriptionIntraProcess` of rclcpp.";
    INIT_TIMESTAMP: Signed only Provider("ros2_caret") = "When it happened: the trace's clock, in ns.";
}

/// rclcpp hands a message to the subscriptions of its own process.
RclcppIntraPublish = rclcpp_intra_publish: Run, Rclcpp, IntraProcess {
    "ros2:rclcpp_intra_publish" since "Iron; CARET's forks of Galactic and Humble";

    PUBLISHER_HANDLE: Pointer = "The `rcl_publisher_t`.";
    MESSAGE: Pointer = "The message.";
    MESSAGE_TIMESTAMP: Unsigned only Fork("CARET's forks, 0.2 to 0.4.13")
        = "`header.stamp` of the message in ns, 0 without a header.";
}

/// A message was put into a ring buffer.
RclcppRingBufferEnqueue = rclcpp_ring_buffer_enqueue: Run, Rclcpp, IntraProcess {
    "ros2:rclcpp_ring_buffer_enqueue" since "Iron";

    BUFFER: Pointer = "The ring buffer.";
    INDEX: Unsigned = "The slot that was written.";
    SIZE: Unsigned = "Messages now in the buffer; one more than the capacity when it was full.";
    OVERWRITTEN: Flag = "1 when the buffer was full and its oldest message is lost.";
}

/// A message was taken out of a ring buffer.
RclcppRingBufferDequeue = rclcpp_ring_buffer_dequeue: Run, Rclcpp, IntraProcess {
    "ros2:rclcpp_ring_buffer_dequeue" since "Iron";

    BUFFER: Pointer = "The ring buffer.";
    INDEX: Unsigned = "The slot that was read.";
    SIZE: Unsigned = "Messages that remain.";
}

/// A ring buffer was asked to forget its messages.
RclcppRingBufferClear = rclcpp_ring_buffer_clear: Run, Rclcpp, IntraProcess {
    "ros2:rclcpp_ring_buffer_clear" since "Iron";

    BUFFER: Pointer = "The ring buffer.";
}

/// The intra-process manager has copied a message.
MessageConstruct = message_construct: Run, Rclcpp, IntraProcess {
    "ros2:message_construct" since "CARET's forks of Galactic and Humble";

    ORIGINAL_MESSAGE: Pointer = "The message that was copied.";
    CONSTRUCTED_MESSAGE: Pointer = "The copy.";
}

/// A message of the own process is about to be given to its callback.
DispatchIntraProcessSubscriptionCallback = dispatch_intra_process_subscription_callback: Run, Rclcpp, IntraProcess {
    "ros2:dispatch_intra_process_subscription_callback" since "CARET's forks of Galactic and Humble";

    MESSAGE: Pointer = "The message.";
    CALLBACK: Pointer = "The callback object.";
    MESSAGE_TIMESTAMP: Unsigned only Versions("CARET 0.2 and later")
        = "`header.stamp` of the message in ns, 0 without a header.";
}

    } $($later)* } };
}

pub(super) use intra_process;
