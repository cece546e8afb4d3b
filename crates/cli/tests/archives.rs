//! Packed traces are read as they are; hostile archives do no harm; and what is no trace is recognised.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use crate::support::{Says, recording, rostrace, shared_recordings, stderr_of, stdout_of};

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

fn xz(bytes: &[u8]) -> Vec<u8> {
    xz_with(bytes, lzma_rust2::XzOptions::with_preset(1))
}

fn xz_with(bytes: &[u8], options: lzma_rust2::XzOptions) -> Vec<u8> {
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zip archive of files and links (`->` before where they lead), by name.
fn zip(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for (name, content) in entries {
        match content.strip_prefix(b"->") {
            Some(to) => {
                let to = std::str::from_utf8(to).unwrap();
                writer.add_symlink(*name, to, options).unwrap();
            }
            None => {
                writer.start_file(*name, options).unwrap();
                writer.write_all(content).unwrap();
            }
        }
    }
    writer.finish().unwrap().into_inner()
}

/// The files of a folder, below a name.
fn files_of(folder: &Path, name: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => files.extend(files_of(&path, &name)),
            false => files.push((name, std::fs::read(&path).unwrap())),
        }
    }
    files
}

fn zip_of(folder: &str) -> Vec<u8> {
    let files = files_of(Path::new(folder), "session");
    let files: Vec<(&str, Vec<u8>)> = files
        .iter()
        .map(|(name, content)| (name.as_str(), content.clone()))
        .collect();
    zip(&files)
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
        ("packed.tar.xz", xz(&tar)),
        (
            "two_streams.tar.xz",
            [xz(&tar[..512]), xz(&tar[512..])].concat(),
        ),
        ("packed.tar.bz2", bzip2(&tar)),
        ("packed.zip", zip_of(&trace)),
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
    said.says("9,644");
    error.says("4 entries were left out");
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
fn a_damaged_archive_is_reported_and_leaves_nothing() {
    let desk = Desk::new();
    let tar = tar_of(&[("session", &recording("pingpong"))]);
    desk.refused(
        "short.tar",
        &tar[..tar.len() / 2 + 100],
        "it is damaged or ends in the middle",
    );
    for (name, packed) in [
        ("a.tar.gz", gzip(&tar)),
        ("a.tar.zst", zstandard(&tar)),
        ("a.tar.xz", xz(&tar)),
        ("a.tar.bz2", bzip2(&tar)),
        ("a.zip", zip_of(&recording("pingpong"))),
    ] {
        for length in [20, packed.len() / 2, packed.len() - 3] {
            let (said, error, status) = desk.info(&desk.file(name, &packed[..length]));
            assert_eq!(status, 1, "{name} {length}: {said}");
            assert!(!error.is_empty() && !error.contains("panicked"), "{error}");
        }
    }
    desk.refused("empty.tar.gz", &gzip(&tar_of(&[])), "no tar archive");
    desk.refused("empty.zip", &zip(&[]), "no trace is in this archive");
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
    desk.refused(
        "a.7z",
        b"7z\xbc\xaf\x27\x1c...",
        "this is a 7-Zip archive, no trace: unpack it",
    );
    desk.refused(
        "no_trace.tar",
        &[
            entry("notes/", EntryType::Directory, ""),
            entry("notes/a", EntryType::Regular, ""),
        ]
        .concat(),
        "no trace is in this archive",
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
    said.says_all(&["this is a bag of rosbag2, no trace", "rostrace record"]);
}

#[test]
fn a_hostile_zip_does_no_harm() {
    let desk = Desk::new();
    for name in [
        "../outside",
        "session/../../outside",
        "/tmp/rostrace_outside",
    ] {
        let hostile = zip(&[(name, b"hello".to_vec())]);
        desk.refused("outside.zip", &hostile, "would lie outside of the archive");
    }
    let victim = desk.folder.path().join("victim");
    std::fs::create_dir(&victim).unwrap();
    let to_victim = format!("->{}", victim.display()).into_bytes();
    let mut entries = vec![("link".to_owned(), to_victim)];
    entries.extend(files_of(Path::new(&recording("pingpong")), "session"));
    let entries: Vec<(&str, Vec<u8>)> = entries
        .iter()
        .map(|(name, content)| (name.as_str(), content.clone()))
        .collect();
    let (said, error, status) = desk.info(&desk.file("links.zip", &zip(&entries)));
    assert_eq!(status, 0, "{error}");
    said.says("9,644");
    error.says("1 entry was left out");
    assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0);
}

/// What it takes to unpack is said by the file, and may be gigabytes.
#[test]
fn a_file_that_asks_for_much_memory_is_refused() {
    let desk = Desk::new();
    let mut packed = xz(&tar_of(&[("session", &recording("pingpong"))]));
    // Behind the header of the stream (12 bytes) is that of the first block: its size, flags, the filter LZMA2 and one byte of properties, the size of its
    // dictionary: 40 is 4 GiB. A CRC of all of it is at its end.
    let length = (usize::from(packed[12]) + 1) * 4;
    let place = (12..12 + length).find(|at| packed[*at..*at + 2] == [0x21, 0x01]);
    packed[place.unwrap() + 2] = 40;
    let end = 12 + length - 4;
    let mut crc = flate2::Crc::new();
    crc.update(&packed[12..end]);
    packed[end..end + 4].copy_from_slice(&crc.sum().to_le_bytes());
    let (said, error, status) = desk.info(&desk.file("greedy.tar.xz", &packed));
    assert_eq!(status, 1, "{said}");
    error.says("damaged");
}

/// Any byte of an archive may be wrong: that is reported, or does not matter.
#[test]
fn flipped_bytes_never_end_in_a_crash() {
    let desk = Desk::new();
    let tar = tar_of(&[("session", &recording("lifecycle_caret"))]);
    let zipped = zip_of(&recording("lifecycle_caret"));
    for (name, packed) in [
        ("a.tar.xz", xz(&tar)),
        ("a.tar.bz2", bzip2(&tar)),
        ("a.zip", zipped),
    ] {
        for turn in 0..12 {
            let mut broken = packed.clone();
            let last = broken.len() - 1;
            for place in [turn * 3, 10 + turn, last / 12 * turn, last - turn * 2] {
                broken[place] ^= 0x55;
            }
            let (said, error, status) = desk.info(&desk.file(name, &broken));
            assert!(
                [0, 1, 3].contains(&status),
                "{name} {turn}: {status} {said}{error}"
            );
            assert!(!error.contains("panicked"), "{name} {turn}: {error}");
        }
    }
}

#[test]
fn messages_name_the_archive_and_what_is_in_it() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("session");
    for (name, mut content) in files_of(Path::new(&recording("pingpong")), "") {
        if !name.ends_with("metadata") && !name.contains("/index/") {
            content.truncate(content.len().saturating_sub(1000));
        }
        let path = copy.join(name.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let tar = tar_of(&[("session", copy.to_str().unwrap())]);
    let path = desk.file("damaged.tar.gz", &gzip(&tar));
    let shown = path.to_str().unwrap();
    let temporary = desk.temporary.path().to_str().unwrap();
    let run = |arguments: &[&str]| {
        let output = rostrace(arguments)
            .env("TMPDIR", temporary)
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&text).into_owned()
    };
    let new = folder.path().join("cut");
    let page = folder.path().join("report.html");
    let (new, page) = (new.to_str().unwrap(), page.to_str().unwrap());
    let mut named = 0;
    for arguments in [
        &["info", shown, "--format", "json"][..],
        &["dump", shown, "--limit", "1"],
        &["cut", shown, "-o", new, "--since", "+1s"],
        &["callbacks", shown],
        &["report", shown, "-o", page],
    ] {
        let said = run(arguments);
        assert!(!said.contains(temporary), "{arguments:?}: {said}");
        named += usize::from(said.contains(&format!("{shown}/session/")));
    }
    assert!(named > 0);
    // The archive is what is read, so that nothing is written over it.
    let said = run(&["report", shown, "-o", shown]);
    said.says("would be lost");
    assert_eq!(std::fs::read(&path).unwrap(), gzip(&tar));
}

/// Folders that something was unpacked into.
fn unpacked(temporary: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(temporary).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let unpacked = paths.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("rostrace-unpacked-") && path.is_dir() && !path.is_symlink()
    });
    unpacked.collect()
}

/// Something that reads a packed trace until somebody ends it, and the folder that it was unpacked into.
fn serving(path: &Path, temporary: &Path) -> (std::process::Child, PathBuf) {
    let known = unpacked(temporary);
    let path = path.to_str().unwrap();
    let program = assert_cmd::cargo::cargo_bin("rostrace");
    let mut command = std::process::Command::new(program);
    command
        .args(["timeline", path, "--open", "--no-browser"])
        .env("TMPDIR", temporary)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null());
    // SAFETY: `signal` may be called between fork and exec. Tests under `nohup` or in the background of a shell inherit that signals are
    // ignored, and a program leaves that as it is.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, || {
            for signal in [libc::SIGINT, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    // It has read everything when it says where it serves it.
    let mut address = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut address).unwrap();
    assert!(address.starts_with("http"), "{address}");
    let new = unpacked(temporary).into_iter();
    let new = { new }.find(|it| !known.contains(it));
    (child, new.unwrap())
}

fn end(child: &mut std::process::Child, signal: i32) -> std::process::ExitStatus {
    // SAFETY: the child was not waited for, so that the number is still its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
    child.wait().unwrap()
}

#[test]
fn what_was_unpacked_does_not_outlive_the_program() {
    use std::os::unix::process::ExitStatusExt;
    let desk = Desk::new();
    let tar = tar_of(&[("session", &recording("pingpong"))]);
    let path = desk.file("packed.tar.gz", &gzip(&tar));
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let (mut child, folder) = serving(&path, desk.temporary.path());
        let status = end(&mut child, signal);
        assert!(!folder.exists(), "{signal}");
        // Ctrl-C is how the timeline is closed; the others kill, as they would have without a folder.
        let expected = (signal != libc::SIGINT).then_some(signal);
        assert_eq!(status.signal(), expected, "{signal} {status}");
    }
}

#[test]
fn what_a_killed_program_left_is_removed_by_the_next() {
    let desk = Desk::new();
    let tar = tar_of(&[("session", &recording("pingpong"))]);
    let path = desk.file("packed.tar.gz", &gzip(&tar));
    let temporary = desk.temporary.path();
    // Of others, or of nobody: a file, a link, and a folder of another name.
    let precious = temporary.join("rostrace-report");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(temporary.join("rostrace-unpacked-file"), "").unwrap();
    std::os::unix::fs::symlink(&precious, temporary.join("rostrace-unpacked-link")).unwrap();
    std::fs::write(precious.join("kept"), "").unwrap();
    let start = || serving(&path, temporary);
    let (mut killed, left) = start();
    end(&mut killed, libc::SIGKILL);
    assert!(left.exists());
    let (mut alive, in_use) = start();
    assert!(!left.exists(), "the next one removes it");
    // Also one that unpacks nothing itself, and only what nobody uses.
    rostrace(&["info", &recording("pingpong")])
        .env("TMPDIR", temporary)
        .assert()
        .code(0);
    assert!(in_use.exists());
    end(&mut alive, libc::SIGTERM);
    assert_eq!(unpacked(temporary), Vec::<PathBuf>::new());
    assert!(precious.join("kept").exists());
    assert!(temporary.join("rostrace-unpacked-file").exists());
}
