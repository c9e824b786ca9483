//! The spec's files, and the rendering of errors in them, with a caret under the faulty text.

use std::collections::HashSet;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, FileId, Place};
use crate::yaml::Node;

/// A file of the spec.
#[derive(Debug, Clone)]
pub struct File {
    /// The path relative to the spec's folder, with `/` between folders:
    /// `records/index_event.yaml`.
    pub path: String,
    /// The content as text, with invalid UTF-8 replaced.
    pub text: String,
    /// The root of the parsed file, if it could be parsed.
    root: Option<Node>,
}

impl File {
    /// Converts a place to a range of whole characters, even if it begins or ends within one.
    fn range(&self, place: Place) -> Range<usize> {
        let offset = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
        let start = self.text.floor_char_boundary(offset(place.start));
        let end = self.text.ceil_char_boundary(offset(place.end));
        start..end.max(start)
    }
}

/// The files of the spec, by [`FileId`].
#[derive(Debug, Clone, Default)]
pub struct Files(Vec<File>);

impl Files {
    /// Adds a file that has not been parsed.
    pub fn add(&mut self, path: &str, text: String) -> FileId {
        self.0.push(File {
            path: path.to_owned(),
            text,
            root: None,
        });
        FileId(u32::try_from(self.0.len() - 1).unwrap_or(u32::MAX))
    }

    /// Returns the file with this id.
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&File> {
        self.0.get(usize::try_from(id.0).ok()?)
    }

    /// Sets the root of a parsed file.
    pub fn set_root(&mut self, id: FileId, root: Node) {
        let index = usize::try_from(id.0).ok();
        if let Some(file) = index.and_then(|index| self.0.get_mut(index)) {
            file.root = Some(root);
        }
    }

    /// Returns all files.
    pub fn iter(&self) -> impl Iterator<Item = &File> {
        self.0.iter()
    }

    /// Returns a place as `path:line:column`.
    #[must_use]
    pub fn locate(&self, place: Place) -> String {
        let Some(file) = self.get(place.file) else {
            return "?".to_owned();
        };
        let before = file.text.get(..file.range(place).start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
        format!("{}:{line}:{column}", file.path)
    }

    /// Renders diagnostics sorted by place, each with a file, a line, a YAML path and a caret.
    #[must_use]
    pub fn render(&self, diagnostics: &[Diagnostic], colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain().term_width(100)
        };
        let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
        sorted.sort_by_key(|diagnostic| diagnostic.place);
        let mut seen = HashSet::new();
        let mut text = String::new();
        for diagnostic in sorted {
            let rendered = self.render_one(diagnostic, &renderer);
            if seen.insert(rendered.clone()) {
                text.push_str(&rendered);
                text.push_str("\n\n");
            }
        }
        text
    }

    fn render_one(&self, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
        let title = Level::ERROR.primary_title(diagnostic.message.as_str());
        let file = self.get(diagnostic.place.file);
        let mut group = match file.filter(|file| file.text.trim().is_empty()) {
            // If a file is missing, unreadable or empty, there is no line to show.
            Some(file) => title.element(Origin::path(file.path.as_str())),
            None => title.elements(self.snippet(
                diagnostic.place,
                diagnostic.label.as_deref(),
                AnnotationKind::Primary,
            )),
        };
        for (place, label) in &diagnostic.related {
            group = group.elements(self.snippet(*place, Some(label), AnnotationKind::Context));
        }
        let root = file.and_then(|file| file.root.as_ref());
        let path = root.map(|root| root.path_of(diagnostic.place));
        let path = path.unwrap_or_default();
        if !path.is_empty() {
            group = group.element(Level::NOTE.message(format!("at `{path}`")));
        }
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }

    fn snippet<'a>(
        &'a self,
        place: Place,
        label: Option<&'a str>,
        kind: AnnotationKind,
    ) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
        let file = self.get(place.file)?;
        let annotation = kind
            .span(file.range(place))
            .label(label.map(std::borrow::Cow::Borrowed));
        Some(
            Snippet::source(file.text.as_str())
                .path(file.path.as_str())
                .annotation(annotation),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, Files, Place};

    #[test]
    fn locate_returns_line_and_column_in_characters_from_1() {
        let mut files = Files::default();
        let file = files.add("a.yaml", "é: é\nö: x\n".into());
        // `é` and `ö` take two bytes each.
        let at = |start, end| files.locate(Place { file, start, end });
        assert_eq!(at(0, 2), "a.yaml:1:1");
        assert_eq!(at(4, 6), "a.yaml:1:4");
        assert_eq!(at(7, 9), "a.yaml:2:1");
        assert_eq!(at(11, 12), "a.yaml:2:4");
    }

    #[test]
    fn colours_do_not_change_the_text() {
        let mut files = Files::default();
        let file = files.add("a.yaml", "a: b\n".into());
        let place = Place {
            file,
            start: 3,
            end: 4,
        };
        let fault = [Diagnostic::error(place, "wrong").help("fix it")];
        let (plain, coloured) = (files.render(&fault, false), files.render(&fault, true));
        assert!(coloured.contains("\x1b[") && !plain.contains('\x1b'));
        // A colour is an escape character, a bracket and numbers, terminated by `m`.
        let words = coloured.split('\x1b').enumerate();
        let words: String = words
            .map(|(number, part)| match part.split_once('m') {
                Some((_, rest)) if number > 0 => rest,
                _ => part,
            })
            .collect();
        assert_eq!(words, plain);
    }
}
