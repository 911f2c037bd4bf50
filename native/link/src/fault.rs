//! The one error a user is meant to see: it names the cause and the remedy.

use std::fmt;

/// Wrong input or environment. The programs print it as one line and exit with code 2.
#[derive(Debug)]
pub struct Fault {
    cause: String,
    remedy: String,
}

impl Fault {
    pub fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { cause: cause.into(), remedy: remedy.into() }
    }

    /// A system call that failed: `what` could not be done, with the system's reason.
    pub fn system(what: impl fmt::Display, remedy: impl Into<String>) -> Self {
        Self::new(format!("{what}: {}", std::io::Error::last_os_error()), remedy)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.cause, self.remedy)
    }
}

/// Runs a program's body; a [`Fault`] becomes one line on standard error and exit code 2.
pub fn run(program: &str, body: impl FnOnce() -> Result<(), Fault>) -> std::process::ExitCode {
    match body() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{program}: {}", fault.to_string().replace('\n', " "));
            std::process::ExitCode::from(2)
        }
    }
}
