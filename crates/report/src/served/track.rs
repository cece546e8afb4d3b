//! What one lane of the timeline is drawn from, built when it is first looked at.

use rostrace_analyze::Analysis;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{DeliveryId, InstanceId, ThreadId};
use rostrace_model::flow::PhaseKind;
use rostrace_model::scheduling::{Sleep, State};

use super::row::SpanRow;
use super::subject::Subjects;

/// In the mark of an execution, beside its subject: its end is not known.
pub(super) const OPEN_MARK: u32 = 1 << 31;

/// What a track shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The callbacks on a thread; items are [`InstanceId`]s.
    Thread(ThreadId),
    /// The executions of one callback; items are [`InstanceId`]s.
    Subject(u32),
    /// What the executor on a thread did; items are classes: 0 executes, 1 looks for work, 2 waits.
    Executor(ThreadId),
    /// What the kernel did with a thread; items are classes (0 runs, 1 could run, 2 sleeps, 3 sleeps and cannot be woken), and from the eighth
    /// bit on the CPU.
    Scheduling(ThreadId),
    /// Messages that did not arrive; items are [`DeliveryId`]s.
    Drops(Vec<DeliveryId>),
}

impl Content {
    /// Whether spans are states, which follow each other without gaps, and not executions or marks.
    pub fn is_state(&self) -> bool {
        matches!(self, Content::Executor(_) | Content::Scheduling(_))
    }

    /// The class of an item.
    pub fn class_of(&self, item: u32) -> usize {
        if self.is_state() {
            (item & 3) as usize
        } else {
            0
        }
    }
}

/// The rows of a lane.
#[derive(Debug)]
pub struct Track {
    pub rows: Vec<SpanRow>,
}

impl Track {
    /// Executions in the order of their start: each in the first row that is free then.
    pub(super) fn of_instances(
        analysis: &Analysis<'_>,
        subjects: &Subjects,
        instances: impl Iterator<Item = InstanceId>,
    ) -> Track {
        let mut track = Track { rows: Vec::new() };
        for id in instances {
            let (start, length) = span(analysis, id);
            let row = track.push(start, length, id.0);
            let is_open = analysis.instance(id).end.is_none();
            let open = if is_open { OPEN_MARK } else { 0 };
            row.marks.push(subjects.number_of(analysis, id) | open);
        }
        track.built(|_| 0)
    }

    /// How many rows [`Track::of_instances`] would make.
    pub(super) fn rows_of_instances(
        analysis: &Analysis<'_>,
        instances: impl Iterator<Item = InstanceId>,
    ) -> usize {
        let mut ends: Vec<i64> = Vec::new();
        for id in instances {
            let (start, length) = span(analysis, id);
            let end = start.saturating_add(length);
            match ends.iter_mut().find(|end| **end <= start) {
                Some(free) => *free = end,
                None => ends.push(end),
            }
        }
        ends.len()
    }

    pub(super) fn of_executor(analysis: &Analysis<'_>, thread: ThreadId) -> Track {
        let phases = analysis.phases_on(thread);
        let phase = |place: usize| &analysis.model.phases[phases[place].index()];
        let mut row = SpanRow::default();
        let mut reached = i64::MIN;
        for place in 0..phases.len() {
            let this = phase(place);
            if !analysis.counts(this.time) {
                continue;
            }
            let start = this.time.0.max(reached);
            let end = if place + 1 < phases.len() {
                phase(place + 1).time.0
            } else {
                start
            };
            let length = end.saturating_sub(start).max(0);
            let class = match this.kind {
                PhaseKind::Execute => 0,
                PhaseKind::GetNextReady => 1,
                PhaseKind::WaitForWork => 2,
            };
            reached = start.saturating_add(length);
            row.push(start, length, class);
        }
        Track { rows: vec![row] }.built(|item| item as usize & 3)
    }

    pub(super) fn of_scheduling(
        analysis: &Analysis<'_>,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
    ) -> Track {
        let mut row = SpanRow::default();
        let slices = analysis.scheduling.iter();
        for slice in slices.flat_map(|scheduling| scheduling.slices(thread, from, to)) {
            let cpu = |cpu: u16| u32::from(cpu) << 8;
            let item = match slice.state {
                State::Running { cpu: on } => cpu(on.0),
                State::Waiting { cpu: on, .. } => 1 | on.map_or(0, |on| cpu(on.0)),
                State::Blocked(Sleep::Uninterruptible) => 3,
                State::Blocked(_) => 2,
                State::Unknown => continue,
            };
            row.push(slice.from.0, slice.duration().0, item);
        }
        Track { rows: vec![row] }.built(|item| item as usize & 3)
    }

    pub(super) fn of_drops(analysis: &Analysis<'_>, drops: &[DeliveryId]) -> Track {
        let mut row = SpanRow::default();
        for id in drops {
            let publication = analysis.delivery(*id).publication;
            row.push(analysis.publication(publication).publish.0, 0, id.0);
        }
        Track { rows: vec![row] }.built(|_| 0)
    }

    fn push(&mut self, start: i64, length: i64, item: u32) -> &mut SpanRow {
        let free = |row: &SpanRow| row.end().is_none_or(|end| end <= start);
        let place = self.rows.iter().position(free);
        let place = place.unwrap_or_else(|| {
            self.rows.push(SpanRow::default());
            self.rows.len() - 1
        });
        self.rows[place].push(start, length, item);
        &mut self.rows[place]
    }

    fn built(mut self, class_of: impl Fn(u32) -> usize + Copy) -> Track {
        for row in &mut self.rows {
            row.build(class_of);
        }
        self
    }
}

/// Start and duration of an execution; one whose end is not known is as short as can be.
pub(super) fn span(analysis: &Analysis<'_>, id: InstanceId) -> (i64, i64) {
    let instance = analysis.instance(id);
    let start = instance.start.0;
    let end = instance.end.map_or(start, |end| end.0);
    (start, end.saturating_sub(start).max(0))
}
