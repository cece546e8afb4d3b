//! The files of a channel: LTTng writes one for each processor, and names it.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

/// A channel with a file for each processor.
pub(super) struct Channel {
    pub(super) naming: FileNaming,
    pub(super) class: usize,
    pub(super) processors: BTreeSet<u64>,
}

/// How the files of a channel are named: `CHANNEL_CPU`, or `CHANNEL_CPU_PART` where their size is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileNaming {
    Processor,
    ProcessorAndPart,
}

impl FileNaming {
    pub(super) fn name(self, channel: &str, processor: u64) -> String {
        match self {
            FileNaming::Processor => format!("{channel}_{processor}"),
            FileNaming::ProcessorAndPart => format!("{channel}_{processor}_0"),
        }
    }

    /// The channel and the processor of a file that is named like this.
    pub(super) fn split(self, path: &Path) -> Option<(&str, u64)> {
        let (rest, last) = number_behind(path.file_name()?.to_str()?)?;
        match self {
            FileNaming::Processor => Some((rest, last)),
            FileNaming::ProcessorAndPart => number_behind(rest),
        }
    }
}

/// Numbers that are not there although larger ones are.
pub(super) fn gaps(numbers: &BTreeSet<u64>) -> Vec<RangeInclusive<u64>> {
    let mut gaps = Vec::new();
    let mut expected = 0;
    for &number in numbers {
        if number > expected {
            gaps.push(expected..=number - 1);
        }
        expected = number.saturating_add(1);
    }
    gaps
}

/// `NAME_7` as `NAME` and 7.
fn number_behind(name: &str) -> Option<(&str, u64)> {
    let (rest, digits) = name.rsplit_once('_')?;
    let number: u64 = digits.parse().ok()?;
    // No tracer writes `+7` or `07`.
    (number.to_string() == digits).then_some((rest, number))
}

/// The processor that the name of a file ends with.
pub(super) fn processors_in_name(path: &Path) -> Vec<RangeInclusive<u64>> {
    let name = path.file_name().and_then(|name| name.to_str());
    let found = name.and_then(number_behind);
    found
        .map(|(_, number)| number..=number)
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_larger_numbers_leave_out() {
        let gaps_of = |numbers: &[u64]| gaps(&numbers.iter().copied().collect());
        assert_eq!(gaps_of(&[]), []);
        assert_eq!(gaps_of(&[0, 1, 2]), []);
        assert_eq!(gaps_of(&[1]), [0..=0]);
        assert_eq!(gaps_of(&[0, 3, 4, 6]), [1..=2, 5..=5]);
        assert_eq!(gaps_of(&[u64::MAX]), [0..=u64::MAX - 1]);
    }

    #[test]
    fn a_file_belongs_to_the_channel_that_its_name_begins_with() {
        let processor = |path, naming: FileNaming| {
            let (channel, processor) = naming.split(Path::new(path))?;
            (channel == "ros2").then_some(processor)
        };
        assert_eq!(processor("ros2_12", FileNaming::Processor), Some(12));
        assert_eq!(processor("ros2_1_12", FileNaming::Processor), None);
        assert_eq!(processor("other_1", FileNaming::Processor), None);
        assert_eq!(
            processor("ros2_1_12", FileNaming::ProcessorAndPart),
            Some(1)
        );
        assert_eq!(processor("ros2_1", FileNaming::ProcessorAndPart), None);
    }
}
