//! The whole trace in one strip: how busy the threads were, and what was dropped.

use super::Answer;
use crate::served::lane::shown_on;
use crate::served::timeline::ServedTimeline;
use crate::served::track::Content;

/// Enough for any screen; the page puts several into one pixel.
const COLUMNS: usize = 2000;

impl ServedTimeline<'_> {
    /// Two lists of so many numbers: busy threads on average, and dropped messages.
    pub(super) fn overview(&self) -> Answer {
        let body = self.overview.get_or_init(|| {
            let numbers = self.columns();
            numbers.iter().flat_map(|it| it.to_le_bytes()).collect()
        });
        Answer::binary(body.clone())
    }

    fn columns(&self) -> Vec<f32> {
        let analysis = self.analysis;
        let length = (self.end as f64 - self.begin as f64) / COLUMNS as f64;
        let column = |time: i64| {
            ((time.saturating_sub(self.begin)) as f64 / length).clamp(0.0, COLUMNS as f64)
        };
        let mut busy = vec![0f64; COLUMNS + 1];
        let mut dropped = vec![0f64; COLUMNS];
        for content in &self.lanes.contents {
            let Content::Thread(thread) = content else {
                continue;
            };
            let mut reached = i64::MIN;
            for id in shown_on(analysis, &self.subjects, *thread) {
                let instance = analysis.instance(id);
                let start = instance.start.0.max(reached);
                let end = instance.end.map_or(start, |end| end.0);
                // What runs inside another callback counts once.
                if end > start {
                    fill(&mut busy, column(start), column(end));
                    reached = end;
                }
            }
        }
        let lanes = self.lanes.callbacks.iter().flat_map(|group| &group.lanes);
        for content in lanes.filter_map(|lane| self.lanes.contents.get(lane.drops? as usize)) {
            if let Content::Drops(drops) = content {
                for id in drops {
                    let publication = analysis.delivery(*id).publication;
                    let at = column(analysis.publication(publication).publish.0);
                    dropped[(at as usize).min(COLUMNS - 1)] += 1.0;
                }
            }
        }
        busy.truncate(COLUMNS);
        let numbers = busy.into_iter().chain(dropped);
        numbers.map(|number| number as f32).collect()
    }
}

/// Adds the part of each column that lies between two places.
fn fill(columns: &mut [f64], from: f64, to: f64) {
    let (first, last) = (from as usize, to as usize);
    if first == last {
        columns[first] += to - from;
        return;
    }
    columns[first] += (first + 1) as f64 - from;
    for column in &mut columns[first + 1..last] {
        *column += 1.0;
    }
    columns[last] += to - last as f64;
}
