//! What the help says beyond single options: the verbs in groups, and the columns of the lists. Both come from declarations, here and in
//! `rostrace_analyze::list`.

use clap::{Command, CommandFactory, Subcommand};
use rostrace_analyze::list::{LISTS, List};

use crate::args::{Arguments, Verb};

/// The verbs in the order of work: first there is a recording, then questions, then results that others need.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Record",
        &[
            "demo", "record", "run", "status", "stop", "snapshot", "doctor",
        ],
    ),
    (
        "Look",
        &[
            "info",
            "nodes",
            "topics",
            "callbacks",
            "actions",
            "processes",
            "executors",
            "dump",
        ],
    ),
    (
        "Explain",
        &["latency", "paths", "why", "flame", "report", "timeline"],
    ),
    ("Verify", &["compare", "check"]),
    ("Share", &["export", "cut", "architecture"]),
    ("Set up", &["completions", "man"]),
];

const EXIT_STATUS: &str = "\
Exit status: 0 success; 1 failure; 2 wrong usage; 3 done, but the trace has lost data; 4 a budget is broken or \
something got worse; 130 interrupted.";

const FIRST_STEPS: &str = "\
First steps:
  rostrace demo                                         see what it does, without ROS 2
  rostrace record -- ros2 launch my_robot bringup.launch.py
  rostrace callbacks session/                           what ran late or long, worst first
  rostrace why session/                                 why the worst one was late
  rostrace report session/ --open                       everything, in the browser

`rostrace VERB --help` has examples, and explains the columns of the lists.";

/// The help of the whole program has no list of verbs of its own.
pub(crate) const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}";

/// The command line with everything that its help says.
pub(crate) fn command() -> Command {
    LISTS.iter().fold(Arguments::command(), |command, list| {
        command.mut_subcommand(list.verb, |verb| {
            let help = verb.get_after_help().map(ToString::to_string);
            verb.after_long_help(help.unwrap_or_default() + &columns(list))
        })
    })
}

/// Every verb with what it does, in groups.
pub(crate) fn verbs() -> String {
    let all = Verb::augment_subcommands(Command::new("rostrace"));
    let widest = GROUPS.iter().flat_map(|(_, verbs)| *verbs);
    let widest = widest.map(|verb| verb.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, verbs) in GROUPS {
        text += &format!("{title}:\n");
        for name in *verbs {
            let verb = all.find_subcommand(name);
            let about = verb.and_then(|it| it.get_about()).map(ToString::to_string);
            let line = format!("  {name:widest$}  {}", about.unwrap_or_default());
            text += &hanging(&line, widest + 4);
        }
        text.push('\n');
    }
    text + FIRST_STEPS + "\n\n" + EXIT_STATUS
}

/// A line that is broken where the terminal would do it, with what follows below its text and not below its name.
fn hanging(line: &str, indent: usize) -> String {
    let (_, width) = console::Term::stdout()
        .size_checked()
        .unwrap_or((0, WIDEST));
    let width = usize::from(width.min(WIDEST));
    let mut text = String::new();
    let mut column = 0;
    // The words keep the spaces before them, so that columns stay where they are.
    for word in line.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if column + length > width && column > indent {
            text.truncate(text.trim_end().len());
            text += &format!("\n{:indent$}", "");
            column = indent;
        }
        text += word;
        column += word.chars().count();
    }
    text + "\n"
}

/// Nobody reads longer lines; clap does the same.
const WIDEST: u16 = 100;

/// What each column of a list means.
fn columns(list: &List) -> String {
    let mut text = "\n\nColumns, for --columns and --sort:\n".to_owned();
    let shown = list.table.iter().filter_map(|(_, name)| list.column(name));
    let shown = shown.map(|place| &list.columns[place]);
    let more = list.columns.iter().filter(|it| list.title(it).is_none());
    for column in shown.chain(more) {
        let name = match list.title(column) {
            None | Some("") => column.name.to_owned(),
            Some(title) if title == column.name => title.to_owned(),
            Some(title) => format!("{title} ({})", column.name),
        };
        text += &hanging(&format!("  {name}: {}", column.about), 6);
    }
    text + "\nNames in parentheses are used in CSV and JSON, which also have the columns that the table leaves out. Choose a column by its title or by its name."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group() {
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        for verb in shown {
            let groups = GROUPS.iter().flat_map(|(_, verbs)| *verbs);
            let count = groups.filter(|name| **name == verb.get_name()).count();
            assert_eq!(count, 1, "{}", verb.get_name());
        }
        for name in GROUPS.iter().flat_map(|(_, verbs)| *verbs) {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_column_is_explained_where_it_is_listed() {
        for list in LISTS {
            let help = command()
                .find_subcommand_mut(list.verb)
                .map(|verb| verb.render_long_help().to_string());
            let help = help.unwrap_or_default();
            for column in list.columns {
                assert!(help.contains(column.name), "{} {}", list.verb, column.name);
            }
        }
    }
}
