//! Publications: the events that one call of `publish` leaves on its thread, put together.
//!
//! From top to bottom a call goes through intra-process publication, rclcpp, rcl and the middleware; each layer may leave one
//! event. An event goes on with the publication before it on its thread if its layer is a lower one, the same message
//! and publisher are meant, and nothing else happened on the thread in between. From Iron on rclcpp does not say the publisher; whether
//! it goes on with a message for the own process is known when rcl says it.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};

use super::{Import, Layer, ThreadState};
use crate::binding::Fields;
use crate::entity::{Address, PublicationId, ThreadId};
use crate::flow::Publication;

/// A publication's stamp may be made this much later than its last event, if the thread loses the processor.
pub(crate) const LATEST_STAMP: i64 = 100_000_000;

/// What one event tells of a publication.
struct Step {
    layer: Layer,
    handle: Address,
    rmw_handle: Address,
    message: Address,
    stamp: Option<i64>,
}

impl Step {
    fn of(kind: Kind, fields: &Fields<'_>) -> Option<Step> {
        let at = |field: usize| fields.address(field);
        let nothing = Address(0);
        let (layer, handle, rmw_handle, message, stamp) = match kind {
            Kind::RclcppIntraPublish => {
                use field::rclcpp_intra_publish::*;
                (
                    Layer::Intra,
                    at(PUBLISHER_HANDLE),
                    nothing,
                    at(MESSAGE),
                    None,
                )
            }
            Kind::RclcppPublish => {
                use field::rclcpp_publish::*;
                (
                    Layer::Rclcpp,
                    at(PUBLISHER_HANDLE),
                    nothing,
                    at(MESSAGE),
                    None,
                )
            }
            Kind::RclPublish => {
                use field::rcl_publish::*;
                (Layer::Rcl, at(PUBLISHER_HANDLE), nothing, at(MESSAGE), None)
            }
            Kind::RmwPublish => {
                use field::rmw_publish::*;
                let stamp = fields.signed(TIMESTAMP);
                (
                    Layer::Rmw,
                    nothing,
                    at(RMW_PUBLISHER_HANDLE),
                    at(MESSAGE),
                    stamp,
                )
            }
            Kind::DdsWrite => {
                use field::dds_write::*;
                let stamp = fields.signed(TIMESTAMP);
                (
                    Layer::Rmw,
                    nothing,
                    at(RMW_PUBLISHER_HANDLE),
                    at(MESSAGE),
                    stamp,
                )
            }
            Kind::DdsBindAddrToStamp => {
                use field::dds_bind_addr_to_stamp::*;
                // The address is that of a copy, or null: order alone ties it to the write before it.
                (
                    Layer::Stamped,
                    nothing,
                    nothing,
                    nothing,
                    fields.signed(SOURCE_STAMP),
                )
            }
            Kind::DdsWriterWrite => {
                use field::dds_writer_write::*;
                // Patched middleware, before rmw reported its stamps: order alone here too.
                (
                    Layer::Stamped,
                    nothing,
                    nothing,
                    nothing,
                    fields.signed(TIMESTAMP),
                )
            }
            _ => return None,
        };
        Some(Step {
            layer,
            handle,
            rmw_handle,
            message,
            stamp,
        })
    }

    fn goes_on(&self, publication: &Publication, layer: Layer) -> bool {
        let same = |mine: Address, its: Address| {
            mine.non_null().is_none() || its.non_null().is_none() || mine == its
        };
        if layer == Layer::Intra {
            // What goes on to other processes begins again in rclcpp, with the same object, a copy or a converted one.
            return self.layer == Layer::Rclcpp && self.handle == publication.handle;
        }
        self.layer > layer
            && same(self.message, publication.message)
            && same(self.handle, publication.handle)
    }
}

impl Import {
    pub(super) fn publish(
        &mut self,
        kind: Kind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        let Some(step) = Step::of(kind, fields) else {
            return;
        };
        let ThreadState {
            publication: current,
            inside,
            ..
        } = *self.out.population.state(thread);
        let row = |id: PublicationId| &self.out.publications[id.index()];
        let certain = |id: PublicationId| !self.out.losses.between(row(id).last, time);
        let current = current.filter(|(id, _)| certain(*id));
        let goes_on = current.filter(|(id, layer)| step.goes_on(row(*id), *layer));
        let mut now_inside = None;
        let id = match (goes_on, inside) {
            // The way on of a message that was for the own process as well: rcl says the publisher.
            (Some((id, Layer::Rclcpp)), Some(inside))
                if step.handle == row(inside).handle && certain(inside) =>
            {
                self.join(inside, id)
            }
            (Some((id, _)), _) => id,
            // A stamp alone says nothing about who published.
            (None, _) if step.layer == Layer::Stamped => return,
            (None, _) => {
                // rclcpp may not say whose message it is; perhaps it is the one before.
                now_inside = current
                    .filter(|(_, layer)| (*layer, step.layer) == (Layer::Intra, Layer::Rclcpp))
                    .map(|(id, _)| id);
                self.new_publication(thread, time)
            }
        };
        let state = self.out.population.state(thread);
        state.publication = Some((id, step.layer));
        state.inside = now_inside;
        state.unsettled = Some(id);
        let publication = &mut self.out.publications[id.index()];
        let set = |place: &mut Address, value: Address| {
            if place.non_null().is_none() {
                *place = value;
            }
        };
        set(&mut publication.handle, step.handle);
        set(&mut publication.rmw_handle, step.rmw_handle);
        match step.layer {
            Layer::Intra => publication.intra = Some(time),
            Layer::Rclcpp => publication.rclcpp = Some(time),
            Layer::Rcl => publication.rcl = Some(time),
            Layer::Rmw => publication.rmw = Some(time),
            Layer::Stamped => {}
        }
        if step.layer != Layer::Stamped {
            publication.message = step.message;
            publication.last = time;
            publication.until = Nanos(time.0.saturating_add(LATEST_STAMP));
            publication.returned_by = None;
        }
        publication.source_timestamp = publication
            .source_timestamp
            .or(step.stamp.filter(|stamp| *stamp != 0));
        let stamp = match kind {
            Kind::RclcppPublish => fields.signed(field::rclcpp_publish::MESSAGE_TIMESTAMP),
            Kind::RclcppIntraPublish => {
                fields.signed(field::rclcpp_intra_publish::MESSAGE_TIMESTAMP)
            }
            _ => None,
        };
        publication.message_timestamp = publication.message_timestamp.or(stamp);
        if step.layer == Layer::Intra {
            let process = self.out.population.process_of(thread);
            self.messages.insert((process, step.message), id);
        }
    }

    /// The rclcpp event that seemed to begin a publication belongs to the one before it, for the own process.
    fn join(&mut self, inside: PublicationId, id: PublicationId) -> PublicationId {
        // Without any layer and publisher it will be dropped.
        let rclcpp = self.out.publications[id.index()].rclcpp.take();
        self.out.publications[inside.index()].rclcpp = rclcpp;
        inside
    }

    fn new_publication(&mut self, thread: ThreadId, time: Nanos) -> PublicationId {
        let id = PublicationId::of(self.out.publications.len());
        let innermost = self.out.population.state(thread).open.last().copied();
        let instance = innermost.filter(|instance| {
            !self
                .out
                .losses
                .between(self.out.instances[instance.index()].start, time)
        });
        let clients = &self.out.population.state(thread).clients;
        let client_callback = clients.last().copied().filter(|_| instance.is_none());
        let client_callback = client_callback.filter(|client| {
            let start = self.out.client_callbacks[client.index()].start;
            !self.out.losses.between(start, time)
        });
        self.out.publications.push(Publication {
            thread,
            handle: Address(0),
            rmw_handle: Address(0),
            message: Address(0),
            publisher: None,
            publish: time,
            last: time,
            until: time,
            returned_by: None,
            intra: None,
            rclcpp: None,
            rcl: None,
            rmw: None,
            source_timestamp: None,
            message_timestamp: None,
            instance,
            client_callback,
            entry: None,
        });
        id
    }

    pub(super) fn agnocast_publish(&mut self, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        use field::agnocast_publish::*;
        let id = self.new_publication(thread, time);
        let publication = &mut self.out.publications[id.index()];
        publication.handle = fields.address(PUBLISHER_HANDLE);
        publication.rclcpp = Some(time);
        publication.entry = fields.signed(ENTRY_ID);
        self.out.population.state(thread).publication = None;
    }
}
