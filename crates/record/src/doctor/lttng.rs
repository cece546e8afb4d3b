//! LTTng, which our tracer does not need: kernel events, and teams that record with it.

use std::path::Path;

use super::{Check, Verdict, program};

const GROUP: &str = "lttng";

pub(super) fn checks() -> Vec<Check> {
    let mut checks = vec![tools()];
    if program("lttng").is_some() {
        checks.push(daemon());
        checks.push(kernel());
        checks.push(group());
    }
    checks
}

fn tools() -> Check {
    match program("lttng") {
        Some(path) => Check::new(GROUP, "tools", Verdict::Ok, path.display().to_string()),
        None => Check::new(
            GROUP,
            "tools",
            Verdict::Missing,
            "not installed; only kernel events (who was preempted by whom) need it",
        )
        .fix("sudo apt-get install lttng-tools lttng-modules-dkms"),
    }
}

fn daemon() -> Check {
    let runs = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| {
            std::fs::read_to_string(entry.path().join("comm"))
                .is_ok_and(|name| name.trim_end().starts_with("lttng-sessiond"))
        });
    match runs {
        true => Check::new(GROUP, "session daemon", Verdict::Ok, "runs"),
        false => Check::new(GROUP, "session daemon", Verdict::Missing, "does not run")
            .fix("lttng-sessiond --daemonize"),
    }
}

fn kernel() -> Check {
    let modules = std::fs::read_to_string("/proc/modules").unwrap_or_default();
    let is_loaded = modules.lines().any(|line| line.starts_with("lttng_"));
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let folder = Path::new("/lib/modules").join(release.trim());
    let is_built = ["updates/dkms", "extra", "updates"]
        .iter()
        .any(|place| folder.join(place).join("lttng-tracer.ko").exists());
    match (is_loaded, is_built) {
        (true, _) => Check::new(GROUP, "kernel modules", Verdict::Ok, "are loaded"),
        (false, true) => Check::new(GROUP, "kernel modules", Verdict::Ok, "are installed"),
        (false, false) => Check::new(
            GROUP,
            "kernel modules",
            Verdict::Missing,
            format!("there are none for kernel {}", release.trim()),
        )
        .fix("sudo apt-get install lttng-modules-dkms"),
    }
}

fn group() -> Check {
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let number = groups.lines().find_map(|line| {
        let mut parts = line.split(':');
        (parts.next() == Some("tracing")).then(|| parts.nth(1))?
    });
    // SAFETY: takes nothing and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    let own = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let own = own
        .lines()
        .find_map(|line| line.strip_prefix("Groups:"))
        .unwrap_or_default();
    let is_member = number.is_some_and(|number| own.split_whitespace().any(|it| it == number));
    match is_root || is_member {
        true => Check::new(
            GROUP,
            "rights for kernel events",
            Verdict::Ok,
            "root or group tracing",
        ),
        false => Check::new(
            GROUP,
            "rights for kernel events",
            Verdict::Missing,
            "you are not in the group tracing",
        )
        .fix("sudo groupadd -f tracing && sudo usermod -aG tracing $USER, then log in again"),
    }
}
