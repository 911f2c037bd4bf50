//! The two clocks of the link: CLOCK_MONOTONIC, on which it runs, and CLOCK_REALTIME, in which the kernel stamps frames.

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn monotonic_ns() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of CLOCK_REALTIME, since 1970.
pub fn realtime_ns() -> i64 {
    read(libc::CLOCK_REALTIME)
}

/// CLOCK_REALTIME minus CLOCK_MONOTONIC. Taken anew for every batch of frames, so that a step of the wall
/// clock moves no deadline; a reading torn apart by preemption is repeated.
pub fn realtime_offset_ns() -> i64 {
    const TIGHT_NS: i64 = 1000;
    const ATTEMPTS: usize = 5;
    let sample = || {
        let before = monotonic_ns();
        let real = realtime_ns();
        let after = monotonic_ns();
        (after - before, real - before - (after - before) / 2)
    };
    let mut best = sample();
    for _ in 1..ATTEMPTS {
        if best.0 < TIGHT_NS {
            break;
        }
        best = best.min(sample());
    }
    best.1
}

fn read(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: time is a valid timespec; these clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// `ns` as a timespec; negative times count as zero.
pub fn timespec(ns: i64) -> libc::timespec {
    let ns = ns.max(0);
    libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 }
}
