//! What threads and CPUs were inside of: tracks of system calls and page faults, and of interrupts.

use std::io;

use rostrace_analyze::why::name_of;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{HostId, ThreadId};
use rostrace_model::scheduling::Cpu;

use super::super::identity::STAND_INS;
use super::super::label::{Common, Labels};
use super::super::sink::{Sink, TrackId, TrackKind};
use super::{TimelineModel, labelled};

impl<S: Sink> TimelineModel<'_, S> {
    /// Beside what a thread did, where the trace tells it.
    pub(super) fn inside(&mut self, thread: ThreadId, parent: TrackId) -> io::Result<()> {
        let analysis = self.analysis;
        let stays = analysis.scheduling.iter();
        let stays = stays.flat_map(|it| it.stays(thread, self.begin, self.end));
        let stays: Vec<_> = stays
            .map(|it| (it.begin, it.end, name_of(analysis, it.inside)))
            .collect();
        self.spans(parent, "kernel", stays)
    }

    /// Of all CPUs of a host, on tracks of a process that stands for it.
    pub(super) fn interrupts(&mut self, host: HostId) -> io::Result<()> {
        let analysis = self.analysis;
        let Some(scheduling) = &analysis.scheduling else {
            return Ok(());
        };
        let mut machine = None;
        for number in 0..scheduling.cpus(host) {
            let cpu = Cpu(number as u16);
            let stays = scheduling.interrupts_of(host, cpu, self.begin, self.end);
            let stays: Vec<_> = stays
                .map(|it| (it.begin, it.end, name_of(analysis, it.inside)))
                .collect();
            if stays.is_empty() {
                continue;
            }
            let parent = match machine {
                Some(machine) => machine,
                None => {
                    let pid = STAND_INS * 3 + host.index() as i64;
                    let name = "interrupts";
                    *machine.insert(self.track(None, TrackKind::Process { pid, name })?)
                }
            };
            self.spans(parent, &format!("interrupts of CPU {number}"), stays)?;
        }
        Ok(())
    }

    /// A track of stretches that follow one another; none without any.
    fn spans(
        &mut self,
        parent: TrackId,
        name: &str,
        spans: Vec<(Nanos, Nanos, String)>,
    ) -> io::Result<()> {
        if spans.is_empty() {
            return Ok(());
        }
        let track = self.track(Some(parent), TrackKind::Named(name))?;
        for (begin, end, name) in spans {
            let mut event = labelled(&self.labels, track, begin, Labels::common(Common::Inside));
            event.end = Some(end);
            event.name = Some(&name);
            self.sink.event(&event)?;
        }
        self.sink.close(track)
    }
}
