//! `comseclab-capture`: the first frames of an interface as pcapng; see `docs/formats.md`, Switch.

use std::process::ExitCode;

use comseclab_link::arguments::Arguments;
use comseclab_link::pcapng::Bounds;
use comseclab_link::{capture, fault};

const USAGE: &str = "comseclab-capture --interface NAME --out FILE.pcapng --frames N --bytes N";

fn main() -> ExitCode {
    fault::run("comseclab-capture", || {
        let mut arguments = Arguments::read(std::env::args().skip(1), USAGE)?;
        let interface = arguments.take("interface")?;
        let bounds =
            Bounds { path: arguments.take("out")?.into(), frames: arguments.parse("frames")?, bytes: arguments.parse("bytes")? };
        arguments.finish()?;
        capture::run(&interface, &bounds)
    })
}
