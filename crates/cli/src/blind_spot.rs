//! What our own tracer could not see in a process, in words: calls inside a library that was linked or loaded so that they go past it.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_trace::Model;
use rostrace_trace::entity::{Process, UnseenSubject};

use crate::render::units;

/// `not seen: librclcpp.so was linked so that its calls cannot be observed`; nothing where such a thing was seen.
pub(crate) fn of_process(process: &Process, subject: UnseenSubject) -> Option<String> {
    let unseen = process.unseen.iter().find(|it| it.subject() == subject)?;
    Some(format!("not seen: {}", reason(&unseen.library)))
}

/// One sentence for each library.
pub(crate) fn sentences(model: &Model) -> Vec<String> {
    let mut libraries: BTreeMap<&str, (BTreeSet<usize>, BTreeSet<UnseenSubject>)> = BTreeMap::new();
    for (number, process) in model.processes.iter().enumerate() {
        for unseen in &process.unseen {
            let (processes, subjects) = libraries.entry(&unseen.library).or_default();
            processes.insert(number);
            subjects.insert(unseen.subject());
        }
    }
    let sentence = |(library, (processes, subjects)): (&str, (BTreeSet<_>, BTreeSet<_>))| {
        let names: Vec<&str> = subjects.into_iter().map(UnseenSubject::name).collect();
        let processes = units::counted(processes.len() as u64, "process");
        let (names, reason) = (names.join(", "), reason(library));
        format!("{names} of {processes} were not all seen: {reason}")
    };
    libraries.into_iter().map(sentence).collect()
}

fn reason(library: &str) -> String {
    match library {
        "" => "a library was linked so that its calls cannot be observed".to_owned(),
        library => format!("{library} was linked so that its calls cannot be observed"),
    }
}
