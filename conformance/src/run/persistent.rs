//! Persistent processes, which answer one request after another.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::folder::{self, Cases};
use super::warden::{End, Ended, Warden};
use super::{Limits, Options};
use crate::protocol::exit;

/// The persistent processes that wait for a request.
#[derive(Debug, Default)]
pub(super) struct Servers {
    idle: Mutex<Vec<Server>>,
}

/// A persistent process, with the program and arguments that started it.
#[derive(Debug)]
struct Server {
    command: Vec<String>,
    // The warden must be dropped before the folder.
    warden: Warden,
    folder: Folder,
}

/// A folder that is removed on drop.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    /// Returns the working folder. As for a case, it is two levels deep.
    fn work(&self) -> PathBuf {
        self.0.join("run").join("work")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Anything left here is removed later, along with the run's folder.
        let _ = folder::remove(&self.0);
    }
}

impl Servers {
    /// Sends a request to a process that was started by `command`, or starts one. A process that
    /// does not answer has ended, and the next request starts another one.
    pub(super) fn ask(
        &self,
        command: &[String],
        paths: &[(&str, PathBuf)],
        limits: &Limits,
        options: &Options,
        cases: &Cases,
    ) -> io::Result<Ended> {
        let mut server = match self.take(command, options) {
            Some(server) => server,
            None => Server::new(command, options, cases)?,
        };
        let work = server.folder.work();
        let request = Some(request(paths));
        let warden = &mut server.warden;
        let mut ended = warden.run(command, &work, request, limits, &options.interrupt)?;
        let own = server.folder.0.to_string_lossy();
        ended.stderr = ended.stderr.replace(own.as_ref(), "…");
        if ended.end == End::Answered {
            self.lock().push(server);
            ended = as_process(ended, paths);
        } else if let End::Exited(code) = ended.end {
            ended.end = End::Unwatched(format!("exit code {code} instead of an answer"));
        }
        Ok(ended)
    }

    /// Ends the waiting processes that were started by `command`.
    pub(super) fn end(&self, command: &[String]) {
        self.lock().retain(|server| server.command != command);
    }

    /// Takes a waiting process of this program, or ends one of another program if too many wait.
    fn take(&self, command: &[String], options: &Options) -> Option<Server> {
        let mut idle = self.lock();
        if let Some(at) = idle.iter().position(|server| server.command == command) {
            return Some(idle.remove(at));
        }
        let most = options.jobs.get().saturating_mul(2);
        let surplus = (idle.len() >= most).then(|| idle.remove(0));
        // Ending a process takes time, so let other threads continue.
        drop(idle);
        drop(surplus);
        None
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Server>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    fn new(command: &[String], options: &Options, cases: &Cases) -> io::Result<Self> {
        let folder = Folder(cases.next());
        folder::create(&folder.0)?;
        std::fs::create_dir_all(folder.work())?;
        Ok(Self {
            command: command.to_vec(),
            warden: Warden::start(&options.kit, cases.run())?,
            folder,
        })
    }
}

/// Returns a request: a path as a JSON string, or a JSON array of paths.
fn request(paths: &[(&str, PathBuf)]) -> String {
    let text = |path: &Path| Value::from(path.to_string_lossy());
    match paths {
        [(_, path)] => text(path),
        paths => paths.iter().map(|(_, path)| text(path)).collect(),
    }
    .to_string()
}

/// Returns how a process with the same answer would have ended: a number is its exit code, and a
/// document's verdict implies the exit code. A writer, whose request has a script, answers
/// with a number.
fn as_process(mut ended: Ended, paths: &[(&str, PathBuf)]) -> Ended {
    let is_written = paths.iter().any(|(name, _)| *name == "script");
    let answer: Option<Value> = serde_json::from_slice(&ended.output).ok();
    let code = answer.as_ref().and_then(Value::as_i64);
    let code = code.and_then(|code| i32::try_from(code).ok());
    if code.is_some() {
        ended.output.clear();
    }
    ended.end = match code {
        Some(code) => End::Exited(code),
        None if is_written => End::Unwatched("the answer is not a number".to_owned()),
        None => End::Exited(answer.as_ref().map_or(exit::DONE, exit::code_of).into()),
    };
    ended
}
