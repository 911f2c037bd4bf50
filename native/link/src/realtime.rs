//! Running ahead of everything else, within what the kernel lets a real-time thread use.
//!
//! Linux stops SCHED_FIFO threads that use more than `sched_rt_runtime_us` (950 ms) of each
//! `sched_rt_period_us` (1 s) until the period is over. Such a stall would last 50 ms. [`Budget`] keeps the
//! thread below that: first it gives up spinning, then, where work alone is too much, real-time priority.

use std::fs;

use crate::fault::Fault;

/// The kernel's period is divided into this many windows, so that a second that begins anywhere holds at
/// most one window's budget more than its share.
const WINDOWS: i64 = 20;
/// Share of time up to which spinning is allowed, of what the kernel allows.
const SPINNING: f64 = 0.8;

/// What the system granted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Granted {
    /// SCHED_FIFO.
    pub realtime: bool,
    /// All memory locked.
    pub memory_locked: bool,
}

/// Pins the thread to `cpu`, locks memory and takes SCHED_FIFO at `priority`, as far as asked for and allowed.
pub fn prepare(cpu: Option<usize>, priority: Option<i32>) -> Result<Granted, Fault> {
    if let Some(cpu) = cpu {
        pin(cpu)?;
    }
    // SAFETY: plain system calls. Timer slack matters only without SCHED_FIFO.
    let memory_locked = unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::mlockall(libc::MCL_CURRENT) == 0
    };
    Ok(Granted { realtime: priority.is_some_and(|priority| schedule(Some(priority))), memory_locked })
}

fn pin(cpu: usize) -> Result<(), Fault> {
    let refused = || Fault::system(format!("cpu {cpu} cannot be used"), "name one that this machine has, or none");
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(refused());
    }
    // SAFETY: the set lives on this stack; all-zero is the empty set and cpu is in range.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set)
    };
    if result == 0 {
        Ok(())
    } else {
        Err(refused())
    }
}

/// SCHED_FIFO at a priority, or the ordinary policy; whether it was granted.
fn schedule(priority: Option<i32>) -> bool {
    let policy = if priority.is_some() { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    let parameters = libc::sched_param { sched_priority: priority.unwrap_or(0) };
    // SAFETY: parameters is valid for the call; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, policy, &parameters) == 0 }
}

/// How long the thread has been awake in the current window, and what that still allows.
pub struct Budget {
    /// Held now, to be given up and taken back.
    priority: Option<i32>,
    demoted: bool,
    window_ns: i64,
    spinning_ns: i64,
    working_ns: i64,
    window_start_ns: i64,
    awake_since_ns: i64,
    awake_ns: i64,
}

impl Budget {
    /// For a thread that runs at `priority` (none: not real-time), from `now_ns` on.
    pub fn new(priority: Option<i32>, now_ns: i64) -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse::<i64>().ok();
        let period_us = read("sched_rt_period_us").unwrap_or(1_000_000).max(1);
        let runtime_us = match read("sched_rt_runtime_us") {
            Some(limited) if limited >= 0 => limited.min(period_us),
            _ => period_us * 95 / 100,
        };
        Self::within(priority, period_us * 1000, runtime_us as f64 / period_us as f64, now_ns)
    }

    fn within(priority: Option<i32>, period_ns: i64, share: f64, now_ns: i64) -> Self {
        let window_ns = period_ns / WINDOWS;
        let work = (share - 1.0 / WINDOWS as f64).max(share / 2.0);
        Self {
            priority,
            demoted: false,
            window_ns,
            spinning_ns: (window_ns as f64 * work * SPINNING) as i64,
            working_ns: (window_ns as f64 * work) as i64,
            window_start_ns: now_ns,
            awake_since_ns: now_ns,
            awake_ns: 0,
        }
    }

    /// Whether spinning until `until_ns` stays within the budget.
    pub fn allows_spinning(&mut self, now_ns: i64, until_ns: i64) -> bool {
        self.account(now_ns);
        self.awake_ns + (until_ns - now_ns) <= self.spinning_ns
    }

    /// To be called now and then while awake: gives up real-time priority for the rest of a window that work has used up.
    pub fn keep(&mut self, now_ns: i64) {
        self.account(now_ns);
        let exhausted = self.awake_ns > self.working_ns;
        if self.priority.is_some() && exhausted != self.demoted {
            schedule(if exhausted { None } else { self.priority });
            self.demoted = exhausted;
        }
    }

    /// The thread slept until `now_ns`.
    pub fn woke(&mut self, now_ns: i64) {
        self.awake_since_ns = now_ns;
        self.turn_window(now_ns);
    }

    fn account(&mut self, now_ns: i64) {
        self.awake_ns += now_ns - self.awake_since_ns;
        self.awake_since_ns = now_ns;
        self.turn_window(now_ns);
    }

    fn turn_window(&mut self, now_ns: i64) {
        if now_ns - self.window_start_ns >= self.window_ns {
            self.window_start_ns = now_ns;
            self.awake_ns = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Awake time in the worst second when the thread spins whenever it may and sleeps for 100 us otherwise.
    #[test]
    fn spinning_stays_below_the_kernels_share_in_every_second() {
        let mut budget = Budget::within(None, 1000 * MS, 0.95, 0);
        let (mut now, mut spun) = (0, Vec::new());
        while now < 5000 * MS {
            if budget.allows_spinning(now, now + 60_000) {
                spun.push(now);
                now += 60_000;
            } else {
                now += 100_000;
                budget.woke(now);
            }
        }
        let second = |from: i64| spun.iter().filter(|&&at| (from..from + 1000 * MS).contains(&at)).count() as i64 * 60_000;
        let worst = spun.iter().map(|&from| second(from)).max().unwrap();
        assert!((600 * MS..900 * MS).contains(&worst), "{worst}");
    }

    #[test]
    fn work_that_uses_a_window_up_gives_priority_up_until_the_next() {
        let mut budget = Budget::within(Some(1), 1000 * MS, 0.95, 0);
        budget.keep(44 * MS);
        assert!(!budget.demoted);
        budget.keep(46 * MS);
        assert!(budget.demoted);
        budget.keep(51 * MS);
        assert!(!budget.demoted);
    }

    #[test]
    fn sleep_costs_nothing() {
        let mut budget = Budget::within(None, 1000 * MS, 0.95, 0);
        budget.woke(49 * MS);
        assert!(budget.allows_spinning(49 * MS, 49 * MS + 60_000));
    }
}
