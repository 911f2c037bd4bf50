//! The probe: measures a link one way in both directions at once, with UDP packets between two network namespaces.
//!
//! One process sends and receives, so that one clock stamps both ends: CLOCK_REALTIME right before the send,
//! and the kernel's receive stamp (SO_TIMESTAMPNS), into which no wake-up of the receiver enters.

use std::fs::File;
use std::io;
use std::mem::{size_of, size_of_val, MaybeUninit};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use serde::Serialize;

use crate::clock;
use crate::fault::Fault;

/// Drain: at least this long after the last send ...
const DRAIN_NS: i64 = 100_000_000;
/// ... and until nothing has come for this long, or twice the longest delay seen ...
const QUIET_NS: i64 = 200_000_000;
/// ... but no longer than this. A direction nothing has come from yet is waited for this long.
const LONGEST_DRAIN_NS: i64 = 6_000_000_000;
/// Nonce, index, send time.
const HEADER: usize = 8 + 4 + 8;
const LARGEST: usize = 65_507;
const RECEIVE_BUFFER: libc::c_int = 64 << 20;

/// One end of the path.
pub struct End {
    /// A network namespace's file.
    pub namespace: String,
    pub address: IpAddr,
}

/// What to send from each end.
pub struct Schedule {
    pub count: u32,
    pub interval_us: u64,
    /// UDP payload, bytes.
    pub size: usize,
}

/// What one end sent and the other received; `docs/formats.md`, Switch.
#[derive(Serialize)]
pub struct Report {
    pub directions: [DirectionReport; 2],
}

#[derive(Serialize)]
pub struct DirectionReport {
    pub sender: &'static str,
    pub sent: u64,
    /// Probes that arrived at least once.
    pub received: u64,
    /// Further copies.
    pub duplicated: u64,
    /// Probes that arrived after a later one (RFC 4737).
    pub reordered: u64,
    /// Of the first copies, in the order of their arrival.
    pub delays_ns: Vec<i64>,
}

/// Sends probes both ways at once and waits for those under way.
pub fn run(ends: &[End; 2], schedule: &Schedule) -> Result<Report, Fault> {
    if schedule.count == 0 || schedule.interval_us == 0 || !(HEADER..=LARGEST).contains(&schedule.size) {
        return Err(Fault::new(
            "nothing to probe with",
            format!("give a count and an interval above 0 and a size of {HEADER} to {LARGEST} bytes"),
        ));
    }
    // Both files first: what a path under /proc/self names changes on entering a namespace.
    let namespaces = [namespace(&ends[0])?, namespace(&ends[1])?];
    let sockets = [open(&ends[0], &namespaces[0])?, open(&ends[1], &namespaces[1])?];
    let peers = [local(&sockets[1])?, local(&sockets[0])?];
    let mut directions = ["from", "to"].map(|sender| Direction::new(sender, schedule));
    let interval_ns = i64::try_from(schedule.interval_us).unwrap_or(i64::MAX).saturating_mul(1000);
    let start_ns = clock::monotonic_ns();
    for index in 0..schedule.count {
        receive_until(start_ns.saturating_add(interval_ns.saturating_mul(index.into())), &sockets, &mut directions)?;
        for ((direction, socket), peer) in directions.iter_mut().zip(&sockets).zip(peers) {
            direction.send(index, socket, peer);
        }
    }
    let last_ns = clock::monotonic_ns();
    while directions.iter().any(|direction| direction.may_still_receive(clock::monotonic_ns(), last_ns)) {
        receive_until(clock::monotonic_ns() + DRAIN_NS / 10, &sockets, &mut directions)?;
    }
    Ok(Report { directions: directions.map(Direction::report) })
}

struct Direction {
    sender: &'static str,
    packet: Vec<u8>,
    nonce: [u8; 8],
    seen: Vec<bool>,
    sent: u64,
    duplicated: u64,
    reordered: u64,
    highest: Option<u32>,
    delays_ns: Vec<i64>,
    longest_ns: i64,
    last_receipt_ns: i64,
}

impl Direction {
    fn new(sender: &'static str, schedule: &Schedule) -> Self {
        // Distinguishes this run and direction from strays; chance is not needed for that.
        let nonce = (clock::realtime_ns() as u64 ^ u64::from(sender.len() as u32).rotate_left(60)).to_le_bytes();
        let count = schedule.count as usize;
        Self {
            sender,
            packet: vec![0; schedule.size],
            nonce,
            seen: vec![false; count],
            sent: 0,
            duplicated: 0,
            reordered: 0,
            highest: None,
            delays_ns: Vec::with_capacity(count),
            longest_ns: 0,
            last_receipt_ns: i64::MIN,
        }
    }

    fn send(&mut self, index: u32, socket: &UdpSocket, peer: SocketAddr) {
        self.packet[..8].copy_from_slice(&self.nonce);
        self.packet[8..12].copy_from_slice(&index.to_le_bytes());
        self.packet[12..HEADER].copy_from_slice(&clock::realtime_ns().to_le_bytes());
        // A probe the host itself refuses never was on the link.
        self.sent += u64::from(socket.send_to(&self.packet, peer).is_ok());
    }

    /// Takes a packet that arrived at `stamp_ns`; strays and damaged probes are ignored.
    fn receive(&mut self, packet: &[u8], stamp_ns: i64) {
        if packet.len() != self.packet.len() || packet[..8] != self.nonce {
            return;
        }
        let index = u32::from_le_bytes(packet[8..12].try_into().expect("four bytes"));
        let sent_ns = i64::from_le_bytes(packet[12..HEADER].try_into().expect("eight bytes"));
        let Some(seen) = self.seen.get_mut(index as usize) else { return };
        self.last_receipt_ns = clock::monotonic_ns();
        if std::mem::replace(seen, true) {
            self.duplicated += 1;
            return;
        }
        self.reordered += u64::from(self.highest.is_some_and(|highest| index < highest));
        self.highest = self.highest.max(Some(index));
        let delay_ns = stamp_ns.saturating_sub(sent_ns);
        self.longest_ns = self.longest_ns.max(delay_ns);
        self.delays_ns.push(delay_ns);
    }

    fn may_still_receive(&self, now_ns: i64, last_send_ns: i64) -> bool {
        let drained_ns = now_ns - last_send_ns;
        if self.delays_ns.is_empty() {
            return drained_ns < LONGEST_DRAIN_NS;
        }
        let quiet_ns = now_ns - self.last_receipt_ns.max(last_send_ns);
        drained_ns < DRAIN_NS || drained_ns < LONGEST_DRAIN_NS && quiet_ns < QUIET_NS.max(self.longest_ns.saturating_mul(2))
    }

    fn report(self) -> DirectionReport {
        DirectionReport {
            sender: self.sender,
            sent: self.sent,
            received: self.delays_ns.len() as u64,
            duplicated: self.duplicated,
            reordered: self.reordered,
            delays_ns: self.delays_ns,
        }
    }
}

/// Receives on both sockets until a time of CLOCK_MONOTONIC.
fn receive_until(until_ns: i64, sockets: &[UdpSocket; 2], directions: &mut [Direction; 2]) -> Result<(), Fault> {
    loop {
        for (receiver, socket) in sockets.iter().enumerate() {
            // What one end receives, the other sent.
            drain(socket, &mut directions[1 - receiver])?;
        }
        let left_ns = until_ns - clock::monotonic_ns();
        if left_ns <= 0 {
            return Ok(());
        }
        let mut watched = [0, 1].map(|end: usize| libc::pollfd { fd: sockets[end].as_raw_fd(), events: libc::POLLIN, revents: 0 });
        // SAFETY: the descriptors and the timeout are valid for the call.
        unsafe { libc::ppoll(watched.as_mut_ptr(), 2, &clock::timespec(left_ns), std::ptr::null()) };
    }
}

fn drain(socket: &UdpSocket, direction: &mut Direction) -> Result<(), Fault> {
    loop {
        match receive(socket) {
            Ok((packet, stamp_ns)) => direction.receive(&packet, stamp_ns),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Fault::new(format!("probes cannot be received: {error}"), "keep the interfaces up while probing")),
        }
    }
}

/// One packet and the kernel's stamp of its arrival.
fn receive(socket: &UdpSocket) -> io::Result<(Vec<u8>, i64)> {
    let mut packet: Vec<u8> = Vec::with_capacity(LARGEST);
    let mut control = MaybeUninit::<[libc::cmsghdr; 4]>::zeroed();
    let mut vector = libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: LARGEST };
    // SAFETY: all-zero is a valid msghdr; it then points at live buffers of the lengths given. The kernel
    // fills as many bytes of the packet as it says, and control messages that CMSG_FIRSTHDR may walk.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut vector;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        let length = libc::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_DONTWAIT);
        if length < 0 {
            return Err(io::Error::last_os_error());
        }
        packet.set_len(length as usize);
        let header = libc::CMSG_FIRSTHDR(&message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_TIMESTAMPNS {
            return Err(io::Error::other("the kernel gave no time stamp"));
        }
        let stamp = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
        Ok((packet, stamp.tv_sec * 1_000_000_000 + stamp.tv_nsec))
    }
}

fn namespace(end: &End) -> Result<File, Fault> {
    File::open(&end.namespace).map_err(|error| {
        let cause = format!("network namespace {}: {error}", end.namespace);
        Fault::new(cause, "name the file of one, such as /proc/self/ns/net")
    })
}

/// A stamping socket at `end`, opened inside its namespace. The thread stays there: only sockets are opened from it.
fn open(end: &End, namespace: &File) -> Result<UdpSocket, Fault> {
    // SAFETY: plain system call on an open descriptor.
    if unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
        return Err(Fault::system(
            format!("network namespace {} cannot be entered", end.namespace),
            "run as root, or inside the user namespace that owns it",
        ));
    }
    let unusable = |error| Fault::new(format!("address {}: {error}", end.address), "give one that an interface of the namespace has");
    let socket = UdpSocket::bind((end.address, 0)).map_err(unusable)?;
    let option = |name, value: libc::c_int| {
        // SAFETY: value is valid for its own size.
        unsafe {
            let size = size_of::<libc::c_int>() as u32;
            libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, std::ptr::from_ref(&value).cast(), size)
        }
    };
    if option(libc::SO_TIMESTAMPNS, 1) != 0 {
        return Err(Fault::system("receive time stamps are not available", "use a Linux kernel from 2.6.22 on"));
    }
    // The first is for root alone; without it the system's limit stands.
    if option(libc::SO_RCVBUFFORCE, RECEIVE_BUFFER) != 0 {
        option(libc::SO_RCVBUF, RECEIVE_BUFFER);
    }
    Ok(socket)
}

fn local(socket: &UdpSocket) -> Result<SocketAddr, Fault> {
    socket.local_addr().map_err(|error| Fault::new(format!("a socket has no address: {error}"), "give another address"))
}
