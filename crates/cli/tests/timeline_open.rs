//! `rostrace timeline` without a file: an address on standard output, a page behind it, and a clean end.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::support::{Folder, Opener, Says, http, recording, shared, stderr_of};

/// The program while it serves.
struct Served {
    program: Child,
    address: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Option<Served> {
        let trace = shared("jazzy/chain")?;
        let asked = [&["timeline", &trace, "--no-browser"], arguments].concat();
        Some(Served::of(&asked, |_| ()).0)
    }

    /// With what it prints after its address.
    fn of(
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command),
    ) -> (Served, BufReader<ChildStdout>) {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("rostrace"));
        command.args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        prepare(&mut command);
        let mut program = command.spawn().unwrap();
        let mut out = BufReader::new(program.stdout.take().unwrap());
        let address = line(&mut out);
        (Served { program, address }, out)
    }

    fn ask(&self, target: &str, headers: &str) -> String {
        let site = self.address.split("/?").next().unwrap();
        let (head, body) = http::ask("GET", &format!("{site}{target}"), headers, &[]).unwrap();
        head + &String::from_utf8_lossy(&body)
    }

    /// What the page knows of the trace.
    fn trace(&self) -> String {
        let token = self.address.split_once("/?").unwrap().1;
        let answer = self.ask(&format!("/?{token}"), "");
        assert!(answer.starts_with("HTTP/1.1 303 "), "{answer}");
        let header = |name: &str| {
            let line = answer.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_once(": ").unwrap().1.to_owned()
        };
        let cookie = header("Set-Cookie");
        let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
        self.ask(&format!("{}api/trace", header("Location")), &cookie)
    }

    /// Ends it as Ctrl-C does; its exit status and what it said.
    fn interrupt(mut self) -> (Option<i32>, String) {
        // SAFETY: the process was started here and has not been waited for, so that the number is still its own.
        unsafe { libc::kill(self.program.id() as i32, libc::SIGINT) };
        let status = self.program.wait().unwrap();
        let mut said = String::new();
        let mut errors = self.program.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        (status.code(), said)
    }
}

fn line(out: &mut impl BufRead) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

#[test]
fn the_printed_address_shows_the_trace_and_control_c_ends_it() {
    let Some(served) = Served::start(&[]) else {
        return;
    };
    assert!(served.address.starts_with("http://127.0.0.1:"));
    let refusal = served.ask("/", "");
    assert!(refusal.starts_with("HTTP/1.1 403 "));
    refusal.says("press <b>Enter</b> in the terminal");
    let trace = served.trace();
    trace.says("\"title\":\"chain\"");
    assert!(trace.contains("/fusion"));
    let (status, said) = served.interrupt();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.ends_with("the timeline is closed\n"), "{said}");
}

#[test]
fn filters_and_instants_reach_the_page() {
    let Some(served) = Served::start(&["--node", "/planner", "--at", "+4s"]) else {
        return;
    };
    let trace = served.trace();
    let (_, body) = trace.split_once("\r\n\r\n").unwrap();
    let trace: serde_json::Value = serde_json::from_str(body).unwrap();
    let groups = trace["callbacks"].as_array().unwrap();
    assert!(groups.iter().all(|group| group["name"] == "/planner"));
    assert_eq!(groups.len(), 1);
    assert!(trace["at"]["instance"]["id"].is_u64());
    served.interrupt();
}

#[test]
fn what_makes_no_sense_without_a_page_is_refused() {
    for option in ["--at +1s", "--no-browser", "--open", "--port 7001"] {
        let said = stderr_of(&format!("timeline x -o y {option}"), 2);
        said.says("cannot be used with");
    }
}

#[test]
fn a_port_can_be_chosen_and_one_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let asked = format!("timeline {} --port {port}", recording("pingpong"));
    let sentence = format!("port {port} of this machine cannot be listened on");
    stderr_of(&asked, 1).says(&sentence);
    drop(taken);
    let Some(served) = Served::start(&["--port", &port]) else {
        return;
    };
    let expected = format!("http://127.0.0.1:{port}/?token=");
    assert!(served.address.starts_with(&expected), "{}", served.address);
    served.interrupt();
}

/// A terminal of our own: the side of a person, and that of the program.
fn terminal() -> (std::fs::File, std::fs::File) {
    use std::os::fd::FromRawFd;
    let (mut person, mut program) = (0, 0);
    let nothing = std::ptr::null_mut();
    // SAFETY: both numbers are written to, and nothing is asked about names or sizes.
    let result = unsafe {
        libc::openpty(
            &raw mut person,
            &raw mut program,
            nothing,
            nothing.cast(),
            nothing.cast(),
        )
    };
    assert_eq!(result, 0);
    // SAFETY: both were just opened and belong to nobody else.
    unsafe {
        (
            std::fs::File::from_raw_fd(person),
            std::fs::File::from_raw_fd(program),
        )
    }
}

#[test]
fn enter_in_the_terminal_prints_an_address_that_works_when_the_first_was_used() {
    use std::os::unix::process::CommandExt;

    let Some(trace) = shared("jazzy/chain") else {
        return;
    };
    let (mut person, program_side) = terminal();
    let on_terminal = |command: &mut Command| {
        command.stdin(program_side);
        // SAFETY: between fork and exec only these two calls are made, and both may be made there.
        unsafe {
            command.pre_exec(|| {
                // It is the foreground of this terminal, as a program is that was started by hand.
                if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
    };
    let (mut served, mut out) = Served::of(&["timeline", "--no-browser", &trace], on_terminal);
    served.trace();
    let used = served.address.split_once("/?").unwrap().1.to_owned();
    let refusal = served.ask(&format!("/?{used}"), "");
    assert!(refusal.starts_with("HTTP/1.1 403 "), "{refusal}");
    person.write_all(b"\n").unwrap();
    let next = line(&mut out);
    assert_ne!(next, served.address);
    served.address = next;
    served.trace();
    let (status, said) = served.interrupt();
    assert_eq!(status, Some(0));
    said.says("Enter prints an address for another one");
}

#[test]
fn the_token_is_in_no_arguments_but_in_a_file_that_only_its_owner_can_read() {
    let Some(trace) = shared("jazzy/chain") else {
        return;
    };
    let place = Folder::new();
    let tell = "stat -L -c %a \"$1\" \"$(dirname \"$1\")\"; cat \"$1\"; echo \"$@\"";
    let opener = Opener::new(&place, tell);
    let (served, _out) = Served::of(&["timeline", &trace], |command| {
        command.env("PATH", &opener.path).env("DISPLAY", ":7");
        command.env("XDG_RUNTIME_DIR", place.path());
    });
    let token = served.address.split_once("?token=").unwrap().1.to_owned();
    let text = opener.reported();
    let lines: Vec<&str> = text.lines().collect();
    let (first, arguments) = (&lines[..lines.len() - 1], lines[lines.len() - 1]);
    assert_eq!(first[..2], ["600", "700"]);
    assert!(first[2].contains(&token), "{text}");
    arguments.lacks(&token);
    assert!(std::path::Path::new(arguments).starts_with(place.path()));
    served.trace();
    served.interrupt();
    assert!(!std::path::Path::new(arguments).exists());
}
