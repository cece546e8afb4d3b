//! The lists that `rostrace callbacks`, `topics` and the like print: which columns the terminal shows, under which titles. What entities
//! there are is declared in `table`, for `export` as well. Choosing and sorting columns, the help and `docs/reference/lists.md` come
//! from here.

mod markdown;
mod paths;
mod status;
mod verdicts;

use crate::table::Column;

pub use crate::table::{
    ACTION_LIST as ACTIONS, CALLBACK_LIST as CALLBACKS, EXECUTOR_LIST as EXECUTORS,
    NODE_LIST as NODES, PROCESS_LIST as PROCESSES, TOPIC_LIST as TOPICS,
};
pub use markdown::markdown;
pub use paths::{LATENCY, PATHS};
pub use status::STATUS;
pub use verdicts::{CHECK, COMPARE};

/// All lists, in the order in which the program's help has their verbs.
pub const LISTS: &[&List] = &[
    &STATUS, &NODES, &TOPICS, &CALLBACKS, &ACTIONS, &PROCESSES, &EXECUTORS, &LATENCY, &PATHS,
    &COMPARE, &CHECK,
];

/// What a verb lists.
#[derive(Debug)]
pub struct List {
    pub verb: &'static str,
    /// What one row is called.
    pub noun: &'static str,
    /// In the order of the CSV. Their names are a contract, their order is not.
    pub columns: &'static [Column],
    /// What the terminal shows, in its order: titles, and the names of the columns below them.
    pub table: &'static [(&'static str, &'static str)],
    /// Those of the titles that a narrow terminal does without, the least needed first.
    pub dispensable: &'static [&'static str],
}

/// What the terminal shows: titles, each with the name of its column.
macro_rules! titles {
    ($($title:literal: $name:literal,)+) => {
        &[$(($title, $name)),+]
    };
}

pub(crate) use titles;

impl List {
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.name == name)
    }

    /// What stands above a column in the terminal; nothing if it is only shown when it is asked for.
    pub fn title(&self, column: &Column) -> Option<&'static str> {
        let mut titles = self.table.iter();
        let (title, _) = titles.find(|(_, name)| *name == column.name)?;
        Some(title)
    }

    /// The column that someone means who writes its name, its title, or either of them with other signs between the words or without the unit.
    pub fn meant(&self, written: &str) -> Option<usize> {
        let plain = plain(written);
        let titled = |fits: &dyn Fn(&str) -> bool| {
            let mut titles = self.table.iter();
            self.column(titles.find(|(title, _)| fits(title))?.1)
        };
        let by_name = |it: &Column| self::plain(it.name) == plain;
        titled(&|title| title == written)
            .or_else(|| self.column(written))
            .or_else(|| titled(&|title| self::plain(title) == plain))
            .or_else(|| self.columns.iter().position(by_name))
    }

    /// Everything that can be written, titles first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let titles = self.table.iter().map(|(title, _)| *title);
        let titles = titles.filter(|it| !it.is_empty());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Unit;
    use std::collections::BTreeSet;

    #[test]
    fn every_list_is_consistent() {
        for list in LISTS {
            let names: BTreeSet<&str> = list.columns.iter().map(|it| it.name).collect();
            assert_eq!(names.len(), list.columns.len(), "{}", list.verb);
            let titles: BTreeSet<&str> = list.table.iter().map(|(title, _)| *title).collect();
            assert_eq!(titles.len(), list.table.len(), "{}", list.verb);
            let shown: BTreeSet<&str> = list.table.iter().map(|(_, name)| *name).collect();
            assert_eq!(shown.len(), list.table.len(), "{}", list.verb);
            assert!(shown.is_subset(&names), "{}", list.verb);
            let mut dispensable = list.dispensable.iter();
            assert!(dispensable.all(|it| titles.contains(it)), "{}", list.verb);
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
        assert_eq!(found("worst/period"), Some("worst_over_period"));
        // A title goes before names.
        assert_eq!(found("callback"), Some("name"));
        assert_eq!(found("period"), Some("period_observed_p50_ns"));
        assert_eq!(found("period_ns"), Some("period_ns"));
        assert_eq!(found("colour"), None);
        assert_eq!(found(""), None);
    }
}
