//! The learning switch as pure logic: ports with a link each, a table of addresses, the adversary's hook.

use std::collections::HashMap;

use crate::adversary::Adversary;
use crate::netem::{Counters, Link};

type Address = [u8; 6];

/// As a real switch's table, this one is bounded: once full, further addresses are flooded.
const MOST_ADDRESSES: usize = 4096;

/// Where a departing frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One port.
    Port(usize),
    /// All ports but the sender's.
    Others,
    /// No port: its address is on the port it came from.
    Nowhere,
}

#[derive(Debug)]
pub struct Departure {
    pub due_ns: i64,
    pub from: usize,
    pub to: Target,
    pub frame: Vec<u8>,
}

pub struct Fabric<A> {
    links: Vec<Link>,
    homes: HashMap<Address, usize>,
    adversary: A,
}

impl<A: Adversary> Fabric<A> {
    /// A switch with one port for each link; the link acts on what its port takes in.
    pub fn new(links: Vec<Link>, adversary: A) -> Self {
        Self { links, homes: HashMap::new(), adversary }
    }

    pub fn counters(&self, port: usize) -> Counters {
        self.links[port].counters()
    }

    /// Takes a frame that arrived at `port` at `at_ns`. The sender is learnt before anything alters the frame.
    pub fn arrive(&mut self, port: usize, at_ns: i64, frame: Vec<u8>) {
        if let Some(source) = address(&frame, 6) {
            if !is_group(source) && (self.homes.len() < MOST_ADDRESSES || self.homes.contains_key(&source)) {
                self.homes.insert(source, port);
            }
        }
        if let Some(frame) = self.adversary.intercept(port, at_ns, frame) {
            self.links[port].arrive(at_ns, frame);
        }
    }

    /// When something departs next if nothing arrives before.
    pub fn next_departure_ns(&self) -> Option<i64> {
        let departures = self.links.iter().filter_map(Link::next_departure_ns);
        departures.chain(self.adversary.next_release_ns()).min()
    }

    /// The earliest departure due at or before `now_ns`, if any.
    pub fn depart(&mut self, now_ns: i64) -> Option<Departure> {
        while let Some((port, frame)) = self.adversary.release(now_ns) {
            self.links[port].arrive(now_ns, frame);
        }
        let next = |(port, link): (usize, &Link)| Some((link.next_departure_ns()?, port));
        let (_, from) = self.links.iter().enumerate().filter_map(next).min()?;
        let departure = self.links[from].depart(now_ns)?;
        Some(Departure { due_ns: departure.due_ns, from, to: self.target(from, &departure.frame), frame: departure.frame })
    }

    fn target(&self, from: usize, frame: &[u8]) -> Target {
        match address(frame, 0).and_then(|destination| self.homes.get(&destination)) {
            Some(&home) if home == from => Target::Nowhere,
            Some(&home) => Target::Port(home),
            None => Target::Others,
        }
    }
}

fn address(frame: &[u8], offset: usize) -> Option<Address> {
    frame.get(offset..offset + 6)?.try_into().ok()
}

/// Multicast and broadcast addresses are nobody's home.
fn is_group(address: Address) -> bool {
    address[0] & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::random::Generator;

    const A: u8 = 0x02;
    const B: u8 = 0x04;
    const BROADCAST: u8 = 0xff;

    fn fabric<X: Adversary>(ports: u64, adversary: X) -> Fabric<X> {
        let profile: Profile = serde_json::from_str(r#"{"name": "plain", "delay_ns": 10}"#).unwrap();
        Fabric::new((0..ports).map(|port| Link::new(&profile, Generator::new(1, port))).collect(), adversary)
    }

    fn frame(to: u8, from: u8) -> Vec<u8> {
        [[to; 6], [from; 6]].concat()
    }

    fn target<X: Adversary>(fabric: &mut Fabric<X>, port: usize, at_ns: i64, frame: Vec<u8>) -> Target {
        fabric.arrive(port, at_ns, frame);
        fabric.depart(at_ns + 10).unwrap().to
    }

    #[test]
    fn learns_where_hosts_are_and_floods_the_rest() {
        let mut fabric = fabric(3, ());
        assert_eq!(target(&mut fabric, 0, 0, frame(B, A)), Target::Others);
        assert_eq!(target(&mut fabric, 1, 20, frame(A, B)), Target::Port(0));
        assert_eq!(target(&mut fabric, 0, 40, frame(B, A)), Target::Port(1));
        assert_eq!(target(&mut fabric, 0, 60, frame(BROADCAST, A)), Target::Others);
        assert_eq!(target(&mut fabric, 1, 80, frame(B, A)), Target::Nowhere);
        assert_eq!(target(&mut fabric, 2, 100, frame(A, B)), Target::Port(1), "a host that moved is found again");
        assert_eq!(target(&mut fabric, 0, 120, vec![1, 2, 3]), Target::Others, "a runt has no address");
    }

    #[test]
    fn a_full_table_floods() {
        let mut fabric = fabric(2, ());
        for number in 0..=MOST_ADDRESSES as u32 {
            let mut bytes = frame(BROADCAST, A);
            bytes[8..12].copy_from_slice(&number.to_be_bytes());
            target(&mut fabric, 0, 100 * i64::from(number), bytes);
        }
        assert_eq!(fabric.homes.len(), MOST_ADDRESSES);
    }

    #[test]
    fn departures_of_all_ports_come_in_order_of_time() {
        let mut fabric = fabric(2, ());
        fabric.arrive(0, 5, frame(B, A));
        fabric.arrive(1, 3, frame(A, B));
        assert_eq!(fabric.next_departure_ns(), Some(13));
        assert!(fabric.depart(12).is_none());
        assert_eq!(fabric.depart(100).map(|departure| (departure.due_ns, departure.from)), Some((13, 1)));
        assert_eq!(fabric.depart(100).map(|departure| (departure.due_ns, departure.from)), Some((15, 0)));
    }

    /// Alters the first byte of every frame's payload, drops runts, and sends what it kept once more after 1 us.
    #[derive(Default)]
    struct Meddler {
        kept: Option<(i64, usize, Vec<u8>)>,
    }

    impl Adversary for Meddler {
        fn intercept(&mut self, port: usize, at_ns: i64, mut frame: Vec<u8>) -> Option<Vec<u8>> {
            *frame.get_mut(12)? ^= 0xff;
            self.kept = Some((at_ns + 1000, port, frame.clone()));
            Some(frame)
        }

        fn next_release_ns(&self) -> Option<i64> {
            self.kept.as_ref().map(|(at_ns, ..)| *at_ns)
        }

        fn release(&mut self, now_ns: i64) -> Option<(usize, Vec<u8>)> {
            self.kept.take_if(|(at_ns, ..)| *at_ns <= now_ns).map(|(_, port, frame)| (port, frame))
        }
    }

    #[test]
    fn an_adversary_alters_drops_and_replays() {
        let mut fabric = fabric(2, Meddler::default());
        fabric.arrive(0, 0, vec![B; 12]);
        assert_eq!(fabric.next_departure_ns(), None);
        fabric.arrive(0, 0, [frame(B, A), vec![1]].concat());
        assert_eq!(fabric.depart(10).unwrap().frame[12], 0xfe);
        assert_eq!(fabric.next_departure_ns(), Some(1000));
        assert!(fabric.depart(1000).is_none(), "the replayed frame has the link still before it");
        assert_eq!(fabric.depart(1010).unwrap().frame[12], 0xfe);
    }
}
