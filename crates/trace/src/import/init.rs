//! Events of the initialisation, as the trace has them: addresses that refer to other addresses.
//!
//! They are only collected here. They may come in any order and more than once (a recorder that starts late repeats
//! them), so they are sorted by the time at which they happened before `entity::resolve` makes sense of them.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};

use crate::binding::Fields;
use crate::entity::{Address, ProcessId};

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
    Executor {
        executor: Address,
        collector: Address,
        name: String,
    },
    CollectorToExecutor {
        executor: Address,
        collector: Address,
    },
    GroupToExecutor {
        executor: Address,
        group: Address,
        name: String,
    },
    GroupToCollector {
        collector: Address,
        group: Address,
        name: String,
    },
    GroupTimer {
        group: Address,
        timer: Address,
    },
    GroupSubscription {
        group: Address,
        subscription: Address,
    },
    GroupService {
        group: Address,
        service: Address,
    },
    GroupClient {
        group: Address,
        client: Address,
    },
    /// CARET's library has begun to work.
    Caret {
        distribution: String,
        /// What its clock showed.
        clock: u64,
    },
    RmwImplementation {
        name: String,
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

impl Init {
    /// Executors, callback groups and their members.
    pub(crate) fn is_about_groups(&self) -> bool {
        matches!(
            self,
            Init::Executor { .. }
                | Init::CollectorToExecutor { .. }
                | Init::GroupToExecutor { .. }
                | Init::GroupToCollector { .. }
                | Init::GroupTimer { .. }
                | Init::GroupSubscription { .. }
                | Init::GroupService { .. }
                | Init::GroupClient { .. }
        )
    }
}

/// The init event that an event of this kind is, with the clock's value at which it really happened, if it says so.
pub(crate) fn parse(kind: Kind, fields: &Fields<'_>) -> Option<(Init, Option<u64>)> {
    let at = |field: usize| fields.address(field);
    let text = |field: usize| fields.text(field).unwrap_or_default();
    let number = |field: usize| fields.number(field).unwrap_or(0);
    let signed = |field: usize| fields.signed(field).unwrap_or(0);
    let nowhere = Address(0);
    // One line per kind: the module with its field indices, and what it becomes.
    macro_rules! init {
        ($module:ident, $variant:ident { $($name:ident: $read:expr),* $(,)? }) => {{
            use field::$module::*;
            (Init::$variant { $($name: $read),* }, fields.number(INIT_TIMESTAMP))
        }};
    }
    Some(match kind {
        Kind::RclInit => {
            init!(
                rcl_init,
                Context {
                    handle: at(CONTEXT_HANDLE),
                    version: fields.text(VERSION)
                }
            )
        }
        Kind::RclNodeInit => init!(
            rcl_node_init,
            Node {
                handle: at(NODE_HANDLE),
                name: text(NODE_NAME),
                namespace: text(NAMESPACE),
            }
        ),
        Kind::RclPublisherInit => init!(
            rcl_publisher_init,
            Publisher {
                handle: at(PUBLISHER_HANDLE),
                node: at(NODE_HANDLE),
                rmw: at(RMW_PUBLISHER_HANDLE),
                topic: text(TOPIC_NAME),
                depth: number(QUEUE_DEPTH),
            }
        ),
        Kind::RclSubscriptionInit => init!(
            rcl_subscription_init,
            Subscription {
                handle: at(SUBSCRIPTION_HANDLE),
                node: at(NODE_HANDLE),
                rmw: at(RMW_SUBSCRIPTION_HANDLE),
                topic: text(TOPIC_NAME),
                depth: number(QUEUE_DEPTH),
            }
        ),
        Kind::RclcppSubscriptionInit => init!(
            rclcpp_subscription_init,
            SubscriptionObject {
                handle: at(SUBSCRIPTION_HANDLE),
                object: at(SUBSCRIPTION),
            }
        ),
        Kind::RclcppSubscriptionCallbackAdded => {
            init!(
                rclcpp_subscription_callback_added,
                SubscriptionCallback {
                    object: at(SUBSCRIPTION),
                    callback: at(CALLBACK),
                }
            )
        }
        Kind::RclTimerInit => {
            init!(
                rcl_timer_init,
                Timer {
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
        Kind::RclcppTimerCallbackAdded => init!(
            rclcpp_timer_callback_added,
            TimerCallback {
                handle: at(TIMER_HANDLE),
                callback: at(CALLBACK),
            }
        ),
        Kind::RclcppTimerLinkNode => init!(
            rclcpp_timer_link_node,
            TimerNode {
                handle: at(TIMER_HANDLE),
                node: at(NODE_HANDLE),
            }
        ),
        Kind::RclServiceInit => init!(
            rcl_service_init,
            Service {
                handle: at(SERVICE_HANDLE),
                node: at(NODE_HANDLE),
                rmw: at(RMW_SERVICE_HANDLE),
                name: text(SERVICE_NAME),
            }
        ),
        Kind::RclcppServiceCallbackAdded => init!(
            rclcpp_service_callback_added,
            ServiceCallback {
                handle: at(SERVICE_HANDLE),
                callback: at(CALLBACK),
            }
        ),
        Kind::RclClientInit => init!(
            rcl_client_init,
            Client {
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
            rclcpp_callback_register,
            CallbackSymbol {
                callback: at(CALLBACK),
                symbol: text(SYMBOL),
            }
        ),
        Kind::RclLifecycleStateMachineInit => {
            init!(
                rcl_lifecycle_state_machine_init,
                StateMachine {
                    node: at(NODE_HANDLE),
                    machine: at(STATE_MACHINE),
                }
            )
        }
        Kind::RclcppConstructRingBuffer => init!(
            rclcpp_construct_ring_buffer,
            RingBuffer {
                buffer: at(BUFFER),
                capacity: number(CAPACITY),
            }
        ),
        Kind::RclcppBufferToIpb => {
            init!(
                rclcpp_buffer_to_ipb,
                BufferToIpb {
                    buffer: at(BUFFER),
                    ipb: at(IPB)
                }
            )
        }
        Kind::RclcppIpbToSubscription => init!(
            rclcpp_ipb_to_subscription,
            IpbToSubscription {
                ipb: at(IPB),
                object: at(SUBSCRIPTION),
            }
        ),
        Kind::ConstructExecutor => init!(
            construct_executor,
            Executor {
                executor: at(EXECUTOR_ADDR),
                collector: nowhere,
                name: text(EXECUTOR_TYPE_NAME),
            }
        ),
        Kind::ConstructStaticExecutor => init!(
            construct_static_executor,
            Executor {
                executor: at(EXECUTOR_ADDR),
                collector: at(ENTITIES_COLLECTOR_ADDR),
                name: text(EXECUTOR_TYPE_NAME),
            }
        ),
        Kind::AgnocastConstructExecutor => init!(
            agnocast_construct_executor,
            Executor {
                executor: at(EXECUTOR_ADDR),
                collector: nowhere,
                name: text(EXECUTOR_TYPE_NAME),
            }
        ),
        Kind::ExecutorEntityCollectorToExecutor => {
            init!(
                executor_entity_collector_to_executor,
                CollectorToExecutor {
                    executor: at(EXECUTOR_ADDR),
                    collector: at(ENTITIES_COLLECTOR_ADDR),
                }
            )
        }
        Kind::AddCallbackGroup => init!(
            add_callback_group,
            GroupToExecutor {
                executor: at(EXECUTOR_ADDR),
                group: at(CALLBACK_GROUP_ADDR),
                name: text(GROUP_TYPE_NAME),
            }
        ),
        Kind::AgnocastAddCallbackGroup => init!(
            agnocast_add_callback_group,
            GroupToExecutor {
                executor: at(EXECUTOR_ADDR),
                group: at(CALLBACK_GROUP_ADDR),
                name: text(GROUP_TYPE_NAME),
            }
        ),
        Kind::AddCallbackGroupStaticExecutor => {
            init!(
                add_callback_group_static_executor,
                GroupToCollector {
                    collector: at(ENTITIES_COLLECTOR_ADDR),
                    group: at(CALLBACK_GROUP_ADDR),
                    name: text(GROUP_TYPE_NAME),
                }
            )
        }
        Kind::CallbackGroupToExecutorEntityCollector => {
            init!(
                callback_group_to_executor_entity_collector,
                GroupToCollector {
                    collector: at(ENTITIES_COLLECTOR_ADDR),
                    group: at(CALLBACK_GROUP_ADDR),
                    name: text(GROUP_TYPE_NAME),
                }
            )
        }
        Kind::CallbackGroupAddTimer => init!(
            callback_group_add_timer,
            GroupTimer {
                group: at(CALLBACK_GROUP_ADDR),
                timer: at(TIMER_HANDLE),
            }
        ),
        Kind::CallbackGroupAddSubscription => init!(
            callback_group_add_subscription,
            GroupSubscription {
                group: at(CALLBACK_GROUP_ADDR),
                subscription: at(SUBSCRIPTION_HANDLE),
            }
        ),
        Kind::CallbackGroupAddService => init!(
            callback_group_add_service,
            GroupService {
                group: at(CALLBACK_GROUP_ADDR),
                service: at(SERVICE_HANDLE),
            }
        ),
        Kind::CallbackGroupAddClient => init!(
            callback_group_add_client,
            GroupClient {
                group: at(CALLBACK_GROUP_ADDR),
                client: at(CLIENT_HANDLE),
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
                rmw_implementation,
                RmwImplementation {
                    name: text(RMW_IMPL)
                }
            )
        }
        Kind::AgnocastNodeInit => init!(
            agnocast_node_init,
            Node {
                handle: at(NODE_HANDLE),
                name: text(NODE_NAME),
                namespace: text(NAMESPACE),
            }
        ),
        Kind::AgnocastPublisherInit => init!(
            agnocast_publisher_init,
            Publisher {
                handle: at(PUBLISHER_HANDLE),
                node: at(NODE_HANDLE),
                rmw: nowhere,
                topic: agnocast_topic(text(TOPIC_NAME)),
                depth: number(QUEUE_DEPTH),
            }
        ),
        Kind::AgnocastSubscriptionInit => init!(
            agnocast_subscription_init,
            AgnocastSubscription {
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
            agnocast_timer_init,
            AgnocastTimer {
                handle: at(TIMER_HANDLE),
                node: at(NODE_HANDLE),
                callback: at(CALLBACK),
                group: at(CALLBACK_GROUP),
                symbol: text(SYMBOL),
                period: signed(PERIOD),
            }
        ),
        _ => return None,
    })
}

/// Messages of Agnocast do not reach subscriptions of DDS that have the same topic.
fn agnocast_topic(topic: String) -> String {
    topic + "_agnocast"
}
