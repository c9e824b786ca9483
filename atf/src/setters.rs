//! Builder methods for types that may gain fields.

/// Implements a setter for each field: `Type::default().field(value)`.
macro_rules! setters {
    ($type:ident $(<$life:lifetime>)? { $($field:ident: $of:ty),* $(,)? }) => {
        impl $(<$life>)? $type $(<$life>)? {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $of) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

pub(crate) use setters;
