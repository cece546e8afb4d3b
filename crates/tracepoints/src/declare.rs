//! The macro behind the table, and what it computes at compile time.
//!
//! A block declares one [`Kind`](crate::Kind); everything else is made from it:
//!
//! ```text
//! /// One sentence: what it means that this event happened.
//! RclTake = rcl_take: Run, Rcl, Take {                        kind = module of its field indices: phase, layer, family if any
//!     "ros2:rcl_take" since "Humble", Chatty;                 where it is found, and attributes; as many lines as needed
//!
//!     MESSAGE: Pointer = "The message.";                      fields, in the order of the recording
//!     TIMESTAMP: Signed only Versions("Jazzy and later") = "…";
//!     PID: Signed also "vpid" = "…";                          other spellings
//! }
//! ```
//!
//! Blocks live in the files of `table/`. Each file is a macro that appends its blocks to those before it and
//! hands them to the next; the last in the row is [`declare`], so the kinds become one enum.

use crate::{Field, Presence};

macro_rules! declare {
    ({ $(
        #[doc = $summary:literal]
        $kind:ident = $module:ident: $phase:ident, $layer:ident $(, $family:ident)? {
            $( $full_name:literal since $since:literal $(until $until:literal)? $(, $attribute:ident $(($argument:literal))?)*; )+
            $(
                $field:ident: $field_kind:ident
                $(also $also:literal)* $(only $presence:ident($text:literal))? = $meaning:literal;
            )*
        }
    )* }) => {
        /// Every kind of event that we know the meaning of, whoever declares it.
        #[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum Kind {
            $( #[doc = $summary] $kind, )*
        }

        impl Kind {
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];

            /// The union over providers and versions, in a fixed order. The constants in [`field`] are
            /// indices into it.
            pub const fn fields(self) -> &'static [Field] {
                match self {
                    $( Kind::$kind => field::$module::FIELDS, )*
                }
            }

            pub const fn phase(self) -> Phase {
                match self {
                    $( Kind::$kind => Phase::$phase, )*
                }
            }

            pub const fn layer(self) -> Layer {
                match self {
                    $( Kind::$kind => Layer::$layer, )*
                }
            }

            pub const fn family(self) -> Option<Family> {
                match self {
                    $( Kind::$kind => declare::or!($(Some(Family::$family))?, None), )*
                }
            }
        }

        /// Per kind the indices of its fields: `field::rcl_publish::MESSAGE`.
        pub mod field {
            $(
                #[doc = concat!("Fields of [`Kind::", stringify!($kind), "`](crate::Kind::", stringify!($kind), ").")]
                pub mod $module {
                    use crate::Field;

                    #[allow(dead_code, non_camel_case_types, clippy::upper_case_acronyms)]
                    enum Index { $($field),* }

                    $( #[doc = $meaning] pub const $field: usize = Index::$field as usize; )*

                    /// In the order of the indices.
                    pub const FIELDS: &[Field] = &[$( Field {
                        name: {
                            const UPPER: &str = stringify!($field);
                            const LOWER: [u8; UPPER.len()] = crate::declare::lower_case(UPPER);
                            crate::declare::text(&LOWER)
                        },
                        also: &[$($also),*],
                        kind: crate::FieldKind::$field_kind,
                        presence: crate::declare::or!(
                            $(crate::Presence::$presence($text))?, crate::Presence::Always
                        ),
                        meaning: $meaning,
                    } ),*];
                }
            )*
        }

        /// All tracepoints, those of one kind beside each other.
        pub static TRACEPOINTS: &[Tracepoint] = &[$($( Tracepoint {
            kind: Kind::$kind,
            full_name: $full_name,
            provider: declare::provider_and_name($full_name).0,
            name: declare::provider_and_name($full_name).1,
            phase: Phase::$phase,
            layer: Layer::$layer,
            fields: {
                const PROVIDER: &str = declare::provider_and_name($full_name).0;
                const FIELDS: &[Field] = field::$module::FIELDS;
                const OWN: [Field; declare::count_of(FIELDS, PROVIDER)] = declare::fields_of(FIELDS, PROVIDER);
                &OWN
            },
            since: $since,
            until: declare::or!($(Some($until))?, None),
            attributes: &[$(Attribute::$attribute $(($argument))?),*],
            summary: declare::sentence($summary),
        }, )+)*];
    };
}

/// The first expression, or the second if the first is not there.
macro_rules! or {
    (, $default:expr) => {
        $default
    };
    ($given:expr, $default:expr) => {
        $given
    };
}

pub(crate) use {declare, or};

/// `ros2:rcl_init` is `ros2` and `rcl_init`; events of the kernel have an empty provider.
pub(crate) const fn provider_and_name(full_name: &'static str) -> (&'static str, &'static str) {
    let bytes = full_name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b':' {
            return (full_name.split_at(at).0, full_name.split_at(at + 1).1);
        }
        at += 1;
    }
    ("", full_name)
}

/// A documentation comment without the space that follows its slashes.
pub(crate) const fn sentence(comment: &'static str) -> &'static str {
    comment.trim_ascii()
}

pub(crate) const fn lower_case<const N: usize>(text: &str) -> [u8; N] {
    let mut lower = [0; N];
    lower.copy_from_slice(text.as_bytes());
    lower.make_ascii_lowercase();
    lower
}

pub(crate) const fn text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("names of fields are ASCII"),
    }
}

/// How many of a kind's fields a provider has.
pub(crate) const fn count_of(fields: &[Field], provider: &str) -> usize {
    let mut count = 0;
    let mut at = 0;
    while at < fields.len() {
        if has(provider, &fields[at]) {
            count += 1;
        }
        at += 1;
    }
    count
}

/// The fields of a kind that a provider has, now without that condition.
pub(crate) const fn fields_of<const N: usize>(fields: &[Field], provider: &str) -> [Field; N] {
    let mut own = [Field {
        name: "",
        also: &[],
        kind: crate::FieldKind::Text,
        presence: Presence::Always,
        meaning: "",
    }; N];
    let mut count = 0;
    let mut at = 0;
    while at < fields.len() {
        if has(provider, &fields[at]) {
            own[count] = fields[at];
            if let Presence::Provider(_) = own[count].presence {
                own[count].presence = Presence::Always;
            }
            count += 1;
        }
        at += 1;
    }
    own
}

const fn has(provider: &str, field: &Field) -> bool {
    match field.presence {
        Presence::Provider(only) => equal(only.as_bytes(), provider.as_bytes()),
        _ => true,
    }
}

/// `==` of slices is not yet allowed in constants.
const fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}
