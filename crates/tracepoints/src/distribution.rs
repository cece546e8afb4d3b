//! The releases of ROS 2 that matter to traces, and how a process tells which one it is.

use std::fmt;
use std::str::FromStr;

/// A release of ROS 2, the oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Distribution {
    Foxy,
    Galactic,
    Humble,
    Iron,
    Jazzy,
    Kilted,
    Lyrical,
    /// The one that is never finished; a snapshot of it is newer than all others.
    Rolling,
}

/// No distribution of ROS 2 that we know is called so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDistribution(String);

/// The last version of tracetools that belongs to each distribution but the last. Development versions belong to the
/// distribution that they were made for.
const LAST_VERSIONS: &[(Distribution, (u32, u32))] = &[
    (Distribution::Foxy, (1, u32::MAX)),
    (Distribution::Galactic, (2, u32::MAX)),
    (Distribution::Humble, (4, u32::MAX)),
    (Distribution::Iron, (6, u32::MAX)),
    (Distribution::Jazzy, (8, 2)),
    (Distribution::Kilted, (8, 6)),
    (Distribution::Lyrical, (8, u32::MAX)),
];

/// The distribution that a version of the package tracetools belongs to, as `ros2:rcl_init` says it.
///
/// None for texts that are no version, and for releases before Foxy.
pub fn distribution(version: &str) -> Option<Distribution> {
    let mut numbers = version.trim().split('.');
    let major: u32 = numbers.next()?.parse().ok()?;
    let minor: u32 = numbers.next()?.parse().ok()?;
    if major == 0 {
        return None;
    }
    let found = LAST_VERSIONS
        .iter()
        .find(|(_, last)| (major, minor) <= *last);
    Some(found.map_or(Distribution::Rolling, |(distribution, _)| *distribution))
}

impl Distribution {
    pub const ALL: &'static [Distribution] = &[
        Distribution::Foxy,
        Distribution::Galactic,
        Distribution::Humble,
        Distribution::Iron,
        Distribution::Jazzy,
        Distribution::Kilted,
        Distribution::Lyrical,
        Distribution::Rolling,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Distribution::Foxy => "Foxy",
            Distribution::Galactic => "Galactic",
            Distribution::Humble => "Humble",
            Distribution::Iron => "Iron",
            Distribution::Jazzy => "Jazzy",
            Distribution::Kilted => "Kilted",
            Distribution::Lyrical => "Lyrical",
            Distribution::Rolling => "Rolling",
        }
    }
}

/// From the value of `ROS_DISTRO`, which is also what `caret_init` carries.
impl FromStr for Distribution {
    type Err = UnknownDistribution;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Distribution::ALL
            .iter()
            .copied()
            .find(|distribution| distribution.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| UnknownDistribution(text.to_owned()))
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for UnknownDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no distribution of ROS 2 that we know.", self.0)
    }
}

impl std::error::Error for UnknownDistribution {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_tracetools_names_the_distribution() {
        for (version, expected) in [
            ("1.0.5", Distribution::Foxy),
            ("2.3.0", Distribution::Galactic),
            ("4.1.1", Distribution::Humble),
            ("6.3.2", Distribution::Iron),
            ("8.2.4", Distribution::Jazzy),
            ("8.6.0", Distribution::Kilted),
            ("8.10.1", Distribution::Lyrical),
            ("9.0.0", Distribution::Rolling),
        ] {
            assert_eq!(distribution(version), Some(expected), "{version}");
        }
    }

    #[test]
    fn a_development_version_belongs_to_the_distribution_it_was_made_for() {
        for (version, expected) in [
            ("3.1.0", Distribution::Humble),
            ("7.1.0", Distribution::Jazzy),
            ("8.4.0", Distribution::Kilted),
            ("8.9.0", Distribution::Lyrical),
        ] {
            assert_eq!(distribution(version), Some(expected), "{version}");
        }
    }

    #[test]
    fn what_is_no_version_names_no_distribution() {
        for text in ["", "(null)", "8", "8.x", "0.2.11", "-1.0.0"] {
            assert_eq!(distribution(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_value_of_ros_distro_is_read() {
        assert_eq!("jazzy".parse(), Ok(Distribution::Jazzy));
        assert_eq!("Rolling".parse(), Ok(Distribution::Rolling));
        let error = "NOTFOUND".parse::<Distribution>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`NOTFOUND` is no distribution of ROS 2 that we know."
        );
    }

    #[test]
    fn distributions_are_ordered_by_age() {
        assert!(Distribution::ALL.is_sorted());
        assert!(Distribution::Humble < Distribution::Jazzy);
    }
}
