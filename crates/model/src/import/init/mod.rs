//! Events of the initialisation, as the trace has them: addresses that refer to other addresses.
//!
//! They are only collected here. They may come in any order and more than once (a recorder that starts late repeats
//! them), so they are sorted by the time at which they happened before `entity::resolve` makes sense of them. Who executes
//! callbacks, and in which groups, stands in `grouping`.

/// What the events of one kind become: the module with their field indices, the variant and how each of its fields is read; with it
/// the clock's value at which it happened.
macro_rules! init {
    ($fields:ident, $module:ident, $init:ident::$variant:ident { $($name:ident: $read:expr),* $(,)? }) => {{
        use rostrace_tracepoints::field::$module::*;
        ($init::$variant { $($name: $read),* }, $fields.number(INIT_TIMESTAMP))
    }};
}

mod grouping;

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};

use crate::binding::Fields;
use crate::entity::{Address, ProcessId};

pub(crate) use grouping::Grouping;

/// An initialisation event and when it happened.
#[derive(Debug, Clone)]
pub(crate) struct TimedInit {
    pub(crate) process: ProcessId,
    pub(crate) time: Nanos,
    /// When it was written: later, if a recorder repeats it.
    pub(crate) recorded: Nanos,
    /// CARET's clock when it happened, if CARET tells it.
    pub(crate) stamp: Option<u64>,
    pub(crate) init: Init,
}

/// Who is created, and to whom it belongs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Init {
    Context {
        handle: Address,
        version: Option<String>,
    },
    Node {
        handle: Address,
        name: String,
        namespace: String,
    },
    Publisher {
        handle: Address,
        node: Address,
        rmw: Address,
        topic: String,
        depth: u64,
    },
    Subscription {
        handle: Address,
        node: Address,
        rmw: Address,
        topic: String,
        depth: u64,
    },
    SubscriptionObject {
        handle: Address,
        object: Address,
    },
    SubscriptionCallback {
        object: Address,
        callback: Address,
    },
    Timer {
        handle: Address,
        period: i64,
    },
    TimerClock {
        handle: Address,
        is_ros: bool,
    },
    TimerCallback {
        handle: Address,
        callback: Address,
    },
    TimerNode {
        handle: Address,
        node: Address,
    },
    Service {
        handle: Address,
        node: Address,
        rmw: Address,
        name: String,
    },
    ServiceCallback {
        handle: Address,
        callback: Address,
    },
    Client {
        handle: Address,
        node: Address,
        rmw: Address,
        name: String,
    },
    RmwClient {
        rmw: Address,
        gid: Vec<u8>,
    },
    CallbackSymbol {
        callback: Address,
        symbol: String,
    },
    StateMachine {
        node: Address,
        machine: Address,
    },
    RingBuffer {
        buffer: Address,
        capacity: u64,
    },
    BufferToIpb {
        buffer: Address,
        ipb: Address,
    },
    IpbToSubscription {
        ipb: Address,
        object: Address,
    },
    /// Executors, callback groups and their members.
    Grouping(Grouping),
    /// CARET's library has begun to work.
    Caret {
        distribution: String,
        /// What its clock showed.
        clock: u64,
    },
    RmwImplementation {
        name: String,
    },
    /// Whether our own tracer sees calls of a function.
    Hook {
        function: String,
        library: String,
        is_bypassed: bool,
    },
    AgnocastSubscription {
        handle: Address,
        node: Address,
        callback: Address,
        group: Address,
        symbol: String,
        topic: String,
        depth: u64,
        callback_info: u64,
    },
    AgnocastTimer {
        handle: Address,
        node: Address,
        callback: Address,
        group: Address,
        symbol: String,
        period: i64,
    },
}

/// The init event that an event of this kind is, with the clock's value at which it really happened, if it says so.
pub(crate) fn parse(kind: Kind, fields: &Fields<'_>) -> Option<(Init, Option<u64>)> {
    let at = |field: usize| fields.address(field);
    let text = |field: usize| fields.text(field).unwrap_or_default();
    let number = |field: usize| fields.number(field).unwrap_or(0);
    let signed = |field: usize| fields.signed(field).unwrap_or(0);
    let nowhere = Address(0);
    Some(match kind {
        Kind::RclInit => {
            init!(
                fields,
                rcl_init,
                Init::Context {
                    handle: at(CONTEXT_HANDLE),
                    version: fields.text(VERSION)
                }
            )
        }
        Kind::RclNodeInit => init!(
            fields,
            rcl_node_init,
            Init::Node {
                handle: at(NODE_HANDLE),
                name: text(NODE_NAME),
                namespace: text(NAMESPACE),
            }
        ),
        Kind::RclPublisherInit => init!(
            fields,
            rcl_publisher_init,
            Init::Publisher {
                handle: at(PUBLISHER_HANDLE),
                node: at(NODE_HANDLE),
                rmw: at(RMW_PUBLISHER_HANDLE),
                topic: text(TOPIC_NAME),
                depth: number(QUEUE_DEPTH),
            }
        ),
        Kind::RclSubscriptionInit => init!(
            fields,
            rcl_subscription_init,
            Init::Subscription {
                handle: at(SUBSCRIPTION_HANDLE),
                node: at(NODE_HANDLE),
                rmw: at(RMW_SUBSCRIPTION_HANDLE),
                topic: text(TOPIC_NAME),
                depth: number(QUEUE_DEPTH),
            }
        ),
        Kind::RclcppSubscriptionInit => init!(
            fields,
            rclcpp_subscription_init,
            Init::SubscriptionObject {
                handle: at(SUBSCRIPTION_HANDLE),
                object: at(SUBSCRIPTION),
            }
        ),
        Kind::RclcppSubscriptionCallbackAdded => {
            init!(
                fields,
                rclcpp_subscription_callback_added,
                Init::SubscriptionCallback {
                    object: at(SUBSCRIPTION),
                    callback: at(CALLBACK),
                }
            )
        }
        Kind::RclTimerInit => {
            init!(
                fields,
                rcl_timer_init,
                Init::Timer {
                    handle: at(TIMER_HANDLE),
                    period: signed(PERIOD)
                }
            )
        }
        Kind::RclTimerClock => {
            use field::rcl_timer_clock::*;
            let init = Init::TimerClock {
                handle: at(TIMER_HANDLE),
                is_ros: number(CLOCK_TYPE) == 1,
            };
            (init, None)
        }
        Kind::HookState => {
            use field::hook_state::*;
            let init = Init::Hook {
                function: text(HOOK),
                library: text(LIBRARY),
                is_bypassed: text(STATE) == "bypassed",
            };
            (init, None)
        }
        Kind::RclcppTimerCallbackAdded => init!(
            fields,
            rclcpp_timer_callback_added,
            Init::TimerCallback {
                handle: at(TIMER_HANDLE),
                callback: at(CALLBACK),
            }
        ),
        Kind::RclcppTimerLinkNode => init!(
            fields,
            rclcpp_timer_link_node,
            Init::TimerNode {
                handle: at(TIMER_HANDLE),
                node: at(NODE_HANDLE),
            }
        ),
        Kind::RclServiceInit => init!(
            fields,
            rcl_service_init,
            Init::Service {
                handle: at(SERVICE_HANDLE),
                node: at(NODE_HANDLE),
                rmw: at(RMW_SERVICE_HANDLE),
                name: text(SERVICE_NAME),
            }
        ),
        Kind::RclcppServiceCallbackAdded => init!(
            fields,
            rclcpp_service_callback_added,
            Init::ServiceCallback {
                handle: at(SERVICE_HANDLE),
                callback: at(CALLBACK),
            }
        ),
        Kind::RclClientInit => init!(
            fields,
            rcl_client_init,
            Init::Client {
                handle: at(CLIENT_HANDLE),
                node: at(NODE_HANDLE),
                rmw: at(RMW_CLIENT_HANDLE),
                name: text(SERVICE_NAME),
            }
        ),
        Kind::RmwClientInit => {
            use field::rmw_client_init::*;
            (
                Init::RmwClient {
                    rmw: at(RMW_CLIENT_HANDLE),
                    gid: fields.bytes(GID),
                },
                None,
            )
        }
        Kind::RclcppCallbackRegister => init!(
            fields,
            rclcpp_callback_register,
            Init::CallbackSymbol {
                callback: at(CALLBACK),
                symbol: text(SYMBOL),
            }
        ),
        Kind::RclLifecycleStateMachineInit => {
            init!(
                fields,
                rcl_lifecycle_state_machine_init,
                Init::StateMachine {
                    node: at(NODE_HANDLE),
                    machine: at(STATE_MACHINE),
                }
            )
        }
        Kind::RclcppConstructRingBuffer => init!(
            fields,
            rclcpp_construct_ring_buffer,
            Init::RingBuffer {
                buffer: at(BUFFER),
                capacity: number(CAPACITY),
            }
        ),
        Kind::RclcppBufferToIpb => {
            init!(
                fields,
                rclcpp_buffer_to_ipb,
                Init::BufferToIpb {
                    buffer: at(BUFFER),
                    ipb: at(IPB)
                }
            )
        }
        Kind::RclcppIpbToSubscription => init!(
            fields,
            rclcpp_ipb_to_subscription,
            Init::IpbToSubscription {
                ipb: at(IPB),
                object: at(SUBSCRIPTION),
            }
        ),
        Kind::CaretInit => (
            Init::Caret {
                distribution: text(field::caret_init::DISTRIBUTION),
                clock: number(field::caret_init::CLOCK_OFFSET),
            },
            None,
        ),
        Kind::RmwImplementation => {
            init!(
                fields,
                rmw_implementation,
                Init::RmwImplementation {
                    name: text(RMW_IMPL)
                }
            )
        }
        Kind::AgnocastNodeInit => init!(
            fields,
            agnocast_node_init,
            Init::Node {
                handle: at(NODE_HANDLE),
                name: text(NODE_NAME),
                namespace: text(NAMESPACE),
            }
        ),
        Kind::AgnocastPublisherInit => init!(
            fields,
            agnocast_publisher_init,
            Init::Publisher {
                handle: at(PUBLISHER_HANDLE),
                node: at(NODE_HANDLE),
                rmw: nowhere,
                topic: agnocast_topic(text(TOPIC_NAME)),
                depth: number(QUEUE_DEPTH),
            }
        ),
        Kind::AgnocastSubscriptionInit => init!(
            fields,
            agnocast_subscription_init,
            Init::AgnocastSubscription {
                handle: at(SUBSCRIPTION_HANDLE),
                node: at(NODE_HANDLE),
                callback: at(CALLBACK),
                group: at(CALLBACK_GROUP),
                symbol: text(SYMBOL),
                topic: agnocast_topic(text(TOPIC_NAME)),
                depth: number(QUEUE_DEPTH),
                callback_info: fields.number(PID_CALLBACK_INFO_ID).unwrap_or(u64::MAX),
            }
        ),
        Kind::AgnocastTimerInit => init!(
            fields,
            agnocast_timer_init,
            Init::AgnocastTimer {
                handle: at(TIMER_HANDLE),
                node: at(NODE_HANDLE),
                callback: at(CALLBACK),
                group: at(CALLBACK_GROUP),
                symbol: text(SYMBOL),
                period: signed(PERIOD),
            }
        ),
        _ => return grouping::parse(kind, fields).map(|(it, stamp)| (Init::Grouping(it), stamp)),
    })
}

/// Messages of Agnocast do not reach subscriptions of DDS that have the same topic.
fn agnocast_topic(topic: String) -> String {
    topic + "_agnocast"
}
