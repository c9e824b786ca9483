//! JSON Schemas of types that serde does not derive.

/// Defines the JSON Schema of a type. A schema that uses the type contains it.
macro_rules! inline_schema {
    ($type:ident, $schema:tt) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}
pub(crate) use inline_schema;

/// Defines the JSON Schema of a generic type as that of another type.
macro_rules! schema_of {
    ($type:ident<$of:ident> is $other:ty) => {
        impl<$of: schemars::JsonSchema> schemars::JsonSchema for $type<$of> {
            fn inline_schema() -> bool {
                <$other as schemars::JsonSchema>::inline_schema()
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$other as schemars::JsonSchema>::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$other as schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
}
pub(crate) use schema_of;
