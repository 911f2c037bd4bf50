//! `comseclab-switch CONFIG.json`: joins interfaces of its network namespace; see `docs/formats.md`, Switch.

use std::path::Path;
use std::process::ExitCode;

use comseclab_link::fault::{self, Fault};
use comseclab_link::switch::{self, Config};

fn main() -> ExitCode {
    fault::run("comseclab-switch", || {
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        match arguments.as_slice() {
            [config] => switch::run(&Config::read(Path::new(config))?),
            _ => Err(Fault::new("one argument is needed", "comseclab-switch CONFIG.json")),
        }
    })
}
