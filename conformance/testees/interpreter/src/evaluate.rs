//! Evaluates the expressions of a grammar.

use atf_spec::grammar::{Expression, NOWHERE};
use atf_spec::layout::Field;

use crate::file::File;
use crate::view::constant;

/// The parameters, `let`s and loop variables, with their values.
type Locals<'a> = Vec<(&'a str, u64)>;

impl<'a> File<'a> {
    /// Calls a function of the grammar. Returns 0 if there is no such function.
    #[must_use]
    pub fn call(&self, name: &str, args: &[u64]) -> u64 {
        let mut functions = self.grammar.functions.iter();
        let Some(function) = functions.find(|known| known.name == name) else {
            return 0;
        };
        let names = function.takes.iter().map(|parameter| &*parameter.name);
        let mut locals: Locals<'a> = names.zip(args.iter().copied()).collect();
        for each in &function.lets {
            let value = self.evaluate(&each.is, &mut locals);
            locals.push((&each.value, value));
        }
        self.evaluate(&function.is, &mut locals)
    }

    /// Evaluates an expression without parameters. A truth value is 0 or 1.
    pub(crate) fn number(&self, expression: &'a Expression) -> u64 {
        self.evaluate(expression, &mut Vec::new())
    }

    fn evaluate(&self, expression: &'a Expression, locals: &mut Locals<'a>) -> u64 {
        match expression {
            Expression::Number { value } => *value,
            Expression::Bool { value } => u64::from(*value),
            Expression::Nowhere => NOWHERE,
            Expression::Size => self.bytes.len() as u64,
            Expression::Local { name } => {
                let known = locals.iter().rev().find(|(known, _)| known == name);
                known.map_or(0, |(_, value)| *value)
            }
            Expression::Value { name } => self.value(name),
            Expression::RecordSize { role } => self.size(role),
            Expression::Offset { role, field } => self
                .field(role, field)
                .map_or(0, |field| field.offset.into()),
            Expression::Constant { role, field } => self
                .field(role, field)
                .and_then(constant)
                .map_or(0, bounded),
            Expression::Field { role, field, at } => {
                let at = at.as_ref().map_or(0, |at| self.evaluate(at, locals));
                bounded(self.view(role, at).number(field))
            }
            Expression::IsMember { of, number } => {
                let number = self.evaluate(number, locals);
                let members = self.layout.enumeration(of).into_iter();
                let mut members = members.flat_map(|of| &of.members);
                u64::from(members.any(|member| member.value == number))
            }
            Expression::Arithmetic { name, args } => {
                let [one, other] = self.pair(args, locals);
                arithmetic(name, one, other)
            }
            Expression::Compare { sign, args } => {
                let [one, other] = self.pair(args, locals);
                u64::from(match sign.as_str() {
                    "==" => one == other,
                    "!=" => one != other,
                    "<" => one < other,
                    "<=" => one <= other,
                    ">" => one > other,
                    _ => one >= other,
                })
            }
            Expression::And { args } => {
                u64::from(args.iter().all(|arg| self.evaluate(arg, locals) != 0))
            }
            Expression::Or { args } => {
                u64::from(args.iter().any(|arg| self.evaluate(arg, locals) != 0))
            }
            Expression::Not { arg } => u64::from(self.evaluate(arg, locals) == 0),
            Expression::If {
                condition,
                then,
                otherwise,
            } => match self.evaluate(condition, locals) {
                0 => self.evaluate(otherwise, locals),
                _ => self.evaluate(then, locals),
            },
            Expression::Call { name, args } => {
                let args: Vec<_> = args.iter().map(|arg| self.evaluate(arg, locals)).collect();
                self.call(name, &args)
            }
            Expression::BuiltIn { name, args } => {
                let args: Vec<_> = args.iter().map(|arg| self.evaluate(arg, locals)).collect();
                self.built_in(name, &args)
            }
            Expression::Loop {
                name,
                from,
                variable,
                next,
                until,
            } => {
                let mut at = self.evaluate(from, locals);
                let mut count = 0_u64;
                loop {
                    locals.push((variable, at));
                    let until = until.as_ref();
                    let is_found = until.is_some_and(|until| self.evaluate(until, locals) != 0);
                    let next = self.evaluate(next, locals);
                    locals.pop();
                    if is_found {
                        return at;
                    }
                    if next <= at || next == NOWHERE {
                        break;
                    }
                    at = next;
                    count = count.saturating_add(1);
                }
                match name.as_str() {
                    "first" => NOWHERE,
                    "last" => at,
                    _ => count,
                }
            }
        }
    }

    pub(crate) fn field(&self, role: &str, name: &str) -> Option<&'a Field> {
        self.record_in(role, self.wire)?.field_known_as(name)
    }

    fn pair(&self, args: &'a [Expression], locals: &mut Locals<'a>) -> [u64; 2] {
        let mut args = args.iter();
        [(); 2].map(|()| args.next().map_or(0, |arg| self.evaluate(arg, locals)))
    }

    /// Returns the bytes from one offset up to another, or fewer if the file ends before that.
    pub(crate) fn between(&self, from: u64, to: u64) -> &'a [u8] {
        let inside =
            |at: u64| usize::try_from(at).map_or(self.bytes.len(), |at| at.min(self.bytes.len()));
        self.bytes.get(inside(from)..inside(to)).unwrap_or_default()
    }

    fn built_in(&self, name: &str, args: &[u64]) -> u64 {
        match (name, args) {
            ("is_zero", [from, to]) => {
                u64::from(self.between(*from, *to).iter().all(|byte| *byte == 0))
            }
            ("begins", [from, to, number, width]) => {
                let width = usize::try_from(*width).unwrap_or(usize::MAX);
                let expected = number.to_le_bytes().into_iter().take(width);
                let mut pairs = self.between(*from, *to).iter().zip(expected);
                u64::from(pairs.all(|(byte, expected)| *byte == expected))
            }
            ("same", [one, other, width]) => {
                let bytes = |from: u64| {
                    let bytes = self.between(from, from.saturating_add(*width)).iter();
                    bytes.copied().chain(std::iter::repeat(0))
                };
                let mut pairs = bytes(*one).zip(bytes(*other));
                let width = usize::try_from(*width).unwrap_or(usize::MAX);
                u64::from(pairs.by_ref().take(width).all(|(one, other)| one == other))
            }
            ("data_end", [end]) => {
                let last = self.between(0, *end).iter().rposition(|byte| *byte != 0);
                last.map_or(0, |last| (last as u64).saturating_add(1))
            }
            ("crc32c", [from, to]) => u64::from(crc32c(self.between(*from, *to))),
            ("how_many", truths) => truths.iter().filter(|truth| **truth != 0).count() as u64,
            _ => 0,
        }
    }
}

fn bounded(number: u64) -> u64 {
    number.min(NOWHERE)
}

fn arithmetic(name: &str, one: u64, other: u64) -> u64 {
    bounded(match name {
        "add" => one.saturating_add(other),
        "sub" => one.checked_sub(other).unwrap_or(NOWHERE),
        "mul" => one.saturating_mul(other),
        "div" => one.checked_div(other).unwrap_or(NOWHERE),
        "rem" => one.checked_rem(other).unwrap_or(NOWHERE),
        "min" => one.min(other),
        _ => one.max(other),
    })
}

/// Computes the CRC-32C bit by bit. For "123456789", the result is 0xE3069283.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
            crc = crc >> 1 ^ carry;
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_has_the_check_value_of_crc_32c() {
        assert_eq!(super::crc32c(b"123456789"), 0xe306_9283);
    }
}
