//! What lies beside stream files: wrong indexes, files of other kinds, metadata that was cut.

use std::path::Path;
use std::sync::Arc;

use rostrace_ctf::{DamageKind, TraceSet, metadata};

use crate::support::babeltrace::empty_folder;
use crate::support::damaged::*;
use crate::support::recordings::testdata;

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
    let folder = empty_folder("other_files_in_the_folder");
    copy_folder(&testdata().join("lossy"), &folder);
    let events = read_set(&TraceSet::open(&[&folder]).unwrap()).events;
    let trace = folder.join("ust/uid/0/64-bit");
    std::fs::write(trace.join("README"), "Recorded on a Tuesday.\n").unwrap();
    std::fs::write(trace.join(".hidden"), "not looked at").unwrap();
    std::fs::write(trace.join("empty"), "").unwrap();
    std::fs::write(trace.join("one"), "1").unwrap();
    std::fs::create_dir(trace.join("folder")).unwrap();
    let reading = read_set(&TraceSet::open(&[&folder]).unwrap());
    assert_eq!(reading.events, events);
    let strange = reading
        .damage
        .iter()
        .filter(|kind| **kind == DamageKind::NotAStream);
    assert_eq!(strange.count(), 2);
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
