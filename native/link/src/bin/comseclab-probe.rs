//! `comseclab-probe`: one-way delays of a link, both directions at once; see `docs/formats.md`, Switch.

use std::process::ExitCode;

use comseclab_link::arguments::Arguments;
use comseclab_link::fault::{self, Fault};
use comseclab_link::probe::{self, End, Schedule};

const USAGE: &str = "comseclab-probe --from NETNS_PATH --from-address IP --to NETNS_PATH --to-address IP \
                     --count N --interval-us N --size N";

fn main() -> ExitCode {
    fault::run("comseclab-probe", || {
        let mut arguments = Arguments::read(std::env::args().skip(1), USAGE)?;
        let ends = [
            End { namespace: arguments.take("from")?, address: arguments.parse("from-address")? },
            End { namespace: arguments.take("to")?, address: arguments.parse("to-address")? },
        ];
        let schedule = Schedule {
            count: arguments.parse("count")?,
            interval_us: arguments.parse("interval-us")?,
            size: arguments.parse("size")?,
        };
        arguments.finish()?;
        let report = serde_json::to_string(&probe::run(&ends, &schedule)?)
            .map_err(|error| Fault::new(format!("the report cannot be written: {error}"), "report this as a defect"))?;
        println!("{report}");
        Ok(())
    })
}
