//! The stream files that tracers write, as far as a recorder handles them: cutting off what was never used, and copying
//! while they are being written.
//!
//! A tracer makes packets in advance. One that is not in use is empty and ends at [`NEVER`] or later; after an orderly end there
//! is none, after a kill there may be many. Readers accept them; they only take room.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{Ordering, fence};

/// Begin of packets that are not in use, in the trace's clock: about the year 2170.
pub const NEVER: u64 = 1 << 62;
/// Bytes of a packet's head.
pub const HEAD: usize = 80;
/// Where in the head the begin and the end are, the size of the content in bits, and that of the packet.
pub const BEGIN: usize = 32;
pub const END: usize = 40;
pub const CONTENT_BITS: usize = 48;
pub const PACKET_BITS: usize = 56;

/// Cuts off packets that were never used, in all stream files of a folder of which nobody writes to any more, and deletes
/// files that were not ready. Returns how many bytes that saved.
pub fn trim(folder: &Path) -> io::Result<u64> {
    let mut saved = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let length = fs::metadata(&path)?.len();
        if name == "metadata" || !path.is_file() {
            continue;
        }
        let used = match name.starts_with('.') {
            true => 0,
            false => bytes_in_use(&path)?,
        };
        if used == 0 {
            fs::remove_file(&path)?;
        } else if used < length {
            OpenOptions::new().write(true).open(&path)?.set_len(used)?;
        }
        saved += length - used;
    }
    Ok(saved)
}

/// Copies the trace of one process while it is being written. What is copied is what was complete when its packet was
/// looked at; packets that are not in use are left out.
pub fn snapshot(folder: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    fs::copy(folder.join("metadata"), to.join("metadata"))?;
    // What is in use is found out for all files before anything is copied. Otherwise a packet could be copied, then be filled, and
    // the next one be taken and copied as well: events between the two would be missing without being counted.
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        if name == "metadata" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        // The flight recorder deletes its oldest files meanwhile.
        if let Some(used) = unless_deleted(bytes_in_use(&path))? {
            files.push((to.join(name), path, used));
        }
    }
    // Loads of a processor may be reordered, over system calls as well: a packet before one that is in use is complete only for what
    // is read from here on.
    fence(Ordering::Acquire);
    for (copy, path, used) in files {
        unless_deleted(copy_packets(&path, &copy, used))?;
    }
    Ok(())
}

fn unless_deleted<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Copies the packets that are in use among so many bytes.
fn copy_packets(from: &Path, to: &Path, length: u64) -> io::Result<()> {
    let mut file = File::open(from)?;
    let mut copy = None;
    let mut at = 0;
    let mut packet = Vec::new();
    while let Some((bytes, end)) = packet_at(&mut file, at, length)? {
        if end < NEVER {
            // The size of the content first: what it says is complete is in the file by then, and the end of the packet,
            // which is read later, is not before the last of these events. All may grow meanwhile.
            let mut content = [0; 8];
            file.seek(SeekFrom::Start(at + CONTENT_BITS as u64))?;
            file.read_exact(&mut content)?;
            // The file's pages are the writer's memory. Without this, events could be copied as they were before the size was read, and
            // a packet's losses as they were before those of the packet before it.
            fence(Ordering::Acquire);
            packet.resize(bytes as usize, 0);
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut packet)?;
            packet[CONTENT_BITS..CONTENT_BITS + 8].copy_from_slice(&content);
            let copy = match &mut copy {
                Some(copy) => copy,
                place => place.insert(File::create(to)?),
            };
            copy.write_all(&packet)?;
        }
        at += bytes;
    }
    Ok(())
}

/// The end of the last packet of a file that is in use.
fn bytes_in_use(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut at = 0;
    let mut used = 0;
    while let Some((bytes, end)) = packet_at(&mut file, at, length)? {
        at += bytes;
        if end < NEVER {
            used = at;
        }
    }
    Ok(used)
}

/// Size and end of the packet at this place; None at the end, or where there is no packet.
fn packet_at(file: &mut File, at: u64, length: u64) -> io::Result<Option<(u64, u64)>> {
    if at + HEAD as u64 > length {
        return Ok(None);
    }
    let mut head = [0; HEAD];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut head)?;
    let word = |place: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&head[place..place + 8]);
        u64::from_le_bytes(bytes)
    };
    let bytes = word(PACKET_BITS) / 8;
    let is_packet =
        bytes >= HEAD as u64 && at.checked_add(bytes).is_some_and(|last| last <= length);
    Ok(is_packet.then(|| (bytes, word(END))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet without events.
    fn packet(end: u64) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        bytes[END..END + 8].copy_from_slice(&end.to_le_bytes());
        bytes[CONTENT_BITS..CONTENT_BITS + 8].copy_from_slice(&(HEAD as u64 * 8).to_le_bytes());
        bytes[PACKET_BITS..PACKET_BITS + 8].copy_from_slice(&(4096 * 8_u64).to_le_bytes());
        bytes
    }

    #[test]
    fn a_snapshot_has_the_packets_that_are_in_use_when_it_begins() {
        let folder = std::env::temp_dir().join(format!("rostrace-copy-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (from, to) = (folder.join("thread_1_0"), folder.join("copy"));
        fs::write(&from, [packet(1), packet(NEVER), packet(NEVER)].concat()).unwrap();
        let used = bytes_in_use(&from).unwrap();
        // The next packet is taken before the first was copied.
        fs::write(&from, [packet(2), packet(3), packet(NEVER)].concat()).unwrap();
        copy_packets(&from, &to, used).unwrap();
        assert_eq!(fs::read(&to).unwrap(), packet(2));
        fs::remove_dir_all(&folder).unwrap();
    }
}
