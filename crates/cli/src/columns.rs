//! `--sort`, `--limit` and `--columns`: which part of a list is wanted, and in which order. The same for all lists and all formats.

use std::cmp::Ordering;

use clap::Args;
use rostrace_analyze::list::List;
use rostrace_analyze::table::{Cell, Column};

use crate::args::LookFormat;
use crate::cell;
use crate::name;
use crate::outcome::wrong_usage;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ListArguments {
    /// Sort by this column, smallest first; with a leading -, largest first; further columns break ties
    #[arg(
        long,
        value_name = "[-]COLUMN",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) sort: Vec<String>,
    /// Show at most this many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show these columns, by name or title, in this order; --help explains them
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
}

/// What they mean for one list.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) list: &'static List,
    /// Nothing if no columns were chosen.
    chosen: Option<Vec<&'static Column>>,
    sort: Vec<(&'static Column, bool)>,
    pub(crate) limit: Option<usize>,
}

impl Layout {
    pub(crate) fn of(
        list: &'static List,
        arguments: &ListArguments,
        format: LookFormat,
    ) -> anyhow::Result<Layout> {
        let mut chosen = Vec::new();
        for written in &arguments.columns {
            chosen.push(column(list, format, "--columns", written)?);
        }
        let mut sort = Vec::new();
        for written in &arguments.sort {
            let (written, descending) = match written.strip_prefix('-') {
                Some(written) => (written, true),
                None => (written.as_str(), false),
            };
            sort.push((column(list, format, "--sort", written)?, descending));
        }
        Ok(Layout {
            list,
            chosen: (!chosen.is_empty()).then_some(chosen),
            sort,
            limit: arguments.limit,
        })
    }

    pub(crate) fn is_sorted(&self) -> bool {
        !self.sort.is_empty()
    }

    /// The columns that were chosen; nothing if it was left to us.
    pub(crate) fn chosen(&self) -> Option<&[&'static Column]> {
        self.chosen.as_deref()
    }

    /// Those of the table for people.
    pub(crate) fn table(&self) -> Vec<&'static Column> {
        let named = |(_, name): &(&str, &str)| Some(&self.list.columns[self.list.column(name)?]);
        match &self.chosen {
            Some(chosen) => chosen.clone(),
            None => self.list.table.iter().filter_map(named).collect(),
        }
    }

    /// Those of the CSV.
    pub(crate) fn csv(&self) -> Vec<&'static Column> {
        match &self.chosen {
            Some(chosen) => chosen.clone(),
            None => self.list.columns.iter().collect(),
        }
    }

    /// The cells of these columns.
    pub(crate) fn pick<'c>(&self, columns: &[&Column], cells: &[Cell<'c>]) -> Vec<Cell<'c>> {
        let places = columns.iter().map(|it| self.list.column(it.name));
        places.map(|place| cells[place.unwrap_or(0)]).collect()
    }

    /// Sorts rows by their cells, all of them; rows that are equal in all columns stay in their order.
    pub(crate) fn sort<T>(&self, rows: &mut Vec<T>, cells: impl Fn(&T) -> Vec<Cell<'_>>) {
        if self.sort.is_empty() {
            return;
        }
        let columns: Vec<&Column> = self.sort.iter().map(|(column, _)| *column).collect();
        let keys = rows.iter().map(|row| self.pick(&columns, &cells(row)));
        let keys: Vec<Vec<Cell<'_>>> = keys.collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| {
            let pairs = keys[*a].iter().zip(&keys[*b]).zip(&self.sort);
            pairs.fold(Ordering::Equal, |order, ((a, b), (_, descending))| {
                order.then_with(|| cell::compare(*a, *b, *descending))
            })
        });
        let mut unsorted: Vec<Option<T>> = rows.drain(..).map(Some).collect();
        rows.extend(order.into_iter().filter_map(|place| unsorted[place].take()));
    }
}

fn column(
    list: &'static List,
    format: LookFormat,
    option: &str,
    written: &str,
) -> anyhow::Result<&'static Column> {
    // What the output shows comes first: the table of callbacks shows their names as `callback`, which is their number in CSV.
    let place = match format {
        LookFormat::Table => list.meant(written),
        LookFormat::Json | LookFormat::Csv => list.column(written).or_else(|| list.meant(written)),
    };
    let Some(place) = place else {
        let instead = name::similar_or(
            written,
            list.names(),
            &format!("`rostrace {} --help` lists the columns", list.verb),
        );
        wrong_usage!(
            "{option}: {} have no column `{written}`; {instead}",
            plural(list.noun)
        );
    };
    Ok(&list.columns[place])
}

/// As `units::counted` makes it.
fn plural(noun: &str) -> String {
    match noun.ends_with('s') {
        true => format!("{noun}es"),
        false => format!("{noun}s"),
    }
}
