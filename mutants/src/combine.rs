//! One text of a source file with all its mutants, each behind a switch.
//!
//! A mutant of the list is a replaced stretch of text. Here each becomes a branch that is taken while its switch is on:
//! `a < b` becomes `(if on(7) { (a) <= (b) } else { (a) < (b) })`. Comments mark each branch, so that an error
//! of the compiler leads to the mutant that cannot be built.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::list::{Genre, Mutant, Place};

/// A file's text with switches.
pub(crate) struct Combined {
    /// The text.
    pub(crate) text: String,
    /// The mutants that are in it, by number.
    pub(crate) placed: Vec<usize>,
    /// Those that no compiler takes: `||` between the links of a chain with `let`.
    pub(crate) impossible: Vec<usize>,
}

/// Puts `mutants`, numbered, into `source`; `on` is the path of the function that asks for a switch. No switch can be
/// asked in a constant: functions lose their `const`, but for those named in `constant`.
///
/// # Errors
/// Where the source is no Rust.
pub(crate) fn combine(
    source: &str,
    mutants: &[(usize, &Mutant)],
    on: &str,
    constant: &BTreeSet<String>,
) -> syn::Result<Combined> {
    let file = syn::parse_file(source)?;
    let lines = Lines::new(source);
    let mut wanted: HashMap<(Genre, Place), Vec<(usize, &Mutant)>> = HashMap::new();
    for (number, mutant) in mutants {
        wanted
            .entry((mutant.genre, mutant.span.start))
            .or_default()
            .push((*number, mutant));
    }
    let mut walk = Walk {
        lines: &lines,
        wanted,
        edits: BTreeMap::new(),
        placed: Vec::new(),
        impossible: Vec::new(),
        keep: constant,
        constant: 0,
    };
    walk.visit_file(&file);
    let Walk {
        edits,
        placed,
        impossible,
        ..
    } = walk;
    let text = Printer {
        source,
        edits: &edits,
        on,
    }
    .print(0..source.len());
    Ok(Combined {
        text,
        placed,
        impossible,
    })
}

/// Start, end (the longer first), and which was met first: what is around comes before what is in it.
type Key = (usize, Reverse<usize>, usize);

/// Where lines begin, to turn places into bytes.
struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(source: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(source.match_indices('\n').map(|(at, _)| at + 1));
        Self { source, starts }
    }

    fn byte(&self, at: LineColumn) -> usize {
        let start = self.starts[at.line - 1];
        let rest = &self.source[start..];
        start
            + rest
                .char_indices()
                .nth(at.column)
                .map_or(rest.len(), |(byte, _)| byte)
    }

    fn range(&self, spanned: &impl Spanned) -> Range<usize> {
        let span = spanned.span();
        self.byte(span.start())..self.byte(span.end())
    }
}

/// A change of the text, at the range that it replaces.
enum Edit {
    /// Nothing stands there any more.
    Deleted,
    /// Two sides and what may stand between them.
    Binary {
        left: Range<usize>,
        op: String,
        right: Range<usize>,
        branches: Vec<(usize, String)>,
    },
    /// What an operator stands before.
    Unary {
        op: String,
        operand: Range<usize>,
        branches: Vec<(usize, String)>,
    },
    /// The beginning of a body, at an empty range: values that are returned at once.
    Body { branches: Vec<(usize, String)> },
    /// A condition of an arm, or an empty range behind a pattern.
    Guard {
        condition: Option<Range<usize>>,
        values: Vec<(usize, bool)>,
        deleted: Option<usize>,
    },
    /// A field's value, and the base's.
    Field {
        number: usize,
        base: String,
        name: String,
        shorthand: bool,
    },
}

/// The walk that finds each mutant's expression.
struct Walk<'a> {
    lines: &'a Lines<'a>,
    wanted: HashMap<(Genre, Place), Vec<(usize, &'a Mutant)>>,
    /// By start, outer before inner.
    edits: BTreeMap<Key, Edit>,
    placed: Vec<usize>,
    impossible: Vec<usize>,
    /// The functions that are asked for constants.
    keep: &'a BTreeSet<String>,
    /// How many constant contexts are around: a switch cannot be asked there.
    constant: usize,
}

impl Walk<'_> {
    fn take(&mut self, genre: Genre, at: LineColumn) -> Vec<(usize, String)> {
        if self.constant > 0 {
            return Vec::new();
        }
        let found = self.wanted.remove(&(genre, at.into())).unwrap_or_default();
        self.placed.extend(found.iter().map(|(number, _)| number));
        found
            .into_iter()
            .map(|(number, mutant)| (number, mutant.replacement.clone()))
            .collect()
    }

    fn edit(&mut self, range: &Range<usize>, edit: Edit) {
        self.edits
            .insert((range.start, Reverse(range.end), self.edits.len()), edit);
    }

    fn body(&mut self, signature: &syn::Signature, block: &syn::Block) {
        // Two values of one opaque type must be of one type.
        if is_opaque(&signature.output) {
            return;
        }
        let Some(first) = block.stmts.first() else {
            return;
        };
        let branches = self.take(Genre::FnValue, first.span().start());
        if !branches.is_empty() {
            let at = self.lines.byte(block.brace_token.span.open().end());
            self.edit(&(at..at), Edit::Body { branches });
        }
    }

    /// Whether a function is a constant one, after the word has been taken from it if it can.
    fn stays_constant(&mut self, signature: &syn::Signature) -> bool {
        let Some(word) = &signature.constness else {
            return false;
        };
        let stays = self.keep.contains(&signature.ident.to_string());
        if !stays {
            self.edit(&self.lines.range(word), Edit::Deleted);
        }
        stays
    }

    /// Walks into a part where no switch can be asked, if it is one.
    fn within(&mut self, constant: bool, walk: impl FnOnce(&mut Self)) {
        self.constant += usize::from(constant);
        walk(self);
        self.constant -= usize::from(constant);
    }
}

/// Whether `impl` stands in what a function returns.
fn is_opaque(output: &syn::ReturnType) -> bool {
    struct Find(bool);
    impl Visit<'_> for Find {
        fn visit_type_impl_trait(&mut self, _: &syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut find = Find(false);
    find.visit_return_type(output);
    find.0
}

/// Whether an expression is a chain with `let`, which must stay where it is.
fn has_let(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let constant = self.stays_constant(&item.sig);
        self.within(constant, |walk| {
            walk.body(&item.sig, &item.block);
            visit::visit_item_fn(walk, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let constant = self.stays_constant(&item.sig);
        self.within(constant, |walk| {
            walk.body(&item.sig, &item.block);
            visit::visit_impl_item_fn(walk, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.body(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.within(true, |walk| visit::visit_item_const(walk, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.within(true, |walk| visit::visit_item_static(walk, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.within(true, |walk| visit::visit_impl_item_const(walk, item));
    }

    fn visit_expr_const(&mut self, item: &'ast syn::ExprConst) {
        self.within(true, |walk| visit::visit_expr_const(walk, item));
    }

    fn visit_type(&mut self, item: &'ast syn::Type) {
        self.within(true, |walk| visit::visit_type(walk, item));
    }

    fn visit_pat(&mut self, item: &'ast syn::Pat) {
        self.within(!matches!(item, syn::Pat::Guard(_)), |walk| {
            visit::visit_pat(walk, item);
        });
    }

    fn visit_expr_binary(&mut self, item: &'ast syn::ExprBinary) {
        if has_let(&item.left) || has_let(&item.right) {
            let at = item.op.span().start().into();
            let found = self.wanted.remove(&(Genre::BinaryOperator, at));
            let numbers = found.iter().flatten().map(|(number, _)| number);
            self.impossible.extend(numbers);
        } else {
            let branches = self.take(Genre::BinaryOperator, item.op.span().start());
            if !branches.is_empty() {
                let op = self.lines.range(&item.op);
                let edit = Edit::Binary {
                    left: self.lines.range(&item.left),
                    op: self.lines.source[op].to_owned(),
                    right: self.lines.range(&item.right),
                    branches,
                };
                self.edit(&self.lines.range(item), edit);
            }
        }
        visit::visit_expr_binary(self, item);
    }

    fn visit_expr_unary(&mut self, item: &'ast syn::ExprUnary) {
        let branches = self.take(Genre::UnaryOperator, item.op.span().start());
        if !branches.is_empty() {
            let op = self.lines.range(&item.op);
            let edit = Edit::Unary {
                op: self.lines.source[op].to_owned(),
                operand: self.lines.range(&item.expr),
                branches,
            };
            self.edit(&self.lines.range(item), edit);
        }
        visit::visit_expr_unary(self, item);
    }

    fn visit_arm(&mut self, item: &'ast syn::Arm) {
        let guard = match &item.pat {
            syn::Pat::Guard(pattern) => Some(&*pattern.guard),
            _ => None,
        };
        if !guard.is_some_and(has_let) {
            let deleted = self
                .take(Genre::MatchArm, item.span().start())
                .first()
                .map(|(number, _)| *number);
            let values = guard
                .map(|guard| self.take(Genre::MatchArmGuard, guard.span().start()))
                .unwrap_or_default();
            let values: Vec<_> = values
                .into_iter()
                .map(|(number, value)| (number, value == "true"))
                .collect();
            if deleted.is_some() || !values.is_empty() {
                let condition = guard.map(|guard| self.lines.range(guard));
                let end = self.lines.range(&item.pat).end;
                let range = condition.clone().unwrap_or(end..end);
                self.edit(
                    &range,
                    Edit::Guard {
                        condition,
                        values,
                        deleted,
                    },
                );
            }
        }
        visit::visit_arm(self, item);
    }

    fn visit_expr_struct(&mut self, item: &'ast syn::ExprStruct) {
        if let Some(rest) = &item.rest {
            for field in &item.fields {
                let found = self.take(Genre::StructField, field.span().start());
                let syn::Member::Named(name) = &field.member else {
                    continue;
                };
                if let Some((number, _)) = found.first() {
                    let path = &self.lines.source[self.lines.range(&item.path)];
                    let base = &self.lines.source[self.lines.range(rest)];
                    let base = if base == "Default::default()" {
                        format!("{path}::default()")
                    } else {
                        base.to_owned()
                    };
                    let edit = Edit::Field {
                        number: *number,
                        base,
                        name: name.to_string(),
                        shorthand: field.colon_token.is_none(),
                    };
                    self.edit(&self.lines.range(&field.expr), edit);
                }
            }
        }
        visit::visit_expr_struct(self, item);
    }
}

/// Prints the text with the edits in it.
struct Printer<'a> {
    source: &'a str,
    edits: &'a BTreeMap<Key, Edit>,
    on: &'a str,
}

impl Printer<'_> {
    /// A stretch of the source with the edits that lie in it.
    fn print(&self, range: Range<usize>) -> String {
        self.below(range, None)
    }

    /// The same, without the edits that stand at or around `outer`.
    fn below(&self, range: Range<usize>, outer: Option<&Key>) -> String {
        let mut text = String::new();
        let mut at = range.start;
        let first = (range.start, Reverse(usize::MAX), 0);
        for (key, edit) in self.edits.range(first..) {
            if key.0 > range.end {
                break;
            }
            let after_outer = outer.is_none_or(|outer| key > outer);
            if key.0 < at || key.1.0 > range.end || !after_outer {
                continue;
            }
            // What is empty and stands at the end belongs to what is around.
            if key.0 == range.end && key.1.0 == key.0 {
                continue;
            }
            text.push_str(&self.source[at..key.0]);
            text.push_str(&self.edited(key, edit));
            at = key.1.0;
        }
        text.push_str(&self.source[at..range.end]);
        text
    }

    fn branch(&self, number: usize, inner: &str) -> String {
        format!(
            "if {}({number}) {{/*+{number}*/ {inner} /*-{number}*/}} else ",
            self.on
        )
    }

    fn edited(&self, key: &Key, edit: &Edit) -> String {
        let on = self.on;
        match edit {
            Edit::Deleted => String::new(),
            Edit::Binary {
                left,
                op,
                right,
                branches,
            } => {
                let left = self.below(left.clone(), Some(key));
                let right = self.below(right.clone(), Some(key));
                let mut text = String::from("(");
                for (number, other) in branches {
                    text.push_str(&self.branch(*number, &format!("({left}) {other} ({right})")));
                }
                text + &format!("{{ ({left}) {op} ({right}) }})")
            }
            Edit::Unary {
                op,
                operand,
                branches,
            } => {
                let operand = self.below(operand.clone(), Some(key));
                let mut text = String::from("(");
                for (number, other) in branches {
                    text.push_str(&self.branch(*number, &format!("{other}({operand})")));
                }
                text + &format!("{{ {op}({operand}) }})")
            }
            Edit::Body { branches } => {
                let mut text = String::new();
                for (number, value) in branches {
                    text.push_str(&format!(
                        " if {on}({number}) {{/*+{number}*/ return {value}; /*-{number}*/}}"
                    ));
                }
                text
            }
            Edit::Guard {
                condition,
                values,
                deleted,
            } => {
                let mut terms = String::new();
                for (number, _) in values.iter().filter(|(_, value)| *value) {
                    terms.push_str(&format!("/*+{number}*/{on}({number})/*-{number}*/ || "));
                }
                let mut all: Vec<String> = Vec::new();
                for number in values
                    .iter()
                    .filter(|(_, value)| !*value)
                    .map(|(number, _)| number)
                    .chain(deleted)
                {
                    all.push(format!("/*+{number}*/!{on}({number})/*-{number}*/"));
                }
                if let Some(condition) = condition {
                    all.push(format!("({})", self.below(condition.clone(), Some(key))));
                }
                let keyword = if condition.is_none() { " if " } else { "" };
                format!(
                    "{keyword}({terms}({}))",
                    if all.is_empty() {
                        "true".into()
                    } else {
                        all.join(" && ")
                    }
                )
            }
            Edit::Field {
                number,
                base,
                name,
                shorthand,
            } => {
                let value = self.below(key.0..key.1.0, Some(key));
                let key = if *shorthand {
                    format!("{name}: ")
                } else {
                    String::new()
                };
                format!(
                    "{key}{}{{ {value} }}",
                    self.branch(*number, &format!("{base}.{name}"))
                )
            }
        }
    }
}
