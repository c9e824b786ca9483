//! Runs the example's reader in Lua.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Reads files with the reader `atf.lua` in a folder. Returns a line for each file: the number of
/// its events, or the rule for which the reader refuses it.
pub(crate) fn read<'a>(
    folder: &Path,
    files: impl Iterator<Item = &'a Path>,
) -> Result<String, String> {
    let list: String = files.map(|file| format!("{}\n", file.display())).collect();
    fs::write(folder.join("files"), list).expect("a temporary file");
    let script = r#"
local atf = require("atf")
for path in io.lines("files") do
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("a")
  file:close()
  local is_read, result = pcall(path:find("detail.atf$") and atf.detail or atf.index, bytes)
  if not is_read then
    print(type(result) == "table" and result.rule or result)
  else
    local count = 0
    for _ in result:events() do count = count + 1 end
    print(count)
  end
end
"#;
    let mut lua = Command::new("lua5.4");
    run(lua.args(["-e", script]).current_dir(folder))
}

/// Runs a command. Returns what it printed, or why it failed.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(format!(
        "{command:?}\n{}{}",
        text(&output.stderr),
        text(&output.stdout)
    ))
}
