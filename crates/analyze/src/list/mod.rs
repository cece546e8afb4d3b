//! The lists that `rostrace callbacks`, `topics` and the like print, declared once: what each column is called in the table and in CSV and
//! JSON, in which unit it is, and what it means. Choosing and sorting columns, the help and `docs/reference/lists.md` come from here. The
//! tables of `export` are declared in `table`.

mod callbacks;
mod executors;
mod markdown;
mod nodes;
mod paths;
mod processes;
mod recurring;
mod status;
mod topics;
mod verdicts;

pub use callbacks::CALLBACKS;
pub use executors::EXECUTORS;
pub use markdown::markdown;
pub use nodes::NODES;
pub use paths::{LATENCY, PATHS};
pub use processes::PROCESSES;
pub use status::STATUS;
pub use topics::TOPICS;
pub use verdicts::{CHECK, COMPARE};

/// All lists, in the order in which the program's help has their verbs.
pub const LISTS: &[&List] = &[
    &STATUS, &NODES, &TOPICS, &CALLBACKS, &PROCESSES, &EXECUTORS, &LATENCY, &PATHS, &COMPARE,
    &CHECK,
];

/// What a verb lists.
#[derive(Debug)]
pub struct List {
    pub verb: &'static str,
    /// What one row is called.
    pub noun: &'static str,
    /// In the order of the CSV, which is a contract.
    pub columns: &'static [Column],
    /// The titles of the table for people, in its order.
    pub table: &'static [&'static str],
    /// Those of the titles that a narrow terminal does without, the least needed first.
    pub dispensable: &'static [&'static str],
}

#[derive(Debug)]
pub struct Column {
    /// In CSV, JSON, `--columns` and `--sort`.
    pub name: &'static str,
    pub unit: Unit,
    /// At the head of the table for people; nothing if it is only shown when it is asked for.
    pub title: Option<&'static str>,
    /// What it means, as a phrase.
    pub about: &'static str,
}

/// What a number counts, and so how people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Text,
    /// A number that names something, such as a pid.
    Number,
    Count,
    /// Nanoseconds.
    Duration,
    /// Nanoseconds since 1970.
    Instant,
    /// Of 1.
    Share,
    Hertz,
    YesOrNo,
}

impl List {
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.name == name)
    }

    pub fn titled(&self, title: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.title == Some(title))
    }

    /// The column that someone means who writes its name, its title, or either of them with other signs between the words or without the unit.
    pub fn meant(&self, written: &str) -> Option<usize> {
        let plain = plain(written);
        let by_title = |it: &Column| it.title.is_some_and(|title| self::plain(title) == plain);
        let by_name = |it: &Column| self::plain(it.name) == plain;
        self.column(written)
            .or_else(|| self.columns.iter().position(by_title))
            .or_else(|| self.columns.iter().position(by_name))
    }

    /// Everything that can be written, titles first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let titles = self.table.iter().copied().filter(|it| !it.is_empty());
        titles.chain(self.columns.iter().map(|it| it.name))
    }
}

/// `Late max`, `late-max` and `late_max_ns` are one.
fn plain(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|it| !it.is_empty())
        .map(str::to_lowercase)
        .collect();
    match words.split_last() {
        Some((last, rest)) if matches!(last.as_str(), "ns" | "hz") && !rest.is_empty() => {
            rest.join("_")
        }
        _ => words.join("_"),
    }
}

/// A column that the table shows under this title.
const fn shown(title: &'static str, name: &'static str, unit: Unit, about: &'static str) -> Column {
    Column {
        name,
        unit,
        title: Some(title),
        about,
    }
}

/// A column that is only in CSV and JSON, unless it is asked for.
const fn more(name: &'static str, unit: Unit, about: &'static str) -> Column {
    Column {
        name,
        unit,
        title: None,
        about,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_list_is_consistent() {
        for list in LISTS {
            let names: BTreeSet<&str> = list.columns.iter().map(|it| it.name).collect();
            assert_eq!(names.len(), list.columns.len(), "{}", list.verb);
            let titles: BTreeSet<&str> = list.columns.iter().filter_map(|it| it.title).collect();
            let table: BTreeSet<&str> = list.table.iter().copied().collect();
            assert_eq!(titles, table, "{}", list.verb);
            assert_eq!(table.len(), list.table.len(), "{}", list.verb);
            let dispensable = list.dispensable.iter();
            assert!(
                dispensable.clone().all(|it| table.contains(it)),
                "{}",
                list.verb
            );
            for column in list.columns {
                assert_eq!(
                    column.name.ends_with("_ns"),
                    matches!(column.unit, Unit::Duration | Unit::Instant),
                    "{} {}",
                    list.verb,
                    column.name
                );
            }
        }
    }

    #[test]
    fn a_column_is_found_by_its_name_and_by_its_title() {
        let found = |written| Some(CALLBACKS.columns[CALLBACKS.meant(written)?].name);
        assert_eq!(found("duration_max_ns"), Some("duration_max_ns"));
        assert_eq!(found("max"), Some("duration_max_ns"));
        assert_eq!(found("late max"), Some("lateness_max_ns"));
        assert_eq!(found("late-max"), Some("lateness_max_ns"));
        assert_eq!(found("lateness_max"), Some("lateness_max_ns"));
        assert_eq!(found("worst/period"), Some("hurt"));
        // The title of the table goes before the column without its unit.
        assert_eq!(found("period"), Some("period_observed_p50_ns"));
        assert_eq!(found("period_ns"), Some("period_ns"));
        assert_eq!(found("colour"), None);
        assert_eq!(found(""), None);
    }
}
