//! `docs/reference/lists.md`: every column of every list.

use super::LISTS;

pub fn markdown() -> String {
    let mut text = "\
# Lists

<!-- Made by `cargo xtask docs` from `crates/analyze/src/list`. -->

The columns of the verbs that list something. `--columns` chooses them, in this order or another; `--sort` sorts by them, smallest first, or with a `-` before the \
name largest first; rows without a value come last. Both take the name or the title in the table, in any format.

Without `--columns`, JSON groups statistics: `duration_p99_ns` is `p99` of the object `duration_ns`, which is `null` without values. Names that CSV has \
side by side in one column are an array. What is listed of entities are the rows of the exported table of the same name: see [tables](tables.md).
"
    .to_owned();
    for list in LISTS {
        text += &format!(
            "\n## `rostrace {}`\n\n| name | title in the table | what it is | unit |\n|---|---|---|---|\n",
            list.verb
        );
        for column in list.columns {
            let title = match list.title(column) {
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
