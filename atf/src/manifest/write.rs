//! Encodes a manifest.

use serde_core::ser::SerializeMap as _;
use serde_core::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::Manifest;
use super::generated::TimingAnchorObject;
use crate::clock::TimingAnchor;
use crate::error::{Error, Result};

impl Manifest {
    /// Encodes the manifest for [`parse`](Self::parse): first the keys that known tracers write, in
    /// the same order, and then the keys that they do not write yet. Omits every `None`, empty
    /// names, losses of 0, empty lists of modules, symbols and anchors, and
    /// [`problems`](Self::problems).
    ///
    /// # Errors
    ///
    /// Only [`ErrorKind::Internal`](crate::ErrorKind::Internal): strings, numbers and lists can
    /// always be encoded as JSON.
    pub fn encode(&self) -> Result<Vec<u8>> {
        self.encode_with(&[])
    }

    /// Encodes the manifest and appends the `unknown` members, with their values unchanged.
    pub(crate) fn encode_with(&self, unknown: &[(&str, &RawValue)]) -> Result<Vec<u8>> {
        let text = serde_json::to_vec_pretty(&All {
            known: self,
            unknown,
        });
        let mut text = text.map_err(|_| Error::internal("a manifest can be encoded as JSON"))?;
        text.push(b'\n');
        Ok(text)
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
