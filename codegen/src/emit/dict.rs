//! The fuzzers' dictionary: values that random mutation would take a long time to find.

use std::collections::BTreeMap;

use atf_spec::layout::{Layout, Value};

use crate::{GENERATED, GeneratedFile};

/// Emits `fuzz/atf.dict`: fixed values of fields, constants and record sizes as encoded in files,
/// and the members of enumerations.
#[must_use]
pub fn dictionary(layout: &Layout) -> GeneratedFile {
    // Entries are keyed by their bytes, so that each value appears once, under its first name.
    let mut entries: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    let mut add = |name: String, bytes: Vec<u8>| {
        // Random mutation finds single bytes quickly anyway.
        if bytes.len() > 1 {
            entries.entry(bytes).or_insert(name);
        }
    };
    for record in &layout.records {
        let wide = u64::from(record.size).to_le_bytes();
        add(format!("{}_size", record.name), wide.to_vec());
        for layout in &record.layouts {
            for field in &layout.fields {
                let name = format!("{}_{}", record.name, field.name);
                match &field.value {
                    Some(Value::Text(text)) => add(name, text.as_bytes().to_vec()),
                    Some(Value::Number(number)) => add(name, number_of(*number, field.ty.size())),
                    None => {}
                }
                for (word, limit) in [("max", field.max), ("none", field.none)] {
                    if let Some(limit) = limit {
                        let name = format!("{}_{}_{word}", record.name, field.name);
                        add(name, number_of(limit, field.ty.size()));
                    }
                }
            }
        }
    }
    for constant in &layout.constants {
        for value in &constant.values {
            let name = format!("{}_v{}", constant.name.to_lowercase(), value.wire);
            add(name, number_of(value.value, value.scalar.size()));
        }
    }
    for enumeration in &layout.enums {
        for member in &enumeration.members {
            let name = format!("{}_{}", enumeration.name, member.name);
            add(name, number_of(member.value, 4));
        }
    }
    let mut text = format!("# {GENERATED}\n");
    for (bytes, name) in &entries {
        let quoted: String = bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect();
        text += &format!("{name}=\"{quoted}\"\n");
    }
    GeneratedFile::new("fuzz/atf.dict", text)
}

/// Returns the first `size` bytes of a number in little-endian order.
fn number_of(number: u64, size: u32) -> Vec<u8> {
    let bytes = number.to_le_bytes();
    let size = usize::try_from(size).unwrap_or(bytes.len());
    bytes.into_iter().take(size).collect()
}
