//! How the laboratory speaks with a running program: lines on standard input, SIGINT and SIGTERM.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::clock;
use crate::fault::Fault;

#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    Counters,
    /// The line `stop`, the end of input, or a signal.
    Stop,
}

pub struct Control {
    signals: OwnedFd,
    /// Standard input, the signals, then what the caller watches.
    watched: Vec<libc::pollfd>,
    line: Vec<u8>,
}

impl Control {
    /// Takes over SIGINT and SIGTERM, and watches `others` for something to read.
    pub fn new(others: &[RawFd]) -> Result<Self, Fault> {
        // SAFETY: the set lives on this stack and is initialised by sigemptyset before it is read.
        let descriptor = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGINT);
            libc::sigaddset(&mut set, libc::SIGTERM);
            libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            libc::signalfd(-1, &set, libc::SFD_CLOEXEC)
        };
        if descriptor < 0 {
            return Err(Fault::system("signals cannot be received", "raise the limit of open files"));
        }
        // SAFETY: signalfd just gave us this descriptor.
        let signals = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let descriptors = [libc::STDIN_FILENO, signals.as_raw_fd()];
        let watched = descriptors.iter().chain(others).map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        Ok(Self { watched: watched.collect(), signals, line: Vec::new() })
    }

    /// Waits until anything watched is ready, at most `timeout_ns` (none: for ever). Returns the commands that came.
    pub fn wait(&mut self, timeout_ns: Option<i64>) -> Vec<Command> {
        let timeout = timeout_ns.map(clock::timespec);
        let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the descriptors and the timeout are valid for the call; no signal mask is given.
        let ready = unsafe {
            libc::ppoll(self.watched.as_mut_ptr(), self.watched.len() as libc::nfds_t, timeout, std::ptr::null())
        };
        let mut commands = Vec::new();
        if ready <= 0 {
            return commands;
        }
        // Who has hung up stays readable for ever.
        self.watched[2..].iter_mut().filter(|other| other.revents & libc::POLLHUP != 0).for_each(|gone| gone.fd = -1);
        if self.watched[1].revents != 0 {
            self.take_signal();
            commands.push(Command::Stop);
        }
        if self.watched[0].revents != 0 {
            self.read_lines(&mut commands);
        }
        commands
    }

    /// Watches nothing of the caller's any more.
    pub fn watch_commands_only(&mut self) {
        self.watched.truncate(2);
    }

    fn take_signal(&self) {
        let mut information = [0u8; size_of::<libc::signalfd_siginfo>()];
        // SAFETY: the buffer has the size of the record read into it.
        unsafe { libc::read(self.signals.as_raw_fd(), information.as_mut_ptr().cast(), information.len()) };
    }

    fn read_lines(&mut self, commands: &mut Vec<Command>) {
        let mut chunk = [0u8; 4096];
        // SAFETY: the buffer is valid for its length; poll said that reading does not block.
        let count = unsafe { libc::read(libc::STDIN_FILENO, chunk.as_mut_ptr().cast(), chunk.len()) };
        if count <= 0 {
            // Ended input stays readable for ever.
            self.watched[0].fd = -1;
            commands.push(Command::Stop);
            return;
        }
        for &byte in &chunk[..count as usize] {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            match self.line.trim_ascii() {
                b"counters" => commands.push(Command::Counters),
                b"stop" => commands.push(Command::Stop),
                _ => {}
            }
            self.line.clear();
        }
    }
}
