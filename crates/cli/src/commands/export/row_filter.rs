//! `--node`, `--topic` and `--pid` for rows of any table: the role of a column says what of a selection it is chosen by.

use std::collections::HashSet;

use rostrace_analyze::Selection;
use rostrace_analyze::table::{Cell, Role};

use super::schema::Schema;

/// The paths that fit: observed ones by their numbers, and those that an architecture file names.
#[derive(Debug, Default)]
pub(crate) struct KeptPaths {
    pub(crate) observed: HashSet<i64>,
    pub(crate) named: HashSet<String>,
}

/// Keeps a row if, for each filter that was given, one of its columns of that meaning fits. A filter without such a column keeps
/// all rows. Rows of paths belong to a path by its number or name, and are kept if that path is.
#[derive(Debug)]
pub(crate) struct RowFilter<'f> {
    /// Whether there is a filter for one of these columns.
    applies: bool,
    nodes: Vec<usize>,
    topics: Vec<usize>,
    pids: Vec<usize>,
    /// Says of some rows that their topic is the name of a service.
    kind: Option<usize>,
    /// The column that says which path a row belongs to.
    path: Option<usize>,
    paths: &'f KeptPaths,
    selection: &'f Selection,
}

impl<'f> RowFilter<'f> {
    pub(crate) fn new(
        schema: &Schema,
        selection: &'f Selection,
        paths: &'f KeptPaths,
    ) -> RowFilter<'f> {
        let columns = |roles: &[Role]| -> Vec<usize> {
            let fields = schema.fields.iter().enumerate();
            let of_role = fields.filter(|(_, field)| roles.contains(&field.role));
            of_role.map(|(number, _)| number).collect()
        };
        let first = |roles: &[Role]| columns(roles).first().copied();
        let (nodes, pids) = (columns(&[Role::Node]), columns(&[Role::Pid]));
        let topics = columns(&[Role::Topic, Role::TopicOrService]);
        let path = first(&[Role::Path, Role::NamedPath]);
        let by_column = (!selection.nodes.is_empty() && !nodes.is_empty())
            || (!selection.topics.is_empty() && !topics.is_empty())
            || (!selection.pids.is_empty() && !pids.is_empty());
        RowFilter {
            applies: by_column || (path.is_some() && !selection.is_everything()),
            kind: first(&[Role::Kind]),
            nodes,
            topics,
            pids,
            path,
            paths,
            selection,
        }
    }

    /// Whether it can leave out rows.
    pub(crate) fn applies(&self) -> bool {
        self.applies
    }

    pub(crate) fn keeps(&self, row: &[Cell<'_>]) -> bool {
        if !self.applies {
            return true;
        }
        if let Some(column) = self.path {
            return match row.get(column) {
                Some(Cell::Integer(number)) => self.paths.observed.contains(number),
                Some(Cell::Text(name)) => self.paths.named.contains(*name),
                _ => false,
            };
        }
        let text = |column: &usize| match row.get(*column) {
            Some(Cell::Text(text)) => Some(*text),
            _ => None,
        };
        let is_service = matches!(
            self.kind.as_ref().and_then(text),
            Some("service" | "client")
        );
        let topic = |column: &usize| text(column).filter(|_| !is_service);
        let pid = |column: &usize| match row.get(*column) {
            Some(Cell::Integer(pid)) => Some(*pid),
            _ => None,
        };
        let (nodes, topics, pids) = (&self.nodes, &self.topics, &self.pids);
        (nodes.is_empty() || self.selection.fits_any_node(nodes.iter().map(text)))
            && (topics.is_empty() || self.selection.fits_any_topic(topics.iter().map(topic)))
            && (pids.is_empty() || self.selection.fits_any_pid(pids.iter().filter_map(pid)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::export::schema::Field;
    use glob::Pattern;
    use rostrace_analyze::table::ColumnKind;

    fn schema(roles: &[Role]) -> Schema {
        let field = |role: &Role| Field {
            name: String::new(),
            kind: ColumnKind::Text,
            role: *role,
            optional: true,
            about: String::new(),
        };
        Schema {
            about: String::new(),
            fields: roles.iter().map(field).collect(),
        }
    }

    fn selection() -> Selection {
        Selection {
            nodes: vec![Pattern::new("/a*").unwrap()],
            pids: vec![7],
            ..Selection::default()
        }
    }

    #[test]
    fn one_column_of_a_meaning_suffices_but_every_filter_must_be_met() {
        let (schema, entities) = (
            schema(&[Role::Node, Role::Node, Role::Pid, Role::Nothing]),
            selection(),
        );
        let paths = KeptPaths::default();
        let filter = RowFilter::new(&schema, &entities, &paths);
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
        let (schema, entities) = (schema(&[Role::Nothing; 3]), selection());
        let paths = KeptPaths::default();
        let filter = RowFilter::new(&schema, &entities, &paths);
        assert!(filter.keeps(&[Cell::Text("/b"); 3]) && !filter.applies());
    }

    #[test]
    fn rows_of_a_path_are_kept_or_not_together() {
        let (schema, entities) = (schema(&[Role::Path, Role::Node]), selection());
        let paths = KeptPaths {
            observed: HashSet::from([3]),
            named: HashSet::from(["camera".to_owned()]),
        };
        let filter = RowFilter::new(&schema, &entities, &paths);
        assert!(filter.keeps(&[Cell::Integer(3), Cell::Text("/b")]));
        assert!(!filter.keeps(&[Cell::Integer(4), Cell::Text("/a")]));
        assert!(filter.keeps(&[Cell::Text("camera"), Cell::Text("/b")]));
        assert!(!filter.keeps(&[Cell::Text("lidar"), Cell::Text("/a")]));
    }

    #[test]
    fn the_name_of_a_service_is_no_topic() {
        let schema = schema(&[Role::Kind, Role::TopicOrService]);
        let entities = Selection {
            topics: vec![Pattern::new("/a*").unwrap()],
            ..Selection::default()
        };
        let paths = KeptPaths::default();
        let filter = RowFilter::new(&schema, &entities, &paths);
        assert!(filter.keeps(&[Cell::Text("subscription"), Cell::Text("/a")]));
        assert!(!filter.keeps(&[Cell::Text("service"), Cell::Text("/a")]));
    }
}
