//! Which functions most samples were in.
//!
//! Each sample counts for one function, so that counts add up: the innermost one that is not of the C or C++ library and the like. Who
//! sorts is named, not `std::__introsort_loop`; who asks for the time again and again, not `clock_gettime`.

use std::collections::{BTreeSet, HashMap};

use rostrace_model::sampling::Sample;
use rostrace_symbols::{Function, FunctionId};

use super::Profile;

/// Fewer samples say nothing about where time went.
const ENOUGH: usize = 5;

/// The functions of some samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hot {
    /// How many samples there are.
    pub samples: usize,
    /// Those with most samples first.
    pub functions: Vec<FunctionSamples>,
}

/// One function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSamples {
    pub function: Function,
    /// In the function itself, and in what it called of libraries.
    pub samples: usize,
    /// In the function and in everything that it called.
    pub samples_inside: usize,
}

impl Hot {
    pub fn of<'s>(profile: &Profile, samples: impl Iterator<Item = &'s Sample>) -> Hot {
        let mut own: HashMap<FunctionId, usize> = HashMap::new();
        let mut inside: HashMap<FunctionId, usize> = HashMap::new();
        let mut count = 0;
        for sample in samples {
            count += 1;
            let functions = profile.functions(sample);
            if let Some(function) = responsible(profile, &functions) {
                *own.entry(function).or_default() += 1;
            }
            for function in BTreeSet::from_iter(functions) {
                *inside.entry(function).or_default() += 1;
            }
        }
        let functions = own.into_iter().map(|(id, samples)| FunctionSamples {
            function: profile.function(id),
            samples,
            samples_inside: inside.get(&id).copied().unwrap_or(samples),
        });
        let mut functions: Vec<FunctionSamples> = functions.collect();
        functions.sort_by(|a, b| {
            let by_samples = b.samples.cmp(&a.samples);
            by_samples.then_with(|| a.function.name.cmp(&b.function.name))
        });
        Hot {
            samples: count,
            functions,
        }
    }

    /// Whether there are enough samples to say where time went.
    pub fn is_enough(&self) -> bool {
        self.samples >= ENOUGH
    }
}

/// The function that a sample counts for.
pub(super) fn responsible(profile: &Profile, functions: &[FunctionId]) -> Option<FunctionId> {
    let own = functions.iter().find(|id| !profile.is_library(**id));
    own.or(functions.first()).copied()
}
