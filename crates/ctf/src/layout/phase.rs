//! What a compiler knows of a position in the data before there is data: a remainder.

/// What is known of a position: it is `residue` modulo `modulus` (a power of two), in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) modulus: u64,
    pub(super) residue: u64,
}

impl Phase {
    pub(super) const UNKNOWN: Phase = Phase {
        modulus: 1,
        residue: 0,
    };
    pub(super) const BYTE: Phase = Phase::aligned(8);

    pub(super) const fn aligned(modulus: u64) -> Phase {
        Phase {
            modulus,
            residue: 0,
        }
    }

    pub(super) fn plus(self, bits: u64) -> Phase {
        Phase {
            residue: (self.residue + bits % self.modulus) % self.modulus,
            ..self
        }
    }

    /// What is known when it may be either.
    pub(super) fn or(self, other: Phase) -> Phase {
        let mut modulus = self.modulus.min(other.modulus);
        while self.residue % modulus != other.residue % modulus {
            modulus /= 2;
        }
        Phase {
            modulus,
            residue: self.residue % modulus,
        }
    }
}
