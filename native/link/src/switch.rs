//! The switch program: interfaces joined by a [`Fabric`], one thread, frames in and out through packet sockets.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::adversary::Adversary;
use crate::clock;
use crate::control::{Command, Control};
use crate::fabric::{Departure, Fabric, Target};
use crate::fault::Fault;
use crate::histogram::Histogram;
use crate::netem::Link;
use crate::on_path::{self, OnPath};
use crate::packet_socket::{Frames, PacketSocket, MOST_SENT_AT_ONCE};
use crate::pcapng::{Bounds, Capture, Direction};
use crate::profile::Profile;
use crate::random::Generator;
use crate::realtime::{self, Budget, Granted};

const VERSION: u32 = 1;
/// Frames taken from a port, and sent, before the others have their turn.
const TURN: usize = 64;
/// Commands are looked for at least this often, also while the thread never sleeps.
const CONTROL_EVERY_NS: i64 = 1_000_000;
/// Buffers kept for reuse.
const SPARE_BUFFERS: usize = 4096;
/// The most memory of buffers made beforehand. A page's first touch may wait for the hypervisor, and then frames are late.
const FIRST_BYTES: usize = 320 << 20;
/// Ethernet header and VLAN tag.
const LARGEST_HEADER: usize = 18;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    version: u32,
    seed: u64,
    /// SCHED_FIFO priority to take where allowed; none: ordinary scheduling.
    fifo_priority: Option<i32>,
    cpu: Option<usize>,
    /// How long before a departure the thread stops sleeping.
    spin_ns: i64,
    ports: Vec<PortConfig>,
    capture: Option<Bounds>,
    /// Socket of the adversary on the path; none: nobody is there.
    adversary: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PortConfig {
    host: String,
    interface: String,
    profile: Profile,
}

impl Config {
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Fault::new(format!("configuration {name}: {error}"), "name a file that can be read"))?;
        let config: Self = serde_json::from_str(&text)
            .map_err(|error| Fault::new(format!("configuration {name}: {error}"), "see docs/formats.md, Switch"))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), Fault> {
        let refuse = |cause: &str, remedy: &str| Err(Fault::new(cause, remedy));
        if self.version != VERSION {
            return refuse("the configuration's version is not known", "this switch reads version 1");
        }
        if !(0..=1_000_000_000).contains(&self.spin_ns) {
            return refuse("spin_ns is out of range", "give 0 to 1 000 000 000");
        }
        if self.fifo_priority.is_some_and(|priority| !(1..=99).contains(&priority)) {
            return refuse("fifo_priority is out of range", "give 1 to 99, or null");
        }
        if self.ports.len() < 2 {
            return refuse("a switch needs two ports or more", "list them under ports");
        }
        let hosts: HashSet<_> = self.ports.iter().map(|port| &port.host).collect();
        let interfaces: HashSet<_> = self.ports.iter().map(|port| &port.interface).collect();
        if hosts.len().min(interfaces.len()) < self.ports.len() {
            return refuse("two ports have the same host or interface", "list each host and interface once");
        }
        if self.adversary.is_some() && self.ports.len() > on_path::MOST_PORTS {
            return refuse("the adversary cannot tell so many ports apart", "list 256 or fewer");
        }
        self.ports.iter().try_for_each(|port| port.profile.check())
    }
}

/// What crossed a port; `docs/formats.md`, Switch.
#[derive(Default, Serialize)]
struct PortCounters {
    in_frames: u64,
    in_bytes: u64,
    out_frames: u64,
    out_bytes: u64,
    lost: u64,
    corrupted: u64,
    duplicated: u64,
    queue_dropped: u64,
    /// Frames the interface refused to send.
    send_failed: u64,
    ring_dropped: u64,
    /// Frames for an address on the port they came from.
    filtered: u64,
    /// Frames no wire carries, dropped: offloads are on at the host.
    oversized: u64,
    checksum_missing: u64,
}

struct Port {
    host: String,
    socket: PacketSocket,
    mtu: usize,
    counters: PortCounters,
}

/// Joins the interfaces of `config` until told to stop, with its adversary on the path.
pub fn run(config: &Config) -> Result<(), Fault> {
    match &config.adversary {
        None => run_with(config, ()),
        Some(path) => run_with(config, OnPath::connect(path, config.ports.len())?),
    }
}

fn run_with<A: Adversary>(config: &Config, adversary: A) -> Result<(), Fault> {
    let on_path = adversary.descriptor();
    let mut switch = Switch::open(config, adversary)?;
    let descriptors: Vec<_> = switch.ports.iter().map(|port| port.socket.descriptor()).chain(on_path).collect();
    let mut control = Control::new(&descriptors)?;
    let granted = realtime::prepare(config.cpu, config.fifo_priority)?;
    let priority = config.fifo_priority.filter(|_| granted.realtime);
    println!("{}", json!({"event": "ready"}));
    switch.serve(&mut control, Budget::new(priority, clock::monotonic_ns()), config.spin_ns, granted);
    println!("{}", switch.report(granted));
    switch.capture.map_or(Ok(()), Capture::finish)
}

struct Switch<A> {
    ports: Vec<Port>,
    fabric: Fabric<A>,
    capture: Option<Capture>,
    send_error: Histogram,
    /// Departures of the current turn.
    leaving: Vec<Departure>,
    spare: Vec<Vec<u8>>,
}

impl<A: Adversary> Switch<A> {
    fn open(config: &Config, adversary: A) -> Result<Self, Fault> {
        let open = |port: &PortConfig| {
            let socket = PacketSocket::open(&port.interface, Frames::Inbound)?;
            let mtu = port.profile.mtu as usize;
            Ok(Port { host: port.host.clone(), socket, mtu, counters: PortCounters::default() })
        };
        let ports = config.ports.iter().map(open).collect::<Result<Vec<_>, Fault>>()?;
        let link = |(number, port): (usize, &PortConfig)| {
            Link::new(&port.profile, Generator::new(config.seed, number as u64))
        };
        let fabric = Fabric::new(config.ports.iter().enumerate().map(link).collect(), adversary);
        let names: Vec<_> = config.ports.iter().map(|port| port.interface.as_str()).collect();
        let capture = config.capture.as_ref().map(|bounds| Capture::create(bounds, &names)).transpose()?;
        let send_error = Histogram::default();
        let largest = LARGEST_HEADER + ports.iter().map(|port| port.mtu).max().unwrap_or(0);
        let queued = config.ports.iter().map(|port| port.profile.queue_limit()).max().unwrap_or(0);
        // Bytes other than zero are written, not only promised.
        let spare = vec![vec![0xff; largest]; (FIRST_BYTES / largest).min(SPARE_BUFFERS).min(queued + TURN)];
        Ok(Self { ports, fabric, capture, send_error, leaving: Vec::with_capacity(TURN), spare })
    }

    fn serve(&mut self, control: &mut Control, mut budget: Budget, spin_ns: i64, granted: Granted) {
        let mut controlled_ns = clock::monotonic_ns();
        loop {
            let busy = self.take_in() | self.send_due();
            let now_ns = clock::monotonic_ns();
            budget.keep(now_ns);
            let due_ns = self.fabric.next_departure_ns();
            let spins = due_ns.is_some_and(|due_ns| due_ns - now_ns <= spin_ns && budget.allows_spinning(now_ns, due_ns));
            let awake = busy || spins;
            if awake && now_ns - controlled_ns < CONTROL_EVERY_NS {
                if !busy {
                    self.spin_until(due_ns);
                }
                continue;
            }
            let sleep_ns = |due_ns: i64| if due_ns - now_ns > spin_ns { due_ns - now_ns - spin_ns } else { due_ns - now_ns };
            let commands = control.wait(if awake { Some(0) } else { due_ns.map(sleep_ns) });
            controlled_ns = clock::monotonic_ns();
            if !awake {
                budget.woke(controlled_ns);
            }
            for command in commands {
                match command {
                    Command::Counters => println!("{}", self.report(granted)),
                    Command::Stop => return,
                }
            }
        }
    }

    /// Waits, awake, for a departure or a frame.
    fn spin_until(&self, due_ns: Option<i64>) {
        while due_ns.is_some_and(|due_ns| clock::monotonic_ns() < due_ns) && !self.ports.iter().any(|port| port.socket.has_frame()) {
            std::hint::spin_loop();
        }
    }

    /// Gives waiting frames to the fabric, at the times they arrived; whether there were any.
    fn take_in(&mut self) -> bool {
        if !self.ports.iter().any(|port| port.socket.has_frame()) {
            return false;
        }
        let offset_ns = clock::realtime_offset_ns();
        for (number, port) in self.ports.iter_mut().enumerate() {
            for _ in 0..TURN {
                let Some(received) = port.socket.receive() else { break };
                let counters = &mut port.counters;
                if received.content_length() > port.mtu {
                    counters.oversized += 1;
                    continue;
                }
                if received.checksum_missing {
                    counters.checksum_missing += 1;
                    continue;
                }
                let mut frame = self.spare.pop().unwrap_or_default();
                received.copy_to(&mut frame);
                counters.in_frames += 1;
                counters.in_bytes += frame.len() as u64;
                if let Some(capture) = &mut self.capture {
                    capture.record(number, Direction::Inbound, received.stamp_ns, &frame);
                }
                self.fabric.arrive(number, received.stamp_ns - offset_ns, frame);
            }
        }
        true
    }

    /// Sends what is due, at most a turn of frames; whether there was any.
    fn send_due(&mut self) -> bool {
        let now_ns = clock::monotonic_ns();
        while self.leaving.len() < TURN {
            match self.fabric.depart(now_ns) {
                Some(departure) => self.leaving.push(departure),
                None => break,
            }
        }
        let leaving = std::mem::take(&mut self.leaving);
        for same_way in leaving.chunk_by(|one, next| (one.from, one.to) == (next.from, next.to)) {
            same_way.chunks(MOST_SENT_AT_ONCE).for_each(|batch| self.send(batch));
        }
        let busy = !leaving.is_empty();
        self.recycle(leaving);
        busy
    }

    /// Sends frames that go the same way.
    fn send(&mut self, batch: &[Departure]) {
        let sent_ns = clock::monotonic_ns();
        for departure in batch {
            self.send_error.record((sent_ns - departure.due_ns).max(0) as u64);
        }
        let from = batch[0].from;
        match batch[0].to {
            Target::Port(port) => self.send_to(port, batch, sent_ns),
            Target::Others => (0..self.ports.len()).filter(|&port| port != from).for_each(|port| self.send_to(port, batch, sent_ns)),
            Target::Nowhere => self.ports[from].counters.filtered += batch.len() as u64,
        }
    }

    fn send_to(&mut self, number: usize, batch: &[Departure], sent_ns: i64) {
        let port = &mut self.ports[number];
        let frames: Vec<&[u8]> = batch.iter().map(|departure| departure.frame.as_slice()).collect();
        let counters = &mut port.counters;
        counters.out_frames += frames.len() as u64;
        counters.out_bytes += frames.iter().map(|frame| frame.len() as u64).sum::<u64>();
        port.socket.send(&frames, |refused| {
            counters.out_frames -= 1;
            counters.out_bytes -= refused.len() as u64;
            counters.send_failed += 1;
        });
        if let Some(capture) = &mut self.capture {
            let at_ns = sent_ns + clock::realtime_offset_ns();
            frames.iter().for_each(|frame| capture.record(number, Direction::Outbound, at_ns, frame));
        }
    }

    fn recycle(&mut self, mut left: Vec<Departure>) {
        for departure in left.drain(..) {
            if self.spare.len() < SPARE_BUFFERS {
                self.spare.push(departure.frame);
            }
        }
        self.leaving = left;
    }

    fn report(&mut self, granted: Granted) -> serde_json::Value {
        let mut ports = BTreeMap::new();
        for (number, port) in self.ports.iter_mut().enumerate() {
            let link = self.fabric.counters(number);
            let counters = &mut port.counters;
            (counters.lost, counters.corrupted) = (link.lost, link.corrupted);
            (counters.duplicated, counters.queue_dropped) = (link.duplicated, link.queue_dropped);
            counters.ring_dropped = port.socket.dropped();
            ports.insert(&port.host, &port.counters);
        }
        json!({
            "event": "counters", "ports": ports, "send_error_ns": self.send_error.percentiles(),
            "realtime": granted.realtime, "memory_locked": granted.memory_locked,
        })
    }
}
