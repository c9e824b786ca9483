//! Recording a real program, as whole commands: Lua, from Debian's sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atf::session::SessionReader;

use crate::context::Context;
use crate::harness::{Result, Time, compare};
use crate::rows::commands::{build, time};
use crate::rows::program::is_installed;
use crate::table::{Amount, Row};

/// The name of the work, for skipped rows.
const WORK: &str = "record Lua";

/// How much the script does: some 12 million events.
const SIZE: u64 = 200;

/// A script that formats, sorts, replaces and counts words, and makes calls.
const SCRIPT: &str = r#"
local size = tonumber(arg[1])
local words, changed, seen = {}, {}, {}
for i = 1, 40 * size do words[i] = ("word%05d"):format(i * 7919 % 10007) end
table.sort(words)
for i, word in ipairs(words) do
  local text = word:gsub("%d", function(digit) return string.char(97 + tonumber(digit)) end)
  changed[i] = text:upper():reverse() .. i
end
for _, word in ipairs(changed) do
  local start = word:sub(1, 6)
  seen[start] = (seen[start] or 0) + 1
end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
print(#table.concat(changed, ","), fib(16 + size // 50))
"#;

/// Adds the row for Lua.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let atf = build("cli", "atf")?;
    build("instrument", "libatf_instrument.so")?;
    let folder = context.path("lua");
    let program = match compile(&folder)? {
        Ok(program) => program,
        Err(why) => {
            context.report.skip(WORK, why);
            return Ok(());
        }
    };
    if !is_installed("uftrace") {
        context.report.skip(WORK, "uftrace is not installed");
        return Ok(());
    }
    let script = folder.join("script.lua");
    fs::write(&script, SCRIPT)?;
    let size = (SIZE / context.shrink).to_string();
    let (traces, other) = (context.path("traces"), context.path("uftrace"));
    let ours = || {
        let mut command = Command::new(&atf);
        command.args(["record", "--out"]).arg(&traces).arg("--");
        command.arg(&program).arg(&script).arg(&size);
        command.stderr(Stdio::null());
        command
    };
    if !ours().stdout(Stdio::null()).status()?.success() {
        return Err("Lua was not recorded".into());
    }
    let count = events(&traces)?;
    fs::remove_dir_all(&traces)?;
    let comparison = compare(
        context.pairs,
        Time::Wall,
        |watch| {
            time(watch, &mut ours())?;
            Ok(fs::remove_dir_all(&traces)?)
        },
        |watch| {
            let mut command = Command::new("uftrace");
            command.args(["record", "--no-libcall", "--no-event", "--data"]);
            command.arg(&other).arg(&program).arg(&script).arg(&size);
            time(watch, &mut command)?;
            Ok(fs::remove_dir_all(&other)?)
        },
    )?;
    context.report.add(Row {
        work: "atf record of Lua, the whole command".to_owned(),
        baseline: "uftrace record --no-libcall --no-event of the same program",
        goal: Some(0.77),
        comparison,
        amount: Amount::Each(count, "event"),
    });
    Ok(fs::remove_dir_all(folder)?)
}

/// Downloads Lua's sources and compiles them with hooks. Returns the reason if a tool or the
/// sources are missing.
fn compile(folder: &Path) -> Result<std::result::Result<PathBuf, &'static str>> {
    fs::create_dir_all(folder)?;
    let mut apt = Command::new("apt-get");
    apt.args(["source", "--download-only", "-qq", "lua5.4"]);
    apt.stdout(Stdio::null()).stderr(Stdio::null());
    if !apt
        .current_dir(folder)
        .status()
        .is_ok_and(|it| it.success())
    {
        return Ok(Err(
            "`apt-get source lua5.4` failed; it needs Debian or Ubuntu, and a deb-src line",
        ));
    }
    if !is_installed("gcc") {
        return Ok(Err("gcc is not installed"));
    }
    // All files but the compiler's own `main`.
    let script = "tar xf lua5.4_*.orig.tar.* && cd lua-*/src && rm -f luac.c && \
        gcc -O2 -w -DLUA_USE_POSIX -finstrument-functions -o ../../program *.c -lm";
    let mut command = Command::new("sh");
    let status = command.args(["-c", script]).current_dir(folder).status()?;
    if status.success() {
        Ok(Ok(folder.join("program")))
    } else {
        Err("Lua was not compiled".into())
    }
}

/// Returns the number of events of the only session in a folder.
fn events(traces: &Path) -> Result<u64> {
    let mut session = traces.to_owned();
    for _ in 0..2 {
        let entry = fs::read_dir(&session)?.next().ok_or("no session")?;
        session = entry?.path();
    }
    let session = SessionReader::open(session)?;
    let mut count = 0;
    for thread in session.threads() {
        count += thread.open_index()?.event_count();
    }
    Ok(count)
}
