//! Steps the core through the jobs of `benchmarks/netem`, in simulated time, without sockets or clock.
//!
//! `simulate JOBS.json SEED OUT`: takes a list of `{"name", "profile", "size", ...}` and, beside it, NAME.sent (i64 a
//! probe: its time of arrival at the link); writes OUT/NAME.received (i64 triples: probe, departure, position of the
//! flipped bit or -1), all in nanoseconds and little-endian.

use std::path::Path;
use std::process::ExitCode;

use comseclab_link::fault::{self, Fault};
use comseclab_link::netem::{Departure, Link};
use comseclab_link::profile::Profile;
use comseclab_link::random::Generator;
use serde::Deserialize;

#[derive(Deserialize)]
struct Job {
    name: String,
    profile: Profile,
    size: usize,
}

/// The probe's number, over and over, so that one flipped bit leaves it known.
fn frame_of(probe: i64, size: usize) -> Vec<u8> {
    probe.to_le_bytes().into_iter().cycle().take(size).collect()
}

/// The probe that a frame was, and the position of its flipped bit or -1.
fn identify(frame: &[u8]) -> (i64, i64) {
    let number = |at: usize| i64::from_le_bytes(frame[8 * at..8 * at + 8].try_into().expect("eight bytes"));
    let probe = if number(0) == number(1) { number(0) } else { number(2) };
    let flipped = frame
        .iter()
        .zip(frame_of(probe, frame.len()))
        .enumerate()
        .find(|(_, (found, meant))| *found != meant)
        .map_or(-1, |(place, (found, meant))| 8 * place as i64 + i64::from((found ^ meant).trailing_zeros()));
    (probe, flipped)
}

fn run(job: &Job, generator: Generator, sent: &Path, out: &Path) -> Result<(), Fault> {
    job.profile.check()?;
    let mut link = Link::new(&job.profile, generator);
    let mut received = Vec::new();
    let mut note = |departure: Departure| {
        let (probe, flipped) = identify(&departure.frame);
        received.extend([probe, departure.due_ns, flipped]);
    };
    for (probe, at_ns) in (0..).zip(read(&sent.join(format!("{}.sent", job.name)))?) {
        while let Some(departure) = link.depart(at_ns - 1) {
            note(departure);
        }
        link.arrive(at_ns, frame_of(probe, job.size));
    }
    while let Some(departure) = link.depart(i64::MAX) {
        note(departure);
    }
    write(&out.join(format!("{}.received", job.name)), &received)
}

fn read(path: &Path) -> Result<Vec<i64>, Fault> {
    let bytes = std::fs::read(path).map_err(|error| Fault::new(format!("{}: {error}", path.display()), "send the probes first"))?;
    Ok(bytes.chunks_exact(8).map(|word| i64::from_le_bytes(word.try_into().expect("eight bytes"))).collect())
}

fn write(path: &Path, numbers: &[i64]) -> Result<(), Fault> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(path, bytes).map_err(|error| Fault::new(format!("{}: {error}", path.display()), "give a folder to write to"))
}

fn main() -> ExitCode {
    fault::run("simulate", || {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [jobs, seed, out] = arguments.as_slice() else {
            return Err(Fault::new("three arguments are needed", "simulate JOBS.json SEED OUT"));
        };
        let seed = seed.parse().map_err(|_| Fault::new(format!("seed {seed} is not a number"), "give a whole number"))?;
        let text = std::fs::read_to_string(jobs).map_err(|error| Fault::new(format!("{jobs}: {error}"), "give a file"))?;
        let sent = Path::new(jobs).parent().unwrap_or(Path::new(""));
        let jobs: Vec<Job> = serde_json::from_str(&text).map_err(|error| Fault::new(error.to_string(), "give a list of jobs"))?;
        (0..).zip(&jobs).try_for_each(|(stream, job)| run(job, Generator::new(seed, stream), sent, Path::new(out)))
    })
}
