//! `rostrace timeline` without a file: an address on standard output, a page behind it, and a clean end.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Child;

/// The program while it serves.
struct Served {
    program: Child,
    address: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Option<Served> {
        let trace = crate::support::shared_recordings()?.join("jazzy/chain");
        let mut all = vec!["timeline", trace.to_str()?, "--no-browser"];
        all.extend(arguments);
        let mut program = crate::support::spawn(&all);
        let mut address = String::new();
        let mut out = BufReader::new(program.stdout.take().unwrap());
        out.read_line(&mut address).unwrap();
        Some(Served {
            program,
            address: address.trim().to_owned(),
        })
    }

    fn ask(&self, target: &str, headers: &str) -> String {
        let site = self.address.split("/?").next().unwrap();
        let (head, body) =
            crate::support::http::ask("GET", &format!("{site}{target}"), headers, &[]).unwrap();
        head + &String::from_utf8_lossy(&body)
    }

    /// What the page is told of the trace.
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

#[test]
fn the_printed_address_shows_the_trace_and_control_c_ends_it() {
    let Some(served) = Served::start(&[]) else {
        return;
    };
    assert!(
        served.address.starts_with("http://127.0.0.1:"),
        "{}",
        served.address
    );
    let refusal = served.ask("/", "");
    assert!(refusal.starts_with("HTTP/1.1 403 "));
    assert!(
        refusal.contains("press <b>Enter</b> in the terminal"),
        "{refusal}"
    );
    let trace = served.trace();
    assert!(trace.contains("\"title\":\"chain\""), "{trace}");
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
    for arguments in [
        ["--at", "+1s"].as_slice(),
        &["--no-browser"],
        &["--open"],
        &["--port", "7001"],
    ] {
        let all = [&["timeline", "x", "-o", "y"], arguments].concat();
        let said = crate::support::stderr_of(&all, 2);
        assert!(said.contains("cannot be used with"), "{said}");
    }
}

#[test]
fn a_port_can_be_chosen_and_one_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let Some(shared) = crate::support::shared_recordings() else {
        return;
    };
    let trace = shared.join("jazzy/chain");
    let arguments = ["timeline", trace.to_str().unwrap(), "--port", &port];
    let said = crate::support::stderr_of(&arguments, 1);
    assert!(
        said.contains(&format!(
            "port {port} of this machine cannot be listened on"
        )),
        "{said}"
    );
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

    let Some(shared) = crate::support::shared_recordings() else {
        return;
    };
    let (mut person, program_side) = terminal();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("rostrace"));
    command
        .args(["timeline", "--no-browser"])
        .arg(shared.join("jazzy/chain"))
        .stdin(program_side)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
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
    let mut program = command.spawn().unwrap();
    let mut out = BufReader::new(program.stdout.take().unwrap());
    let mut line = || {
        let mut address = String::new();
        out.read_line(&mut address).unwrap();
        address.trim().to_owned()
    };
    let mut served = Served {
        address: line(),
        program,
    };
    served.trace();
    let used = served.address.split_once("/?").unwrap().1.to_owned();
    assert!(
        served
            .ask(&format!("/?{used}"), "")
            .starts_with("HTTP/1.1 403 ")
    );
    person.write_all(b"\n").unwrap();
    let next = line();
    assert_ne!(next, served.address);
    served.address = next;
    served.trace();
    let (status, said) = served.interrupt();
    assert_eq!(status, Some(0));
    assert!(
        said.contains("Enter prints an address for another one"),
        "{said}"
    );
}

#[test]
fn the_token_is_in_no_arguments_but_in_a_file_that_only_its_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;

    let Some(shared) = crate::support::shared_recordings() else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let programs = place.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    let told = place.path().join("told");
    let script = format!(
        "#!/bin/sh\nstat -L -c %a \"$1\" \"$(dirname \"$1\")\" > {told}.part\ncat \"$1\" >> {told}.part\necho \"$@\" >> {told}.part\nmv {told}.part {told}\n",
        told = told.display()
    );
    let opener = programs.join("xdg-open");
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin("rostrace"))
        .args(["timeline", shared.join("jazzy/chain").to_str().unwrap()])
        .env("PATH", path)
        .env("DISPLAY", ":7")
        .env("XDG_RUNTIME_DIR", place.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    let mut out = BufReader::new(program.stdout.take().unwrap());
    out.read_line(&mut address).unwrap();
    let token = address.trim().split_once("?token=").unwrap().1.to_owned();
    while !told.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let text = std::fs::read_to_string(&told).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (first, arguments) = (&lines[..lines.len() - 1], lines[lines.len() - 1]);
    assert_eq!(first[..2], ["600", "700"]);
    assert!(first[2].contains(&token), "{text}");
    assert!(!arguments.contains(&token), "{arguments}");
    assert!(std::path::Path::new(arguments).starts_with(place.path()));
    let served = Served {
        program,
        address: address.trim().to_owned(),
    };
    served.trace();
    served.interrupt();
    assert!(!std::path::Path::new(arguments).exists());
}
