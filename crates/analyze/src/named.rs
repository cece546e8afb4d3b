//! Enums whose variants have names: those of tables, files and JSON.

/// Declares an enum with the name of each variant, as `name()` returns it, and `EVERY` with all of them in their order.
macro_rules! named {
    ($(#[$about:meta])* pub enum $type:ident { $($(#[$of:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        pub enum $type { $($(#[$of])* $variant,)+ }

        impl $type {
            pub const EVERY: [$type; [$($name),+].len()] = [$($type::$variant),+];

            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }
        }
    };
}
