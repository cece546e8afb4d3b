//! Why an execution ended when it did, in sentences and with links to what was in the way.

use rostrace_analyze::why::Why;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::InstanceId;

use super::occurrence::InstancePlace;
use crate::explained::{Explained, Explainer};
use crate::served::timeline::ServedTimeline;

/// More parts than this are not drawn; the sums are of all.
const MOST_PARTS: usize = 2000;

impl ServedTimeline<'_> {
    pub(super) fn why(&self, id: InstanceId) -> Explained<InstancePlace> {
        let firing = self.firing(id);
        let explanation = Why::new(self.analysis).instance(id, firing.as_ref());
        let explainer = Explainer {
            analysis: self.analysis,
            origin: Nanos(self.origin),
        };
        explainer.with_parts(&explanation, MOST_PARTS, |id| Some(self.place(id)))
    }

    /// What the callback of an execution is called.
    pub(super) fn name(&self, id: InstanceId) -> &str {
        let number = self.subjects.number_of(self.analysis, id) as usize;
        (self.subjects.list.get(number)).map_or("", |subject| subject.name.as_str())
    }
}
