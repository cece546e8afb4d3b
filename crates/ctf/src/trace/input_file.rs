//! Files that somebody else wrote, opened for reading: every input of every command comes through here.
//!
//! A folder from elsewhere can have anything under the name of a trace's file: a FIFO that nobody writes to, a link to a device that
//! never ends, a file of a terabyte that is all hole. So nothing is waited for, only regular files are read, and never more of
//! them than such a file can have.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::trace::unpacked;

/// The metadata of a trace. A large application declares a thousand classes of events, in half a megabyte.
pub(crate) const LARGEST_METADATA: u64 = 256 << 20;

/// A file that people keep in git: an architecture, budgets.
pub const LARGEST_TEXT: u64 = 64 << 20;

/// Tracers leave holes where a packet was never used, a few megabytes at most. More is no recording.
const LARGEST_HOLES: u64 = 1 << 30;

/// The whole content of a file that has at most so many bytes.
pub fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open(path)?;
    if size > largest {
        return Err(io::Error::other(format!(
            "it has {size} bytes, and such a file has at most {largest}"
        )));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    // It may be growing.
    file.take(largest).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A regular file, and its size in bytes.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    let path = &*unpacked::place(path);
    // To open a device can already do something, so it is looked at first; what is opened may be another file by then.
    expect_regular(&std::fs::metadata(path)?)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC)
        .open(path)?;
    let metadata = file.metadata()?;
    expect_regular(&metadata)?;
    expect_content(&file, &metadata)?;
    Ok((file, metadata.len()))
}

fn expect_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let found = kind(metadata.file_type());
    Err(io::Error::other(format!(
        "it is {found}, and only regular files are read"
    )))
}

fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// Refuses a file that is mostly holes. A file that was compressed takes little space, too, but has none.
fn expect_content(file: &File, metadata: &Metadata) -> io::Result<()> {
    let on_disk = metadata.blocks().saturating_mul(512);
    if metadata.len().saturating_sub(on_disk) <= LARGEST_HOLES {
        return Ok(());
    }
    let holes = holes(file, metadata.len());
    if holes > LARGEST_HOLES {
        return Err(io::Error::other(format!(
            "{holes} of its {} bytes are holes that nobody wrote; no tracer leaves that",
            metadata.len()
        )));
    }
    Ok(())
}

/// Bytes that were never written, as far as the file system tells; counted no further than needed.
fn holes(file: &File, size: u64) -> u64 {
    let seek = |from: u64, whence| {
        let from = libc::off_t::try_from(from).ok()?;
        // SAFETY: the descriptor is open; where it stands matters to nobody, for the file is mapped or read from its start.
        let to = unsafe { libc::lseek(file.as_raw_fd(), from, whence) };
        u64::try_from(to).ok()
    };
    let (mut holes, mut at) = (0, 0);
    while at < size && holes <= LARGEST_HOLES {
        let data = seek(at, libc::SEEK_DATA).unwrap_or(size).max(at);
        holes += data - at;
        at = seek(data, libc::SEEK_HOLE).unwrap_or(size).max(data + 1);
    }
    seek(0, libc::SEEK_SET);
    holes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path, largest: u64) -> String {
        read(path, largest).unwrap_err().to_string()
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("rostrace-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn only_regular_files_are_read() {
        let expect = |path: &Path, kind: &str| {
            let sentence = format!("it is {kind}, and only regular files are read");
            assert_eq!(refused(path, 1), sentence);
        };
        let folder = folder("only-regular");
        let fifo = folder.join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        expect(&fifo, "a FIFO");
        let link = folder.join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        expect(&link, "a device");
        expect(&folder, "a folder");
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        expect(&socket, "a socket");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_is_read_up_to_what_such_a_file_can_have() {
        let folder = folder("largest");
        let path = folder.join("text");
        std::fs::write(&path, "twelve bytes").unwrap();
        assert_eq!(read(&path, 12).unwrap(), b"twelve bytes");
        let sentence = "it has 12 bytes, and such a file has at most 11";
        assert_eq!(refused(&path, 11), sentence);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_all_hole_is_not_read() {
        let folder = folder("holes");
        let path = folder.join("sparse");
        let file = File::create(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let error = open(&path).unwrap_err().to_string();
        let sentence = "are holes that nobody wrote; no tracer leaves that";
        assert!(error.ends_with(sentence), "{error}");
        // As a tracer leaves them.
        file.set_len(64 << 20).unwrap();
        assert_eq!(open(&path).unwrap().1, 64 << 20);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
