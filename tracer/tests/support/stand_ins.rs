//! Libraries that stand for those of ROS 2, made from the list of hooks: some define all interposed functions, some call all of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use super::{compile, folder, installation, source};

/// Arguments and result of each interposed function: `p` an address, `h` that of a shared pointer, `t` that of a flag, `i` an int, `l` a long,
/// `b` a bool, `A` a structure of five words by value. Results: also `v` for none, and `S` for an object that is returned in memory.
fn signature(hook: &str) -> (&'static str, char) {
    match hook {
        "rcl_node_fini" | "rcl_timer_fini" => ("p", 'i'),
        "rcl_publisher_fini" | "rcl_subscription_fini" | "rcl_service_fini" | "rcl_client_fini" => {
            ("pp", 'i')
        }
        "rcl_set_ros_time_override" => ("pl", 'i'),
        "rcl_timer_init" => ("ppplpA", 'i'),
        "rcl_timer_init2" => ("ppplpAb", 'i'),
        "rmw_send_request" | "rmw_send_response" | "rmw_publish_serialized_message" => ("ppp", 'i'),
        "rmw_take_request" | "rmw_take_response" => ("pppt", 'i'),
        "rmw_take_serialized_message" => ("pptp", 'i'),
        "rmw_take_serialized_message_with_info"
        | "rmw_take_with_info"
        | "rmw_take_loaned_message_with_info" => ("pptpp", 'i'),
        "rmw_get_implementation_identifier" => ("", 's'),
        "dds_write" | "dds_writecdr" => ("ip", 'i'),
        "dds_write_ts" => ("ipl", 'i'),
        _ => signature_in_cpp(hook),
    }
}

fn signature_in_cpp(hook: &str) -> (&'static str, char) {
    let begins = |beginning: &str| hook.starts_with(beginning);
    let has = |part: &str| hook.contains(part);
    if has("set_fragments") || begins("_ZN6rclcpp13CallbackGroup") {
        ("ph", 'v')
    } else if has("EventsExecutorC1ERK") {
        ("pppb", 'v')
    } else if has("EventsExecutorC1ESt") {
        ("ppbp", 'v')
    } else if has("EventsCBGExecutorC1") {
        ("ppll", 'v')
    } else if has("MultiThreadedExecutorC1") {
        ("pplbl", 'v')
    } else if has("ExecutorC1") || has("ExecutorC2") || has("CollectorC1") {
        ("pp", 'v')
    } else if has("sync_callback_groups") {
        ("p", 'v')
    } else if has("8add_node") {
        ("phb", 'v')
    } else if has("StaticSingleThreadedExecutor18add_callback_group") {
        ("phhb", 'v')
    } else if has("25add_callback_group_to_map") {
        ("phhpb", 'v')
    } else if has("StaticExecutorEntitiesCollector18add_callback_group") {
        ("phhp", 'b')
    } else if has("add_callback_group_to_collection") {
        ("php", 'v')
    } else if has("get_handle_for_callback_group") {
        ("ph", 'S')
    } else if has("14execute_client") {
        ("h", 'v')
    } else if begins("_ZN13rclcpp_action10ClientBase7execute") {
        ("ph", 'v')
    } else {
        panic!("{hook} has no signature here: say how it is called, so that it is tested")
    }
}

/// All but what is no function.
pub fn hooks() -> Vec<&'static str> {
    let names = rostrace_tracer::hooks::names();
    names.filter(|name| !name.contains('.')).collect()
}

/// Ways to compile and link a library: as usual, and so that it jumps to its own functions directly.
const LINKED: [(&str, &[&str]); 4] = [
    ("usual", &[]),
    ("symbolic_functions", &["-Wl,-Bsymbolic-functions"]),
    ("symbolic", &["-Wl,-Bsymbolic"]),
    ("not_semantic", &["-O2", "-fno-semantic-interposition"]),
];

/// A function that only one library defines, which seems to call it without asking the linker: once it is found, all is.
pub const CANARY: &str =
    "_ZN8eprosima7fastdds4rtps13WriterHistory13set_fragmentsEPNS1_13CacheChange_tE";

const SHARED: &str = "#include <stdbool.h>\n#include <stdio.h>\n#include <string.h>\n\
    struct five { long x[5]; };\n\
    struct three { long x[3]; };\n\
    struct ledger { int original; int hook; long values[16]; };\n\
    extern struct ledger ledger;\n";

fn kind(letter: char) -> &'static str {
    match letter {
        'p' | 'h' | 't' => "void *",
        'i' => "int",
        'l' => "long",
        'b' => "bool",
        'A' => "struct five",
        'S' => "struct three",
        's' => "const char *",
        'v' => "void",
        other => panic!("{other}"),
    }
}

fn declaration(hook: &str) -> String {
    let (arguments, result) = signature(hook);
    let arguments: Vec<String> = (arguments.chars().enumerate())
        .map(|(at, letter)| format!("{} a{at}", kind(letter)))
        .collect();
    let arguments = match arguments.is_empty() {
        true => "void".to_owned(),
        false => arguments.join(", "),
    };
    format!("{} {hook}({arguments})", kind(result))
}

/// A library that defines all of them: each writes down its arguments, and returns what only it returns, or 0 every second time.
fn definitions(hooks: &[&str]) -> String {
    let mut text = String::from(SHARED);
    for (number, hook) in hooks.iter().enumerate() {
        let (arguments, result) = signature(hook);
        let _ = write!(
            text,
            "{} {{ static int calls; int even = calls++ % 2; (void)even; ledger.original = ID; ledger.hook = {number};",
            declaration(hook)
        );
        for (at, letter) in arguments.chars().enumerate() {
            let _ = match letter {
                'A' => write!(
                    text,
                    " for (int i = 0; i < 5; ++i) ledger.values[10 + i] = a{at}.x[i];"
                ),
                _ => write!(text, " ledger.values[{at}] = (long)a{at};"),
            };
        }
        let code = format!("(ID * 1000 + {number})");
        let _ = writeln!(
            text,
            " {} }}",
            match result {
                'i' => format!("return even ? 0 : {code};"),
                'b' => "return !even;".to_owned(),
                's' => "static char name[] = \"original ?\"; name[9] = '0' + ID; return even ? 0 : name;".to_owned(),
                'S' => format!("return (struct three){{{{{code}, 0, 0}}}};"),
                _ => String::new(),
            }
        );
    }
    text
}

/// A library that calls all of them, twice, and says who answered, what, and whether the arguments arrived.
fn calls(hooks: &[&str]) -> String {
    format!("{SHARED}{}", calls_without_head(hooks))
}

fn calls_without_head(hooks: &[&str]) -> String {
    let mut text = String::new();
    text.push_str(
        "static long places[8][512];\n\
         static struct five five = {{91, 92, 93, 94, 95}};\n",
    );
    let mut body = String::new();
    for (number, hook) in hooks.iter().enumerate() {
        let (arguments, result) = signature(hook);
        let _ = writeln!(text, "{};", declaration(hook));
        let mut values = Vec::new();
        let mut same = vec![format!("ledger.hook == {number}")];
        for (at, letter) in arguments.chars().enumerate() {
            let value = match letter {
                'p' | 'h' | 't' => format!("places[{at}]"),
                'i' => format!("{}", 70_000 + at),
                'l' => format!("{}L", 7_000_000_000_i64 + at as i64),
                'b' => "true".to_owned(),
                'A' => "five".to_owned(),
                other => panic!("{other}"),
            };
            match letter {
                'h' => {
                    let _ = writeln!(body, "places[{at}][0] = (long)places[7];");
                }
                't' => {
                    let _ = writeln!(body, "places[{at}][0] = 1;");
                }
                _ => {}
            }
            same.push(match letter {
                'A' => "!memcmp(&ledger.values[10], &five, sizeof five)".to_owned(),
                _ => format!("ledger.values[{at}] == (long){value}"),
            });
            values.push(value);
        }
        let call = format!("{hook}({})", values.join(", "));
        let (call, shown) = match result {
            'v' => (format!("{call};"), "\"-\"".to_owned()),
            's' => (
                format!("const char *result = {call};"),
                "result ? result : \"null\"".to_owned(),
            ),
            'S' => (
                format!("struct three result = {call};"),
                "number(result.x[0])".to_owned(),
            ),
            _ => (
                format!("long result = {call};"),
                "number(result)".to_owned(),
            ),
        };
        let _ = writeln!(
            body,
            "for (int twice = 0; twice < 2; ++twice) {{ memset(&ledger, 0, sizeof ledger); {call} \
             printf(\"{hook}: original %d, %s, arguments %s\\n\", ledger.original, {shown}, {} ? \"arrive\" : \"do not arrive\"); }}\n\
             memset(places, 0, sizeof places);",
            same.join(" && ")
        );
    }
    let _ = write!(
        text,
        "static const char *number(long value) {{ static char text[24]; sprintf(text, \"%ld\", value); return text; }}\n\
         void call_all(void) {{\n{body}fflush(stdout);\n}}\n"
    );
    text
}

/// Libraries and programs that stand for an application.
#[derive(Debug)]
pub struct Place {
    folder: PathBuf,
}

impl Place {
    /// Made once for all tests of a file.
    pub fn get(name: &str) -> &'static Place {
        static PLACE: OnceLock<Place> = OnceLock::new();
        PLACE.get_or_init(|| {
            let place = Place {
                // Each test may be a process of its own.
                folder: folder(&format!("{name}-{}", std::process::id())),
            };
            place.make();
            place
        })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn compile(&self, from: &Path, name: &str, options: &[&str], libraries: &[&str]) {
        let search = format!("-L{}", self.folder.display());
        let run = format!("-Wl,-rpath,{}", self.folder.display());
        let mut all = vec![search.as_str(), &run, "-Wl,--no-as-needed"];
        all.extend(libraries);
        compile(from, &self.path(name), options, &all);
    }

    pub fn library(&self, from: &str, name: &str, options: &[&str], libraries: &[&str]) {
        let mut all = vec!["-shared", "-fPIC", "-w"];
        all.extend(options);
        self.compile(&self.path(from), name, &all, libraries);
    }

    fn make(&self) {
        let write = |name: &str, text: &str| std::fs::write(self.path(name), text).unwrap();
        let all = hooks();
        write("definitions.c", &definitions(&all));
        write("calls.c", &calls(&all));
        // One library that calls its own functions.
        let but_canary: Vec<&str> = all.iter().copied().filter(|it| *it != CANARY).collect();
        let own_calls = calls_without_head(&but_canary);
        let itself = format!("{}{own_calls}", definitions(&but_canary));
        write("itself.c", &itself);
        write("others.c", &calls(&but_canary));
        write(
            "canary.c",
            &format!("void {CANARY}(void *a, void *b) {{}}\n"),
        );
        write(
            "ledger.c",
            &SHARED.replace("extern struct ledger ledger", "struct ledger ledger"),
        );
        write("empty.c", "int nothing;\n");
        self.library("ledger.c", "libledger.so", &[], &[]);
        for number in ["1", "2"] {
            let id = format!("-DID={number}");
            let original = format!("liboriginal_{number}.so");
            self.library("definitions.c", &original, &[&id], &["-lledger"]);
            let needs = format!("-loriginal_{number}");
            let caller = format!("libcaller_{number}.so");
            self.library("calls.c", &caller, &[], &[&needs, "-lledger"]);
        }
        // Does not say whose functions it calls: whoever loads it sees to that.
        self.library("calls.c", "libbare.so", &[], &["-lledger"]);
        for number in ["1", "2"] {
            let original = format!("-loriginal_{number}");
            let root = format!("libroot_{number}.so");
            self.library("empty.c", &root, &[], &["-lbare", &original]);
        }
        for (name, options) in LINKED {
            let options = [&["-DID=5"], options].concat();
            let name = format!("libitself_{name}.so");
            self.library("itself.c", &name, &options, &["-lledger"]);
        }
        self.library("others.c", "libothers.so", &[], &["-lledger"]);
        self.library("canary.c", "libcanary.so", &[], &[]);
        // As Debian and Fedora may link them.
        let old_hash = ["-DID=3", "-Wl,--hash-style=sysv"];
        self.library(
            "definitions.c",
            "liboriginal_3.so",
            &old_hash,
            &["-lledger"],
        );
        self.library(
            "calls.c",
            "libcaller_3.so",
            &[],
            &["-loriginal_3", "-lledger"],
        );
        let tracetools = installation("4.1.1").join("lib/libtracetools.so");
        let tracetools = tracetools.to_str().unwrap();
        let driver = source("scopes.c");
        self.compile(&driver, "plain", &[], &[tracetools, "-lledger"]);
        self.compile(
            &driver,
            "linked",
            &[],
            &[tracetools, "-lcaller_1", "-loriginal_1"],
        );
        // The program has the functions itself, for everybody to see.
        let definitions = self.path("definitions.c");
        let definitions = definitions.to_str().unwrap();
        self.compile(
            &driver,
            "defining",
            &["-w", "-rdynamic", "-DID=9", definitions],
            &[tracetools, "-lledger"],
        );
    }

    /// Steps, in which `@` stands for a library of this place.
    pub fn command(&self, mut command: Command, steps: &str) -> Output {
        let command = self.steps(&mut command, steps);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// The same, to be started.
    pub fn steps<'c>(&self, command: &'c mut Command, steps: &str) -> &'c mut Command {
        for step in steps.split(' ') {
            match step.strip_prefix('@') {
                Some(name) => command.arg(self.path(&format!("lib{name}.so"))),
                None => command.arg(step),
            };
        }
        command
    }

    pub fn without_tracer(&self, program: &str, steps: &str) -> Output {
        self.command(Command::new(self.path(program)), steps)
    }
}
