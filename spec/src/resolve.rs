//! Builds the resolved layout from a consistent spec, in which nothing is left to decide.

use crate::grammar::Grammar;
use crate::layout::{
    Constant, ConstantValue, Enum, Field, Layout, Member, Record, RecordLayout, SourceDocument,
    Type, Value, Wire,
};
use crate::load::Spec;
use crate::model::{ConstantSpec, EnumSpec, FieldSpec, MemberSpec, RecordSpec, SourceFile};
use crate::yaml::At;

/// Returns the resolved layout.
#[must_use]
pub fn resolve(spec: &Spec) -> Layout {
    let document = |source: &SourceFile| SourceDocument {
        id: source.source.value.clone(),
        title: source.title.clone(),
        wire: source.wire.value,
    };
    let (constants, records) = (spec.constants.constants.iter(), spec.records.iter());
    Layout {
        wires: spec.wires().collect(),
        sources: spec.sources.iter().map(document).collect(),
        constants: constants.map(|named| constant(spec, named)).collect(),
        enums: spec.enums.enums.iter().map(enumeration).collect(),
        records: records.map(|known| record(spec, known)).collect(),
        grammars: grammars(spec),
        inputs: std::collections::BTreeMap::new(),
    }
}

fn grammars(spec: &Spec) -> Vec<Grammar> {
    let grammar = |file| crate::expression::grammar(spec, file, &mut Vec::new());
    let mut grammars: Vec<Grammar> = spec.grammars.iter().map(grammar).collect();
    let order = |grammar: &Grammar| {
        let header = &grammar.records.first()?.record;
        let mut records = spec.records.iter();
        records.position(|record| record.record.value == *header)
    };
    grammars.sort_by_key(order);
    grammars
}

fn record(spec: &Spec, record: &RecordSpec) -> Record {
    let layout = |wire| {
        let fields = record.fields_in(wire).into_iter();
        let fields = fields.map(|(known, offset, ty)| field(known, wire, offset.value, ty.value));
        RecordLayout {
            wire,
            fields: fields.collect(),
        }
    };
    Record {
        name: record.record.value.clone(),
        c_name: record.c_name.value.clone(),
        title: record.title.clone(),
        file: record.file.value.clone(),
        doc: record.means.clone(),
        size: record.size.value,
        followed_by: record.followed_by.clone(),
        layouts: spec.wires().map(layout).collect(),
    }
}

fn field(field: &FieldSpec, wire: Wire, offset: u32, ty: Type) -> Field {
    Field {
        name: field.name_in(wire).to_owned(),
        known_as: Some(field.name.value.clone()).filter(|name| name != field.name_in(wire)),
        offset,
        ty,
        doc: field.means.clone(),
        units: field.units.clone(),
        constraints: field.constraints.clone(),
        reserved: field.reserved,
        enumeration: field.enumeration.as_ref().map(|name| name.value.clone()),
        value: field.value_in(wire).map(|value| value.value.clone()),
        max: field.max.map(|max| max.value),
        none: field.none_in(wire).map(|none| none.value),
        sources: ids(&field.claims),
    }
}

fn enumeration(enumeration: &EnumSpec) -> Enum {
    let member = |member: &MemberSpec| Member {
        name: member.name.value.clone(),
        value: member.value.value,
        effect: member.effect,
        doc: member.means.clone(),
        sources: ids(&member.claims),
    };
    Enum {
        name: enumeration.name.value.clone(),
        c_prefix: enumeration.c_prefix.value.clone(),
        doc: enumeration.means.clone(),
        flags: enumeration.flags,
        members: enumeration.members.iter().map(member).collect(),
    }
}

fn constant(spec: &Spec, constant: &ConstantSpec) -> Constant {
    let named = spec.named_by(constant);
    let value = |wire| {
        let (field, property) = named?;
        let value = match (property, field.value_in(wire).map(|value| &value.value)) {
            ("none", _) => field.none_in(wire)?.value,
            (_, Some(Value::Number(number))) => *number,
            _ => return None,
        };
        Some(ConstantValue {
            wire,
            scalar: field.place_in(wire)?.1.scalar,
            value,
        })
    };
    Constant {
        name: constant.constant.value.clone(),
        doc: constant.means.clone(),
        sources: named.map_or_else(Vec::new, |(field, _)| ids(&field.claims)),
        values: spec.wires().filter_map(value).collect(),
    }
}

fn ids(claims: &[At<String>]) -> Vec<String> {
    claims.iter().map(|id| id.value.clone()).collect()
}
