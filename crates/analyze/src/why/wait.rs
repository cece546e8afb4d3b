//! Parts of one cause, put together.

use std::collections::HashMap;

use super::Explanation;
use super::cause::Cause;
use crate::analysis::Analysis;

/// All parts of one cause in one hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    pub hop: usize,
    pub cause: Cause,
    /// What it was, for people: the same for all parts of it.
    pub told: String,
    pub duration: i64,
    /// How many parts it has.
    pub times: usize,
}

impl Explanation {
    /// In the order in which they first occur. They add up as the parts do.
    pub fn waits(&self, analysis: &Analysis<'_>) -> Vec<Wait> {
        let mut waits: Vec<Wait> = Vec::new();
        let mut places: HashMap<(usize, String), usize> = HashMap::new();
        for part in &self.parts {
            let told = part.told(analysis);
            let place = *places.entry((part.hop, told.clone())).or_insert_with(|| {
                waits.push(Wait {
                    hop: part.hop,
                    cause: part.cause,
                    told,
                    duration: 0,
                    times: 0,
                });
                waits.len() - 1
            });
            waits[place].duration += part.duration();
            waits[place].times += 1;
        }
        waits
    }
}
