//! Encodes a manifest.

use serde_core::ser::SerializeMap as _;
use serde_core::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::Manifest;
use super::generated::TimingAnchorObject;
use crate::clock::TimingAnchor;
use crate::error::{Error, ErrorKind, Result};

impl Manifest {
    /// Encodes the manifest for [`parse`](Self::parse): first the keys that known tracers write, in
    /// the same order, and then the keys that they do not write yet. Omits every `None`, empty
    /// names, losses of 0, empty lists of modules, symbols and anchors, and
    /// [`problems`](Self::problems). The text is indented, unless it would then be larger than
    /// [`LIMIT`](Self::LIMIT).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ManifestTooLarge`] if the text would be larger than [`LIMIT`](Self::LIMIT) even
    /// without indentation, because readers would not accept it.
    pub fn encode(&self) -> Result<Vec<u8>> {
        self.encode_with(&[], Self::LIMIT)
    }

    /// Encodes the manifest in at most `limit` bytes, and appends the `unknown` members, with their
    /// values unchanged.
    fn encode_with(&self, unknown: &[(&str, &RawValue)], limit: u64) -> Result<Vec<u8>> {
        let all = All {
            known: self,
            unknown,
        };
        encode(&all, limit)
    }

    /// Like [`encode`](Self::encode), but in at most `limit` bytes and with the `unknown` members.
    /// If the text would be larger, removes the symbols, and also returns the error.
    pub(crate) fn encode_or_drop_symbols(
        &mut self,
        unknown: &[(&str, &RawValue)],
        limit: u64,
    ) -> Result<(Vec<u8>, Option<Error>)> {
        match self.encode_with(unknown, limit) {
            Err(error) if matches!(error.kind(), ErrorKind::ManifestTooLarge { .. }) => {
                self.symbols = Vec::new();
                self.format_version = Some(self.version().to_owned());
                Ok((self.encode_with(unknown, limit)?, Some(error)))
            }
            text => Ok((text?, None)),
        }
    }
}

/// Encodes a manifest's text in at most `limit` bytes: indented if it fits, otherwise on one line.
pub(super) fn encode(manifest: &impl Serialize, limit: u64) -> Result<Vec<u8>> {
    let end = |text: serde_json::Result<Vec<u8>>| -> Result<Vec<u8>> {
        let mut text = text.map_err(|_| Error::internal("a manifest can be encoded as JSON"))?;
        text.push(b'\n');
        Ok(text)
    };
    let mut text = end(serde_json::to_vec_pretty(manifest))?;
    if text.len() as u64 > limit {
        // Free the memory before the next text takes as much.
        drop(text);
        text = end(serde_json::to_vec(manifest))?;
    }
    match text.len() as u64 {
        found if found > limit => Err(Error::new(ErrorKind::ManifestTooLarge { found, limit })),
        _ => Ok(text),
    }
}

struct All<'a> {
    known: &'a Manifest,
    unknown: &'a [(&'a str, &'a RawValue)],
}

impl Serialize for All<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        self.known.write(&mut object)?;
        for (key, value) in self.unknown {
            object.serialize_entry(key, value)?;
        }
        object.end()
    }
}

impl Serialize for TimingAnchor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = TimingAnchorObject {
            host_time_ns: self.host_time_ns,
            media_time: self.media_time.value,
            media_timescale: self.media_time.timescale,
        };
        object.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Symbol;

    #[test]
    fn a_text_over_the_limit_loses_its_indentation_and_then_its_symbols() -> Result<()> {
        let text = r#"{"threads": [{"id": 7, "name": "ui"}], "format_version": "2.1"}"#;
        let mut manifest = Manifest::parse(text.as_bytes());
        manifest.symbols = (0..100).map(|id| Symbol::new(id, "f")).collect();
        let encode = |limit| manifest.encode_with(&[], limit);
        let kind = |error: &Error| error.kind().clone();

        let indented = manifest.encode()?;
        let size = indented.len() as u64;
        assert_eq!(encode(size)?, indented);
        let compact = encode(size - 1)?;
        assert!(compact.len() < indented.len());
        assert!(Manifest::parse(&compact).says_the_same(&Manifest::parse(&indented)));
        let found = compact.len() as u64;
        assert_eq!(encode(found)?, compact);
        let limit = found - 1;
        let expected = ErrorKind::ManifestTooLarge { found, limit };
        let error = encode(limit).err();
        assert_eq!(error.as_ref().map(kind), Some(expected.clone()));

        let (rest, error) = manifest.encode_or_drop_symbols(&[], limit)?;
        assert_eq!(error.as_ref().map(kind), Some(expected));
        let rest = Manifest::parse(&rest);
        assert_eq!((rest.problem_count, rest.symbols.len()), (0, 0));
        assert_eq!(rest.format_version.as_deref(), Some("2.0"));
        let names = rest.threads.iter().filter_map(|it| it.name.as_deref());
        assert_eq!(names.collect::<Vec<_>>(), ["ui"]);
        let error = manifest.encode_or_drop_symbols(&[], 10).err();
        assert!(matches!(
            error.as_ref().map(kind),
            Some(ErrorKind::ManifestTooLarge { .. })
        ));
        Ok(())
    }
}
