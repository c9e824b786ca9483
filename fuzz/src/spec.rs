//! Runs the spec's compiler.

use atf_spec::files::Files;
use atf_spec::model::{RecordSpec, RulesFile, SourceFile, TopicsFile};
use atf_spec::yaml::{Node, decode};

/// Compiles a file of the spec. Checks that nothing panics and that every error can be shown at its
/// position.
pub fn spec_yaml(data: &[u8]) {
    let mut files = Files::default();
    let text = String::from_utf8_lossy(data).into_owned();
    let id = files.add("fuzzed.yaml", text);
    let faults = match Node::parse(id, data) {
        Err(fault) => vec![fault],
        Ok(root) => {
            let mut faults = decode::<RecordSpec>(&root).err().unwrap_or_default();
            faults.extend(decode::<SourceFile>(&root).err().unwrap_or_default());
            faults.extend(decode::<TopicsFile>(&root).err().unwrap_or_default());
            faults.extend(decode::<RulesFile>(&root).err().unwrap_or_default());
            files.set_root(id, root);
            faults
        }
    };
    assert_eq!(files.render(&faults, false).is_empty(), faults.is_empty());
}
