//! One direction of a path: what Linux 6.1's `sch_netem` does to frames, as pure logic.
//!
//! Frames go in with their time of arrival and come out with the time they are due; all times are
//! nanoseconds on one clock of the caller's. Draws are made in netem's order (duplicate, loss, corrupt,
//! limit, re-entry of the duplicate, reorder, delay) and its integer arithmetic is kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::normal;
use crate::profile::{Distribution, Jitter, Profile};
use crate::random::Generator;

/// What happened to the frames of one direction. At any time
/// `arrived + duplicated == departed + lost + queue_dropped + Link::queued()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub arrived: u64,
    pub departed: u64,
    pub lost: u64,
    pub corrupted: u64,
    pub duplicated: u64,
    pub queue_dropped: u64,
}

/// A frame on its way out, at the time it ought to leave.
#[derive(Debug)]
pub struct Departure {
    pub due_ns: i64,
    pub frame: Vec<u8>,
}

/// Frames in the order of (time to send, sequence of entry).
#[derive(Default)]
struct Queue {
    heap: BinaryHeap<Reverse<Entry>>,
    entered: u64,
}

struct Entry {
    due_ns: i64,
    sequence: u64,
    frame: Vec<u8>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due_ns, self.sequence).cmp(&(other.due_ns, other.sequence))
    }
}

impl Queue {
    fn push(&mut self, due_ns: i64, frame: Vec<u8>) {
        self.heap.push(Reverse(Entry { due_ns, sequence: self.entered, frame }));
        self.entered += 1;
    }

    fn first(&self) -> Option<&Entry> {
        self.heap.peek().map(|Reverse(entry)| entry)
    }

    fn due_ns(&self) -> Option<i64> {
        self.first().map(|entry| entry.due_ns)
    }

    fn pop(&mut self) -> Option<Departure> {
        self.heap.pop().map(|Reverse(entry)| Departure { due_ns: entry.due_ns, frame: entry.frame })
    }
}

pub struct Link {
    duplicate: u32,
    loss: u32,
    corrupt: u32,
    reorder: u32,
    limit: usize,
    delay_ns: i64,
    /// netem keeps the jitter in 32 bits, signed, and caps what does not fit.
    jitter_ns: i32,
    distribution: Distribution,
    fifo: bool,
    rate: Rate,
    generator: Generator,
    /// Frames within their delay.
    delayed: Queue,
    /// The rate's own stage behind the delay; used by `jitter = "reorder"` with a rate alone.
    serialised: Queue,
    /// The last time to send given out by each stage, standing for the last frame in its queue.
    last_delayed_ns: i64,
    last_serialised_ns: i64,
    now_ns: i64,
    counters: Counters,
}

impl Link {
    /// The link of `profile`, whose draws come from `generator` alone.
    pub fn new(profile: &Profile, generator: Generator) -> Self {
        Self {
            duplicate: threshold(profile.duplicate),
            loss: threshold(profile.loss),
            corrupt: threshold(profile.corrupt),
            reorder: threshold(profile.reorder),
            limit: profile.queue_limit(),
            delay_ns: profile.delay_ns as i64,
            jitter_ns: profile.jitter_ns.min(i32::MAX as u64) as i32,
            distribution: profile.distribution,
            fifo: profile.jitter == Jitter::Fifo,
            rate: Rate::new(profile.rate_bps),
            generator,
            delayed: Queue::default(),
            serialised: Queue::default(),
            last_delayed_ns: i64::MIN,
            last_serialised_ns: i64::MIN,
            now_ns: i64::MIN,
            counters: Counters::default(),
        }
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Frames that have arrived and not yet departed.
    pub fn queued(&self) -> usize {
        self.delayed.heap.len() + self.serialised.heap.len()
    }

    /// Takes a frame that arrived at `at_ns`. A time before that of the last arrival counts as that time.
    pub fn arrive(&mut self, at_ns: i64, frame: Vec<u8>) {
        self.now_ns = self.now_ns.max(at_ns);
        self.counters.arrived += 1;
        let twice = self.happens(self.duplicate);
        let lost = self.happens(self.loss);
        match (twice, lost) {
            (false, true) => self.counters.lost += 1,
            (true, false) => self.enter(frame, true),
            _ => self.enter(frame, false),
        }
    }

    /// The clone of a duplicated frame passes through everything but the duplication again, before its original is delayed.
    fn enter(&mut self, mut frame: Vec<u8>, twice: bool) {
        let clone = twice.then(|| frame.clone());
        if self.happens(self.corrupt) && !frame.is_empty() {
            self.flip_a_bit(&mut frame);
        }
        if self.delayed.heap.len() >= self.limit {
            self.counters.queue_dropped += 1;
            return;
        }
        if let Some(clone) = clone {
            self.counters.duplicated += 1;
            if self.happens(self.loss) {
                self.counters.lost += 1;
            } else {
                self.enter(clone, false);
            }
        }
        self.delay(frame);
    }

    fn flip_a_bit(&mut self, frame: &mut [u8]) {
        let place = self.generator.next_u32() as usize % frame.len();
        frame[place] ^= 1 << (self.generator.next_u32() % 8);
        self.counters.corrupted += 1;
    }

    fn delay(&mut self, frame: Vec<u8>) {
        // Drawn only where reordering is on, as in netem with gap 1.
        if self.reorder > 0 && self.reorder >= self.generator.next_u32() {
            // Ahead of the delay, not of the rate's own stage: that is a second netem behind this one.
            self.delayed.push(self.now_ns, frame);
            return;
        }
        let mut reference_ns = self.now_ns;
        let mut delay_ns = self.draw_delay();
        if self.fifo {
            // The last frame in the queue is the reference; what remains of its time comes off the delay.
            if self.last_delayed_ns > self.now_ns {
                delay_ns = delay_ns.saturating_sub(self.last_delayed_ns.saturating_sub(self.now_ns)).max(0);
                reference_ns = self.last_delayed_ns;
            }
            delay_ns = delay_ns.saturating_add(self.rate.time_ns(frame.len()));
        }
        // A time to send in the past means at once.
        let due_ns = reference_ns.saturating_add(delay_ns).max(self.now_ns);
        self.last_delayed_ns = self.last_delayed_ns.max(due_ns);
        self.delayed.push(due_ns, frame);
    }

    /// netem's `tabledist`, nanoseconds, which may be negative.
    fn draw_delay(&mut self) -> i64 {
        if self.jitter_ns == 0 {
            return self.delay_ns;
        }
        let draw = self.generator.next_u32();
        let jitter_ns = i64::from(self.jitter_ns);
        match self.distribution {
            Distribution::Uniform => i64::from(draw % (2 * self.jitter_ns as u32)) + self.delay_ns - jitter_ns,
            Distribution::Normal => {
                let table = normal::table();
                let sigmas = i64::from(table[draw as usize % table.len()]);
                let fraction = jitter_ns % normal::SCALE * sigmas;
                let rounding = if fraction >= 0 { normal::SCALE / 2 } else { -normal::SCALE / 2 };
                (fraction + rounding) / normal::SCALE + jitter_ns / normal::SCALE * sigmas + self.delay_ns
            }
        }
    }

    /// Whether an event of this probability happens; impossible events draw nothing.
    fn happens(&mut self, threshold: u32) -> bool {
        threshold > 0 && threshold >= self.generator.next_u32()
    }

    fn has_second_stage(&self) -> bool {
        !self.fifo && self.rate.bytes_per_second > 0
    }

    /// When the next frame departs if none arrives before.
    pub fn next_departure_ns(&self) -> Option<i64> {
        if !self.has_second_stage() {
            return self.delayed.due_ns();
        }
        self.serialised.due_ns().or_else(|| {
            let next = self.delayed.first()?;
            Some(self.serialised_ns(next.due_ns, next.frame.len()))
        })
    }

    /// The next frame due at or before `now_ns`, if any. All arrivals up to `now_ns` must have been given first.
    pub fn depart(&mut self, now_ns: i64) -> Option<Departure> {
        if self.has_second_stage() {
            self.serialise(now_ns);
        }
        let queue = if self.has_second_stage() { &mut self.serialised } else { &mut self.delayed };
        if queue.due_ns()? > now_ns {
            return None;
        }
        self.counters.departed += 1;
        queue.pop()
    }

    /// When a frame that enters the rate's stage at `start_ns` has left it.
    fn serialised_ns(&self, start_ns: i64, length: usize) -> i64 {
        start_ns.max(self.last_serialised_ns).saturating_add(self.rate.time_ns(length))
    }

    /// Moves frames whose delay is over into the rate's stage, in virtual time, until one is ready to depart.
    fn serialise(&mut self, now_ns: i64) {
        while let Some(due_ns) = self.delayed.due_ns() {
            if due_ns > now_ns || self.serialised.due_ns().is_some_and(|ready_ns| ready_ns <= due_ns) {
                return;
            }
            let frame = self.delayed.pop().expect("a frame is due").frame;
            if self.serialised.heap.len() >= self.limit {
                self.counters.queue_dropped += 1;
                continue;
            }
            self.last_serialised_ns = self.serialised_ns(due_ns, frame.len());
            self.serialised.push(self.last_serialised_ns, frame);
        }
    }
}

/// tc's scale of probabilities: 0 never, all ones always.
fn threshold(probability: f64) -> u32 {
    (probability * f64::from(u32::MAX)).round_ties_even() as u32
}

struct Rate {
    /// netem's unit; 0: unlimited.
    bytes_per_second: u64,
}

impl Rate {
    fn new(bits_per_second: u64) -> Self {
        // A rate below one byte a second is still a rate.
        Self { bytes_per_second: bits_per_second / 8 + u64::from((1..8).contains(&bits_per_second)) }
    }

    fn time_ns(&self, length: usize) -> i64 {
        (length as u64 * 1_000_000_000).checked_div(self.bytes_per_second).unwrap_or(0) as i64
    }
}
