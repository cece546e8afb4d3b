//! What a recorder and tracers read that others may have written: the control page, stream files that are being written, programs, and the
//! memory of processes.
//!
//! The first byte of the input says which.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rostrace_record::unattached;
use rostrace_session::keep::{Kept, Mapped, snapshot, stop_recording};
use rostrace_session::memory::layout::Layout;
use rostrace_session::{Command, Control, ControlFile, Identity, Introduction, Memory};

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
    match first % 4 {
        0 => control(data),
        1 => stream(data),
        2 => memory(data),
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
    let _ = (
        page.read_command(),
        page.memory_folder(),
        page.incompatible_tracers.view(),
    );
    let command = Command::record("/somewhere");
    let generation = page.issue(&command).expect("a short text fits");
    assert_eq!(page.read_command(), Some((generation, command)));
}

/// A copy of a copy is the same.
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
    snapshot::copy(&folder, &copy).expect("a file can be copied");
    snapshot::copy(&copy, &again).expect("a copy can be copied");
    let read = |folder: &Path| fs::read(folder.join("channel_1_0")).unwrap_or_default();
    assert!(read(&copy).len() <= data.len());
    assert_eq!(read(&copy), read(&again));
}

/// The memory of a process that wrote nonsense into it: whatever is there can be kept and completed.
fn memory(data: &[u8]) {
    let path = file("memory");
    let memory = fs::File::create(&path).expect("a temporary file can be made");
    memory
        .set_len(Layout::ORDINARY.bytes() as u64)
        .and_then(|()| memory.write_all_at(data, 0))
        .expect("a temporary file can be written");
    let Ok(mapped) = Mapped::open(&path) else {
        return;
    };
    let mapped = Arc::new(mapped);
    let _ = mapped.memory().view();
    let output = file("kept");
    let command = Command::record(output.as_os_str().as_encoded_bytes());
    let epoch = mapped
        .memory()
        .header()
        .recording
        .epoch
        .load(Ordering::Relaxed);
    let mut kept = Kept::new(Arc::clone(&mapped), epoch, &command);
    kept.drain(true);
    stop_recording(mapped.memory(), epoch);
    kept.finish();
    let _ = fs::remove_dir_all(output);
}

fn seeds(_: &Path) -> io::Result<Vec<Vec<u8>>> {
    let path = file("seed");
    let _ = fs::remove_file(&path);
    let page = ControlFile::create(&path, b"/dev/shm", false).map_err(io::Error::other)?;
    page.issue(&Command::record("/somewhere"));
    drop(page);
    let mut bytes = fs::read(&path)?;
    bytes.truncate(16 << 10);
    let mut packets = Vec::new();
    for (number, end) in [(0_u64, 7), (1, 9), (2, 11)] {
        // Begin, end, sizes of the content and of the packet in bits.
        let mut packet = vec![0; 512];
        for (place, word) in [(32, number), (40, end), (48, 640), (56, 4096)] {
            packet[place..place + 8].copy_from_slice(&u64::to_le_bytes(word));
        }
        packets.extend(packet);
    }
    let memory = seed_of_memory()?;
    let mut program = fs::read("/proc/self/exe")?;
    program.truncate(8 << 10);
    let seed = |first: u8, bytes: &[u8]| [&[first], bytes].concat();
    Ok(vec![
        seed(0, &bytes),
        seed(1, &packets),
        seed(2, &memory),
        seed(3, &program),
    ])
}

/// The first pages of a memory that its process has made.
fn seed_of_memory() -> io::Result<Vec<u8>> {
    let path = file("memory-seed");
    let _ = fs::remove_file(&path);
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    let who = Introduction {
        identity: Identity::default(),
        tracetools_version: b"8.2.4",
        program: b"talker",
        host: b"robot",
        is_kept_by_itself: false,
    };
    let memory = Memory::create(&name, &who).map_err(io::Error::from_raw_os_error)?;
    memory.publish();
    let mut first = vec![0; 16 << 10];
    fs::File::open(&path)?.read_exact_at(&mut first, 0)?;
    fs::remove_file(path)?;
    Ok(first)
}
