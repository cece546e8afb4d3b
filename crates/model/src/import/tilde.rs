//! TILDE's events: names of its own objects, and the identities of messages that it follows. `flow::tilde` connects them.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};

use super::Import;
use crate::binding::Fields;
use crate::entity::ThreadId;
use crate::flow::{TildeEndpoint, TildeStep, TildeStepKind};

impl Import {
    pub(super) fn tilde_endpoint(
        &mut self,
        kind: Kind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        let (address, node, topic) = match kind {
            Kind::TildeSubscriptionInit => {
                use field::tilde_subscription_init::*;
                (SUBSCRIPTION, NODE_NAME, TOPIC_NAME)
            }
            Kind::TildePublisherInit => {
                use field::tilde_publisher_init::*;
                (PUBLISHER, NODE_NAME, TOPIC_NAME)
            }
            Kind::TildeSubscribeAdded => {
                use field::tilde_subscribe_added::*;
                (SUBSCRIPTION_ID, NODE_NAME, TOPIC_NAME)
            }
            _ => return,
        };
        self.out.tilde_endpoints.push(TildeEndpoint {
            thread,
            time,
            address: fields.address(address),
            node: fields.text(node).unwrap_or_default(),
            topic: fields.text(topic).unwrap_or_default(),
        });
    }

    pub(super) fn tilde_step(
        &mut self,
        kind: Kind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        let (kind, address, message) = if kind == Kind::TildePublish {
            use field::tilde_publish::*;
            let kind = TildeStepKind::Publish {
                subscription: fields.address(SUBSCRIPTION_ID),
                input: None,
            };
            (kind, PUBLISHER, TILDE_MESSAGE_ID)
        } else {
            use field::tilde_subscribe::*;
            (TildeStepKind::Subscribe, SUBSCRIPTION, TILDE_MESSAGE_ID)
        };
        let Some(message_id) = fields.number(message) else {
            return;
        };
        let innermost = self.out.population.state(thread).open.last().copied();
        let instance = innermost.filter(|instance| {
            let started = self.out.instances[instance.index()].start;
            !self.out.losses.between(started, time)
        });
        self.out.tilde_steps.push(TildeStep {
            thread,
            time,
            kind,
            address: fields.address(address),
            endpoint: None,
            message_id,
            instance,
            publication: None,
        });
    }
}
