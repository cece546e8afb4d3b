//! What depends on the version of ROS 2: facts about the package tracetools.

/// Of the package, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TracetoolsVersion {
    pub major: u32,
    pub minor: u32,
}

impl TracetoolsVersion {
    /// Of a text like `8.2.4`; what is not a number counts as 0.
    pub fn parse(text: &[u8]) -> TracetoolsVersion {
        let mut numbers = text
            .split(|byte| *byte == b'.')
            .map(|number| std::str::from_utf8(number).ok()?.parse().ok());
        let mut next = || numbers.next().flatten().unwrap_or(0);
        TracetoolsVersion {
            major: next(),
            minor: next(),
        }
    }

    fn is_at_least(self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }

    /// From Jazzy on `rmw_publish` has publisher, message and source timestamp.
    pub fn stamps_publications(self) -> bool {
        self.is_at_least(7, 0)
    }

    /// Only Humble has gids of 24 bytes; Iron and Jazzy claim so, but have 16.
    pub fn gid_bytes(self) -> usize {
        if self.is_at_least(5, 0) { 16 } else { 24 }
    }

    /// From Kilted on the middleware has tracepoints for requests and responses; 8.3 and 8.4 of Rolling before it do not.
    pub fn traces_services(self) -> bool {
        self.is_at_least(8, 5)
    }

    /// Up to Humble a symbol that cannot be resolved is a text, later it is null.
    pub fn has_unknown_symbols(self) -> bool {
        !self.is_at_least(5, 0)
    }
}
