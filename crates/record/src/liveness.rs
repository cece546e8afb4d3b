//! Whether a process that attached is still there, also when it lives in a container.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rostrace_session::Identity;

/// Inode of the name space in which all processes of the machine are visible.
const INITIAL_NAMESPACE: u64 = 0xEFFF_FFFC;

/// Whether the process exists. One that cannot be seen from here, because it lives in a name space of its own, is taken for
/// alive: its files must not be touched.
pub fn is_alive(identity: &Identity) -> bool {
    let own = namespace("self");
    if own == 0 || identity.pid_namespace == 0 {
        return true;
    }
    if identity.pid_namespace == own {
        return is_same(&identity.pid.to_string(), identity);
    }
    own != INITIAL_NAMESPACE || exists_elsewhere(identity)
}

fn is_same(process: &str, identity: &Identity) -> bool {
    // A zombie has ended: nothing of it writes any more.
    start_time(process)
        .is_some_and(|(start, state)| start == identity.start_time && !matches!(state, 'Z' | 'X'))
}

/// Looks at all processes of the machine for one of that name space and pid.
fn exists_elsewhere(identity: &Identity) -> bool {
    let Ok(entries) = fs::read_dir("/proc") else {
        return true;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let Some(process) = name
            .to_str()
            .filter(|name| name.bytes().all(|it| it.is_ascii_digit()))
        else {
            return false;
        };
        namespace(process) == identity.pid_namespace
            && pid_inside(process) == Some(identity.pid)
            && is_same(process, identity)
    })
}

fn namespace(process: &str) -> u64 {
    fs::metadata(format!("/proc/{process}/ns/pid")).map_or(0, |meta| meta.ino())
}

/// The pid in the innermost name space.
fn pid_inside(process: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_ascii_whitespace().last()?.parse().ok()
}

/// Ticks after boot, and the state.
fn start_time(process: &str) -> Option<(u64, char)> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything, also parentheses.
    let after = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = String::from_utf8_lossy(&stat[after..]);
    let mut words = text.split_ascii_whitespace();
    let state = words.next()?.chars().next()?;
    Some((words.nth(18)?.parse().ok()?, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_identity() -> Identity {
        Identity {
            pid: std::process::id(),
            start_time: start_time("self").unwrap().0,
            pid_namespace: namespace("self"),
            name: [0; 16],
        }
    }

    #[test]
    fn a_process_is_alive_and_another_one_with_its_pid_is_not() {
        let own = own_identity();
        assert!(is_alive(&own));
        let later = Identity {
            start_time: own.start_time + 1,
            ..own
        };
        assert!(!is_alive(&later));
    }

    #[test]
    fn a_process_that_cannot_be_seen_is_taken_for_alive() {
        let elsewhere = Identity {
            pid_namespace: 0,
            ..own_identity()
        };
        assert!(is_alive(&elsewhere));
    }
}
