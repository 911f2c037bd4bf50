//! Frames from and to one interface, through a packet socket with a TPACKET_V2 ring (packet(7), packet_mmap).
//!
//! V2 wakes its reader frame by frame and gives the kernel's arrival stamp; V3 wakes only when a block closes.

use std::ffi::CString;
use std::io;
use std::mem::{offset_of, size_of, size_of_val};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_int, c_void, sockaddr_ll, tpacket2_hdr};

use crate::fault::Fault;

const ETHERNET_HEADER: usize = 14;
const VLAN_TAG: usize = 4;
/// Where the kernel puts a frame in its slot: header, address, alignment; at most this far in.
const SLOT_HEADER: usize = 128;
/// Least memory of a ring: a tenth of a second of Gigabit Ethernet in full-size frames.
const RING_BYTES: usize = 16 << 20;
/// Least slots of a ring: two point clouds of 9 MB, which come in a burst, in frames of 64 kB.
const RING_SLOTS: usize = 320;
/// Frames given to the kernel in one call.
pub const MOST_SENT_AT_ONCE: usize = 8;
const RIGHTS: &str = "run as root, or inside a user namespace that owns the network namespace";

/// Which frames of an interface are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// Those that come in, whoever they are addressed to.
    Inbound,
    /// Those that come in and those that go out.
    Both,
}

/// A frame in its slot of the ring; the slot goes back to the kernel when this is dropped.
pub struct Received<'ring> {
    header: *mut tpacket2_hdr,
    /// The frame, cut off where the slot ended.
    pub bytes: &'ring [u8],
    /// Length on the wire, without a VLAN tag the kernel took out.
    pub length: usize,
    /// Kernel's arrival stamp, CLOCK_REALTIME.
    pub stamp_ns: i64,
    /// The VLAN tag the kernel took out, as on the wire.
    pub tag: Option<[u8; VLAN_TAG]>,
    pub outgoing: bool,
    /// The sender left the checksum to hardware that a virtual interface does not have.
    pub checksum_missing: bool,
}

impl Received<'_> {
    /// Puts the frame as it was on the wire into `frame`.
    pub fn copy_to(&self, frame: &mut Vec<u8>) {
        const ADDRESSES: usize = 12;
        frame.clear();
        match self.tag {
            Some(tag) if self.bytes.len() >= ADDRESSES => {
                frame.extend_from_slice(&self.bytes[..ADDRESSES]);
                frame.extend_from_slice(&tag);
                frame.extend_from_slice(&self.bytes[ADDRESSES..]);
            }
            _ => frame.extend_from_slice(self.bytes),
        }
    }

    /// Length of the IP packet or other content of the Ethernet frame.
    pub fn content_length(&self) -> usize {
        self.length.saturating_sub(ETHERNET_HEADER)
    }
}

impl Drop for Received<'_> {
    fn drop(&mut self) {
        status(self.header).store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

pub struct PacketSocket {
    socket: OwnedFd,
    ring: *mut u8,
    slot_bytes: usize,
    slots: usize,
    next: usize,
    dropped: u64,
    loopback: bool,
}

impl PacketSocket {
    /// Opens `interface` of the caller's network namespace, promiscuous, its ring's slots sized for its MTU.
    pub fn open(interface: &str, frames: Frames) -> Result<Self, Fault> {
        // SAFETY: plain system call. Protocol 0: no frame comes in before the socket is bound to its interface.
        let descriptor = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if descriptor < 0 {
            return Err(Fault::system("packet sockets are not allowed", RIGHTS));
        }
        // SAFETY: socket just gave us this descriptor.
        let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let described = Interface::of(interface, socket.as_raw_fd())?;
        let slot_bytes = (SLOT_HEADER + ETHERNET_HEADER + VLAN_TAG + described.mtu).next_power_of_two();
        let slots = (RING_BYTES / slot_bytes).max(RING_SLOTS);
        let mut this =
            Self { socket, ring: std::ptr::null_mut(), slot_bytes, slots, next: 0, dropped: 0, loopback: described.loopback };
        this.set_up(described.index, frames).map_err(|error| {
            Fault::new(format!("interface {interface} cannot be opened for frames: {error}"), RIGHTS)
        })?;
        Ok(this)
    }

    fn set_up(&mut self, interface: c_int, frames: Frames) -> io::Result<()> {
        self.option(libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as c_int))?;
        self.option(libc::PACKET_QDISC_BYPASS, &1)?;
        if frames == Frames::Inbound {
            self.option(libc::PACKET_IGNORE_OUTGOING, &1)?;
        }
        let block = self.slot_bytes.max(4096);
        let request = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: (self.ring_bytes() / block) as u32,
            tp_frame_size: self.slot_bytes as u32,
            tp_frame_nr: self.slots as u32,
        };
        self.option(libc::PACKET_RX_RING, &request)?;
        self.map()?;
        self.bind(interface)?;
        let membership = libc::packet_mreq {
            mr_ifindex: interface,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        self.option(libc::PACKET_ADD_MEMBERSHIP, &membership)
    }

    fn option<T>(&self, name: c_int, value: &T) -> io::Result<()> {
        // SAFETY: value is valid for its own size.
        let result = unsafe {
            let size = size_of_val(value) as u32;
            libc::setsockopt(self.descriptor(), libc::SOL_PACKET, name, std::ptr::from_ref(value).cast(), size)
        };
        checked(result)
    }

    fn map(&mut self) -> io::Result<()> {
        // SAFETY: a new mapping of the ring the kernel made for this socket, unmapped on drop.
        let ring = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), self.ring_bytes(), access, libc::MAP_SHARED, self.descriptor(), 0)
        };
        if ring == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        self.ring = ring.cast();
        Ok(())
    }

    fn bind(&self, index: c_int) -> io::Result<()> {
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index;
        // SAFETY: address is a sockaddr_ll of the size given.
        checked(unsafe {
            libc::bind(self.descriptor(), std::ptr::from_ref(&address).cast(), size_of::<sockaddr_ll>() as u32)
        })
    }

    fn ring_bytes(&self) -> usize {
        self.slots * self.slot_bytes
    }

    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn header(&self) -> *mut tpacket2_hdr {
        // SAFETY: next < slots, so the slot lies within the mapping.
        unsafe { self.ring.add(self.next * self.slot_bytes).cast() }
    }

    /// Whether a frame waits; costs a read of memory.
    pub fn has_frame(&self) -> bool {
        status(self.header()).load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// The next frame, if one waits. On loopback, where the kernel shows each frame twice, only the arrival counts.
    pub fn receive(&mut self) -> Option<Received<'_>> {
        loop {
            if !self.has_frame() {
                return None;
            }
            let header = self.header();
            self.next = (self.next + 1) % self.slots;
            // SAFETY: TP_STATUS_USER gives the slot to us until its status is reset, which only Received::drop does.
            let frame = unsafe { received(header) };
            if !(self.loopback && frame.outgoing) {
                return Some(frame);
            }
        }
    }

    /// Sends at most [`MOST_SENT_AT_ONCE`] frames in order; calls `refused` for each the interface did not take.
    pub fn send(&self, frames: &[&[u8]], mut refused: impl FnMut(&[u8])) {
        // SAFETY: all-zero is a valid mmsghdr and iovec.
        let mut vectors: [libc::iovec; MOST_SENT_AT_ONCE] = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut messages: [libc::mmsghdr; MOST_SENT_AT_ONCE] = unsafe { std::mem::zeroed() };
        for ((message, vector), frame) in messages.iter_mut().zip(&mut vectors).zip(frames) {
            vector.iov_base = frame.as_ptr().cast_mut().cast();
            vector.iov_len = frame.len();
            message.msg_hdr.msg_iov = vector;
            message.msg_hdr.msg_iovlen = 1;
        }
        let mut done = 0;
        while done < frames.len() {
            // SAFETY: the messages from done on point at live frames; the kernel only reads them.
            let sent = unsafe {
                let left = (frames.len() - done) as u32;
                libc::sendmmsg(self.descriptor(), messages[done..].as_mut_ptr(), left, libc::MSG_DONTWAIT)
            };
            if sent > 0 {
                done += sent as usize;
            } else if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                refused(frames[done]);
                done += 1;
            }
        }
    }

    /// Frames the ring had no room for, so far.
    pub fn dropped(&mut self) -> u64 {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut size = size_of_val(&statistics) as u32;
        // SAFETY: statistics is valid for the size given. Reading resets the kernel's count.
        unsafe {
            let into = std::ptr::from_mut(&mut statistics).cast::<c_void>();
            libc::getsockopt(self.descriptor(), libc::SOL_PACKET, libc::PACKET_STATISTICS, into, &mut size);
        }
        self.dropped += u64::from(statistics.tp_drops);
        self.dropped
    }
}

impl Drop for PacketSocket {
    fn drop(&mut self) {
        if !self.ring.is_null() {
            // SAFETY: this is the mapping made in map, and no Received outlives the borrow of self.
            unsafe { libc::munmap(self.ring.cast(), self.ring_bytes()) };
        }
    }
}

struct Interface {
    index: c_int,
    mtu: usize,
    loopback: bool,
}

impl Interface {
    fn of(name: &str, socket: RawFd) -> Result<Self, Fault> {
        let missing = |why: String| Fault::new(format!("interface {name}: {why}"), "name one that `ip link` shows in this network namespace");
        let c_name = CString::new(name).map_err(|_| missing("not a name".into()))?;
        if name.is_empty() || name.len() >= libc::IFNAMSIZ {
            return Err(missing("not a name".into()));
        }
        // SAFETY: c_name is a C string.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 {
            return Err(missing("there is none of that name".into()));
        }
        let query = |request| {
            // SAFETY: all-zero is a valid ifreq, and the name fits with its final zero.
            unsafe {
                let mut answer: libc::ifreq = std::mem::zeroed();
                std::ptr::copy_nonoverlapping(c_name.as_ptr(), answer.ifr_name.as_mut_ptr(), name.len());
                match libc::ioctl(socket, request, &mut answer) {
                    0 => Ok(answer),
                    _ => Err(missing(io::Error::last_os_error().to_string())),
                }
            }
        };
        // SAFETY: SIOCGIFMTU fills the MTU.
        let mtu = unsafe { query(libc::SIOCGIFMTU)?.ifr_ifru.ifru_mtu };
        // SAFETY: SIOCGIFFLAGS fills the flags.
        let flags = c_int::from(unsafe { query(libc::SIOCGIFFLAGS)?.ifr_ifru.ifru_flags });
        if flags & libc::IFF_UP == 0 {
            return Err(Fault::new(format!("interface {name} is down"), format!("ip link set {name} up")));
        }
        Ok(Self { index: index as c_int, mtu: mtu as usize, loopback: flags & libc::IFF_LOOPBACK != 0 })
    }
}

fn status<'ring>(header: *mut tpacket2_hdr) -> &'ring AtomicU32 {
    // SAFETY: header is a slot of a live ring; its status is shared with the kernel and only touched atomically.
    unsafe { AtomicU32::from_ptr(header.byte_add(offset_of!(tpacket2_hdr, tp_status)).cast()) }
}

/// # Safety
/// The slot must belong to us, and stay so until its status is reset.
unsafe fn received<'ring>(header: *mut tpacket2_hdr) -> Received<'ring> {
    let (slot, address): (&tpacket2_hdr, &sockaddr_ll) = (&*header, &*header.byte_add(address_offset()).cast());
    let has = |flag| slot.tp_status & flag != 0;
    let tag = has(libc::TP_STATUS_VLAN_VALID).then(|| {
        let protocol = if has(libc::TP_STATUS_VLAN_TPID_VALID) { slot.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
        let ([p, q], [r, s]) = (protocol.to_be_bytes(), slot.tp_vlan_tci.to_be_bytes());
        [p, q, r, s]
    });
    Received {
        header,
        bytes: std::slice::from_raw_parts(header.byte_add(usize::from(slot.tp_mac)).cast(), slot.tp_snaplen as usize),
        length: slot.tp_len as usize,
        stamp_ns: i64::from(slot.tp_sec) * 1_000_000_000 + i64::from(slot.tp_nsec),
        tag,
        outgoing: address.sll_pkttype == libc::PACKET_OUTGOING,
        checksum_missing: has(libc::TP_STATUS_CSUMNOTREADY),
    }
}

/// The link-layer address stands behind the aligned header.
const fn address_offset() -> usize {
    size_of::<tpacket2_hdr>().next_multiple_of(libc::TPACKET_ALIGNMENT)
}

fn checked(result: c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
