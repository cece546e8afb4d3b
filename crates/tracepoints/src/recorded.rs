//! The part of the vocabulary that rostrace's own tracer writes.
//!
//! Tracer and recorder speak of events by their place in this list; the [`vocabulary`] number tells whether both have
//! the same list.

use crate::{Attribute, Field, Presence, TRACEPOINTS, Tracepoint};

/// The events that the tracer can write, in the order of their numbers.
pub fn recorded() -> impl Iterator<Item = &'static Tracepoint> {
    TRACEPOINTS
        .iter()
        .filter(|it| matches!(it.provider, "ros2" | "rostrace") || it.has(Attribute::Recorded))
}

impl Tracepoint {
    /// How the tracer's code calls its number: `ros2:rcl_init` is `RCL_INIT`, events of others begin with their provider.
    pub fn constant(&self) -> String {
        let name = self.name.to_uppercase();
        match self.provider {
            "ros2" => name,
            "ros2_caret" => format!("CARET_{name}"),
            other => format!("{}_{name}", other.to_uppercase()),
        }
    }

    /// The fields that the tracer writes: those of modified versions of ROS 2 only where no other version has the event.
    pub fn recorded_fields(&self) -> impl Iterator<Item = &'static Field> {
        let name = self.name;
        self.fields
            .iter()
            .filter(move |field| match field.presence {
                Presence::Fork(_) => false,
                Presence::Versions(_) => {
                    !(name == "rclcpp_publish" && field.name == "publisher_handle")
                }
                _ => true,
            })
    }
}

/// A number that is the same only for the same list.
pub fn vocabulary() -> u64 {
    // FNV-1a: not for secrets, only to notice that two builds differ.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let bytes = recorded().flat_map(|tracepoint| tracepoint.full_name.bytes().chain([0]));
    for byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tracer_writes_all_events_of_ros_2_and_its_own() {
        let count = |provider: &str| {
            recorded()
                .filter(|event| event.provider == provider)
                .count()
        };
        assert_eq!(
            count("ros2"),
            TRACEPOINTS.iter().filter(|e| e.provider == "ros2").count()
        );
        assert_eq!(count("ros2_caret"), 13);
        assert!(count("rostrace") >= 10);
        assert_ne!(vocabulary(), 0);
    }
}
