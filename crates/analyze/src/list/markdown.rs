//! `docs/reference/lists.md`: every column of every list.

use super::{LISTS, Unit};

impl Unit {
    /// What a value is in CSV and JSON.
    pub fn described(self) -> &'static str {
        match self {
            Unit::Text => "text",
            Unit::Number => "a number",
            Unit::Count => "a count",
            Unit::Duration => "nanoseconds",
            Unit::Instant => "nanoseconds since 1970",
            Unit::Share => "a share, 1 is all",
            Unit::Hertz => "per second",
            Unit::YesOrNo => "1 or 0 in CSV, true or false in JSON",
        }
    }
}

pub fn markdown() -> String {
    let mut text = "\
# Lists

<!-- Made by `cargo xtask docs` from `crates/analyze/src/list`. -->

The columns of the verbs that list something. `--columns` chooses them, in this order or another; `--sort` sorts by them, smallest first, or with a `-` before the \
name largest first; rows without a value come last. Both take the name or the title in the table, in any format.

Without `--columns`, JSON has more than this: values are grouped, and lists of parts are lists.
"
    .to_owned();
    for list in LISTS {
        text += &format!(
            "\n## `rostrace {}`\n\n| name | title in the table | what it is | unit |\n|---|---|---|---|\n",
            list.verb
        );
        for column in list.columns {
            let title = match column.title {
                Some("") => "the first one".to_owned(),
                Some(title) => title.to_owned(),
                None => String::new(),
            };
            text += &format!(
                "| `{}` | {title} | {} | {} |\n",
                column.name,
                column.about,
                column.unit.described()
            );
        }
    }
    text
}
