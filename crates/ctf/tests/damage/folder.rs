//! What lies beside stream files: wrong indexes, files of other kinds, metadata that was cut.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Damage, DamageKind, Stream, TraceSet, metadata};

use crate::support::babeltrace::empty_folder;
use crate::support::damaged::*;
use rostrace_testkit::recordings::testdata;

#[test]
fn a_wrong_index_changes_nothing() {
    let mut random = Random(6);
    for original in Original::all() {
        let Some(index) = &original.index else {
            continue;
        };
        let mut wrong: Vec<Vec<u8>> = (0..index.len().min(16 + 2 * 72))
            .flat_map(|at| {
                [0, 0xFF, 1].map(|with| {
                    let mut index = index.clone();
                    index[at] ^= with;
                    index
                })
            })
            .collect();
        wrong.extend(
            (0..=index.len())
                .step_by(23)
                .map(|cut| index[..cut].to_vec()),
        );
        // Every offset wrong by a little, and an index of another, longer file.
        let mut shifted = index.clone();
        for entry in shifted[16..].chunks_exact_mut(72) {
            entry[7] ^= 1 + random.below(255) as u8;
        }
        wrong.push(shifted);
        wrong.push([&index[..], &index[16..]].concat());
        for index in &wrong {
            let reading = read(&original.schema, &original.bytes, Some(index));
            assert_eq!(reading.at, original.reading.at);
        }
        // Also where the index is needed.
        let mut bytes = original.bytes.clone();
        let (offset, size) = original.packets[1];
        bytes[offset..offset + size].fill(0);
        for index in &wrong {
            let damaged = Original {
                index: Some(index.clone()),
                ..original.clone()
            };
            damaged.check("a wrong index and a gap", &bytes, &[1]);
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn other_files_in_the_folder_do_no_harm() {
    let (folder, trace) = copy_of("other_files_in_the_folder");
    let events = read_set(&TraceSet::open(&[&folder]).unwrap()).events;
    std::fs::write(trace.join("README"), "Recorded on a Tuesday.\n").unwrap();
    std::fs::write(trace.join(".hidden"), "not looked at").unwrap();
    std::fs::write(trace.join("empty"), "").unwrap();
    std::fs::write(trace.join("one"), "1").unwrap();
    std::fs::create_dir(trace.join("folder")).unwrap();
    let reading = read_set(&TraceSet::open(&[&folder]).unwrap());
    assert_eq!(reading.events, events);
    let mut strange = reading.damage;
    strange.retain(|kind| *kind == DamageKind::NotAStream);
    assert_eq!(strange.len(), 2);
}

/// A copy of a recording with two CPUs, and its trace folder.
fn copy_of(test: &str) -> (PathBuf, PathBuf) {
    let folder = empty_folder(test);
    copy_folder(&testdata().join("lossy"), &folder);
    let trace = folder.join("ust/uid/0/64-bit");
    (folder, trace)
}

fn rows_of(folder: &Path, kind: DamageKind) -> Vec<Damage> {
    let set = TraceSet::open(&[folder]).unwrap();
    let rows = set.damage.into_iter();
    rows.filter(|row| row.kind == kind).collect()
}

fn only_row_of(folder: &Path, kind: DamageKind) -> Damage {
    match <[Damage; 1]>::try_from(rows_of(folder, kind)) {
        Ok([row]) => row,
        Err(rows) => panic!("{rows:?}"),
    }
}

/// When a stream file begins and ends.
fn span_of(folder: &Path, file: &str) -> (Nanos, Nanos) {
    let set = TraceSet::open(&[folder]).unwrap();
    let trace = &set.traces[0];
    let is_it = |stream: &&Stream| trace.path_of(stream).file_name().unwrap() == file;
    trace
        .span(trace.streams.iter().find(is_it).unwrap())
        .unwrap()
}

#[test]
fn a_stream_file_that_its_index_knows_is_missed() {
    let (folder, trace) = copy_of("a_stream_file_that_its_index_knows");
    assert_eq!(rows_of(&folder, DamageKind::MissingStream), []);
    let (begin, end) = span_of(&folder, "ros2_1");
    let index = std::fs::read(trace.join("index/ros2_1.idx")).unwrap();
    let packets = (index.len() as u64 - 16) / 72;
    for what in ["is empty", "is gone"] {
        match what {
            "is empty" => std::fs::write(trace.join("ros2_1"), "").unwrap(),
            _ => std::fs::remove_file(trace.join("ros2_1")).unwrap(),
        }
        let row = only_row_of(&folder, DamageKind::MissingStream);
        assert_eq!(row.path, trace.join("ros2_1"));
        assert_eq!((row.begin, row.end), (Some(begin), Some(end)));
        assert_eq!(row.count, Some(packets));
        let message = format!("the stream file {what}; its index lists {packets} packets");
        assert_eq!(row.message, message);
        assert!(row.kind.is_loss());
    }
}

#[test]
fn a_hole_among_the_files_of_a_channel_is_missed_for_as_long_as_the_others_last() {
    let (folder, trace) = copy_of("a_hole_among_the_files_of_a_channel");
    std::fs::remove_file(trace.join("ros2_0")).unwrap();
    std::fs::remove_file(trace.join("index/ros2_0.idx")).unwrap();
    let row = only_row_of(&folder, DamageKind::MissingStream);
    assert_eq!(row.path, trace.join("ros2_0"));
    let (begin, end) = span_of(&folder, "ros2_1");
    assert_eq!((row.begin, row.end), (Some(begin), Some(end)));
    assert!(row.message.starts_with("the stream of CPU 0 is gone"));
}

#[test]
fn an_empty_file_with_an_empty_index_is_a_stream_without_packets() {
    let (folder, trace) = copy_of("an_empty_file_with_an_empty_index");
    let index = std::fs::read(trace.join("index/ros2_1.idx")).unwrap();
    std::fs::write(trace.join("ros2_1"), "").unwrap();
    std::fs::write(trace.join("index/ros2_1.idx"), &index[..16]).unwrap();
    assert_eq!(rows_of(&folder, DamageKind::MissingStream), []);
    // Without the index nothing says so.
    std::fs::remove_file(trace.join("index/ros2_1.idx")).unwrap();
    let row = only_row_of(&folder, DamageKind::MissingStream);
    assert_eq!(row.message, "the stream file is empty");
}

#[test]
fn packets_that_are_gone_from_either_end_of_a_file_leave_a_window() {
    let (folder, trace) = copy_of("packets_that_are_gone_from_either_end");
    let bytes = std::fs::read(trace.join("ros2_1")).unwrap();
    let (begin, end) = span_of(&folder, "ros2_1");
    let size = number(&bytes, SIZE) as usize / 8;
    let last = bytes.len() - size;
    std::fs::write(trace.join("ros2_1"), &bytes[size..]).unwrap();
    let rows = rows_of(&folder, DamageKind::MissingPackets);
    let first_gone = rows.iter().find(|row| row.offset == Some(0)).unwrap();
    assert_eq!(first_gone.message, "the first packet of the stream is gone");
    assert_eq!(first_gone.begin, Some(begin));
    assert!(first_gone.end.unwrap() > begin);
    std::fs::write(trace.join("ros2_1"), &bytes[..last]).unwrap();
    let row = only_row_of(&folder, DamageKind::MissingPackets);
    assert_eq!(row.offset, Some(last as u64));
    assert_eq!(row.end, Some(end));
    assert!(row.begin.unwrap() < end);
}

#[test]
fn a_file_that_is_cut_may_have_gone_on_where_no_index_says_otherwise() {
    let (folder, trace) = copy_of("a_file_that_is_cut");
    let bytes = std::fs::read(trace.join("ros2_1")).unwrap();
    let (_, end) = span_of(&folder, "ros2_1");
    std::fs::write(trace.join("ros2_1"), &bytes[..bytes.len() - 100]).unwrap();
    // The index lists the packet that is cut, and none behind it.
    assert_eq!(rows_of(&folder, DamageKind::MissingPackets), []);
    std::fs::remove_dir_all(trace.join("index")).unwrap();
    let row = only_row_of(&folder, DamageKind::MissingPackets);
    assert_eq!(row.offset, Some(bytes.len() as u64 - 100));
    assert_eq!((row.begin, row.end), (Some(end), None));
}

#[test]
fn an_index_that_is_gone_is_reported_but_loses_nothing() {
    let (folder, trace) = copy_of("an_index_that_is_gone");
    let before = TraceSet::open(&[&folder]).unwrap().damage;
    std::fs::remove_file(trace.join("index/ros2_1.idx")).unwrap();
    let row = only_row_of(&folder, DamageKind::MissingIndex);
    assert_eq!(row.path, trace.join("ros2_1"));
    assert!(!row.kind.is_loss());
    assert_eq!(
        TraceSet::open(&[&folder]).unwrap().damage.len(),
        before.len() + 1
    );
    // None at all is what snapshots have.
    std::fs::remove_dir_all(trace.join("index")).unwrap();
    assert_eq!(TraceSet::open(&[&folder]).unwrap().damage, before);
}

#[test]
fn metadata_alone_is_what_is_left_of_a_trace() {
    let (folder, trace) = copy_of("metadata_alone");
    std::fs::remove_dir_all(trace.join("index")).unwrap();
    for file in ["ros2_0", "ros2_1"] {
        std::fs::remove_file(trace.join(file)).unwrap();
    }
    let row = only_row_of(&folder, DamageKind::MissingStream);
    assert_eq!(row.path, trace);
    let message = "the trace has metadata but not one stream file: its events are gone";
    assert_eq!(row.message, message);
}

#[test]
fn what_is_no_regular_file_is_neither_waited_for_nor_read() {
    let (folder, trace) = copy_of("what_is_no_regular_file");
    let events = read_set(&TraceSet::open(&[&folder]).unwrap()).events;
    let index = trace.join("index/ros2_1.idx");
    let fifo = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    };
    let refused = |sentence: &str| {
        let set = TraceSet::open(&[&folder]).unwrap();
        let mut rows = set.damage.iter();
        let row = rows.find(|row| row.kind == DamageKind::UnreadableFile);
        let row = row.unwrap_or_else(|| panic!("{sentence}: {:?}", set.damage));
        assert!(row.message.contains(sentence), "{row:?}");
        read_set(&set).events
    };
    std::fs::remove_file(&index).unwrap();
    fifo(&index);
    assert_eq!(refused("it is a FIFO"), events);
    std::fs::remove_file(&index).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &index).unwrap();
    assert_eq!(refused("it is a device"), events);
    std::fs::remove_file(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    assert_eq!(refused("it is a folder"), events);
    std::fs::remove_dir(&index).unwrap();
    let sparse = std::fs::File::create(&index).unwrap();
    sparse.set_len(1 << 42).unwrap();
    assert_eq!(refused("are holes that nobody wrote"), events);
    std::fs::remove_file(&index).unwrap();
    // The same for streams and for the metadata.
    fifo(&trace.join("ros2_2"));
    assert_eq!(refused("it is a FIFO"), events);
    std::fs::remove_file(trace.join("metadata")).unwrap();
    fifo(&trace.join("metadata"));
    let error = TraceSet::open(&[&folder]).unwrap_err().to_string();
    assert!(
        error.ends_with("it is a FIFO, and only regular files are read"),
        "{error}"
    );
}

#[test]
fn metadata_that_is_cut_anywhere_is_read_as_far_as_it_goes() {
    let folder = testdata().join("lossy/ust/uid/0/64-bit");
    let metadata = std::fs::read(folder.join("metadata")).unwrap();
    let bytes = std::fs::read(folder.join("ros2_1")).unwrap();
    let all = read(
        &Arc::new(metadata::read(&metadata).unwrap().schema),
        &bytes,
        None,
    );
    let mut read_at_all = 0;
    for cut in (0..metadata.len()).step_by(101) {
        let Ok(part) = metadata::read(&metadata[..cut]) else {
            continue;
        };
        read_at_all += 1;
        let reading = read(&Arc::new(part.schema), &bytes, None);
        assert!(reading.events <= all.events);
        for (bytes, events) in &reading.packets {
            assert!(all.packets[bytes].starts_with(events), "cut at {cut}");
        }
        let reported = part.cut_short.is_some();
        assert!(
            reported || reading.events == all.events || reading.says(DamageKind::UndecodableEvents),
            "cut at {cut}"
        );
    }
    assert!(read_at_all > 50, "{read_at_all}");
}
