//! From a file to an [`Architecture`]: every problem is found, each with its position and with what was expected.
//!
//! What the file's form leaves no room for is an error, and the file is refused: a missing key, a text in the place
//! of a number, two nodes of one name. What has no effect but does no harm is a warning. References to names that do
//! not exist are not looked at here but in `check`, which knows what a whole architecture should be like.

mod chain;
mod entry;
mod executor;
mod node;
mod problem;

use std::collections::{HashMap, HashSet};

use crate::check::{Finding, check};
use crate::element::Element;
use crate::error::Item;
use crate::model::{Architecture, Extras};
use entry::MapEntry;
use problem::Problems;
pub use problem::{Problem, Refused, Severity};
use rostrace_base::yaml::{Content, Position, parse};

/// Pairs of a publisher and a subscription with one topic. Large applications have some ten thousand.
const MOST_COMMUNICATIONS: usize = 5_000_000;

/// What a file says.
#[derive(Debug, Clone)]
pub struct Reading {
    pub architecture: Architecture,
    /// Warnings only: with an error there is no reading.
    pub warnings: Vec<Problem>,
    /// Where each part of the architecture stands in the file.
    pub positions: HashMap<Element, Position>,
}

/// Reads an architecture file, or tells everything that is wrong with it.
pub fn read(text: &str) -> Result<Reading, Refused> {
    let problems = Problems::default();
    let mut reader = Reader {
        problems: &problems,
        positions: HashMap::new(),
        names: HashSet::new(),
    };
    let architecture = reader.architecture(text);
    let positions = reader.positions;
    let (errors, warnings) = problems.sorted();
    match architecture {
        Some(architecture) if errors.is_empty() => Ok(Reading {
            architecture,
            warnings,
            positions,
        }),
        architecture => Err(Refused {
            others: architecture.map_or(Vec::new(), |it| others(&it, &positions)),
            errors,
            warnings,
        }),
    }
}

fn others(architecture: &Architecture, positions: &HashMap<Element, Position>) -> Vec<Problem> {
    let findings = check(architecture).into_iter();
    let problem = |finding: Finding| Problem {
        severity: finding.severity,
        position: positions.get(&finding.element).copied(),
        message: finding.message,
    };
    findings.map(problem).collect()
}

struct Reader<'p> {
    problems: &'p Problems,
    positions: HashMap<Element, Position>,
    names: HashSet<(Item, String)>,
}

impl Reader<'_> {
    fn architecture(&mut self, text: &str) -> Option<Architecture> {
        let document = match parse(text) {
            Ok(Some(document)) if !document.is_null() => document,
            Ok(_) => {
                let message = "the file is empty; it must have named_paths, executors and nodes";
                self.problems.error(None, message);
                return None;
            }
            Err(fault) => {
                self.problems.error(fault.at, fault.message);
                return None;
            }
        };
        let mut top = MapEntry::new(&document, "the file", self.problems)?;
        if let Some(old) = top.get("path_name_aliases") {
            self.problems.error(
                Some(old.at),
                "`path_name_aliases` belongs to the format of CARET 0.1, which is not read; export the file again with a newer CARET",
            );
            return None;
        }
        let mut architecture = Architecture::default();
        for item in top.list("named_paths", true) {
            self.path(item, &mut architecture);
        }
        for item in top.list("executors", true) {
            self.executor(item, &mut architecture);
        }
        for item in top.list("nodes", true) {
            self.node(item, &mut architecture);
        }
        self.expect_few_communications(&architecture);
        architecture.extras = top.extras();
        Some(architecture)
    }

    fn expect_few_communications(&self, architecture: &Architecture) {
        let mut topics: HashMap<&str, (usize, usize)> = HashMap::new();
        for node in &architecture.nodes {
            for publisher in &node.publishers {
                topics.entry(&publisher.topic).or_default().0 += 1;
            }
            for subscription in &node.subscriptions {
                topics.entry(&subscription.topic).or_default().1 += 1;
            }
        }
        let pairs = topics
            .values()
            .map(|(publishers, subscriptions)| publishers.saturating_mul(*subscriptions));
        let count = pairs.fold(0, usize::saturating_add);
        if count > MOST_COMMUNICATIONS {
            let message = format!(
                "there are {count} communications; more than {MOST_COMMUNICATIONS} are not handled"
            );
            self.problems.error(None, message);
        }
    }

    /// Whether nothing of this kind had this name before.
    fn is_new(&mut self, item: Item, name: &str) -> bool {
        self.names.insert((item, name.to_owned()))
    }

    fn found(&mut self, element: Element, at: Position) {
        self.positions.insert(element, at);
    }
}

/// The text and the number that an endpoint is made of may both be missing or wrong: `UNDEFINED` and null are nothing.
fn defined(text: Option<String>) -> Option<String> {
    text.filter(|text| text != crate::model::UNDEFINED)
}

/// Unknown keys of a map: those that nobody asked for.
fn extras_of(content: &Content, known: &[&str]) -> Extras {
    let Content::Map(entries) = content else {
        return Extras::default();
    };
    let mut extras = Extras::default();
    let mut before = None;
    for (key, value) in entries {
        let name = key.value();
        let is_known =
            matches!(&key.content, Content::Text(text) if known.contains(&text.as_str()));
        if !is_known {
            extras.0.push(crate::model::Extra {
                after: before.clone(),
                key: name.clone(),
                value: value.value(),
            });
        }
        before = Some(name);
    }
    extras
}
