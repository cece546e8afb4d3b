//! Reading and writing: what is accepted, what is refused and how, and what survives.

use rostrace_architecture::{
    CallbackKind, ContextType, Endpoint, Severity, VariablePassing, check, read, write,
};

use crate::shared::random_numbers;

const ROVER: &str = include_str!("files/rover.yaml");

fn errors(text: &str) -> Vec<String> {
    let refused = read(text).expect_err("the file should be refused");
    refused.errors.iter().map(ToString::to_string).collect()
}

fn warnings(text: &str) -> Vec<String> {
    let reading = read(text).unwrap_or_else(|refused| panic!("{refused}"));
    reading.warnings.iter().map(ToString::to_string).collect()
}

/// The sample with a piece of text replaced, which must be there.
fn rover(old: &str, new: &str) -> String {
    assert!(ROVER.contains(old), "{old}");
    ROVER.replacen(old, new, 1)
}

#[test]
fn a_file_comes_back_byte_for_byte() {
    let reading = read(ROVER).unwrap();
    assert_eq!(write(&reading.architecture), ROVER);
    assert_eq!(reading.warnings, []);
}

#[test]
fn the_model_says_what_the_file_says() {
    let architecture = read(ROVER).unwrap().architecture;
    let driver = architecture.node("/driver").unwrap();
    let period_ns = 20_000_000;
    assert_eq!(driver.callbacks[0].kind, CallbackKind::Timer { period_ns });
    let passings = driver.variable_passings.iter().map(VariablePassing::pair);
    let expected = Some(("/driver/callback_1", "/driver/callback_0"));
    assert!(passings.eq([expected]));
    let mapper = architecture.node("/mapper").unwrap();
    assert_eq!(mapper.variable_passings, []);
    assert_eq!(mapper.publishers[0].callbacks, [""; 0]);
    let [context] = mapper.message_contexts.as_slice() else {
        panic!("{:?}", mapper.message_contexts)
    };
    assert_eq!(context.context_type, Some(ContextType::UseLatestMessage));
    assert_eq!(context.subscription, Endpoint::new("/scan", 1));
    let motors = architecture.node("/motors").unwrap();
    assert_eq!(motors.subscriptions[0].callback, None);
    let steps = &architecture.paths[0].steps;
    assert_eq!(steps[1].subscription, Some(Endpoint::new("/scan", 1)));
    assert_eq!(
        (&steps[0].subscription, &steps[3].publisher),
        (&None, &None)
    );
}

#[test]
fn an_error_tells_the_place_and_what_was_expected() {
    for (old, new, error) in rows(
        "
        callback_type: timer_callback => callback_type: x => line 49, column 20: `callback_type` must be timer_callback or subscription_callback, found `x`
        period_ns: 20000000 => period_ns: 20 ms => line 50, column 16: `period_ns` must be a whole number, found `20 ms`
        callback_group_type: reentrant => callback_group_type: parallel => line 75, column 26: `callback_group_type` must be mutually_exclusive, reentrant or UNDEFINED, found `parallel`
        symbol: Driver::tick() => symbl: Driver::tick() => line 48, column 5: a callback must have `symbol`; is `symbl` meant to be it?
        ",
    ) {
        assert_eq!(errors(&rover(old, new)), [error]);
    }
    let text = rover("callback_names: []", "callback_names: none");
    let first = "line 115, column 21: `callback_names` must be a list, found `none`";
    assert_eq!(errors(&text)[0], first);
}

/// A table: what stands in the sample, what stands there instead, and what is said of it.
fn rows(table: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    table.trim().lines().map(|line| {
        let mut cells = line.trim().split(" => ");
        let mut cell = || cells.next().expect("a cell of the table");
        (cell(), cell(), cell())
    })
}

#[test]
fn all_errors_of_a_file_are_reported() {
    let executor = "- executor_type: multi_threaded_executor\n  executor_name";
    let path = "- path_name: map_to_wheels\n  node_chain";
    let text = rover("callback_type: timer_callback", "callback_type: x")
        .replacen(executor, "- executor_name", 1)
        .replacen(path, "- node_chain", 1);
    let errors = errors(&text);
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors[0].contains("a path must have `path_name`"));
    assert!(errors[1].contains("an executor must have `executor_type`"));
}

#[test]
fn an_empty_file_and_one_of_another_kind_are_refused() {
    for text in ["", "\n# nothing\n", "---\n...\n", "~"] {
        assert!(errors(text)[0].contains("the file is empty"), "{text:?}");
    }
    let no_keys = "line 1, column 1: the file must have keys and values, found `hello`";
    assert_eq!(errors("hello"), [no_keys]);
    let no_paths = "line 1, column 1: the file must have `named_paths`";
    assert_eq!(errors("nodes: []\nexecutors: []\n"), [no_paths]);
    assert!(errors("path_name_aliases: []\n")[0].contains("CARET 0.1"));
}

#[test]
fn null_counts_as_missing() {
    let text = rover("executor_name: executor_0", "executor_name:");
    assert!(errors(&text)[0].contains("must have `executor_name`"));
    let order = "    construction_order: 1\n  variable_passings";
    assert!(read(&rover(order, &order.replace('1', "null"))).is_ok());
}

#[test]
fn names_that_must_be_unique_are() {
    let text = rover(
        "- node_name: /motors\n  callback",
        "- node_name: /driver\n  callback",
    );
    assert!(errors(&text)[0].contains("a second node `/driver`"));
    let text = rover(
        "- callback_name: /driver/callback_1\n",
        "- callback_name: /driver/callback_0\n",
    );
    assert!(errors(&text)[0].contains("a second callback `/driver/callback_0` in node `/driver`"));
    let text = rover("executor_name: executor_1", "executor_name: executor_0");
    let second = "line 34, column 3: a second executor `executor_0`; only the first is used";
    assert_eq!(warnings(&text), [second]);
    let text = rover("path_name: map_to_wheels", "path_name: scan_to_wheels");
    assert_eq!(warnings(&text).len(), 1);
}

#[test]
fn both_spellings_of_the_callback_type_are_read() {
    let text = rover("callback_type: timer_callback", "type: timer_callback");
    assert_eq!(write(&read(&text).unwrap().architecture), ROVER);
    let text = rover(
        "callback_type: timer_callback",
        "callback_type: timer_callback\n    type: subscription_callback",
    );
    assert!(errors(&text)[0].contains("say different things"));
}

#[test]
fn an_unknown_context_is_left_out_with_a_warning() {
    let text = rover(
        "context_type: use_latest_message",
        "context_type: use_latest_mesage",
    );
    let warnings = warnings(&text);
    assert!(
        warnings[0].contains("found `use_latest_mesage`; do you mean `use_latest_message`?"),
        "{warnings:?}"
    );
}

#[test]
fn topics_that_every_application_has_are_left_out() {
    let text = rover(
        "publishes:\n  - topic_name: /wheels",
        "publishes:\n  - topic_name: /rosout\n    callback_names: []\n  - topic_name: /wheels",
    );
    let reading = read(&text).unwrap();
    assert_eq!(reading.warnings.len(), 1);
    assert_eq!(write(&reading.architecture), ROVER);
}

/// A key that nobody knows, put into every map of the file in turn, at every place.
#[test]
fn unknown_keys_survive_wherever_they_stand() {
    let lines: Vec<&str> = ROVER.lines().collect();
    let mut tried = 0;
    for (number, line) in lines.iter().enumerate() {
        let content = line.trim_start_matches([' ', '-']);
        if !content.contains(": ") && !content.ends_with(':') {
            continue;
        }
        let indent = line.len() - content.len();
        let own = format!("{}x_note: {{a: [1, 'two'], b: null}}", " ".repeat(indent));
        let block = format!(
            "{0}x_note:\n{0}  a:\n{0}  - 1\n{0}  - two\n{0}  b: null",
            " ".repeat(indent)
        );
        // Behind this key and its value.
        let deeper = |line: &&&str| {
            line.starts_with(&" ".repeat(indent + 1))
                || (line.starts_with(&format!("{}- ", " ".repeat(indent)))
                    && content.ends_with(':'))
        };
        let end = number + 1 + lines[number + 1..].iter().take_while(deeper).count();
        let with = |own: &str| {
            let mut all: Vec<&str> = lines.clone();
            all.insert(end, own);
            all.join("\n") + "\n"
        };
        let reading =
            read(&with(&own)).unwrap_or_else(|refused| panic!("line {number}: {refused}"));
        assert_eq!(
            write(&reading.architecture),
            with(&block),
            "behind line {}",
            number + 1
        );
        tried += 1;
    }
    assert!(tried > 80, "{tried}");
}

#[test]
fn declared_contexts_keep_their_construction_orders() {
    let architecture = read(ROVER).unwrap().architecture;
    let again = read(&write(&architecture)).unwrap().architecture;
    assert_eq!(
        again.node("/mapper").unwrap().message_contexts[0].subscription,
        Endpoint::new("/scan", 1)
    );
}

#[test]
fn a_half_finished_variable_passing_is_kept() {
    let text = rover(
        "callback_name_read: /driver/callback_0",
        "callback_name_read: UNDEFINED",
    );
    let reading = read(&text).unwrap();
    let half = "callback_name_write: /driver/callback_1\n    callback_name_read: UNDEFINED";
    assert!(write(&reading.architecture).contains(half));
    assert!(check(&reading.architecture).iter().any(|it| {
        it.severity == Severity::Warning && it.message.contains("needs both callbacks")
    }));
}

#[test]
fn contexts_of_unknown_topics_are_kept_and_found_by_check() {
    let text = rover(
        "subscription_topic_name: /map",
        "subscription_topic_name: /mapp",
    );
    let reading = read(&text).unwrap();
    assert!(write(&reading.architecture).contains("/mapp"));
    let mut findings = check(&reading.architecture).into_iter();
    assert!(findings.any(|it| it.message.contains("from /mapp to /wheels")));
}

/// Anything may come in; nothing may panic or take long.
#[test]
fn damaged_files_are_refused_or_read_but_never_a_panic() {
    let mut random = random_numbers(99);
    let pieces =
        "&a ~*a~- ~: ~\t~[~{~'~\"~? ~|\n~>\n~---\n~!!int ~<<: *a~\u{feff}~#~\n~UNDEFINED~%~\0~é";
    let pieces: Vec<&str> = pieces.split('~').collect();
    for _ in 0..3000 {
        let mut text = ROVER.to_owned();
        for _ in 0..1 + random(4) {
            let mut place = random(text.len());
            while !text.is_char_boundary(place) {
                place -= 1;
            }
            match random(3) {
                0 => text.truncate(place),
                1 => text.insert_str(place, pieces[random(pieces.len())]),
                _ => {
                    text.remove(place);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        if let Ok(reading) = read(&text) {
            let written = write(&reading.architecture);
            let again = read(&written).unwrap_or_else(|refused| panic!("{refused}\n{written}"));
            assert_eq!(write(&again.architecture), written);
            check(&reading.architecture);
        }
    }
}

#[test]
fn hostile_sizes_are_refused() {
    let many = |key: &str, entry: &str, count: usize| format!("  {key}:\n{}", entry.repeat(count));
    let publisher = "  - topic_name: /t\n    callback_names: []\n";
    let subscription = "  - topic_name: /t\n    callback_name: x\n";
    let publishes = many("publishes", publisher, 2000);
    let subscribes = many("subscribes", subscription, 2000);
    let text =
        format!("named_paths: []\nexecutors: []\nnodes:\n- node_name: /n\n{publishes}{subscribes}");
    assert!(errors(&text)[0].contains("4000000 pairs"));
}
