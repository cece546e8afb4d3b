//! Why no process of a command attached, as far as its file tells.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::elf::Elf;

/// x86-64 and AArch64, in the file and in this program.
const OWN_MACHINE: u16 = if cfg!(target_arch = "aarch64") {
    183
} else {
    62
};

/// A sentence that says why, and what to do.
pub fn reason(command: &OsStr) -> String {
    let Some(path) = find(command) else {
        return general(&command.to_string_lossy());
    };
    let shown = path.display();
    let is_privileged = std::fs::metadata(&path).is_ok_and(|meta| meta.mode() & 0o6000 != 0);
    if is_privileged {
        return format!(
            "{shown} runs with the rights of another user, and the system does not load libraries of ours into such programs; record \
             what it starts instead, from inside: {shown} rostrace record -- COMMAND"
        );
    }
    match Elf::read(&path) {
        Some(elf) if !elf.is_64_bit || elf.machine != OWN_MACHINE => format!(
            "{shown} is built for another kind of processor than rostrace, so the tracer cannot be loaded into it; build rostrace for that one"
        ),
        Some(elf) if !elf.has_interpreter => format!(
            "{shown} is linked statically, so nothing can be loaded into it; link it dynamically"
        ),
        _ => general(&command.to_string_lossy()),
    }
}

fn general(command: &str) -> String {
    format!(
        "no process that `{command}` started called a tracepoint of ROS 2. If it is a ROS 2 program: containers need the library and the control \
         file inside (docs/guides/record.md), `sudo` drops LD_PRELOAD (record inside of it), processes of other users need --control and -o in folders that \
         they can reach, and a node that does nothing is seen when it \
         does something. `rostrace doctor` checks this machine"
    )
}

/// The file that the shell would start.
fn find(command: &OsStr) -> Option<PathBuf> {
    let path = Path::new(command);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let search = std::env::var_os("PATH")?;
    std::env::split_paths(&search)
        .map(|folder| folder.join(path))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_program_is_not_blamed() {
        assert!(reason(OsStr::new("sh")).contains("called a tracepoint"));
        assert!(reason(OsStr::new("/nowhere/program")).contains("called a tracepoint"));
    }

    #[test]
    fn a_program_with_rights_of_others_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("rostrace-privileged-{}", std::process::id()));
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(reason(path.as_os_str()).contains("another user"));
        std::fs::remove_file(path).unwrap();
    }
}
