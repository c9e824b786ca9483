//! The fields of calls, in `dump` and `info`.

use atf::write::{Detail, Event, SessionWriter, WriteOptions};
use atf::{DetailEventType, EventKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{clean, lines};

#[test]
fn fields_are_shown_if_the_manifest_states_them() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, has_fields: bool| {
        let path = folder.path().join(name);
        let session = SessionWriter::create(&path, &WriteOptions::default()).unwrap();
        if has_fields {
            session.set_detail_fields();
        }
        let mut thread = session.thread(1).unwrap();
        for payload in [&br#"{"path":"a.txt","size":7}"#[..], b"{\"a\":\x01}"] {
            let event = Event::new(5, 7, EventKind::CALL, 1);
            let detail = Detail::new(DetailEventType::FUNCTION_CALL, payload);
            thread.write_with_detail(&event, &detail).unwrap();
        }
        thread.finalize().unwrap();
        session.finalize().unwrap();
    };
    write("fields", true);
    write("bytes", false);
    let shown = |options: &[&str], path: &str| {
        let arguments = [&["dump", "--details"], options, &[path]].concat();
        clean(folder.path(), &arguments)
    };
    for options in [&[][..], &["--follow"]] {
        let text = shown(options, "fields");
        let fields =
            "    detail 0: function_call, index_seq 0\n    {\"path\":\"a.txt\",\"size\":7}\n";
        assert!(text.contains(fields), "{text}");
        assert_eq!(text.matches("0x0000000000000000  7b").count(), 1, "{text}");
        let text = shown(options, "bytes");
        assert_eq!(text.matches("0x0000000000000000  7b").count(), 2, "{text}");
        let events = lines(&shown(&[options, &["--json"]].concat(), "fields"));
        let fields = json!({"path": "a.txt", "size": 7});
        assert_eq!(events[0]["detail"]["fields"], fields);
        assert_eq!(events[0]["detail"].get("payload"), None);
        assert_eq!(events[1]["detail"]["payload"], "7b2261223a017d");
    }
    let info = clean(folder.path(), &["info", "fields"]);
    assert!(
        info.contains("details contain the fields of calls"),
        "{info}"
    );
    let info = clean(folder.path(), &["info", "--json", "fields"]);
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["manifest"]["detail_fields"], true);
}
