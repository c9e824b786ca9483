//! Checks the session's entries and the manifest's objects.

use super::names::{Unique, identifier};
use super::sources_exist;
use crate::diagnostic::Diagnostic;
use crate::layout::Scalar;
use crate::load::Spec;
use crate::model::{JsonType, ManifestField};
use crate::resolve::resolve;
use crate::yaml::At;

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    entries(spec, faults);
    objects(spec, faults);
}

fn entries(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut paths = Unique::new("entry");
    for entry in &spec.session.entries {
        paths.add(&entry.path, faults);
        sources_exist(spec, &entry.claims, faults);
    }
}

fn objects(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let objects = &spec.manifest.objects;
    let is_object = |name: &At<String>| objects.iter().any(|o| o.object.value == name.value);
    let mut names = Unique::new("object");
    for object in objects {
        names.add(&object.object, faults);
        identifier("an object", &object.object, faults);
        let mut fields = Unique::new("field");
        for field in &object.fields {
            fields.add(&field.name, faults);
            identifier("a key", &field.name, faults);
            match &field.enumeration {
                Some(name) if spec.enumeration(name).is_some() => fits(spec, field, name, faults),
                Some(name) => {
                    faults.push(name.fault(format!("there is no enumeration `{name}`")));
                }
                None => {}
            }
            let takes_object = matches!(field.ty.value, JsonType::List | JsonType::Object);
            match &field.of {
                None if takes_object => {
                    let why = format!("`{}` does not name its object", field.name);
                    let fault = field.name.fault(why);
                    faults.push(fault.help("add `of: OBJECT`, an object of this file"));
                }
                Some(of) if !takes_object => {
                    let why = format!("`{}` is neither a list nor an object", field.name);
                    faults.push(of.fault(why).help("delete `of`"));
                }
                Some(of) if !is_object(of) => {
                    faults.push(of.fault(format!("there is no object `{of}` in this file")));
                }
                _ => {}
            }
        }
    }
}

/// Checks that an enumeration can represent every value of a key.
fn fits(spec: &Spec, field: &ManifestField, name: &At<String>, faults: &mut Vec<Diagnostic>) {
    let scalar = match field.ty.value {
        JsonType::U8 => Scalar::U8,
        JsonType::U32 => Scalar::U32,
        JsonType::U64 => Scalar::U64,
        _ => {
            let why = "only u8, u32 and u64 can have an enumeration";
            faults.push(name.fault(why).related(field.ty.place, "the type"));
            return;
        }
    };
    let widest = resolve(spec).scalar_of(name);
    if scalar > widest {
        let (ty, widest) = (scalar.name(), widest.name());
        let why =
            format!("{ty} does not fit in the enumeration `{name}`, which has the type {widest}");
        faults.push(field.ty.fault(why));
    }
}
