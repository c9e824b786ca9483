//! Serializes this crate's types as JSON, without a procedural-macro crate that every user would
//! have to build.

/// Implements `Serialize` for structs: all fields are written in the given order, under their own
/// names or under the names after `as`. A field is omitted if the function after `unless` returns
/// true.
macro_rules! objects {
    ($($type:ty { $($field:ident $(as $name:literal)? $(unless $is_absent:path)?),* $(,)? })*) => {$(
        impl $type {
            /// Adds this value's members to `object`.
            pub(crate) fn serialize_members<M: serde_core::ser::SerializeMap>(
                &self,
                object: &mut M,
            ) -> Result<(), M::Error> {
                let Self { $($field),* } = self;
                $($(if !$is_absent($field))? {
                    let [name, ..] = [$($name,)? stringify!($field)];
                    object.serialize_entry(name, $field)?;
                })*
                Ok(())
            }
        }

        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut object = serializer.serialize_map(None)?;
                self.serialize_members(&mut object)?;
                serde_core::ser::SerializeMap::end(object)
            }
        }
    )*};
}

/// Implements `name` and `Serialize` for enums: both use the variant's name.
macro_rules! names {
    ($($vis:vis $type:ty { $($variant:ident = $name:literal),* $(,)? })*) => {$(
        impl $type {
            /// Returns the variant's name.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }
        }

        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    )*};
}

pub(crate) use {names, objects};
