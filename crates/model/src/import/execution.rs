//! Callbacks that begin and end, and what executors do between them.

use rostrace_ctf::schema::Nanos;

use super::{Callable, Import, Imported};
use crate::entity::{Address, InstanceId, ThreadId};
use crate::flow::{CallbackInstance, ExecutorPhase, PhaseKind};

impl Import {
    pub(super) fn callable(
        &mut self,
        thread: ThreadId,
        time: Nanos,
        address: Address,
        callable: Callable,
    ) {
        let process = self.out.population.process_of(thread);
        self.out
            .callables
            .entry((process, address))
            .or_default()
            .push((time, callable));
    }

    pub(super) fn callback_start(
        &mut self,
        thread: ThreadId,
        time: Nanos,
        address: Address,
        intra: bool,
    ) {
        let id = InstanceId::of(self.out.instances.len());
        let state = self.out.population.state(thread);
        if let Some(below) = state.open.last() {
            self.out.covered.entry(*below).or_insert(time);
        }
        state.open.push(id);
        state.publication = None;
        state.response = None;
        let take = state.take.take().filter(|_| !intra);
        let dequeued = state.dequeued.take().filter(|_| intra);
        let dispatched = state.dispatched.take().filter(|_| intra);
        if let Some(request) = state.request.take().filter(|_| !intra) {
            self.out.service_steps[request].instance = Some(id);
        }
        let source = dequeued.map_or(dispatched, |dequeued| self.deliver(dequeued, id, time));
        self.out.instances.push(CallbackInstance {
            thread,
            address,
            callback: None,
            start: time,
            end: None,
            intra_process: intra,
            take,
            source,
        });
    }

    pub(super) fn callback_end(&mut self, thread: ThreadId, time: Nanos, address: Address) {
        let Imported {
            population,
            instances,
            losses,
            ..
        } = &mut self.out;
        let state = population.state(thread);
        state.publication = None;
        state.stop_waiting();
        let of_address = |id: &InstanceId| instances[id.index()].address == address;
        // What began above it and did not end is over too, without an end in the trace.
        if let Some(place) = state.open.iter().rposition(of_address) {
            let instance = &mut instances[state.open[place].index()];
            if !losses.between(instance.start, time) {
                instance.end = Some(time);
            }
            state.open.truncate(place);
        }
    }

    pub(super) fn phase(
        &mut self,
        thread: ThreadId,
        time: Nanos,
        kind: PhaseKind,
        handle: Address,
    ) {
        let state = self.out.population.state(thread);
        state.publication = None;
        state.stop_waiting();
        // The executor goes on inside a callback that spins, or after one that had no end.
        if let Some(open) = state.open.last() {
            self.out.covered.entry(*open).or_insert(time);
        }
        self.out.phases.push(ExecutorPhase {
            thread,
            time,
            kind,
            handle,
        });
    }
}
