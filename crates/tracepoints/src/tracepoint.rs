//! What is said of a tracepoint: the types of the table's cells.
//!
//! The table itself is in `table/`, one file per layer; `declare` turns it into these values.

use std::fmt;

use crate::Kind;

/// An event as one provider declares it.
///
/// Several tracepoints may mean the same and share their [`Kind`]: `ros2:rcl_init` and `ros2_caret:rcl_init`.
#[derive(Debug, Clone, Copy)]
pub struct Tracepoint {
    pub kind: Kind,
    /// As traces spell it: `ros2:rcl_init`, `sched_switch`. A family ends with `*`.
    pub full_name: &'static str,
    /// The part before the colon; empty for events of the kernel.
    pub provider: &'static str,
    /// The part after the colon.
    pub name: &'static str,
    pub phase: Phase,
    pub layer: Layer,
    /// What this provider records, in its order. A consumer that wants one index for all providers uses
    /// [`Kind::fields`] and the constants in [`field`](crate::field).
    pub fields: &'static [Field],
    /// The first distribution or version that has it.
    pub since: &'static str,
    /// The first distribution or version that no longer emits it.
    pub until: Option<&'static str>,
    pub attributes: &'static [Attribute],
    /// One sentence: what it means that this event happened.
    pub summary: &'static str,
}

/// One value in the payload of a tracepoint.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// As people see it, without the underscore that LTTng prefixes in the metadata.
    pub name: &'static str,
    /// Other spellings in other versions.
    pub also: &'static [&'static str],
    pub kind: FieldKind,
    pub presence: Presence,
    pub meaning: &'static str,
}

/// What a value is. Numbers of `ros2:`, `ros2_caret:` and `agnocast:` have 64 bits and flags 32; those of other
/// providers have any width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// An address in the process, or in the kernel.
    Pointer,
    Unsigned,
    Signed,
    /// 0 or 1.
    Flag,
    Text,
    /// Bytes that identify an endpoint in the middleware.
    Gid,
    /// Any number of addresses.
    Pointers,
    /// Any number of integers.
    Numbers,
    /// Any number of bytes.
    Bytes,
    /// A floating-point number.
    Real,
    /// Any number of floating-point numbers.
    Reals,
    /// Any number of texts.
    Texts,
}

/// When a field is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Presence {
    Always,
    /// Of the providers that share a kind, only this one has it. In [`Tracepoint::fields`] that is no longer a
    /// condition, so this appears in [`Kind::fields`] only.
    Provider(&'static str),
    /// In some versions; the text says which.
    Versions(&'static str),
    /// In a modified ROS 2; the text says which.
    Fork(&'static str),
}

/// When an event happens in the life of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Describes an entity that later events refer to, or declares something about it. Recorders may repeat it.
    Init,
    /// Something happens.
    Run,
}

/// The software that an event speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    Rcl,
    RclLifecycle,
    Rclcpp,
    R2r,
    Rmw,
    Dds,
    /// The application's own code.
    User,
    /// The C library.
    Libc,
    /// rostrace's own tracer, of itself.
    Tracer,
    Caret,
    Agnocast,
    Tilde,
    LttngUst,
    Kernel,
}

/// Events that together allow to know something, whoever emits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    Callbacks,
    Destruction,
    ExecutorPhases,
    /// Executors and callback groups.
    Executors,
    IntraProcess,
    Lifecycle,
    Locks,
    /// What is allocated and freed.
    Memory,
    MessageLinks,
    MessageSizes,
    Publish,
    Scheduling,
    Services,
    SimulatedTime,
    Take,
}

/// What recorders know of a tracepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// Most events of a recording are such, and no latency is computed from them: how executors spend their time, and the two
    /// inner layers of a take. `record --light` leaves them out.
    Chatty,
    /// Our tracer writes it although it is CARET's, because ROS 2 has none for what it says.
    Recorded,
    /// What our tracer does for it is written by hand, since it depends on the version of ROS 2, or another event belongs to it; with the arguments
    /// of its function.
    ByHand(&'static str),
    /// Of initialisation, and true several times for the same first field: all fields together say what it is about. The publisher of
    /// `/rosout`, for example, has a handle on the stack while it is made; that of the next node's can be the same.
    Repeated,
}

/// A source of events: what stands before the colon of their names.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// Empty for the kernel.
    pub name: &'static str,
    pub summary: &'static str,
}

impl Tracepoint {
    pub fn has(&self, attribute: Attribute) -> bool {
        self.attributes.contains(&attribute)
    }

    /// The arguments of its function, if what is done there is written by hand.
    pub fn by_hand(&self) -> Option<&'static str> {
        self.attributes.iter().find_map(|it| match it {
            Attribute::ByHand(arguments) => Some(*arguments),
            _ => None,
        })
    }

    /// What stands for the `*` of a family: `futex` in `syscall_entry_futex`. None if the name is not of this
    /// family, or this is no family.
    pub fn member<'name>(&self, full_name: &'name str) -> Option<&'name str> {
        full_name.strip_prefix(self.full_name.strip_suffix('*')?)
    }
}

impl Field {
    pub fn is_named(&self, name: &str) -> bool {
        self.names().any(|spelling| spelling == name)
    }

    /// All spellings, the usual one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }
}

impl fmt::Display for Tracepoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.full_name)
    }
}

/// As the documents say it.
impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FieldKind::Pointer => "pointer",
            FieldKind::Unsigned => "unsigned",
            FieldKind::Signed => "signed",
            FieldKind::Flag => "flag",
            FieldKind::Text => "text",
            FieldKind::Gid => "gid",
            FieldKind::Pointers => "pointers",
            FieldKind::Numbers => "numbers",
            FieldKind::Bytes => "bytes",
            FieldKind::Real => "real",
            FieldKind::Reals => "reals",
            FieldKind::Texts => "texts",
        })
    }
}

/// As the documents say it.
impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Presence::Always => f.write_str("always"),
            Presence::Provider(provider) => write!(f, "only in `{provider}:`"),
            Presence::Versions(text) | Presence::Fork(text) => f.write_str(text),
        }
    }
}

/// As the documents say it.
impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Rcl => "rcl",
            Layer::RclLifecycle => "rcl_lifecycle",
            Layer::Rclcpp => "rclcpp",
            Layer::R2r => "r2r",
            Layer::Rmw => "rmw",
            Layer::Dds => "DDS",
            Layer::User => "application",
            Layer::Libc => "C library",
            Layer::Tracer => "tracer",
            Layer::Caret => "CARET",
            Layer::Agnocast => "Agnocast",
            Layer::Tilde => "TILDE",
            Layer::LttngUst => "LTTng-UST",
            Layer::Kernel => "Linux",
        })
    }
}

/// As the documents say it.
impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Init => "init",
            Phase::Run => "run",
        })
    }
}
