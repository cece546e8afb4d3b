//! What a recorder and tracers read that others may have written: the control page, stream files that are being written, and programs.
//!
//! The first byte of the input says which.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rostrace_record::unattached;
use rostrace_session::{Control, ControlFile, Order, stream_file};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "session",
    run,
    seeds,
    dictionary: &["rostrace", "\x7FELF\x02\x01\x01", "\u{0}\u{0}\u{0}\u{0}"],
};

/// A folder for the files that are read, in memory where there is such a disk; removed with its thread.
struct Folder(PathBuf);

thread_local! {
    static FOLDER: Folder = {
        let memory = Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
        let name = format!("rostrace-fuzz-{}", std::process::id());
        let folder = memory.unwrap_or_else(std::env::temp_dir).join(name);
        fs::create_dir_all(folder.join("stream")).expect("a temporary folder can be made");
        Folder(folder)
    };
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn file(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.0.join(name))
}

fn run(data: &[u8]) {
    let Some((first, data)) = data.split_first() else {
        return;
    };
    match first % 3 {
        0 => control(data),
        1 => stream(data),
        _ => {
            let program = file("program");
            fs::write(&program, data).expect("a temporary file can be written");
            assert!(!unattached::reason(program.as_os_str()).is_empty());
        }
    }
}

fn control(data: &[u8]) {
    let path = file("control");
    let page = fs::File::create(&path).expect("a temporary file can be made");
    page.set_len(size_of::<Control>() as u64)
        .and_then(|()| page.write_all_at(data, 0))
        .expect("a temporary file can be written");
    let Ok(page) = ControlFile::open(&path) else {
        return;
    };
    if let Some((_, order)) = page.read_order() {
        let buffers = order.buffers.usable();
        assert!(buffers.packet_bytes.is_power_of_two() && buffers.first_packets > 0);
    }
    for slot in &page.processes[..16] {
        let _ = slot.view();
    }
    let order = Order::record("/somewhere");
    let generation = page.order(&order).expect("a short text fits");
    assert_eq!(page.read_order(), Some((generation, order)));
}

/// Cutting off what is not used is done once, and a copy of a copy is the same.
fn stream(data: &[u8]) {
    let folder = file("stream");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).expect("a temporary file can be written");
    };
    write("metadata", b"");
    write("channel_1_0", data);
    let (copy, again) = (file("copy"), file("again"));
    for place in [&copy, &again] {
        let _ = fs::remove_dir_all(place);
    }
    stream_file::snapshot(&folder, &copy).expect("a file can be copied");
    stream_file::snapshot(&copy, &again).expect("a copy can be copied");
    let read = |folder: &Path| fs::read(folder.join("channel_1_0")).unwrap_or_default();
    assert!(read(&copy).len() <= data.len());
    assert_eq!(read(&copy), read(&again));
    let saved = stream_file::trim(&folder).expect("a file can be cut");
    assert!(saved <= data.len() as u64);
    assert_eq!(read(&folder).len() as u64, data.len() as u64 - saved);
    assert_eq!(stream_file::trim(&folder).expect("a file can be cut"), 0);
}

fn seeds(_: &Path) -> io::Result<Vec<Vec<u8>>> {
    let path = file("seed");
    let _ = fs::remove_file(&path);
    let page = ControlFile::create(&path).map_err(io::Error::other)?;
    page.order(&Order::record("/somewhere"));
    drop(page);
    let mut bytes = fs::read(&path)?;
    bytes.truncate(16 << 10);
    let mut packets = Vec::new();
    for (number, end) in [(0_u64, 7), (1, 9), (2, stream_file::NEVER + 2)] {
        let mut packet = vec![0; 512];
        for (place, word) in [
            (stream_file::BEGIN, number),
            (stream_file::END, end),
            (stream_file::CONTENT_BITS, 640),
            (stream_file::PACKET_BITS, 4096),
        ] {
            packet[place..place + 8].copy_from_slice(&word.to_le_bytes());
        }
        packets.extend(packet);
    }
    let mut program = fs::read("/proc/self/exe")?;
    program.truncate(8 << 10);
    let seed = |first: u8, bytes: &[u8]| [&[first], bytes].concat();
    Ok(vec![seed(0, &bytes), seed(1, &packets), seed(2, &program)])
}
