//! The commands from other threads to the drain's thread.

/// A command to the drain's thread.
#[derive(Debug, Clone, Copy)]
pub(super) enum Command {
    /// Create the files and the ring of a thread.
    AddThread(u32),
    /// Finalize the files of a thread without a ring, which has ended.
    EndThread(u32),
    /// Open or close a window at this time.
    SetWindow { is_open: bool, now_ns: u64 },
    /// Pass all recorded events to the operating system.
    Flush,
    /// Write the manifest.
    WriteManifest,
    /// Check all rings, as each pass does.
    Pass,
}

/// The number of a command. Each pass of the drain takes all queued commands, and they are done
/// when it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// The queue of commands.
#[derive(Debug, Default)]
pub(super) struct Commands {
    queue: Vec<Command>,
    last: Ticket,
    done: Ticket,
}

impl Commands {
    pub(super) fn push(&mut self, command: Command) -> Ticket {
        self.queue.push(command);
        self.last = Ticket(self.last.0.saturating_add(1));
        self.last
    }

    /// Takes all commands, with the ticket of the last one.
    pub(super) fn take(&mut self) -> (Vec<Command>, Ticket) {
        (std::mem::take(&mut self.queue), self.last)
    }

    /// Marks the commands up to this ticket as done. Returns whether there are any.
    pub(super) fn finish(&mut self, ticket: Ticket) -> bool {
        std::mem::replace(&mut self.done, ticket) < ticket
    }

    pub(super) fn are_done(&self, ticket: Ticket) -> bool {
        ticket <= self.done
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_finishes_only_the_commands_that_it_took() {
        let mut commands = Commands::default();
        let first = commands.push(Command::Flush);
        let (taken, last) = commands.take();
        let second = commands.push(Command::Pass);
        assert!(!commands.are_done(first) && !commands.is_empty());
        assert!(taken.len() == 1 && commands.finish(last));
        assert!(commands.are_done(first) && !commands.are_done(second));
        let (_, last) = commands.take();
        assert!(commands.finish(last) && commands.are_done(second) && !commands.finish(last));
    }
}
