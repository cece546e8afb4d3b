//! A copy of the trace of one process while it is being written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::memory::packet::{HEAD, Head};

/// Copies what is on the disk: complete packets, and what is there of those that are not full. Whatever is not a file of ours is left out.
pub fn copy(folder: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    copy_file(&folder.join("metadata"), &to.join("metadata"))?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        if name == "metadata" || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match copy_packets(&path, &to.join(name)) {
            // The flight recorder deletes its oldest files meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

/// Never through a link, and never waiting for the other end of a pipe.
fn open(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let Some(mut file) = open(from)? else {
        return Ok(());
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    fs::write(to, bytes)
}

/// The head of a packet is written after what it speaks of, and its content only grows: who reads the head first has all of it.
fn copy_packets(from: &Path, to: &Path) -> io::Result<()> {
    let Some(mut file) = open(from)? else {
        return Ok(());
    };
    let mut copy = None;
    let mut at = 0;
    loop {
        let mut head = [0; HEAD];
        file.seek(SeekFrom::Start(at))?;
        if !is_there(file.read_exact(&mut head))? {
            break;
        }
        let bytes = Head::read(&head).packet_bytes;
        if !(HEAD..=1 << 30).contains(&bytes) {
            break;
        }
        let mut packet = head.to_vec();
        packet.resize(bytes, 0);
        if !is_there(file.read_exact(&mut packet[HEAD..]))? {
            break;
        }
        let copy = match &mut copy {
            Some(copy) => copy,
            place => place.insert(File::create(to)?),
        };
        copy.write_all(&packet)?;
        at += bytes as u64;
    }
    Ok(())
}

fn is_there(read: io::Result<()>) -> io::Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
