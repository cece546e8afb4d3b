//! Inside what ran: the functions that it computed in, where samples of call stacks were taken.

use rostrace_analyze::Analysis;
use rostrace_analyze::profile::{Hot, Profile};
use rostrace_analyze::why::{Cause, Explanation, Part, Wait};
use rostrace_base::units;
use rostrace_model::sampling::Sample;
use serde::Serialize;

/// So many functions are shown, if each has at least this share of the samples.
const MOST: usize = 3;
const NOTICEABLE: f64 = 0.1;

#[derive(Debug)]
pub(super) struct Sampled<'a, 'm> {
    analysis: &'a Analysis<'m>,
    profile: Option<&'a Profile>,
}

/// What some samples tell.
#[derive(Debug)]
pub(super) struct Computed {
    hot: Hot,
    period: i64,
}

/// As `--format json` shows it.
#[derive(Debug, Serialize)]
pub(super) struct FunctionRow {
    name: String,
    file: String,
    /// In it, and in what it called of libraries.
    samples: usize,
    /// In it and everything that it called.
    samples_inside: usize,
}

impl<'a, 'm> Sampled<'a, 'm> {
    pub(super) fn of(analysis: &'a Analysis<'m>, profile: Option<&'a Profile>) -> Sampled<'a, 'm> {
        Sampled { analysis, profile }
    }

    /// Of one part of a time; nothing if it is none in which something ran, or no samples were taken.
    pub(super) fn of_part(&self, part: &Part) -> Option<Computed> {
        let profile = self.profile?;
        let samples = self.samples(profile, part)?;
        Some(Computed {
            hot: Hot::of(profile, samples.iter()),
            period: profile.period(),
        })
    }

    /// The same of all parts that are shown together.
    pub(super) fn of_wait(&self, explanation: &Explanation, wait: &Wait) -> Option<Computed> {
        let profile = self.profile?;
        self.samples(profile, &wait.longest)?;
        let parts = explanation.parts.iter().filter(|part| {
            part.hop == wait.hop && part.describe(self.analysis) == wait.description
        });
        let samples = parts
            .filter_map(|part| self.samples(profile, part))
            .flatten();
        Some(Computed {
            hot: Hot::of(profile, samples),
            period: profile.period(),
        })
    }

    fn samples(&self, profile: &'a Profile, part: &Part) -> Option<&'a [Sample]> {
        let thread = match part.cause {
            Cause::Execution(id) | Cause::OtherCallback(id, _) | Cause::Unended(id) => {
                self.analysis.instance(id).thread
            }
            Cause::ClientCallback(id, _) => self.analysis.client_callback(id).thread,
            _ => return None,
        };
        Some(profile.between(thread, part.begin, part.end))
    }
}

impl Computed {
    pub(super) fn samples(&self) -> usize {
        self.hot.samples
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = FunctionRow> + '_ {
        self.hot.functions.iter().map(|it| FunctionRow {
            name: it.function.name.clone(),
            file: it.function.file.clone(),
            samples: it.samples,
            samples_inside: it.samples_inside,
        })
    }

    /// Sentences, and how long it was as far as samples tell.
    pub(super) fn lines(&self) -> Vec<(String, String)> {
        let samples = units::counted(self.hot.samples as u64, "sample");
        if !self.hot.is_enough() {
            let sentence = format!("in which functions: {samples}, too few to tell");
            return vec![(sentence, String::new())];
        }
        let noticeable = self
            .hot
            .functions
            .iter()
            .filter(|it| it.samples as f64 >= NOTICEABLE * self.hot.samples as f64);
        noticeable
            .take(MOST)
            .map(|it| {
                let name = &it.function.name;
                let of = format!("{} of {samples}", units::count(it.samples as u64));
                let about = units::signed_duration(it.samples as i64 * self.period);
                (format!("of it in {name} ({of})"), format!("~{about}"))
            })
            .collect()
    }
}
