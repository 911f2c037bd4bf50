//! The laboratory's adversary on the path: a process that the switch hands every frame to, over a Unix socket.
//!
//! Packets are those of `docs/formats.md`, Switch. Once the other side has gone, frames pass untouched.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::c_int;

use crate::adversary::Adversary;
use crate::fault::Fault;

/// A packet names its port in one byte.
pub const MOST_PORTS: usize = 256;
/// Frames that may wait to be read, as the kernel accounts for them: a burst of point clouds.
const SEND_BUFFER: c_int = 16 << 20;
/// Above the largest frame.
const LARGEST_PACKET: usize = 128 << 10;
/// How long the switch waits for room in the socket.
const PATIENCE_MS: c_int = 100;

pub struct OnPath {
    socket: OwnedFd,
    ports: usize,
    /// The other side takes frames.
    takes: bool,
    /// The other side may still give frames.
    gives: bool,
    /// The other side was waited for in vain; there is no further wait until it reads again.
    stalled: bool,
    incoming: Vec<u8>,
}

impl OnPath {
    /// Connects to the adversary that listens at `path`, a SOCK_SEQPACKET socket, for a switch of `ports` ports.
    pub fn connect(path: &Path, ports: usize) -> Result<Self, Fault> {
        const REMEDY: &str = "start the adversary before the switch, at a socket of type SOCK_SEQPACKET";
        let name = path.as_os_str().as_bytes();
        // SAFETY: all-zero is a valid address.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        if name.is_empty() || name.contains(&0) || name.len() >= address.sun_path.len() {
            let most = address.sun_path.len() - 1;
            return Err(Fault::new(format!("adversary {}: not a socket's path", path.display()), format!("give 1 to {most} bytes")));
        }
        for (to, &from) in address.sun_path.iter_mut().zip(name) {
            *to = from as libc::c_char;
        }
        let failed = || Fault::system(format!("adversary {}", path.display()), REMEDY);
        // SAFETY: a plain system call.
        let descriptor = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) };
        if descriptor < 0 {
            return Err(failed());
        }
        // SAFETY: socket just gave us this descriptor.
        let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
        // SAFETY: the address is valid for the size given.
        let result = unsafe {
            let size = size_of_val(&address) as libc::socklen_t;
            libc::connect(descriptor, std::ptr::from_ref(&address).cast(), size)
        };
        if result == 0 {
            Ok(Self::over(socket, ports))
        } else {
            Err(failed())
        }
    }

    /// Speaks over a connected socket.
    fn over(socket: OwnedFd, ports: usize) -> Self {
        for option in [libc::SO_SNDBUFFORCE, libc::SO_SNDBUF] {
            // SAFETY: the value is valid for the size given. Without privilege the system's bound holds.
            let result = unsafe {
                let value = std::ptr::from_ref(&SEND_BUFFER).cast();
                libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, size_of_val(&SEND_BUFFER) as u32)
            };
            if result == 0 {
                break;
            }
        }
        Self { socket, ports, takes: true, gives: true, stalled: false, incoming: vec![0; LARGEST_PACKET] }
    }

    /// Sends one packet; whether it was taken. Waits for room, but not again and again for one who does not read.
    fn hand_over(&mut self, head: &[u8], frame: &[u8], patience_ms: c_int) -> bool {
        loop {
            match self.send(head, frame) {
                Ok(()) => {
                    self.stalled = false;
                    return true;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock if !self.stalled => self.stalled = !self.ready(libc::POLLOUT, patience_ms),
                    io::ErrorKind::WouldBlock => return false,
                    io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                        self.takes = false;
                        return false;
                    }
                    _ => return false,
                },
            }
        }
    }

    fn send(&self, head: &[u8], frame: &[u8]) -> io::Result<()> {
        let mut parts = [head, frame].map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
        // SAFETY: all-zero is a valid message header; the kernel only reads the parts, which live until it returns.
        let sent = unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = parts.as_mut_ptr();
            message.msg_iovlen = parts.len();
            libc::sendmsg(self.socket.as_raw_fd(), &message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
        };
        if sent >= 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// The next packet's length, which is above that of `incoming` if it did not fit.
    fn receive(&mut self) -> io::Result<usize> {
        // SAFETY: the buffer is valid for its length.
        let length = unsafe {
            let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
            libc::recv(self.socket.as_raw_fd(), self.incoming.as_mut_ptr().cast(), self.incoming.len(), flags)
        };
        usize::try_from(length).map_err(|_| io::Error::last_os_error())
    }

    /// Whether the socket has one of `events`, or has failed, within `timeout_ms`.
    fn ready(&self, events: libc::c_short, timeout_ms: c_int) -> bool {
        let mut watched = libc::pollfd { fd: self.socket.as_raw_fd(), events, revents: 0 };
        // SAFETY: one descriptor, valid for the call.
        unsafe { libc::poll(&mut watched, 1, timeout_ms) > 0 }
    }

    /// The other side has gone, or gives nothing any more: both directions end, and the socket reports a hangup.
    fn end(&mut self) {
        (self.takes, self.gives) = (false, false);
        // SAFETY: a plain system call.
        unsafe { libc::shutdown(self.socket.as_raw_fd(), libc::SHUT_RDWR) };
    }
}

impl Adversary for OnPath {
    /// Holds the frame, unless nobody takes it: then it goes on.
    fn intercept(&mut self, port: usize, at_ns: i64, frame: Vec<u8>) -> Option<Vec<u8>> {
        if !self.takes {
            return Some(frame);
        }
        let mut head = [port as u8; 9];
        head[1..].copy_from_slice(&at_ns.to_le_bytes());
        (!self.hand_over(&head, &frame, PATIENCE_MS)).then_some(frame)
    }

    fn release(&mut self, _now_ns: i64) -> Option<(usize, Vec<u8>)> {
        while self.gives {
            match self.receive() {
                // The end reads as an empty packet does.
                Ok(0) if self.ready(libc::POLLRDHUP, 0) => self.end(),
                Ok(length) => {
                    if let Some((port, frame)) = self.incoming.get(..length).and_then(|packet| parse(packet, self.ports)) {
                        return Some((port, frame.to_vec()));
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return None,
                    io::ErrorKind::Interrupted => {}
                    // Gone without having read everything; what it gave before can still be read.
                    io::ErrorKind::ConnectionReset => self.takes = false,
                    _ => self.end(),
                },
            }
        }
        None
    }

    fn descriptor(&self) -> Option<RawFd> {
        Some(self.socket.as_raw_fd())
    }
}

/// Port and frame of a packet from the adversary; none of one that is malformed.
fn parse(packet: &[u8], ports: usize) -> Option<(usize, &[u8])> {
    let (&port, frame) = packet.split_first()?;
    (usize::from(port) < ports && !frame.is_empty()).then_some((port.into(), frame))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PORTS: usize = 3;

    /// The switch's side, and the adversary's.
    fn pair() -> (OnPath, OwnedFd) {
        let mut ends = [0; 2];
        // SAFETY: the array has room for both descriptors, which are ours alone.
        let [ours, theirs] = unsafe {
            assert_eq!(libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, ends.as_mut_ptr()), 0);
            ends.map(|end| OwnedFd::from_raw_fd(end))
        };
        (OnPath::over(ours, PORTS), theirs)
    }

    fn give(end: &OwnedFd, packet: &[u8]) {
        // SAFETY: the packet is valid for its length.
        let sent = unsafe { libc::send(end.as_raw_fd(), packet.as_ptr().cast(), packet.len(), 0) };
        assert_eq!(sent, packet.len() as isize);
    }

    fn take(end: &OwnedFd) -> Option<Vec<u8>> {
        let mut packet = vec![0; 1 << 18];
        // SAFETY: the buffer is valid for its length.
        let length = unsafe { libc::recv(end.as_raw_fd(), packet.as_mut_ptr().cast(), packet.len(), libc::MSG_DONTWAIT) };
        packet.truncate(usize::try_from(length).ok()?);
        Some(packet)
    }

    fn packet(port: u8, frame: &[u8]) -> Vec<u8> {
        [&[port], frame].concat()
    }

    #[test]
    fn frames_are_held_until_given_back() {
        let (mut on_path, adversary) = pair();
        assert_eq!(on_path.intercept(2, -5, b"frame".to_vec()), None);
        assert_eq!(on_path.release(0), None);
        let shown = take(&adversary).unwrap();
        assert_eq!((shown[0], &shown[1..9], &shown[9..]), (2, (-5i64).to_le_bytes().as_slice(), b"frame".as_slice()));
        give(&adversary, &packet(1, b"other"));
        assert_eq!(on_path.release(0), Some((1, b"other".to_vec())));
        assert_eq!(on_path.release(0), None);
    }

    #[test]
    fn the_largest_frames_cross_whole() {
        let (mut on_path, adversary) = pair();
        let frame: Vec<u8> = (0..65_553).map(|place| place as u8).collect();
        assert_eq!(on_path.intercept(0, 0, frame.clone()), None);
        let shown = take(&adversary).unwrap();
        assert!(shown[9..] == frame);
        give(&adversary, &packet(0, &shown[9..]));
        assert!(on_path.release(0) == Some((0, frame)));
    }

    #[test]
    fn malformed_packets_are_ignored() {
        let (mut on_path, adversary) = pair();
        for malformed in [&[] as &[u8], &[0], &[3, 1], &[255, 1], &vec![0; LARGEST_PACKET + 1]] {
            give(&adversary, malformed);
        }
        give(&adversary, &packet(2, b"good"));
        assert_eq!(on_path.release(0), Some((2, b"good".to_vec())));
        assert_eq!(on_path.intercept(0, 0, b"held".to_vec()), None);
    }

    #[test]
    fn what_was_given_before_the_end_goes_on_and_then_frames_pass() {
        for (read_all, intercepts_first) in [(true, true), (true, false), (false, true), (false, false)] {
            let (mut on_path, adversary) = pair();
            assert_eq!(on_path.intercept(0, 0, b"held".to_vec()), None);
            if read_all {
                take(&adversary).unwrap();
            }
            give(&adversary, &packet(1, b"one"));
            give(&adversary, &packet(1, b"two"));
            drop(adversary);
            if intercepts_first {
                assert_eq!(on_path.intercept(0, 0, b"passes".to_vec()), Some(b"passes".to_vec()));
            }
            assert_eq!(on_path.release(0), Some((1, b"one".to_vec())));
            assert_eq!(on_path.release(0), Some((1, b"two".to_vec())));
            assert_eq!(on_path.release(0), None);
            assert!(!on_path.gives);
            assert_eq!(on_path.intercept(0, 0, b"passes".to_vec()), Some(b"passes".to_vec()));
        }
    }

    #[test]
    fn an_adversary_that_gives_nothing_any_more_has_gone() {
        let (mut on_path, adversary) = pair();
        // SAFETY: a plain system call.
        assert_eq!(unsafe { libc::shutdown(adversary.as_raw_fd(), libc::SHUT_WR) }, 0);
        assert_eq!(on_path.release(0), None);
        assert!(on_path.ready(0, 0), "a hangup, for which nobody need ask");
        assert_eq!(on_path.intercept(0, 0, b"passes".to_vec()), Some(b"passes".to_vec()));
    }

    #[test]
    fn frames_pass_one_who_does_not_read_until_it_reads_again() {
        let (mut on_path, adversary) = pair();
        let frame = vec![7; 60_000];
        let held = (0..10_000).take_while(|_| on_path.intercept(0, 0, frame.clone()).is_none()).count();
        assert!((3..10_000).contains(&held), "{held}");
        assert!(on_path.stalled);
        assert_eq!(on_path.intercept(0, 0, frame.clone()), Some(frame.clone()));
        assert_eq!(std::iter::from_fn(|| take(&adversary)).count(), held);
        assert_eq!(on_path.intercept(0, 0, frame), None);
        assert!(!on_path.stalled);
    }

    #[test]
    fn a_frame_waits_for_one_who_reads_slowly() {
        let (mut on_path, adversary) = pair();
        const FRAMES: usize = 2000;
        let reader = std::thread::spawn(move || {
            let mut seen = 0;
            while seen < FRAMES {
                match take(&adversary) {
                    Some(_) => seen += 1,
                    None => std::thread::yield_now(),
                }
            }
        });
        let frame = vec![1; 60_000];
        assert!((0..FRAMES).all(|_| on_path.hand_over(&[0; 9], &frame, 20_000)));
        reader.join().unwrap();
    }

    #[test]
    fn nobody_there_is_told() {
        let missing = std::env::temp_dir().join(format!("comseclab-nobody-{}", std::process::id()));
        let message = |path: &Path| OnPath::connect(path, 2).err().unwrap().to_string();
        assert!(message(&missing).contains("No such file"));
        assert!(message(Path::new(&"x".repeat(200))).contains("not a socket's path"));
        assert!(message(Path::new("a\0b")).contains("not a socket's path"));
    }

    proptest! {
        #[test]
        fn whatever_comes_only_what_is_well_formed_goes_on(
            packets in prop::collection::vec(prop::collection::vec(prop_oneof![0u8..5, any::<u8>()], 0..40), 0..50)
        ) {
            let (mut on_path, adversary) = pair();
            packets.iter().for_each(|packet| give(&adversary, packet));
            let good = packets.iter().filter(|packet| packet.len() > 1 && usize::from(packet[0]) < PORTS);
            let expected: Vec<_> = good.map(|packet| (usize::from(packet[0]), packet[1..].to_vec())).collect();
            let released: Vec<_> = std::iter::from_fn(|| on_path.release(0)).collect();
            prop_assert_eq!(released, expected);
        }
    }
}
