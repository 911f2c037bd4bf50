//! The link against an independent, straightforward model of `sch_netem`, and against known figures.

use comseclab_link::netem::Link;
use comseclab_link::normal;
use comseclab_link::profile::Profile;
use comseclab_link::random::Generator;
use proptest::prelude::*;
use serde_json::{json, Value};

fn profile(fields: Value) -> Profile {
    let mut fields = fields;
    fields["name"] = json!("test");
    serde_json::from_value(fields).unwrap()
}

fn link(fields: Value, seed: u64) -> Link {
    Link::new(&profile(fields), Generator::new(seed, 0))
}

/// Frames that name themselves: number and padding.
fn frame(number: u32, size: usize) -> Vec<u8> {
    let mut frame = number.to_le_bytes().to_vec();
    frame.resize(size.max(4), 0);
    frame
}

/// Steps a link through arrivals (time, frame) as a caller must: what is due leaves before the next arrives.
fn departures(link: &mut Link, arrivals: &[(i64, Vec<u8>)]) -> Vec<(i64, Vec<u8>)> {
    let mut out = Vec::new();
    for (at_ns, frame) in arrivals {
        out.extend(std::iter::from_fn(|| link.depart(*at_ns)).map(|left| (left.due_ns, left.frame)));
        link.arrive(*at_ns, frame.clone());
    }
    out.extend(std::iter::from_fn(|| link.depart(i64::MAX)).map(|left| (left.due_ns, left.frame)));
    out
}

/// netem as its manual and source tell it: a list kept in order by insertion, scanned from the front.
struct Reference<'a> {
    profile: &'a Profile,
    draws: Generator,
    waiting: Vec<(i64, Vec<u8>)>,
    child: Vec<(i64, Vec<u8>)>,
    child_free_ns: i64,
    out: Vec<(i64, Vec<u8>)>,
}

impl Reference<'_> {
    fn chance(&mut self, probability: f64) -> bool {
        let scaled = (probability * 4294967295.0).round_ties_even() as u32;
        scaled != 0 && self.draws.next_u32() <= scaled
    }

    fn wire_ns(&self, frame: &[u8]) -> i64 {
        match self.profile.rate_bps / 8 {
            0 => 0,
            bytes => (frame.len() as u64 * 1_000_000_000 / bytes) as i64,
        }
    }

    /// Lets time pass up to `now`: the first of the list, over and over.
    fn pass(&mut self, now: i64) {
        let fifo = self.profile.jitter == comseclab_link::profile::Jitter::Fifo;
        loop {
            let waiting = self.waiting.first().map(|entry| entry.0).filter(|due| *due <= now);
            let child = self.child.first().map(|entry| entry.0).filter(|due| *due <= now);
            match (waiting, child) {
                (_, Some(ready)) if waiting.is_none_or(|due| ready <= due) => {
                    let left = self.child.remove(0);
                    self.out.push(left);
                }
                (Some(due), _) => {
                    let (_, frame) = self.waiting.remove(0);
                    if fifo || self.profile.rate_bps < 8 {
                        self.out.push((due, frame));
                    } else if self.child.len() < self.profile.queue_limit() {
                        self.child_free_ns = due.max(self.child_free_ns) + self.wire_ns(&frame);
                        self.child.push((self.child_free_ns, frame));
                    }
                }
                _ => return,
            }
        }
    }

    fn enqueue(&mut self, now: i64, mut frame: Vec<u8>, may_duplicate: bool) {
        self.pass(now);
        let mut count = 1;
        if may_duplicate && self.chance(self.profile.duplicate) {
            count += 1;
        }
        if self.chance(self.profile.loss) {
            count -= 1;
        }
        if count == 0 {
            return;
        }
        let copy = frame.clone();
        if self.chance(self.profile.corrupt) {
            let byte = self.draws.next_u32() as usize % frame.len();
            frame[byte] ^= 1 << (self.draws.next_u32() % 8);
        }
        if self.waiting.len() >= self.profile.queue_limit() {
            return;
        }
        if count == 2 {
            self.enqueue(now, copy, false);
        }
        if self.chance(self.profile.reorder) {
            self.insert(now, frame);
            return self.pass(now);
        }
        let mut delay = self.delay();
        let mut from = now;
        if self.profile.jitter == comseclab_link::profile::Jitter::Fifo {
            if let Some(last) = self.waiting.iter().map(|entry| entry.0).filter(|due| *due > now).max() {
                delay = (delay - (last - now)).max(0);
                from = last;
            }
            delay += self.wire_ns(&frame);
        }
        self.insert((from + delay).max(now), frame);
        // What is due is gone before anything else happens.
        self.pass(now);
    }

    fn insert(&mut self, due: i64, frame: Vec<u8>) {
        let place = self.waiting.iter().position(|entry| entry.0 > due).unwrap_or(self.waiting.len());
        self.waiting.insert(place, (due, frame));
    }

    fn delay(&mut self) -> i64 {
        let (delay, jitter) = (self.profile.delay_ns as i64, self.profile.jitter_ns as i64);
        if jitter == 0 {
            return delay;
        }
        let draw = i64::from(self.draws.next_u32());
        if self.profile.distribution == comseclab_link::profile::Distribution::Uniform {
            return draw % (2 * jitter) + delay - jitter;
        }
        let sigmas = i64::from(normal::table()[(draw % 4096) as usize]);
        let rest = (jitter % 8192) * sigmas;
        let rounded = if rest < 0 { (rest - 4096) / 8192 } else { (rest + 4096) / 8192 };
        rounded + (jitter / 8192) * sigmas + delay
    }
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let chance = || prop_oneof![3 => Just(0.0), 1 => Just(1.0), 4 => 0.0..1.0f64];
    let timing = (0u64..50_000, prop_oneof![Just(0u64), 1u64..50_000], any::<bool>(), any::<bool>());
    let rate = prop_oneof![Just(0u64), 8_000_000u64..2_000_000_000];
    (timing, rate, [chance(), chance(), chance(), chance()], 1u64..40).prop_map(
        |((delay, jitter, uniform, fifo), rate, [loss, corrupt, duplicate, reorder], limit)| {
            profile(json!({"delay_ns": delay, "jitter_ns": jitter, "distribution": if uniform { "uniform" } else { "normal" },
                "jitter": if fifo { "fifo" } else { "reorder" }, "rate_bps": rate, "loss": loss, "corrupt": corrupt,
                "duplicate": duplicate, "reorder": reorder, "limit_frames": limit}))
        },
    )
}

fn any_arrivals() -> impl Strategy<Value = Vec<(i64, Vec<u8>)>> {
    prop::collection::vec((0i64..20_000, prop::collection::vec(any::<u8>(), 1..300)), 0..80).prop_map(|steps| {
        let advance = |now: &mut i64, (gap, frame): (i64, Vec<u8>)| {
            *now += gap;
            Some((*now, frame))
        };
        steps.into_iter().scan(0, advance).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_reference(profile in any_profile(), arrivals in any_arrivals(), seed: u64) {
        let draws = Generator::new(seed, 0);
        let mut reference =
            Reference { profile: &profile, draws, waiting: vec![], child: vec![], child_free_ns: i64::MIN, out: vec![] };
        for (at_ns, frame) in &arrivals {
            reference.enqueue(*at_ns, frame.clone(), true);
        }
        reference.pass(i64::MAX);
        let mut ours = departures(&mut Link::new(&profile, Generator::new(seed, 0)), &arrivals);
        // Frames that leave at the same instant may stand in either order.
        ours.sort();
        reference.out.sort();
        prop_assert_eq!(ours, reference.out);
    }

    #[test]
    fn conserves_frames_at_any_time(profile in any_profile(), seed: u64,
            steps in prop::collection::vec((any::<i64>(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..64)), 0..200)) {
        let mut link = Link::new(&profile, Generator::new(seed, 0));
        for (at_ns, arrives, frame) in steps {
            if arrives {
                link.arrive(at_ns, frame);
            } else if let Some(left) = link.depart(at_ns) {
                prop_assert!(left.due_ns <= at_ns);
            }
            let counters = link.counters();
            prop_assert_eq!(counters.arrived + counters.duplicated,
                counters.departed + counters.lost + counters.queue_dropped + link.queued() as u64);
        }
    }

    #[test]
    fn departs_at_the_time_it_announces(profile in any_profile(), arrivals in any_arrivals(), seed: u64) {
        let mut link = Link::new(&profile, Generator::new(seed, 0));
        for (at_ns, frame) in arrivals {
            link.arrive(at_ns, frame);
        }
        let mut last_ns = i64::MIN;
        while let Some(next_ns) = link.next_departure_ns() {
            prop_assert!(next_ns >= last_ns);
            prop_assert!(link.depart(next_ns - 1).is_none());
            match link.depart(next_ns) {
                Some(left) => prop_assert_eq!(left.due_ns, next_ns),
                None => prop_assert!(link.counters().queue_dropped > 0),
            }
            last_ns = next_ns;
        }
        prop_assert_eq!(link.queued(), 0);
    }

    #[test]
    fn fifo_keeps_the_order(mut profile in any_profile(), arrivals in any_arrivals(), seed: u64) {
        profile.jitter = comseclab_link::profile::Jitter::Fifo;
        (profile.reorder, profile.corrupt) = (0.0, 0.0);
        let arrivals: Vec<_> =
            arrivals.iter().enumerate().map(|(number, (at_ns, bytes))| (*at_ns, frame(number as u32, bytes.len()))).collect();
        let out = departures(&mut Link::new(&profile, Generator::new(seed, 0)), &arrivals);
        let number = |frame: &[u8]| u32::from_le_bytes(frame[..4].try_into().unwrap());
        prop_assert!(out.windows(2).all(|pair| pair[0].0 <= pair[1].0 && number(&pair[0].1) <= number(&pair[1].1)));
    }
}

/// Delays in nanoseconds of frames sent at a steady rate, and the share that left after a later one.
fn steady(fields: Value, interval_ns: i64, count: u32) -> (Vec<f64>, f64) {
    let arrivals: Vec<_> = (0..count).map(|number| (i64::from(number) * interval_ns, frame(number, 100))).collect();
    let out = departures(&mut link(fields, 7), &arrivals);
    let number = |frame: &[u8]| i64::from(u32::from_le_bytes(frame[..4].try_into().unwrap()));
    let (mut highest, mut reordered) = (-1, 0);
    for (_, frame) in &out {
        reordered += u32::from(number(frame) < highest);
        highest = highest.max(number(frame));
    }
    let delays = out.iter().map(|(due_ns, frame)| (due_ns - number(frame) * interval_ns) as f64).collect();
    (delays, f64::from(reordered) / f64::from(count))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} +- {tolerance}");
}

const WIFI: (u64, u64) = (13_000_000, 22_000_000);
const COUNT: u32 = 200_000;

#[test]
fn wifi_without_a_rate_is_cut_off_at_zero_and_reorders() {
    let (delays, reordered) = steady(json!({"delay_ns": WIFI.0, "jitter_ns": WIFI.1, "jitter": "reorder"}), 2_000_000, COUNT);
    // The mean of a normal 13 +- 22 cut off at zero: 13 Phi(13/22) + 22 phi(13/22).
    near(mean(&delays), 16.77e6, 0.1e6);
    near(reordered, 0.63, 0.02);
}

#[test]
fn wifi_with_a_rate_in_the_same_qdisc_is_a_running_maximum() {
    let fields = || json!({"delay_ns": WIFI.0, "jitter_ns": WIFI.1, "rate_bps": 54_000_000});
    let (at_500_hz, reordered) = steady(fields(), 2_000_000, COUNT);
    near(mean(&at_500_hz), 40e6, 2e6);
    assert_eq!(reordered, 0.0);
    let (at_50_hz, _) = steady(fields(), 20_000_000, COUNT);
    near(mean(&at_50_hz), 19e6, 1.5e6);
}

#[test]
fn ethernet_leaves_a_fifth_undelayed() {
    let (delays, _) = steady(json!({"delay_ns": 300_000, "jitter_ns": 360_000, "jitter": "reorder"}), 2_000_000, COUNT);
    near(mean(&delays), 341e3, 2e3);
    near(delays.iter().filter(|delay| **delay <= 0.0).count() as f64 / f64::from(COUNT), 0.20, 0.005);
}

#[test]
fn a_rate_serialises_back_to_back_frames() {
    for jitter in ["fifo", "reorder"] {
        let mut link = link(json!({"rate_bps": 8_000_000, "delay_ns": 500, "jitter": jitter}), 1);
        let out = departures(&mut link, &[(0, frame(0, 100)), (0, frame(1, 100)), (0, frame(2, 50))]);
        let times: Vec<_> = out.iter().map(|(due_ns, _)| *due_ns).collect();
        assert_eq!(times, [100_500, 200_500, 250_500], "{jitter}");
    }
}

#[test]
fn a_full_queue_drops_and_counts() {
    let mut link = link(json!({"delay_ns": 1000, "limit_frames": 2}), 1);
    (0..5).for_each(|number| link.arrive(0, frame(number, 60)));
    assert_eq!((link.counters().queue_dropped, link.queued()), (3, 2));
}

#[test]
fn probabilities_come_out() {
    let fields = json!({"loss": 0.1, "corrupt": 0.05, "duplicate": 0.02, "limit_frames": 1_000_000});
    let mut link = link(fields, 3);
    let n = 200_000u32;
    (0..n).for_each(|number| {
        link.arrive(0, frame(number, 60));
        while link.depart(0).is_some() {}
    });
    let counters = link.counters();
    // Four standard deviations of the binomial; a frame both lost and duplicated counts as neither.
    let share = |count: u64| count as f64 / f64::from(n);
    near(share(counters.lost), 0.1 * 0.98 + 0.1 * 0.02 * 0.9, 4.0 * (0.09f64 / f64::from(n)).sqrt());
    near(share(counters.duplicated), 0.02 * 0.9, 4.0 * (0.0177f64 / f64::from(n)).sqrt());
    near(share(counters.corrupted), 0.05 * (0.9 + 0.02 + 0.02 * 0.9 * 0.9 - 0.018), 4.0 * (0.05f64 / f64::from(n)).sqrt());
}

#[test]
fn corruption_flips_exactly_one_bit_anywhere() {
    let mut link = link(json!({"corrupt": 1.0}), 5);
    let mut hit = [false; 64 * 8];
    for _ in 0..20_000 {
        link.arrive(0, vec![0; 64]);
        let frame = link.depart(0).unwrap().frame;
        assert_eq!(frame.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
        let byte = frame.iter().position(|byte| *byte != 0).unwrap();
        hit[byte * 8 + frame[byte].trailing_zeros() as usize] = true;
    }
    assert!(hit.iter().all(|bit| *bit));
}
