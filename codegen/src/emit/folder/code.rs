//! The filter `code`: an expression of a grammar in a target's language.
//!
//! Its argument `syntax` contains the language's pattern for each form. `{}` and names in braces
//! are placeholders for parts. `docs/targets.md` describes the forms.

use std::collections::BTreeMap;

use atf_spec::grammar::Expression;
use minijinja::{Error, ErrorKind, Value};

use super::{camel, pascal};

/// The forms of expressions, which a template's `syntax` can define: the keys in `syntax`, and the
/// patterns for templates that do not define them.
pub const FORMS: &[(&str, &str)] = &[
    ("case", "snake"),
    ("reserved", ""),
    ("number", "{}"),
    ("true", "true"),
    ("false", "false"),
    ("nowhere", "NOWHERE"),
    ("size", "size"),
    ("value", "{}"),
    ("record_size", "{}_SIZE"),
    ("offset", "{}.offset"),
    ("constant", "{}.value"),
    ("field", "read({at}, {place})"),
    ("is_member", "{enum}.has({number})"),
    ("arithmetic", "{name}({a}, {b})"),
    ("==", "=="),
    ("!=", "!="),
    ("and", "&&"),
    ("or", "||"),
    ("not", "!"),
    ("operator_first", "yes"),
    ("open", ""),
    ("close", ""),
    ("if", "{condition} ? {then} : {otherwise}"),
    ("call", "{name}({args})"),
    ("built_in", "{name}({args})"),
    (
        "first",
        "first({from}, {variable} => {next}, {variable} => {until})",
    ),
    ("last", "last({from}, {variable} => {next})"),
    ("count", "count({from}, {variable} => {next})"),
];

/// The length above which a line is broken.
const COLUMNS: usize = 100;

/// How tightly a form binds its operands, from loose to tight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    If,
    Or,
    And,
    Compare,
    Tight,
}

/// Reads an expression of the model.
pub(super) fn expression(value: &Value) -> Result<Expression, Error> {
    let json = serde_json::to_value(value).map_err(|error| invalid(&error))?;
    serde_json::from_value(json).map_err(|_| invalid(&"not an expression of a grammar"))
}

fn invalid(why: &impl ToString) -> Error {
    Error::new(ErrorKind::InvalidOperation, why.to_string())
}

/// Writes an expression in the language that `syntax` describes. A condition that is too long for
/// its line, which is indented by `indent`, is split into lines.
pub(super) fn code(value: &Value, syntax: &Value, indent: usize) -> Result<String, Error> {
    let expression = expression(value)?;
    let known = |(form, default): &(&str, &str)| ((*form).to_owned(), (*default).to_owned());
    let mut patterns: BTreeMap<String, String> = FORMS.iter().map(known).collect();
    let own = serde_json::to_value(syntax).map_err(|error| invalid(&error))?;
    let own: BTreeMap<String, String> =
        serde_json::from_value(own).map_err(|error| invalid(&error))?;
    for (form, pattern) in own {
        if patterns.insert(form.clone(), pattern).is_none() {
            return Err(invalid(&format!("an expression has no form `{form}`")));
        }
    }
    let syntax = Syntax { patterns };
    let (flat, _) = syntax.write(&expression);
    if flat.len() + indent <= COLUMNS {
        return Ok(flat);
    }
    Ok(match &expression {
        Expression::And { args } => syntax.broken(args, "and", Binds::And, indent),
        Expression::Or { args } => syntax.broken(args, "or", Binds::Or, indent),
        _ => flat,
    })
}

struct Syntax {
    patterns: BTreeMap<String, String>,
}

impl Syntax {
    fn pattern(&self, form: &str) -> &str {
        self.patterns.get(form).map_or("", String::as_str)
    }

    /// Fills the names in braces of a form's pattern.
    fn fill(&self, form: &str, parts: &[(&str, &str)]) -> String {
        let mut text = self.pattern(form).to_owned();
        for (name, part) in parts {
            text = text.replace(&format!("{{{name}}}"), part);
        }
        text
    }

    fn name(&self, name: &str) -> String {
        let name = match self.pattern("case") {
            "camel" => camel(name),
            _ => name.to_owned(),
        };
        super::avoid(name, self.pattern("reserved"))
    }

    fn place(&self, role: &str, field: &str) -> String {
        self.name(&format!("{role}_{}", field.trim_start_matches('_')))
    }

    fn call(&self, form: &str, name: &str, args: &[Expression]) -> String {
        let args: Vec<String> = args.iter().map(|arg| self.write(arg).0).collect();
        let (name, args) = (self.name(name), args.join(", "));
        self.fill(form, &[("name", &name), ("args", &args)])
    }

    /// Writes an operand, in parentheses if it binds more loosely than the operator.
    fn operand(&self, expression: &Expression, operator: Binds) -> String {
        let (text, binds) = self.write(expression);
        if binds < operator {
            format!("({text})")
        } else {
            text
        }
    }

    fn joined(&self, args: &[Expression], form: &str, binds: Binds) -> (String, Binds) {
        let args: Vec<String> = args.iter().map(|arg| self.part(arg, binds)).collect();
        (args.join(&format!(" {} ", self.pattern(form))), binds)
    }

    /// Writes a part of a condition. For readability, `and` within `or` is also in parentheses.
    fn part(&self, arg: &Expression, binds: Binds) -> String {
        match arg {
            Expression::And { .. } => format!("({})", self.write(arg).0),
            _ => self.operand(arg, binds),
        }
    }

    /// Writes a condition, split into lines.
    fn broken(&self, args: &[Expression], form: &str, binds: Binds, indent: usize) -> String {
        let operator = self.pattern(form);
        let is_first = self.pattern("operator_first") == "yes";
        let space = " ".repeat(indent + 4);
        let mut text = self.pattern("open").to_owned();
        for (index, arg) in args.iter().enumerate() {
            let arg = self.part(arg, binds);
            if index == 0 {
                if !text.is_empty() {
                    text.push_str(&format!("\n{space}"));
                }
            } else if is_first {
                text.push_str(&format!("\n{space}{operator} "));
            } else {
                text.push_str(&format!(" {operator}\n{space}"));
            }
            text.push_str(&arg);
        }
        let close = self.pattern("close");
        if !close.is_empty() {
            text.push_str(&format!("\n{}{close}", " ".repeat(indent)));
        }
        text
    }

    fn write(&self, expression: &Expression) -> (String, Binds) {
        let text = match expression {
            Expression::Number { value } => self.fill("number", &[("", &value.to_string())]),
            Expression::Bool { value: true } => self.pattern("true").to_owned(),
            Expression::Bool { value: false } => self.pattern("false").to_owned(),
            Expression::Nowhere => self.pattern("nowhere").to_owned(),
            Expression::Size => self.pattern("size").to_owned(),
            Expression::Local { name } => self.name(name),
            Expression::Value { name } => self.fill("value", &[("", &self.name(name))]),
            Expression::RecordSize { role } => {
                let upper = role.to_uppercase();
                let parts = [
                    ("", &*upper),
                    ("role", &self.name(role)),
                    ("Role", &pascal(role)),
                ];
                self.fill("record_size", &parts)
            }
            Expression::Offset { role, field } => {
                self.fill("offset", &[("", &self.place(role, field))])
            }
            Expression::Constant { role, field } => {
                self.fill("constant", &[("", &self.place(role, field))])
            }
            Expression::Field { role, field, at } => {
                let at = at.as_ref().map_or("0".to_owned(), |at| self.write(at).0);
                self.fill("field", &[("at", &at), ("place", &self.place(role, field))])
            }
            Expression::IsMember { of, number } => {
                let parts = [("enum", &*pascal(of)), ("number", &self.write(number).0)];
                self.fill("is_member", &parts)
            }
            // A language may write these as operators.
            Expression::Arithmetic { name, args } => {
                let [a, b] = [0, 1].map(|at| args.get(at).map(|arg| self.write(arg).0));
                let [a, b] = [a, b].map(Option::unwrap_or_default);
                self.fill("arithmetic", &[("name", name), ("a", &a), ("b", &b)])
            }
            Expression::Compare { sign, args } => {
                let args = args.iter().map(|arg| self.operand(arg, Binds::Tight));
                let args: Vec<String> = args.collect();
                let sign = match sign.as_str() {
                    "==" | "!=" => self.pattern(sign),
                    sign => sign,
                };
                return (args.join(&format!(" {sign} ")), Binds::Compare);
            }
            Expression::And { args } => return self.joined(args, "and", Binds::And),
            Expression::Or { args } => return self.joined(args, "or", Binds::Or),
            Expression::Not { arg } => {
                format!("{}{}", self.pattern("not"), self.operand(arg, Binds::Tight))
            }
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                let [condition, then, otherwise] =
                    [condition, then, otherwise].map(|own| self.write(own).0);
                let parts = [
                    ("condition", &*condition),
                    ("then", &then),
                    ("otherwise", &otherwise),
                ];
                return (self.fill("if", &parts), Binds::If);
            }
            Expression::Call { name, args } => self.call("call", name, args),
            Expression::BuiltIn { name, args } => self.call("built_in", name, args),
            Expression::Loop {
                name,
                from,
                variable,
                next,
                until,
            } => {
                let until = until.as_ref().map_or(String::new(), |it| self.write(it).0);
                let parts = [
                    ("from", &*self.write(from).0),
                    ("variable", &self.name(variable)),
                    ("next", &self.write(next).0),
                    ("until", &until),
                ];
                self.fill(name, &parts)
            }
        };
        (text, Binds::Tight)
    }
}

/// Returns the opposite of a condition, with `not` as far inside as possible.
pub(super) fn negated(expression: Expression) -> Expression {
    let all = |args: Vec<Expression>| args.into_iter().map(negated).collect();
    match expression {
        Expression::And { args } => Expression::Or { args: all(args) },
        Expression::Or { args } => Expression::And { args: all(args) },
        Expression::Not { arg } => *arg,
        Expression::Compare { sign, args } => {
            let sign = match sign.as_str() {
                "==" => "!=",
                "!=" => "==",
                "<" => ">=",
                "<=" => ">",
                ">" => "<=",
                _ => "<",
            };
            let sign = sign.to_owned();
            Expression::Compare { sign, args }
        }
        other => Expression::Not {
            arg: Box::new(other),
        },
    }
}
