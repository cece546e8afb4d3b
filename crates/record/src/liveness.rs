//! Whether a process that attached is still there, also when it lives in a container.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rostrace_session::Identity;
use rostrace_session::keep::Mapped;

/// Inode of the name space in which all processes of the machine are visible.
const INITIAL_NAMESPACE: u64 = 0xEFFF_FFFC;

/// What can be seen of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    Alive,
    Gone,
    /// It lives, or lived, in a name space that cannot be seen from here.
    Nothing,
}

/// Whether the process of a memory exists. Where its name space cannot be seen from here, the kernel knows whether anybody still has the
/// memory mapped; where even that cannot be found out it is taken for alive: its files must not be touched.
pub fn is_alive(mapped: &Mapped) -> bool {
    match look(&mapped.memory().header().identity()) {
        Liveness::Alive => true,
        Liveness::Gone => false,
        Liveness::Nothing => mapped.is_used_by_others().unwrap_or(true),
    }
}

pub(crate) fn look(identity: &Identity) -> Liveness {
    let own = namespace("self");
    if own == 0 || identity.pid_namespace == 0 {
        return Liveness::Nothing;
    }
    let is_there = if identity.pid_namespace == own {
        is_same(&identity.pid.to_string(), identity)
    } else {
        match find_elsewhere(identity) {
            Ok(Some(_)) => true,
            Ok(None) if own == INITIAL_NAMESPACE => false,
            _ => return Liveness::Nothing,
        }
    };
    match is_there {
        true => Liveness::Alive,
        false => Liveness::Gone,
    }
}

/// The pid of a living process as it is seen from here.
pub(crate) fn pid_here(identity: &Identity) -> Option<u32> {
    let own = namespace("self");
    if own != 0 && identity.pid_namespace == own {
        return is_same(&identity.pid.to_string(), identity).then_some(identity.pid);
    }
    let is_known = own != 0 && identity.pid_namespace != 0;
    is_known.then(|| find_elsewhere(identity))?.ok()?
}

/// What `wait` would say of a process that has ended and was not waited for.
pub(crate) fn status_of_zombie(pid: u32) -> Option<i32> {
    let words = stat(&pid.to_string())?;
    let is_zombie = words.first().is_some_and(|state| state == "Z") && threads(&words) <= 1;
    // The last word of all that is documented, the 52nd.
    is_zombie.then(|| words.get(49)?.parse().ok())?
}

fn is_same(process: &str, identity: &Identity) -> bool {
    let Some(words) = stat(process) else {
        return false;
    };
    let is_it = started(&words) == Some(identity.start_time);
    // A zombie has ended, and nothing of it writes any more, unless it is only its first thread that has.
    let has_ended = words.first().is_some_and(|it| it == "Z" || it == "X");
    is_it && (!has_ended || threads(&words) > 1)
}

/// Those that have not ended, and the first one.
fn threads(words: &[String]) -> u64 {
    words.get(17).and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Looks at all processes that can be seen for one of that name space and pid.
fn find_elsewhere(identity: &Identity) -> std::io::Result<Option<u32>> {
    let found = fs::read_dir("/proc")?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let process = pid.to_string();
        let is_it = namespace(&process) == identity.pid_namespace
            && pid_inside(&process) == Some(identity.pid)
            && is_same(&process, identity);
        is_it.then_some(pid)
    });
    Ok(found)
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

/// Ticks after boot.
fn started(words: &[String]) -> Option<u64> {
    words.get(19)?.parse().ok()
}

/// What the kernel says of a process behind its name: the first word is the state.
fn stat(process: &str) -> Option<Vec<String>> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything, also parentheses.
    let after = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = String::from_utf8_lossy(&stat[after..]);
    Some(text.split_ascii_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
pub(crate) fn identity(pid: u32) -> Option<Identity> {
    let process = pid.to_string();
    Some(Identity {
        pid,
        start_time: started(&stat(&process)?)?,
        pid_namespace: namespace(&process),
        name: [0; 16],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_identity() -> Identity {
        identity(std::process::id()).unwrap()
    }

    #[test]
    fn a_process_is_alive_and_another_one_with_its_pid_is_not() {
        let own = own_identity();
        assert_eq!(look(&own), Liveness::Alive);
        let later = Identity {
            start_time: own.start_time + 1,
            ..own
        };
        assert_eq!(look(&later), Liveness::Gone);
    }

    #[test]
    fn of_a_process_in_a_name_space_that_is_not_known_nothing_is_known() {
        let elsewhere = Identity {
            pid_namespace: 0,
            ..own_identity()
        };
        assert_eq!(look(&elsewhere), Liveness::Nothing);
    }
}
