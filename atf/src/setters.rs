//! Builder methods for types that may gain fields.

/// Defines a struct with a setter for each field: `Type::default().field(value)`.
#[doc(hidden)]
#[macro_export]
macro_rules! with_setters {
    ($(#[$meta:meta])* pub struct $type:ident $(<$life:lifetime>)? {
        $($(#[$doc:meta])* $visible:vis $field:ident: $of:ty,)*
    }) => {
        $(#[$meta])*
        pub struct $type $(<$life>)? {
            $($(#[$doc])* $visible $field: $of,)*
        }

        impl $(<$life>)? $type $(<$life>)? {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.\n")]
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, $field: $of) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}
