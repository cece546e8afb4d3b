//! `--node`, `--topic` and `--pid` for rows of any table: a column's name says what is in it.

use glob::Pattern;
use rostrace_analyze::table::Cell;

use super::schema::Schema;
use crate::args::ModelFilterArguments;

/// Keeps a row if, for each filter that was given, one of its columns of that meaning fits. A filter without such a column keeps
/// all rows.
#[derive(Debug)]
pub(crate) struct RowFilter<'f> {
    nodes: Vec<usize>,
    topics: Vec<usize>,
    pids: Vec<usize>,
    arguments: &'f ModelFilterArguments,
}

impl<'f> RowFilter<'f> {
    pub(crate) fn new(schema: &Schema, arguments: &'f ModelFilterArguments) -> RowFilter<'f> {
        let columns = |given: bool, meaning: &str| {
            let names = schema.fields.iter().enumerate();
            let of_meaning = names.filter(|(_, field)| {
                let before = field.name.strip_suffix(meaning);
                given && before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
            });
            of_meaning.map(|(number, _)| number).collect()
        };
        RowFilter {
            nodes: columns(!arguments.nodes.is_empty(), "node"),
            topics: columns(!arguments.topics.is_empty(), "topic"),
            pids: columns(!arguments.pids.is_empty(), "pid"),
            arguments,
        }
    }

    pub(crate) fn keeps(&self, row: &[Cell<'_>]) -> bool {
        let named = |columns: &[usize], patterns: &[Pattern]| {
            any(columns, row, |cell| match cell {
                Cell::Text(name) => patterns.iter().any(|pattern| pattern.matches(name)),
                _ => false,
            })
        };
        let pids = &self.arguments.pids;
        named(&self.nodes, &self.arguments.nodes)
            && named(&self.topics, &self.arguments.topics)
            && any(
                &self.pids,
                row,
                |cell| matches!(cell, Cell::Integer(pid) if pids.contains(pid)),
            )
    }
}

/// Whether there are no such columns, or one of them fits.
fn any(columns: &[usize], row: &[Cell<'_>], fits: impl Fn(&Cell<'_>) -> bool) -> bool {
    columns.is_empty()
        || columns
            .iter()
            .any(|column| row.get(*column).is_some_and(&fits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::export::schema::Field;
    use rostrace_analyze::table::ColumnKind;

    fn schema(names: &[&str]) -> Schema {
        let field = |name: &&str| Field {
            name: (*name).to_owned(),
            kind: ColumnKind::Text,
            optional: true,
            about: String::new(),
        };
        Schema {
            about: String::new(),
            fields: names.iter().map(field).collect(),
        }
    }

    fn arguments() -> ModelFilterArguments {
        ModelFilterArguments {
            nodes: vec![Pattern::new("/a*").unwrap()],
            pids: vec![7],
            ..ModelFilterArguments::default()
        }
    }

    #[test]
    fn one_column_of_a_meaning_suffices_but_every_filter_must_be_met() {
        let (schema, arguments) = (
            schema(&["pub_node", "sub_node", "pid", "latency"]),
            arguments(),
        );
        let filter = RowFilter::new(&schema, &arguments);
        let row = |publisher, subscriber, pid: i64| {
            [publisher, subscriber, Cell::Integer(pid), Cell::Nothing]
        };
        let (a, b) = (Cell::Text("/a1"), Cell::Text("/b"));
        assert!(filter.keeps(&row(a, b, 7)) && filter.keeps(&row(b, a, 7)));
        assert!(!filter.keeps(&row(b, b, 7)));
        assert!(!filter.keeps(&row(a, a, 8)));
        assert!(!filter.keeps(&row(Cell::Nothing, Cell::Text(""), 7)));
    }

    #[test]
    fn a_table_without_such_columns_is_kept_whole() {
        let (schema, arguments) = (schema(&["nodes", "rapid", "unode"]), arguments());
        assert!(RowFilter::new(&schema, &arguments).keeps(&[Cell::Text("/b"); 3]));
    }
}
