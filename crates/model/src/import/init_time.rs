//! When initialisation happened, and which events tell the same.
//!
//! CARET stamps its events with the clock of the trace. Where that clock does not count nanoseconds as CARET's does, `caret_init` relates the
//! two. An entity may be announced several times: by CARET again when a recording begins (same stamp), and by both
//! ros2_tracing and CARET (nearly the same time). It is still one.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use super::init::{Init, TimedInit};
use crate::entity::{HostId, Process, ProcessId};

/// From reading its clock to writing the event CARET takes less than this.
const LATEST_WRITE: i64 = 1_000_000_000;

/// Between two announcements of one entity, by ros2_tracing and by CARET, there is less than this.
const BETWEEN_ANNOUNCEMENTS: i64 = 10_000_000;

/// Puts the events into the order in which things happened, each thing once.
pub(super) fn put_in_order(inits: &mut Vec<TimedInit>, processes: &[Process]) {
    correct_times(inits, processes);
    inits.sort_by_key(|init| init.time);
    let mut known: HashMap<(ProcessId, Init), Announced> = HashMap::with_capacity(inits.len());
    let mut kept: Vec<TimedInit> = Vec::with_capacity(inits.len());
    for init in inits.drain(..) {
        let mut announced = Announced {
            place: kept.len(),
            by_ros2: init.stamp.is_none().then_some(init.time),
            by_caret: init.stamp.map(|_| init.time),
        };
        let mut key = init.init.clone();
        let version = match &mut key {
            // Only one of the two knows it.
            Init::Context { version, .. } => version.take(),
            _ => None,
        };
        let key = (init.process, key);
        if let Some(before) = known.get(&key)
            && let Some(both) = before.with(&announced)
        {
            if let (Some(reported), Init::Context { version, .. }) =
                (version, &mut kept[both.place].init)
            {
                version.get_or_insert(reported);
            }
            announced = both;
        } else {
            kept.push(init);
        }
        known.insert(key, announced);
    }
    *inits = kept;
}

/// Who reported an entity, and when it happened according to them.
struct Announced {
    place: usize,
    by_ros2: Option<Nanos>,
    by_caret: Option<Nanos>,
}

impl Announced {
    /// Both announcements together, if they are of the same entity.
    fn with(&self, later: &Announced) -> Option<Announced> {
        let again = |mine: Option<Nanos>, its: Option<Nanos>| its.is_some() && mine == its;
        let near = |mine: Option<Nanos>, its: Option<Nanos>| {
            let (Some(mine), Some(its)) = (mine, its) else {
                return false;
            };
            its.0 - mine.0 <= BETWEEN_ANNOUNCEMENTS
        };
        let by_both = self.by_caret.is_none() && near(self.by_ros2, later.by_caret)
            || self.by_ros2.is_none() && near(self.by_caret, later.by_ros2);
        let same =
            by_both || again(self.by_ros2, later.by_ros2) || again(self.by_caret, later.by_caret);
        same.then(|| Announced {
            place: self.place,
            by_ros2: self.by_ros2.or(later.by_ros2),
            by_caret: self.by_caret.or(later.by_caret),
        })
    }
}

/// Where the trace's clock is another one than CARET's, `caret_init` of the process or else of its host says by how much.
fn correct_times(inits: &mut [TimedInit], processes: &[Process]) {
    let host_of = |process: ProcessId| processes[process.index()].host;
    let mut of_process: HashMap<ProcessId, i64> = HashMap::new();
    let mut of_host: HashMap<HostId, i64> = HashMap::new();
    for init in inits.iter() {
        if let Init::Caret { clock, .. } = init.init
            // `time` is what the trace's clock makes of CARET's.
            && init.recorded.0.abs_diff(init.time.0) > LATEST_WRITE as u64
        {
            let offset = init.recorded.0.saturating_sub(clock as i64);
            of_process.entry(init.process).or_insert(offset);
            of_host.entry(host_of(init.process)).or_insert(offset);
        }
    }
    for init in inits {
        if matches!(init.init, Init::Caret { .. }) {
            init.time = init.recorded;
        }
        let Some(stamp) = init.stamp else { continue };
        let offset = of_process
            .get(&init.process)
            .or_else(|| of_host.get(&host_of(init.process)));
        if let Some(offset) = offset {
            init.time = Nanos(offset.saturating_add(stamp as i64));
        }
        // What is reported cannot be younger than the telling.
        if init.time > init.recorded {
            init.time = init.recorded;
        }
    }
}
