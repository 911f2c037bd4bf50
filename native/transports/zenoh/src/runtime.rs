//! Zenoh's threads. They belong to the process, not to a session, and Zenoh never ends them by itself.

use std::sync::{Mutex, PoisonError};

use zenoh_runtime::ZRuntimePoolGuard;

use crate::interface::Outcome;

enum Threads {
    Held { by: usize },
    Ended,
}

static THREADS: Mutex<Threads> = Mutex::new(Threads::Held { by: 0 });

/// The right to have a session. With the last one given back, the threads end, for the rest of the process.
pub struct Lease;

impl Lease {
    pub fn take() -> Outcome<Self> {
        // Read when the threads are first made; a user's wish must not change a trial.
        std::env::remove_var(zenoh_runtime::ZENOH_RUNTIME_ENV);
        match &mut *THREADS.lock().unwrap_or_else(PoisonError::into_inner) {
            Threads::Held { by } => *by += 1,
            Threads::Ended => return Err("Zenoh cannot be opened again once it was closed: start a new process".into()),
        }
        Ok(Self)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Threads::Held { by } = &mut *threads {
            *by -= 1;
            if *by == 0 {
                *threads = Threads::Ended;
                drop(ZRuntimePoolGuard);
            }
        }
    }
}
