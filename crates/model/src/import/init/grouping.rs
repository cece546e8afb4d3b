//! Executors, callback groups and their members, as the trace has them.
//!
//! Only CARET, Agnocast and our own tracer tell of them. What they say can be understood only when all callbacks have their nodes, so
//! `entity::resolve` takes them last.

use rostrace_tracepoints::Kind;

use crate::binding::Fields;
use crate::entity::Address;

/// Who executes, and what is executed together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Grouping {
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
}

/// As [`super::parse`], for these.
pub(super) fn parse(kind: Kind, fields: &Fields<'_>) -> Option<(Grouping, Option<u64>)> {
    let at = |field: usize| fields.address(field);
    let text = |field: usize| fields.text(field).unwrap_or_default();
    let nowhere = Address(0);
    Some(match kind {
        Kind::ConstructExecutor => init!(
            fields,
            construct_executor,
            Grouping::Executor {
                executor: at(EXECUTOR_ADDR),
                collector: nowhere,
                name: text(EXECUTOR_TYPE_NAME),
            }
        ),
        Kind::ConstructStaticExecutor => init!(
            fields,
            construct_static_executor,
            Grouping::Executor {
                executor: at(EXECUTOR_ADDR),
                collector: at(ENTITIES_COLLECTOR_ADDR),
                name: text(EXECUTOR_TYPE_NAME),
            }
        ),
        Kind::AgnocastConstructExecutor => init!(
            fields,
            agnocast_construct_executor,
            Grouping::Executor {
                executor: at(EXECUTOR_ADDR),
                collector: nowhere,
                name: text(EXECUTOR_TYPE_NAME),
            }
        ),
        Kind::ExecutorEntityCollectorToExecutor => {
            init!(
                fields,
                executor_entity_collector_to_executor,
                Grouping::CollectorToExecutor {
                    executor: at(EXECUTOR_ADDR),
                    collector: at(ENTITIES_COLLECTOR_ADDR),
                }
            )
        }
        Kind::AddCallbackGroup => init!(
            fields,
            add_callback_group,
            Grouping::GroupToExecutor {
                executor: at(EXECUTOR_ADDR),
                group: at(CALLBACK_GROUP_ADDR),
                name: text(GROUP_TYPE_NAME),
            }
        ),
        Kind::AgnocastAddCallbackGroup => init!(
            fields,
            agnocast_add_callback_group,
            Grouping::GroupToExecutor {
                executor: at(EXECUTOR_ADDR),
                group: at(CALLBACK_GROUP_ADDR),
                name: text(GROUP_TYPE_NAME),
            }
        ),
        Kind::AddCallbackGroupStaticExecutor => {
            init!(
                fields,
                add_callback_group_static_executor,
                Grouping::GroupToCollector {
                    collector: at(ENTITIES_COLLECTOR_ADDR),
                    group: at(CALLBACK_GROUP_ADDR),
                    name: text(GROUP_TYPE_NAME),
                }
            )
        }
        Kind::CallbackGroupToExecutorEntityCollector => {
            init!(
                fields,
                callback_group_to_executor_entity_collector,
                Grouping::GroupToCollector {
                    collector: at(ENTITIES_COLLECTOR_ADDR),
                    group: at(CALLBACK_GROUP_ADDR),
                    name: text(GROUP_TYPE_NAME),
                }
            )
        }
        Kind::CallbackGroupAddTimer => init!(
            fields,
            callback_group_add_timer,
            Grouping::GroupTimer {
                group: at(CALLBACK_GROUP_ADDR),
                timer: at(TIMER_HANDLE),
            }
        ),
        Kind::CallbackGroupAddSubscription => init!(
            fields,
            callback_group_add_subscription,
            Grouping::GroupSubscription {
                group: at(CALLBACK_GROUP_ADDR),
                subscription: at(SUBSCRIPTION_HANDLE),
            }
        ),
        Kind::CallbackGroupAddService => init!(
            fields,
            callback_group_add_service,
            Grouping::GroupService {
                group: at(CALLBACK_GROUP_ADDR),
                service: at(SERVICE_HANDLE),
            }
        ),
        Kind::CallbackGroupAddClient => init!(
            fields,
            callback_group_add_client,
            Grouping::GroupClient {
                group: at(CALLBACK_GROUP_ADDR),
                client: at(CLIENT_HANDLE),
            }
        ),
        _ => return None,
    })
}
