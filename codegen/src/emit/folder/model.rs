//! The model passed to templates: the layout, and facts that they would otherwise have to compute.

use std::collections::BTreeSet;

use atf_spec::grammar::Grammar;
use atf_spec::layout::{Field, Layout, Record, Value as Constant, Wire};
use atf_spec::model::{JsonType, ManifestField, ManifestFile};
use atf_spec::schema;
use serde_json::{Map, Value, json};

use crate::GENERATED;

/// Returns the model: `layout.json` with additions. Each field has its `key`, `size`, and the
/// `scalar`, `width` and `count` of its type; `record` and `enum` have records and enumerations by
/// name; and each grammar has the records by `role`, and the `places` of the fields that it reads;
/// `manifest` has the objects of manifest.json. A key that `layout.json` omits is null or empty.
pub(super) fn model(layout: &Layout, manifest: &ManifestFile) -> Value {
    let mut model = serde_json::to_value(layout).expect("the layout is plain data");
    let records: Vec<_> = layout.records.iter().map(record).collect();
    let by_name = |list: &[Value]| {
        let pair = |each: &Value| Some((each["name"].as_str()?.to_owned(), each.clone()));
        list.iter().filter_map(pair).collect::<Map<_, _>>()
    };
    let enums = model["enums"].as_array().cloned().unwrap_or_default();
    let grammars = layout.grammars.iter().map(|own| grammar(layout, own));
    let grammars: Vec<_> = grammars.collect();
    model["record"] = by_name(&records).into();
    model["records"] = records.into();
    model["enum"] = by_name(&enums).into();
    model["grammar"] = by_name(&grammars).into();
    model["grammars"] = grammars.into();
    model["manifest"] = objects(manifest);
    model["generated"] = GENERATED.into();
    model["version"] = env!("CARGO_PKG_VERSION").into();
    model
}

fn record(record: &Record) -> Value {
    let mut value = serde_json::to_value(record).expect("a record is plain data");
    // The fields of all wire versions, each once, in the order of the first that has it.
    let (mut keys, mut all) = (BTreeSet::new(), Vec::new());
    for (layout, own) in record.layouts.iter().enumerate() {
        for (index, field) in own.fields.iter().enumerate() {
            let key = field.key();
            let layouts = record.layouts.iter();
            let in_each = layouts.filter_map(|own| Some((own.wire, own.field_known_as(key)?)));
            let in_each: Vec<(Wire, &Field)> = in_each.collect();
            let is_in_every_wire = in_each.len() == record.layouts.len();
            let is_alike = |own: &Field| (own.offset, own.ty) == (field.offset, field.ty);
            let is_same = is_in_every_wire && in_each.iter().all(|(_, own)| is_alike(own));
            let wires: Vec<Wire> = in_each.iter().map(|(wire, _)| *wire).collect();
            let place = &mut value["layouts"][layout]["fields"][index];
            place["key"] = key.into();
            place["size"] = field.ty.size().into();
            place["scalar"] = field.ty.scalar.name().into();
            place["width"] = field.ty.scalar.size().into();
            place["count"] = field.ty.count.into();
            place["reserved"] = field.reserved.into();
            place["is_in_every_wire"] = is_in_every_wire.into();
            place["wires"] = wires.into();
            place["is_same_in_every_wire"] = is_same.into();
            fill(place, &["units", "enum", "value", "max", "none"]);
            if keys.insert(key) {
                let widths = in_each.iter().map(|(_, own)| own.ty.scalar.size());
                let mut field = place.clone();
                field["widest"] = widths.max().into();
                let mut values = in_each.iter().map(|(_, own)| json!(own.value));
                if values.any(|value| value != field["value"]) {
                    field["value"] = Value::Null;
                }
                all.push(field);
            }
        }
    }
    value["fields"] = all.into();
    value
}

fn grammar(layout: &Layout, grammar: &Grammar) -> Value {
    let mut value = serde_json::to_value(grammar).expect("a grammar is plain data");
    for (index, function) in grammar.functions.iter().enumerate() {
        value["functions"][index]["lets"] = json!(function.lets);
    }
    for step in value["reading"].as_array_mut().into_iter().flatten() {
        fill(step, &["requires", "value", "wire", "at"]);
    }
    let roles = grammar.records.iter();
    let roles = roles.map(|role| (role.role.clone(), Value::from(role.record.clone())));
    value["role"] = roles.collect::<Map<_, _>>().into();
    let mut used = BTreeSet::new();
    fields(&value["reading"], &mut used);
    fields(&value["functions"], &mut used);
    let place = |(role, name): &(String, String)| {
        let record = grammar.records.iter().find(|own| own.role == *role)?;
        let record = layout.record(&record.record)?;
        let wires = record.layouts.iter().map(|own| {
            let field = own.field_known_as(name);
            json!({
                "wire": own.wire,
                "offset": field.map_or(0, |field| field.offset),
                "width": field.map_or(0, |field| field.ty.size().min(8)),
                "value": field.and_then(constant).unwrap_or(0),
            })
        });
        Some(json!({
            "name": format!("{role}_{}", name.trim_start_matches('_')),
            "record": record.name,
            "field": name,
            "wires": wires.collect::<Vec<_>>(),
        }))
    };
    value["places"] = used.iter().filter_map(place).collect();
    value
}

/// Returns the objects of manifest.json, starting with the one that describes the whole file. Each
/// has its `name`, `doc` and `fields`; each field has its `name`, `doc`, `type`, `is_required`,
/// `is_hex`, `minimum` and `maximum`, and `of`, the object that it or its list contains.
fn objects(manifest: &ManifestFile) -> Value {
    let field = |field: &ManifestField| {
        let schema = schema::of_key(field);
        json!({
            "name": field.name,
            "doc": field.means,
            "type": schema["type"].as_str().unwrap_or("object"),
            "of": field.of,
            "minimum": schema["minimum"],
            "maximum": schema["maximum"],
            "is_hex": field.ty.value == JsonType::Hex,
            "is_required": field.required,
        })
    };
    let objects = manifest.objects.iter().enumerate();
    let objects = objects.map(|(position, object)| {
        let (name, doc) = if position == 0 {
            ("manifest", &manifest.means)
        } else {
            (object.object.as_str(), &object.means)
        };
        let fields: Vec<_> = object.fields.iter().map(field).collect();
        json!({ "name": name, "doc": doc, "fields": fields })
    });
    objects.collect()
}

/// Sets missing members to null.
fn fill(value: &mut Value, keys: &[&str]) {
    for key in keys {
        let member = value.as_object_mut().map(|members| members.entry(*key));
        let _ = member.map(|member| member.or_insert(Value::Null));
    }
}

/// Returns a field's only valid value as a little-endian number.
fn constant(field: &Field) -> Option<u64> {
    match field.value.as_ref()? {
        Constant::Number(value) => Some(*value),
        Constant::Text(text) => {
            let bytes = text.bytes().take(8).enumerate();
            Some(bytes.fold(0, |value, (index, byte)| {
                value | u64::from(byte) << (8 * index)
            }))
        }
    }
}

/// Adds the roles and names of the fields that steps, functions and their expressions read.
fn fields(value: &Value, used: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Object(members) => {
            let text = |key: &str| members.get(key).and_then(Value::as_str);
            if let (Some(role), Some(field)) = (text("role"), text("field")) {
                used.insert((role.to_owned(), field.to_owned()));
            }
            members.values().for_each(|member| fields(member, used));
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, used)),
        _ => {}
    }
}
