//! How the report's page shows a table: which of its columns, under which titles, and what is drawn beside them. The page itself knows no table.

use serde::Serialize;

use super::{Column, Table};

#[derive(Debug)]
pub struct PageTable {
    pub table: &'static Table,
    /// What the page joins to each row, from other tables.
    pub joined: &'static [Column],
    pub shown: &'static [PageColumn],
    /// What the box says in which rows are searched for.
    pub filter: &'static str,
    /// The column that rows are sorted by at first, the largest on top.
    pub sort: &'static str,
}

impl PageTable {
    /// Those of the table, then those that are joined.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> + use<> {
        self.table.columns.iter().chain(self.joined)
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct PageColumn {
    /// The column; of a chart, the series of the row that it draws.
    pub name: &'static str,
    pub title: &'static str,
    pub drawn: Drawn,
    /// The definition that says what it means.
    pub definition: Option<&'static str>,
    /// Without it the column is always there.
    pub room: Option<Room>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    Value,
    /// A small line over time.
    Chart,
    /// A value that is conspicuous from one bound on, and bad from another.
    Alarm {
        warn: f64,
        bad: f64,
    },
    /// Together with the value of another column, as a range.
    UpTo(&'static str),
}

/// How wide a screen has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Room {
    Normal,
    Medium,
    Wide,
}

impl PageColumn {
    const fn drawn(name: &'static str, title: &'static str, drawn: Drawn) -> PageColumn {
        PageColumn {
            name,
            title,
            drawn,
            definition: None,
            room: None,
        }
    }

    pub(super) const fn new(name: &'static str, title: &'static str) -> PageColumn {
        PageColumn::drawn(name, title, Drawn::Value)
    }

    pub(super) const fn chart(series: &'static str, title: &'static str) -> PageColumn {
        PageColumn::drawn(series, title, Drawn::Chart)
    }

    pub(super) const fn alarm(
        name: &'static str,
        title: &'static str,
        warn: f64,
        bad: f64,
    ) -> PageColumn {
        PageColumn::drawn(name, title, Drawn::Alarm { warn, bad })
    }

    /// A count of what should not happen at all.
    pub(super) const fn none_wanted(name: &'static str, title: &'static str) -> PageColumn {
        PageColumn::alarm(name, title, 1.0, 1.0)
    }

    pub(super) const fn up_to(
        name: &'static str,
        other: &'static str,
        title: &'static str,
    ) -> PageColumn {
        PageColumn::drawn(name, title, Drawn::UpTo(other))
    }

    pub(super) const fn defined(mut self, definition: &'static str) -> PageColumn {
        self.definition = Some(definition);
        self
    }

    pub(super) const fn room(mut self, room: Room) -> PageColumn {
        self.room = Some(room);
        self
    }
}

/// The definitions that several tables refer to.
pub(super) const CALLBACK: &str = "callback";
pub(super) const COMMUNICATION: &str = "communication";
pub(super) const ENDPOINT: &str = "publisher-subscription-topic";
pub(super) const TIME_SPENT: &str = "executor-thread-process";
pub(super) const LOSSES: &str = "what-counts-and-what-does-not";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::PAGE_TABLES;

    #[test]
    fn every_column_of_the_page_is_one_of_its_table() {
        for page in PAGE_TABLES {
            let has = |name: &str| page.columns().any(|it| it.name == name);
            for column in page.shown {
                let what = format!("{} {}", page.table.name, column.name);
                match column.drawn {
                    Drawn::Chart => assert!(!has(column.name), "{what}"),
                    Drawn::UpTo(other) => assert!(has(column.name) && has(other), "{what}"),
                    Drawn::Value | Drawn::Alarm { .. } => assert!(has(column.name), "{what}"),
                }
            }
            assert!(has(page.sort), "{}", page.table.name);
        }
    }
}
