//! What a link does to evenly spaced frames, in virtual time:
//! `simulate PROFILE.json SEED COUNT INTERVAL_NS SIZE` writes the delays of the frames that departed, in
//! the order of their departure, as little-endian i64 nanoseconds to standard output.

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

use comseclab_link::fault::{self, Fault};
use comseclab_link::netem::{Departure, Link};
use comseclab_link::profile::Profile;
use comseclab_link::random::Generator;

const USAGE: &str = "simulate PROFILE.json SEED COUNT INTERVAL_NS SIZE";

fn main() -> ExitCode {
    fault::run("simulate", || {
        let words: Vec<_> = std::env::args().skip(1).collect();
        let [profile, numbers @ ..] = words.as_slice() else { return Err(Fault::new("no profile", USAGE)) };
        let text = fs::read_to_string(profile).map_err(|error| Fault::new(format!("{profile}: {error}"), USAGE))?;
        let profile: Profile = serde_json::from_str(&text).map_err(|error| Fault::new(error.to_string(), USAGE))?;
        profile.check()?;
        let numbers: Vec<i64> = numbers.iter().map_while(|word| word.parse().ok()).collect();
        let &[seed, count, interval_ns, size] = numbers.as_slice() else { return Err(Fault::new("four numbers are needed", USAGE)) };
        let delays = simulate(&profile, seed as u64, count, interval_ns, size as usize);
        io::stdout().write_all(&delays).map_err(|error| Fault::new(error.to_string(), "keep reading standard output"))
    })
}

fn simulate(profile: &Profile, seed: u64, count: i64, interval_ns: i64, size: usize) -> Vec<u8> {
    let mut link = Link::new(profile, Generator::new(seed, 0));
    // A frame carries the time of its arrival, so profiles that corrupt are not for this program.
    let mut delays = Vec::new();
    let mut take = |departure: Departure| {
        let stamp = departure.frame[..8].try_into().expect("eight bytes");
        delays.extend_from_slice(&(departure.due_ns - i64::from_le_bytes(stamp)).to_le_bytes());
    };
    for index in 0..count {
        let at_ns = index * interval_ns;
        while let Some(departure) = link.depart(at_ns) {
            take(departure);
        }
        let mut frame = at_ns.to_le_bytes().to_vec();
        frame.resize(size.max(8), 0);
        link.arrive(at_ns, frame);
    }
    while let Some(departure) = link.depart(i64::MAX) {
        take(departure);
    }
    delays
}
