//! Packed traces are read as they are; hostile archives do no harm; and what is no trace is recognised.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use crate::support::{recording, rostrace, shared_recordings, stderr_of, stdout_of};

/// A folder for archives, and an empty one for what is unpacked.
struct Desk {
    folder: tempfile::TempDir,
    temporary: tempfile::TempDir,
}

impl Desk {
    fn new() -> Desk {
        Desk {
            folder: tempfile::tempdir().unwrap(),
            temporary: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// What `info` says of it, on both streams, and its exit status. Nothing is left behind.
    fn info(&self, path: &Path) -> (String, String, i32) {
        let output = rostrace(&["info", path.to_str().unwrap()])
            .env("TMPDIR", self.temporary.path())
            .output()
            .unwrap();
        let left = std::fs::read_dir(self.temporary.path()).unwrap().count();
        assert_eq!(left, 0, "{}", path.display());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap();
        (text(output.stdout), text(output.stderr), status)
    }

    fn refused(&self, name: &str, bytes: &[u8], sentence: &str) {
        let (said, error, status) = self.info(&self.file(name, bytes));
        assert_eq!(status, 1, "{name}: {said}{error}");
        assert!(error.contains(sentence), "{name}: {error}");
    }
}

fn tar_of(folders: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, folder) in folders {
        builder.append_dir_all(name, folder).unwrap();
    }
    builder.into_inner().unwrap()
}

/// An entry of any name and type, as only somebody hostile writes them.
fn entry(name: &str, kind: EntryType, link: &str) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_size(0);
    header.set_mode(0o777);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn a_packed_trace_is_read_as_it_is() {
    let desk = Desk::new();
    let trace = recording("pingpong");
    let tar = tar_of(&[("session", &trace)]);
    let expected = stdout_of(&["callbacks", &trace], 0);
    let frames = [zstandard(&tar[..512]), zstandard(&tar[512..])].concat();
    for (name, bytes) in [
        ("plain.tar", tar.clone()),
        ("packed.tgz", gzip(&tar)),
        ("packed.tar.gz", gzip(&tar)),
        ("packed.tar.zst", zstandard(&tar)),
        ("two_frames.tar.zst", frames),
        ("a_name_that_says_nothing", gzip(&tar)),
    ] {
        let path = desk.file(name, &bytes);
        let (said, error, status) = desk.info(&path);
        assert_eq!(status, 0, "{name}: {error}");
        assert!(said.contains("9,644"), "{name}: {said}");
        let path = path.to_str().unwrap();
        assert_eq!(stdout_of(&["callbacks", path], 0), expected, "{name}");
    }
}

#[test]
fn several_traces_in_one_archive_are_one_set() {
    let desk = Desk::new();
    let (first, second) = (recording("pingpong"), recording("lifecycle_caret"));
    let tar = tar_of(&[("a", &first), ("b", &second)]);
    let path = desk.file("both.tar.gz", &gzip(&tar));
    let together = stdout_of(&["nodes", &first, &second], 0);
    assert_eq!(stdout_of(&["nodes", path.to_str().unwrap()], 0), together);
}

#[test]
fn a_real_archive_is_read() {
    let Some(shared) = shared_recordings() else {
        return;
    };
    let path = shared.join("public/autoware-carla-galactic.tar.zst");
    if !path.exists() {
        return;
    }
    let (said, error, _) = Desk::new().info(&path);
    assert!(said.contains("events"), "{said}{error}");
}

#[test]
fn an_entry_that_leads_out_of_the_archive_is_refused() {
    let desk = Desk::new();
    let trace = tar_of(&[("session", &recording("pingpong"))]);
    for name in [
        "../outside",
        "session/../../outside",
        "/tmp/rostrace_outside",
    ] {
        let hostile = [entry(name, EntryType::Regular, ""), trace.clone()].concat();
        desk.refused("outside.tar", &hostile, "would lie outside of the archive");
    }
    assert!(!Path::new("/tmp/rostrace_outside").exists());
    assert!(
        !desk
            .temporary
            .path()
            .parent()
            .unwrap()
            .join("outside")
            .exists()
    );
}

#[test]
fn links_and_devices_are_left_out_and_nothing_goes_through_them() {
    let desk = Desk::new();
    let victim = desk.folder.path().join("victim");
    std::fs::create_dir(&victim).unwrap();
    let victim_name = victim.to_str().unwrap();
    let mut file = entry("link/written", EntryType::Regular, "");
    file.truncate(512);
    let hostile = [
        entry("link", EntryType::Symlink, victim_name),
        file,
        entry("hard", EntryType::Link, "/etc/hostname"),
        entry("fifo", EntryType::Fifo, ""),
        entry("device", EntryType::Char, ""),
        tar_of(&[("session", &recording("pingpong"))]),
    ]
    .concat();
    let (said, error, status) = desk.info(&desk.file("links.tar", &hostile));
    assert_eq!(status, 0, "{error}");
    assert!(said.contains("9,644"), "{said}");
    assert!(error.contains("4 entries were left out"), "{error}");
    assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0);
}

#[test]
fn a_bomb_is_refused() {
    let desk = Desk::new();
    // Two gigabytes of zeros, in two megabytes.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let mut header = Header::new_gnu();
    header.set_path("session/stream").unwrap();
    header.set_size(2 << 30);
    header.set_mode(0o644);
    header.set_cksum();
    encoder.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..2 << 10 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    desk.refused("bomb.tar.gz", &bomb, "would unpack to more than");
}

#[test]
fn a_damaged_archive_is_told_and_leaves_nothing() {
    let desk = Desk::new();
    let tar = tar_of(&[("session", &recording("pingpong"))]);
    desk.refused(
        "short.tar",
        &tar[..tar.len() / 2 + 100],
        "it is damaged or ends in the middle",
    );
    for (name, packed) in [("a.tar.gz", gzip(&tar)), ("a.tar.zst", zstandard(&tar))] {
        for length in [20, packed.len() / 2, packed.len() - 3] {
            let (said, error, status) = desk.info(&desk.file(name, &packed[..length]));
            assert_eq!(status, 1, "{name} {length}: {said}");
            assert!(!error.is_empty() && !error.contains("panicked"), "{error}");
        }
    }
    desk.refused("empty.tar.gz", &gzip(&tar_of(&[])), "no tar archive");
    desk.refused(
        "text.gz",
        &gzip(b"hello"),
        "is packed, but what is in it is no tar archive",
    );
}

#[test]
fn what_is_no_trace_is_recognised() {
    let desk = Desk::new();
    desk.refused(
        "bag.mcap",
        b"\x89MCAP0\r\n...",
        "this is an MCAP file, no trace",
    );
    desk.refused(
        "bag.db3",
        b"SQLite format 3\0...",
        "this is an SQLite database",
    );
    desk.refused("bag.bag", b"#ROSBAG V2.0\n", "this is a bag of ROS 1");
    desk.refused("a.zip", b"PK\x03\x04...", "this is a zip archive");
    desk.refused(
        "a.tar.xz",
        b"\xfd7zXZ\0...",
        "xz packed, no trace: unpack it",
    );
    desk.refused(
        "bag.mcap.zst",
        &zstandard(b"\x89MCAP0\r\n..."),
        "this is an MCAP file, packed",
    );
    desk.refused(
        "notes.txt",
        b"hello",
        "a trace is a folder with a file named `metadata`",
    );
    let bag = desk.folder.path().join("bag");
    std::fs::create_dir(&bag).unwrap();
    let description = "rosbag2_bagfile_information:\n  version: 9\n";
    std::fs::write(bag.join("metadata.yaml"), description).unwrap();
    let said = stderr_of(&["callbacks", bag.to_str().unwrap()], 1);
    assert!(
        said.contains("this is a bag of rosbag2, no trace"),
        "{said}"
    );
    assert!(said.contains("rostrace record"), "{said}");
}
