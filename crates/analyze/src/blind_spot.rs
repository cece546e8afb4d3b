//! What our own tracer could not see in a process, in words: calls inside a library that was linked or loaded so that they go past it.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_model::Model;
use rostrace_model::entity::{Process, Unseen, UnseenSubject};

/// `not seen: librclcpp.so was linked so that its calls cannot be observed`; nothing where such a thing was seen.
pub fn of_process(process: &Process, subject: UnseenSubject) -> Option<String> {
    let unseen = process.unseen.iter().find(|it| it.subject() == subject)?;
    Some(format!("not seen: {}", reason(&unseen.library)))
}

/// One sentence for each library.
pub fn sentences(model: &Model) -> Vec<String> {
    let mut libraries: BTreeMap<&str, (BTreeSet<usize>, BTreeSet<UnseenSubject>)> = BTreeMap::new();
    for (number, process) in model.processes.iter().enumerate() {
        for unseen in &process.unseen {
            let (processes, subjects) = libraries.entry(&unseen.library).or_default();
            processes.insert(number);
            subjects.insert(unseen.subject());
        }
    }
    let sentence = |(library, (processes, subjects)): (&str, (BTreeSet<usize>, _))| {
        let processes = match processes.len() {
            1 => "1 process".to_owned(),
            count => format!("{count} processes"),
        };
        let (names, reason) = (named(subjects), reason(library));
        format!("{names} of {processes} were not all seen: {reason}")
    };
    libraries.into_iter().map(sentence).collect()
}

/// What is not seen where these functions are not: `executors and callback groups, callbacks of clients`; nothing without functions.
pub fn subjects<'f>(functions: impl IntoIterator<Item = &'f str>) -> Option<String> {
    let unseen = functions.into_iter().map(|function| Unseen {
        function: function.to_owned(),
        library: String::new(),
    });
    let subjects: BTreeSet<UnseenSubject> = unseen.map(|it| it.subject()).collect();
    (!subjects.is_empty()).then(|| named(subjects))
}

fn named(subjects: BTreeSet<UnseenSubject>) -> String {
    let names: Vec<&str> = subjects.into_iter().map(UnseenSubject::name).collect();
    names.join(", ")
}

fn reason(library: &str) -> String {
    match library {
        "" => "a library was linked so that its calls cannot be observed".to_owned(),
        library => format!("{library} was linked so that its calls cannot be observed"),
    }
}
