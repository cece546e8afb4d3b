//! Sizes of messages in serialised form, which rostrace's own tracer tells.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};

use super::Import;
use crate::binding::Fields;
use crate::entity::ThreadId;
use crate::flow::{MessageSize, MessageSizeOf};

impl Import {
    pub(super) fn message_size(
        &mut self,
        kind: Kind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        let (by, bytes) = if kind == Kind::RmwPublishSerialized {
            use field::rmw_publish_serialized::*;
            let handle = fields.address(RMW_PUBLISHER_HANDLE);
            (MessageSizeOf::Publisher(handle, None), fields.number(SIZE))
        } else {
            use field::rmw_take_serialized::*;
            let handle = fields.address(RMW_SUBSCRIPTION_HANDLE);
            (
                MessageSizeOf::Subscription(handle, None),
                fields.number(SIZE),
            )
        };
        if let Some(bytes) = bytes {
            self.out.message_sizes.push(MessageSize {
                thread,
                time,
                bytes,
                by,
            });
        }
    }
}
