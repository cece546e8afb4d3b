//! What markers of one kind can tell. The format wants every field declared with how it is to be shown; which ones there are is known when all markers
//! have been written.

use std::collections::HashMap;
use std::{fmt, io};

use serde_json::{Value, json};

/// How a field is shown, and with it how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// Milliseconds with a fraction.
    Duration,
    Integer,
    Decimal,
    /// The number of a text.
    Interned,
    /// A text that is hardly ever the same twice.
    Inline,
    /// The number of a text that names a flow.
    Flow,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Duration => "duration",
            Form::Integer => "integer",
            Form::Decimal => "decimal",
            Form::Interned => "unique-string",
            Form::Inline => "string",
            Form::Flow => "flow-id",
        }
    }
}

/// Categories are also how the program groups the rows of a thread. The first is the default, which the format wants grey.
pub(super) const CATEGORIES: [(&str, &str); 14] = [
    ("other", "grey"),
    ("callback", "blue"),
    ("publish", "green"),
    ("executor", "darkgrey"),
    ("timer", "yellow"),
    ("user", "purple"),
    ("take", "lightblue"),
    ("service", "orange"),
    ("lifecycle", "brown"),
    ("drop", "red"),
    ("damage", "magenta"),
    ("cpu", "lightred"),
    ("lock", "lightgreen"),
    ("kernel", "darkgrey"),
];

pub(super) fn category(name: &str) -> u8 {
    let place = CATEGORIES.iter().position(|(it, _)| *it == name);
    place.unwrap_or(0) as u8
}

/// The kinds of markers: for each category those that stand under their own name, and those that stand in the row of a track.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    list: Vec<(SchemaKey, Schema)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SchemaKey {
    pub(super) category: u8,
    pub(super) in_row: bool,
}

impl fmt::Display for SchemaKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = CATEGORIES[usize::from(self.category)];
        out.write_str(name)?;
        match self.in_row {
            true => out.write_str(" row"),
            false => Ok(()),
        }
    }
}

/// The name of what happened, where its row has the name of a track.
pub(super) const EVENT: &str = "event";

#[derive(Debug, Default)]
pub(super) struct Schema {
    /// By the name of an argument; those that the application gave apart, as theirs may be any.
    ours: HashMap<String, Vec<(Form, usize)>>,
    given: HashMap<String, Vec<(Form, usize)>>,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    key: String,
    label: String,
    form: Form,
}

/// Whose word the name of a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Ours,
    Application,
}

impl Schemas {
    pub(super) fn of(&mut self, key: SchemaKey) -> &mut Schema {
        let place = self.list.iter().position(|(it, _)| *it == key);
        let place = place.unwrap_or_else(|| {
            self.list.push((key, Schema::default()));
            self.list.len() - 1
        });
        &mut self.list[place].1
    }

    pub(super) fn declarations(&self) -> Value {
        let all = self.list.iter().map(|(key, schema)| {
            let fields = schema.fields.iter().map(|field| {
                json!({"key": field.key, "label": field.label, "format": field.form.name()})
            });
            let fields: Vec<Value> = fields.collect();
            let (chart, table) = match key.in_row {
                true => ("{marker.data.event}", "{marker.name}: {marker.data.event}"),
                false => ("{marker.name}", "{marker.name}"),
            };
            json!({
                "name": key.to_string(),
                "chartLabel": chart,
                "tooltipLabel": table,
                "tableLabel": table,
                "display": ["marker-chart", "marker-table", "timeline-overview"],
                "fields": fields,
            })
        });
        Value::Array(all.collect())
    }
}

impl Schema {
    /// Writes the key of a field, as JSON with what separates it from the field before.
    pub(super) fn key(
        &mut self,
        bytes: &mut Vec<u8>,
        origin: Origin,
        name: &str,
        form: Form,
    ) -> io::Result<()> {
        let known = match origin {
            Origin::Ours => &mut self.ours,
            Origin::Application => &mut self.given,
        };
        let forms = match known.get_mut(name) {
            Some(forms) => forms,
            None => known.entry(name.to_owned()).or_default(),
        };
        let place = match forms.iter().find(|(it, _)| *it == form) {
            Some((_, place)) => *place,
            None => {
                let (key, label) = match origin {
                    Origin::Ours => (our_key(name), our_label(name)),
                    // A prefix keeps clear of what the program understands by itself, such as `cause` or `stack`.
                    Origin::Application => (format!("given.{name}"), name.to_owned()),
                };
                // A field has one form: a value of another one is another field.
                let key = match forms.is_empty() {
                    true => key,
                    false => format!("{key} ({})", form.name()),
                };
                self.fields.push(Field { key, label, form });
                let place = self.fields.len() - 1;
                forms.push((form, place));
                place
            }
        };
        bytes.push(b',');
        super::super::json::text(bytes, &self.fields[place].key)?;
        bytes.push(b':');
        Ok(())
    }
}

/// The program takes `cause` for a stack; what is shown as a duration does not count in nanoseconds.
fn our_key(name: &str) -> String {
    match name {
        "cause" => "drop_cause".to_owned(),
        "source_timestamp_ns" => name.to_owned(),
        name => name.strip_suffix("_ns").unwrap_or(name).to_owned(),
    }
}

fn our_label(name: &str) -> String {
    let words = match name {
        "source_timestamp_ns" => "source timestamp (ns since 1970)".to_owned(),
        name => name.strip_suffix("_ns").unwrap_or(name).replace('_', " "),
    };
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_values_of_two_forms_is_two_fields() {
        let mut schema = Schema::default();
        let mut bytes = Vec::new();
        for form in [Form::Integer, Form::Interned, Form::Integer] {
            schema
                .key(&mut bytes, Origin::Application, "type", form)
                .unwrap();
        }
        assert_eq!(
            bytes,
            br#","given.type":,"given.type (unique-string)":,"given.type":"#
        );
        assert_eq!(schema.fields.len(), 2);
    }

    #[test]
    fn every_category_of_a_label_is_known() {
        for (_, _, name) in super::super::super::label::Common::EVERY {
            assert_ne!(category(name), 0, "{name}");
        }
        assert_eq!(category("callback"), 1);
        assert_eq!(category("unheard of"), 0);
    }
}
