//! Makes a big trace from a real one by repeating it in time.
//!
//! Every copy is shifted by the same multiple of 2^32 ns, so that the 32-bit timestamps of compact event headers
//! stay as they are: only the packets' 64-bit times and those of extended event headers change. Sequence numbers and the
//! count of discarded events go on counting, so a reader finds as many losses as the original has, times k.
//! Index files are not written. Payloads are not changed: instants *inside* messages repeat, and every copy
//! creates the same entities at the same addresses again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::lttng_packet::{self, HEADER, Header, StreamKey};
use super::walk::{self, Walked, Walker};

/// A change to what is written makes the traces in the cache worthless: count up.
const GENERATOR_VERSION: u32 = 1;

/// The name of the file, beside the trace, that remembers how many events were written.
const EVENTS_FILE: &str = "events";

#[derive(Debug)]
pub(super) struct BigTrace {
    pub(super) folder: PathBuf,
    /// All stream files together.
    pub(super) bytes: u64,
    pub(super) events: Option<u64>,
}

impl BigTrace {
    /// The recording as it is.
    pub(super) fn original(source: &Path) -> Result<Self> {
        BigTrace::of(source, None)
    }

    fn of(folder: &Path, events: Option<u64>) -> Result<Self> {
        let mut bytes = 0;
        for file in stream_files(folder)? {
            bytes += file.metadata()?.len();
        }
        Ok(BigTrace {
            folder: folder.to_owned(),
            bytes,
            events,
        })
    }

    pub(super) fn stream_files(&self) -> Result<Vec<PathBuf>> {
        stream_files(&self.folder)
    }
}

/// The trace in `source` repeated to at least `bytes`, from the cache in `scratch` if it was made before.
pub(super) fn cached(source: &Path, bytes: u64, scratch: &Path) -> Result<BigTrace> {
    let folder = scratch.join(format!("repeated-{bytes}-{:016x}", fingerprint(source)?));
    let trace = folder.join("trace");
    if !folder.is_dir() {
        let partial = folder.with_extension("partial");
        let _ = fs::remove_dir_all(&partial);
        let walker = walk::walker(source)?;
        println!("Repeating {} to {bytes} bytes …", source.display());
        let events = repeat(source, bytes, &partial.join("trace"), &walker)?;
        fs::write(partial.join(EVENTS_FILE), events.to_string())?;
        fs::rename(&partial, &folder)?;
    }
    let events = fs::read_to_string(folder.join(EVENTS_FILE))?.parse()?;
    BigTrace::of(&trace, Some(events))
}

/// The identity of a source in the cache: its path, and its files' names, sizes and times.
fn fingerprint(source: &Path) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    (GENERATOR_VERSION, source.canonicalize()?).hash(&mut hasher);
    for path in stream_files(source)?
        .iter()
        .chain([&source.join("metadata")])
    {
        let file = path.metadata()?;
        (path, file.len(), file.modified()?).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Where a packet of the original is, and what is known about it.
struct Packet {
    file: usize,
    offset: u64,
    header: Header,
    walked: Walked,
}

/// Writes `source` to `output` as many times as it takes to reach `bytes`. Returns the number of events.
fn repeat(source: &Path, bytes: u64, output: &Path, walker: &Walker) -> Result<u64> {
    let text = lttng_packet::metadata_text(&fs::read(source.join("metadata"))?)?;
    lttng_packet::refuse_other_layouts(&text)?;

    let paths = stream_files(source)?;
    let files = paths
        .iter()
        .map(File::open)
        .collect::<Result<Vec<_>, _>>()?;
    let mut streams: BTreeMap<StreamKey, Vec<Packet>> = BTreeMap::new();
    for (at, (file, path)) in files.iter().zip(&paths).enumerate() {
        collect_packets(file, at, walker, &mut streams)
            .with_context(|| format!("reading the packets of {}", path.display()))?;
    }
    for packets in streams.values_mut() {
        packets.sort_by_key(|packet| packet.header.begin);
    }

    let all = || streams.values().flatten();
    let size: u64 = all().map(|packet| packet.header.size as u64).sum();
    ensure!(size > 0, "{} has no packets.", source.display());
    let first = all().map(|packet| packet.header.begin).min().unwrap_or(0);
    let last = all().map(|packet| packet.header.end).max().unwrap_or(0);
    let copies = bytes.div_ceil(size);
    let shift = shift_between_copies(first, last);
    let events: u64 = all().map(|packet| packet.walked.events).sum();

    fs::create_dir_all(output)?;
    fs::copy(source.join("metadata"), output.join("metadata"))?;
    for packets in streams.values() {
        // One file for each stream, also where the original was rotated over several.
        let Some(name) = packets
            .first()
            .and_then(|packet| paths[packet.file].file_name())
        else {
            continue;
        };
        let path = output.join(name);
        write_stream(packets, &files, copies, shift, &path)
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(events * copies)
}

/// The smallest multiple of 2^32 ns that puts a copy behind the one before it.
fn shift_between_copies(first: u64, last: u64) -> u64 {
    const STEP: u64 = 1 << 32;
    ((last - first) / STEP + 1) * STEP
}

fn collect_packets(
    file: &File,
    at: usize,
    walker: &Walker,
    streams: &mut BTreeMap<StreamKey, Vec<Packet>>,
) -> Result<()> {
    let length = file.metadata()?.len();
    let mut offset = 0;
    while offset < length {
        let mut start = [0; HEADER];
        file.read_exact_at(&mut start, offset)
            .with_context(|| format!("at byte {offset}"))?;
        let header = Header::read(&start).with_context(|| format!("at byte {offset}"))?;
        let bytes = read_packet(file, offset, header.size)?;
        let walked = walker(&bytes).with_context(|| format!("in the packet at byte {offset}"))?;
        streams.entry(header.stream).or_default().push(Packet {
            file: at,
            offset,
            header,
            walked,
        });
        offset += header.size as u64;
    }
    Ok(())
}

/// Packets are read again for every copy instead of being kept: this process must stay small, see `warm_page_cache`.
fn read_packet(file: &File, offset: u64, size: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    file.read_exact_at(&mut bytes, offset)
        .with_context(|| format!("the packet at byte {offset} is cut off"))?;
    Ok(bytes)
}

fn write_stream(
    packets: &[Packet],
    files: &[File],
    copies: u64,
    shift: u64,
    path: &Path,
) -> Result<()> {
    let (Some(first), Some(last)) = (packets.first(), packets.last()) else {
        return Ok(());
    };
    let sequence_step = (last.header.sequence_number)
        .checked_sub(first.header.sequence_number)
        .context("the packets' sequence numbers do not follow their times.")?
        + 1;
    let mut output = BufWriter::new(File::create_new(path)?);
    for copy in 0..copies {
        for packet in packets {
            let mut bytes = read_packet(&files[packet.file], packet.offset, packet.header.size)?;
            let mut header = packet.header;
            header.begin += copy * shift;
            header.end += copy * shift;
            header.sequence_number += copy * sequence_step;
            header.events_discarded += copy * last.header.events_discarded;
            header.patch(&mut bytes);
            for at in &packet.walked.extended_timestamps {
                shift_timestamp(&mut bytes[*at..*at + 8], copy * shift);
            }
            output.write_all(&bytes)?;
        }
    }
    output.flush()?;
    Ok(())
}

fn shift_timestamp(bytes: &mut [u8], shift: u64) {
    let mut value = [0; 8];
    value.copy_from_slice(bytes);
    bytes.copy_from_slice(&(u64::from_le_bytes(value) + shift).to_le_bytes());
}

/// The data stream files of a trace folder, by name. Empty ones are not data.
fn stream_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("{} could not be listed", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        let file = entry.metadata()?;
        if file.is_file() && file.len() > 0 && name != "metadata" && !hidden {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Finds extended headers without decoding: 0xFFFF, an id below 65535, and a time within the packet.
    /// Good enough to judge by (a false find needs 14 fitting bytes in a payload), not good enough to work with.
    fn by_pattern(packet: &[u8]) -> Result<Walked> {
        let header = Header::read(packet.first_chunk().unwrap())?;
        let found = |at: &usize| {
            let window = &packet[*at..*at + 14];
            let time = u64::from_le_bytes(*window[6..].first_chunk().unwrap());
            window.starts_with(&[0xFF, 0xFF])
                && window[4..6] == [0, 0]
                && (header.begin..=header.end).contains(&time)
        };
        let extended_timestamps = (HEADER..packet.len() - 14)
            .filter(found)
            .map(|at| at + 6)
            .collect();
        Ok(Walked {
            events: 1,
            extended_timestamps,
        })
    }

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            let folder =
                std::env::temp_dir().join(format!("rostrace-{test}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            Scratch(folder)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn recording(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../testdata")
            .join(name)
            .join("ust/uid/0/64-bit")
    }

    /// What babeltrace2 prints (cycle counts instead of times, no differences), and how many events it says are lost.
    fn babeltrace(trace: &Path) -> (Vec<String>, u64) {
        let output = Command::new("babeltrace2")
            .args(["--clock-cycles", "--no-delta"])
            .arg(trace)
            .output()
            .expect("babeltrace2 is installed by `cargo xtask test`");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let lost = errors
            .lines()
            .filter_map(|line| {
                line.split("discarded ")
                    .nth(1)?
                    .split(' ')
                    .next()?
                    .parse::<u64>()
                    .ok()
            })
            .sum();
        (
            String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(str::to_owned)
                .collect(),
            lost,
        )
    }

    /// Splits `[0000000123] rest`.
    fn time_and_rest(line: &str) -> (u64, &str) {
        let (time, rest) = line[1..].split_once(']').unwrap();
        (time.parse().unwrap(), rest)
    }

    fn assert_repeated(name: &str, discarded: u64) {
        const COPIES: usize = 3;
        let scratch = Scratch::new(name);
        let source = recording(name);
        let bytes = BigTrace::original(&source).unwrap().bytes * (COPIES as u64 - 1) + 1;
        let walker: Walker = Box::new(by_pattern);
        repeat(&source, bytes, &scratch.0, &walker).unwrap();

        let (original, lost) = babeltrace(&source);
        let (repeated, lost_in_all) = babeltrace(&scratch.0);
        assert_eq!(repeated.len(), COPIES * original.len());
        assert_eq!((lost, lost_in_all), (discarded, COPIES as u64 * discarded));
        let shift = time_and_rest(&repeated[original.len()]).0 - time_and_rest(&original[0]).0;
        assert_eq!(shift % (1 << 32), 0);
        for (at, line) in repeated.iter().enumerate() {
            let (copy, at) = ((at / original.len()) as u64, at % original.len());
            let (time, rest) = time_and_rest(&original[at]);
            assert_eq!(time_and_rest(line), (time + copy * shift, rest));
        }
    }

    #[test]
    fn a_repeated_recording_is_k_times_the_original() {
        assert_repeated("pingpong", 0);
    }

    #[test]
    fn losses_are_repeated_too() {
        assert_repeated("lossy", 43_809);
    }

    #[test]
    fn a_copy_begins_behind_the_end_of_the_one_before() {
        assert_eq!(shift_between_copies(5, 5), 1 << 32);
        assert_eq!(shift_between_copies(0, (1 << 32) - 1), 1 << 32);
        assert_eq!(shift_between_copies(0, 1 << 32), 2 << 32);
    }

    #[test]
    fn a_trace_that_cannot_be_walked_is_not_repeated() {
        let scratch = Scratch::new("unwalked");
        let walker: Walker = Box::new(|_| anyhow::bail!("an event is cut off."));
        let error = repeat(&recording("pingpong"), 1, &scratch.0, &walker).unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.contains("ros2_0: in the packet at byte 0: an event is cut off."),
            "{text}"
        );
    }
}
