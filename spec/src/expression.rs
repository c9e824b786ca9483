//! Compiles the expressions in `grammar/*.yaml`, which have the syntax of Rust, into the
//! [`Grammar`] of a kind of file.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::{BinOp, Expr, Lit, Pat, Stmt, UnOp};

use crate::diagnostic::Diagnostic;
use crate::grammar::{
    BUILT_IN, Derived, Expression, Function, Grammar, Kind, Named, Parameter, Requirement, Role,
    Step,
};
use crate::load::Spec;
use crate::model::{FieldSpec, FunctionSpec, GrammarFile, StepSpec};
use crate::yaml::At;

/// The maximum length of an expression in bytes. Our longest has about 700.
const MAX_LENGTH: usize = 1000;
/// The maximum nesting depth of brackets and operators in an expression.
const MAX_NESTED: usize = 150;

/// A typed expression, or the fault in it, which is empty if it was already reported.
type Typed = Result<(Expression, Kind), String>;

/// Compiles the grammar of a kind of file, and adds its faults to `faults`.
#[must_use]
pub fn grammar(spec: &Spec, file: &GrammarFile, faults: &mut Vec<Diagnostic>) -> Grammar {
    let mut compiler = Compiler {
        spec,
        file,
        values: BTreeMap::new(),
        functions: Vec::new(),
        calling: Vec::new(),
        scope: Vec::new(),
        faulty: Vec::new(),
        faults,
    };
    for (_, record) in file.records.iter() {
        if spec.record(record).is_none() {
            compiler.fault(record, format!("there is no record `{record}`"));
        }
    }
    let reading = compiler.reading();
    for function in &file.functions {
        compiler.function(&function.name);
    }
    let derived = compiler.derived();
    let functions = compiler.functions;
    let role = |(role, record): (&At<String>, &At<String>)| Role {
        role: role.value.clone(),
        record: record.value.clone(),
    };
    Grammar {
        name: file.file.trim_end_matches(".atf").to_owned(),
        file: file.file.value.clone(),
        doc: file.means.clone(),
        records: file.records.iter().map(role).collect(),
        reading,
        functions,
        derived,
    }
}

struct Compiler<'a> {
    spec: &'a Spec,
    file: &'a GrammarFile,
    /// The types of the values that the steps of reading have computed.
    values: BTreeMap<String, Kind>,
    /// The compiled functions, each after those that it calls.
    functions: Vec<Function>,
    /// The functions that are being compiled, each called by the one before it.
    calling: Vec<String>,
    /// The parameters, `let`s and loop variables that the expression may use, innermost last.
    scope: Vec<(String, Kind)>,
    /// The names of functions and values whose faults were reported.
    faulty: Vec<String>,
    faults: &'a mut Vec<Diagnostic>,
}

impl Compiler<'_> {
    fn fault<T>(&mut self, at: &At<T>, why: impl Into<String>) {
        self.faults.push(at.fault(why));
    }

    fn reading(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        for step in &self.file.reading {
            let compiled = match (&step.requires, &step.value, &step.is) {
                (Some(text), None, None) => self.requirement(step, text),
                (None, Some(name), Some(text)) => self.value(step, name, text),
                _ => {
                    let at = step.requires.as_ref().or(step.value.as_ref());
                    let why = "a step either has `requires` or `value` and `is`";
                    self.fault(at.unwrap_or(&self.file.file), why);
                    None
                }
            };
            steps.extend(compiled);
        }
        steps
    }

    fn value(&mut self, step: &StepSpec, name: &At<String>, text: &At<String>) -> Option<Step> {
        let Some((is, kind)) = self.step(text) else {
            self.faulty.push(name.value.clone());
            return None;
        };
        self.values.insert(name.value.clone(), kind);
        Some(Step::Value(Named {
            value: name.value.clone(),
            doc: step.means.clone(),
            kind,
            is,
        }))
    }

    fn derived(&mut self) -> Vec<Derived> {
        let mut all: Vec<Derived> = Vec::new();
        for own in &self.file.derived {
            let (role, field) = self.path(&own.field);
            if !["header", "footer"].contains(&role.as_str()) {
                let why = "only fields of `header` and `footer` are derived";
                self.fault(&own.field, why);
            }
            if all.iter().any(|one| one.role == role && one.field == field) {
                self.fault(&own.field, format!("`{}` is derived twice", own.field));
            }
            let is = own.is;
            all.push(Derived { role, field, is });
        }
        all
    }

    /// Splits `role.field`, and reports a field that does not exist.
    fn path(&mut self, path: &At<String>) -> (String, String) {
        let (role, field) = path.split_once('.').unwrap_or((path, ""));
        if let Err(why) = self.field(role, field) {
            self.fault(path, why);
        }
        (role.to_owned(), field.to_owned())
    }

    fn requirement(&mut self, step: &StepSpec, text: &At<String>) -> Option<Step> {
        let (requires, kind) = self.step(text)?;
        if kind != Kind::Bool {
            self.fault(text, "a requirement is a truth value");
        }
        let (Some(field), Some(rule), Some(expected)) = (&step.field, &step.rule, &step.expected)
        else {
            self.fault(text, "a requirement has `field`, `expected` and `rule`");
            return None;
        };
        self.rule(rule);
        if expected.contains(['"', '\\']) {
            let why = "`expected` has no quotes and no backslashes: it becomes a string";
            self.fault(text, why);
        }
        let (role, name) = self.path(field);
        let at = match &step.at {
            None => None,
            Some(text) => match self.step(text)? {
                (at, Kind::Number) => Some(at),
                _ => {
                    self.fault(text, "an offset is a number");
                    None
                }
            },
        };
        Some(Step::Requires(Requirement {
            requires,
            at,
            wire: step.wire.map(|wire| wire.value),
            role,
            field: name,
            expected: expected.clone(),
            rule: rule.value.clone(),
        }))
    }

    fn rule(&mut self, rule: &At<String>) {
        if self.spec.rule(rule).is_none() {
            self.fault(rule, format!("there is no rule `{rule}`"));
        }
    }

    /// Compiles the expression of a step.
    fn step(&mut self, text: &At<String>) -> Option<(Expression, Kind)> {
        let (lets, is, kind) = self.body(text, Vec::new())?;
        if !lets.is_empty() {
            self.fault(text, "a step has no `let`: make it a function");
        }
        Some((is, kind))
    }

    /// Compiles a function, once, after those that it calls.
    fn function(&mut self, name: &str) -> Option<&Function> {
        if let Some(at) = self.functions.iter().position(|known| known.name == name) {
            return self.functions.get(at);
        }
        let mut functions = self.file.functions.iter();
        let spec: &FunctionSpec = functions.find(|known| known.name.value == name)?;
        if self.calling.iter().any(|caller| caller == name) {
            self.fault(&spec.name, format!("`{name}` calls itself"));
            return None;
        }
        if self.faulty.iter().any(|known| known == name) {
            return None;
        }
        for rule in &spec.rules {
            self.rule(rule);
        }
        let takes = spec.takes.iter();
        let takes = takes.map(|(name, kind)| (name.value.clone(), *kind));
        self.calling.push(name.to_owned());
        let body = self.body(&spec.is, takes.collect());
        self.calling.pop();
        let Some((lets, is, kind)) = body else {
            self.faulty.push(name.to_owned());
            return None;
        };
        let takes = spec.takes.iter().map(|(name, kind)| Parameter {
            name: name.value.clone(),
            kind: *kind,
        });
        self.functions.push(Function {
            name: name.to_owned(),
            doc: spec.means.clone(),
            takes: takes.collect(),
            kind,
            lets,
            is,
        });
        self.functions.last()
    }

    /// Compiles `let` statements and the expression after them, which may use the names in `scope`.
    fn body(
        &mut self,
        text: &At<String>,
        scope: Vec<(String, Kind)>,
    ) -> Option<(Vec<Named>, Expression, Kind)> {
        // The parser recurses at each of these, so a text full of them would overflow the stack.
        let nested = text
            .matches(['(', '[', '{', '<', '!', '-', '*', '&', '|'])
            .count();
        let compiled = if text.len() > MAX_LENGTH || nested > MAX_NESTED {
            Err(format!(
                "longer than {MAX_LENGTH} bytes, or more than {MAX_NESTED} brackets and operators: \
                 make a part of it a function"
            ))
        } else {
            // A function that is compiled because another one calls it has a separate scope.
            let callers = std::mem::replace(&mut self.scope, scope);
            let compiled = syn::parse_str::<syn::Block>(&format!("{{{}}}", text.value))
                .map_err(|error| format!("not an expression in Rust's syntax: {error}"))
                .and_then(|block| self.block(block));
            self.scope = callers;
            compiled
        };
        match compiled {
            Ok(body) => Some(body),
            Err(why) => {
                // A fault in a called function was already reported.
                if !why.is_empty() {
                    self.fault(text, why);
                }
                None
            }
        }
    }

    fn block(&mut self, block: syn::Block) -> Result<(Vec<Named>, Expression, Kind), String> {
        let mut lets = Vec::new();
        let mut statements = block.stmts;
        let Some(Stmt::Expr(last, None)) = statements.pop() else {
            return Err("expected an expression at the end".to_owned());
        };
        for statement in statements {
            let (name, value) = match &statement {
                Stmt::Local(local) => match (&local.pat, &local.init) {
                    (Pat::Ident(name), Some(init)) => (name.ident.to_string(), &init.expr),
                    _ => return Err(unsupported(&statement)),
                },
                _ => return Err(unsupported(&statement)),
            };
            let (is, kind) = self.typed(value)?;
            self.scope.push((name.clone(), kind));
            lets.push(Named {
                value: name,
                doc: String::new(),
                kind,
                is,
            });
        }
        let (is, kind) = self.typed(&last)?;
        Ok((lets, is, kind))
    }

    fn typed(&mut self, expr: &Expr) -> Typed {
        match expr {
            Expr::Paren(inner) => self.typed(&inner.expr),
            Expr::Group(inner) => self.typed(&inner.expr),
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => {
                    let value = number.base10_parse().map_err(|error| error.to_string())?;
                    Ok((Expression::Number { value }, Kind::Number))
                }
                Lit::Bool(truth) => Ok((Expression::Bool { value: truth.value }, Kind::Bool)),
                _ => Err(unsupported(expr)),
            },
            Expr::Path(path) => self.name(&path.to_token_stream().to_string()),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let arg = Box::new(self.expect(&unary.expr, Kind::Bool)?);
                Ok((Expression::Not { arg }, Kind::Bool))
            }
            Expr::Binary(binary) => self.binary(binary),
            Expr::If(branch) => {
                let condition = self.expect(&branch.cond, Kind::Bool)?;
                let (then, kind) = self.branch(&branch.then_branch)?;
                let otherwise = match &branch.else_branch {
                    Some((_, otherwise)) => self.expect(otherwise, kind)?,
                    None => return Err(format!("`{}` has no `else`", tokens(expr))),
                };
                let expression = Expression::If {
                    condition: Box::new(condition),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                Ok((expression, kind))
            }
            Expr::Block(block) => self.branch(&block.block),
            Expr::Field(field) => self.member(field),
            Expr::Call(call) => self.call(call),
            _ => Err(unsupported(expr)),
        }
    }

    fn branch(&mut self, block: &syn::Block) -> Typed {
        match block.stmts.as_slice() {
            [Stmt::Expr(expr, None)] => self.typed(expr),
            _ => Err(format!("`{}` is not one expression", tokens(block))),
        }
    }

    fn expect(&mut self, expr: &Expr, kind: Kind) -> Result<Expression, String> {
        let (expression, found) = self.typed(expr)?;
        if found == kind {
            return Ok(expression);
        }
        let noun = match kind {
            Kind::Number => "a number",
            Kind::Bool => "a truth value",
        };
        Err(format!("`{}` is not {noun}", tokens(expr)))
    }

    fn name(&self, name: &str) -> Typed {
        match name {
            "nowhere" => return Ok((Expression::Nowhere, Kind::Number)),
            "size" => return Ok((Expression::Size, Kind::Number)),
            _ => {}
        }
        let name = name.to_owned();
        let local = self.scope.iter().rev().find(|(known, _)| *known == name);
        if let Some((_, kind)) = local {
            return Ok((Expression::Local { name }, *kind));
        }
        match self.values.get(&name) {
            Some(kind) => Ok((Expression::Value { name }, *kind)),
            None if self.faulty.contains(&name) => Err(String::new()),
            None => Err(format!("there is no `{name}`, or not yet")),
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Typed {
        let kind = match binary.op {
            BinOp::And(_) | BinOp::Or(_) => Kind::Bool,
            _ => Kind::Number,
        };
        let args = vec![
            self.expect(&binary.left, kind)?,
            self.expect(&binary.right, kind)?,
        ];
        let arithmetic = |name: &str, args| {
            let name = name.to_owned();
            Ok((Expression::Arithmetic { name, args }, Kind::Number))
        };
        match binary.op {
            BinOp::Add(_) => arithmetic("add", args),
            BinOp::Sub(_) => arithmetic("sub", args),
            BinOp::Mul(_) => arithmetic("mul", args),
            BinOp::Div(_) => arithmetic("div", args),
            BinOp::Rem(_) => arithmetic("rem", args),
            BinOp::And(_) => {
                let flat = args.into_iter().flat_map(|arg| match arg {
                    Expression::And { args } => args,
                    arg => vec![arg],
                });
                let args = flat.collect();
                Ok((Expression::And { args }, Kind::Bool))
            }
            BinOp::Or(_) => {
                let flat = args.into_iter().flat_map(|arg| match arg {
                    Expression::Or { args } => args,
                    arg => vec![arg],
                });
                let args = flat.collect();
                Ok((Expression::Or { args }, Kind::Bool))
            }
            BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_) => {
                let sign = binary.op.to_token_stream().to_string();
                Ok((Expression::Compare { sign, args }, Kind::Bool))
            }
            _ => Err(unsupported(binary)),
        }
    }

    /// Compiles `role.size`, `header.field` or `role(at).field`.
    fn member(&mut self, expr: &syn::ExprField) -> Typed {
        let field = expr.member.to_token_stream().to_string();
        let (role, at) = match &*expr.base {
            Expr::Path(path) => (path.to_token_stream().to_string(), None),
            Expr::Call(call) if call.args.len() == 1 => {
                let at = self.expect(&call.args[0], Kind::Number)?;
                (tokens(&call.func), Some(Box::new(at)))
            }
            _ => return Err(unsupported(expr)),
        };
        let expression = match (field.as_str(), &at) {
            ("size", None) if self.file.records.get(&role).is_some() => {
                Expression::RecordSize { role }
            }
            _ => {
                self.field(&role, &field)?;
                if at.is_none() && role != "header" {
                    return Err(format!("where is `{role}`? Write `{role}(offset).{field}`"));
                }
                Expression::Field { role, field, at }
            }
        };
        Ok((expression, Kind::Number))
    }

    /// Returns a field of the record with a role.
    fn field(&self, role: &str, field: &str) -> Result<&FieldSpec, String> {
        let record = self.file.records.get(role);
        let record = record.and_then(|record| self.spec.record(record));
        let record = record.ok_or_else(|| format!("the file has no record `{role}`"))?;
        let known = record.field(field);
        known.ok_or_else(|| format!("{} has no field `{field}`", record.record))
    }

    fn call(&mut self, call: &syn::ExprCall) -> Typed {
        let name = tokens(&call.func);
        let args: Vec<&Expr> = call.args.iter().collect();
        match (name.as_str(), args.as_slice()) {
            ("value" | "offset", [Expr::Field(path)]) => {
                let (role, field) = (tokens(&path.base), tokens(&path.member));
                let known = self.field(&role, &field)?;
                if name == "offset" {
                    return Ok((Expression::Offset { role, field }, Kind::Number));
                }
                if !self.spec.wires().any(|wire| known.value_in(wire).is_some()) {
                    return Err(format!("`{role}.{field}` has no fixed value"));
                }
                Ok((Expression::Constant { role, field }, Kind::Number))
            }
            ("is_member", [of, number]) => {
                let of = tokens(of);
                if self.spec.enumeration(&of).is_none() {
                    return Err(format!("there is no enumeration `{of}`"));
                }
                let number = Box::new(self.expect(number, Kind::Number)?);
                Ok((Expression::IsMember { of, number }, Kind::Bool))
            }
            ("min" | "max", [one, other]) => {
                let args = vec![
                    self.expect(one, Kind::Number)?,
                    self.expect(other, Kind::Number)?,
                ];
                Ok((Expression::Arithmetic { name, args }, Kind::Number))
            }
            ("first", [from, Expr::Closure(next), Expr::Closure(until)]) => {
                self.repeat(name, from, next, Some(until))
            }
            ("last" | "count", [from, Expr::Closure(next)]) => self.repeat(name, from, next, None),
            _ => self.call_by_name(name, &args),
        }
    }

    fn call_by_name(&mut self, name: String, args: &[&Expr]) -> Typed {
        let built_in = BUILT_IN.iter().find(|(known, ..)| *known == name);
        let (takes, kind) = match built_in {
            Some((_, takes, kind)) => {
                let mut takes = takes.to_vec();
                if name == "how_many" {
                    takes.resize(args.len().max(1), Kind::Bool);
                }
                (takes, *kind)
            }
            None => {
                let Some(found) = self.function(&name) else {
                    let mut functions = self.file.functions.iter();
                    let is_faulty = functions.any(|known| known.name.value == name);
                    return Err(if is_faulty {
                        String::new()
                    } else {
                        format!("there is no function `{name}`")
                    });
                };
                (found.takes.iter().map(|own| own.kind).collect(), found.kind)
            }
        };
        if takes.len() != args.len() {
            let (wanted, given) = (takes.len(), args.len());
            return Err(format!("`{name}` takes {wanted} arguments, not {given}"));
        }
        let mut compiled = Vec::new();
        for (arg, kind) in args.iter().zip(takes) {
            compiled.push(self.expect(arg, kind)?);
        }
        let args = compiled;
        let expression = match built_in {
            Some(_) => Expression::BuiltIn { name, args },
            None => Expression::Call { name, args },
        };
        Ok((expression, kind))
    }

    fn repeat(
        &mut self,
        name: String,
        from: &Expr,
        next: &syn::ExprClosure,
        until: Option<&syn::ExprClosure>,
    ) -> Typed {
        let from = Box::new(self.expect(from, Kind::Number)?);
        let variable = variable(next)?;
        if until.is_some_and(|until| self::variable(until).as_ref() != Ok(&variable)) {
            return Err(format!("both closures of `{name}` take the same variable"));
        }
        self.scope.push((variable.clone(), Kind::Number));
        let compiled_next = self.expect(&next.body, Kind::Number);
        let compiled_until = until.map(|until| self.expect(&until.body, Kind::Bool));
        self.scope.pop();
        let expression = Expression::Loop {
            name,
            from,
            variable,
            next: Box::new(compiled_next?),
            until: compiled_until.transpose()?.map(Box::new),
        };
        Ok((expression, Kind::Number))
    }
}

fn variable(closure: &syn::ExprClosure) -> Result<String, String> {
    match closure.inputs.iter().collect::<Vec<_>>().as_slice() {
        [Pat::Ident(name)] => Ok(name.ident.to_string()),
        _ => Err(format!("`{}` does not take one name", tokens(closure))),
    }
}

fn tokens(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

fn unsupported(expr: &impl ToTokens) -> String {
    format!("`{}` is not in the grammar's language", tokens(expr))
}
