//! Runs the spec's compiler.

use atf_spec::files::{File, Files};
use atf_spec::model::{RecordSpec, RulesFile, SourceFile, TopicsFile};
use atf_spec::yaml::{Tree, decode};

/// Compiles a file of the spec. Checks that nothing panics and that every error can be shown at its
/// position.
pub fn spec_yaml(data: &[u8]) {
    let mut files = Files::default();
    let text = String::from_utf8_lossy(data).into_owned();
    let id = files.add(File {
        path: "fuzzed.yaml".to_owned(),
        text,
        tree: None,
    });
    let faults = match Tree::parse(id, data) {
        Err(fault) => vec![fault],
        Ok(tree) => {
            let mut faults = decode::<RecordSpec>(&tree.root).err().unwrap_or_default();
            faults.extend(decode::<SourceFile>(&tree.root).err().unwrap_or_default());
            faults.extend(decode::<TopicsFile>(&tree.root).err().unwrap_or_default());
            faults.extend(decode::<RulesFile>(&tree.root).err().unwrap_or_default());
            files.set_tree(id, tree);
            faults
        }
    };
    assert_eq!(files.render(&faults, false).is_empty(), faults.is_empty());
}
