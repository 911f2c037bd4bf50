//! The capture program: the first frames of any interface, for links without a switch.

use serde_json::json;

use crate::clock;
use crate::control::{Command, Control};
use crate::fault::Fault;
use crate::packet_socket::{Frames, PacketSocket};
use crate::pcapng::{Bounds, Capture, Direction};

/// Captures from `interface` within `bounds` until told to stop.
pub fn run(interface: &str, bounds: &Bounds) -> Result<(), Fault> {
    let socket = PacketSocket::open(interface, Frames::Both)?;
    let mut capture = Capture::create(bounds, &[interface])?;
    let mut control = Control::new(&[socket.descriptor()])?;
    println!("{}", json!({"event": "ready"}));
    let mut stopped = fill(&mut capture, socket, &mut control);
    control.watch_commands_only();
    while !stopped {
        stopped = control.wait(None).contains(&Command::Stop);
    }
    capture.finish()
}

/// Records until the capture is full or told to stop; returns the latter. The socket ends with it: as long as it is open,
/// every frame is copied and wakes this process, which frames that nobody keeps should not pay for.
fn fill(capture: &mut Capture, mut socket: PacketSocket, control: &mut Control) -> bool {
    let mut frame = Vec::new();
    let mut stopped = false;
    while !stopped && !capture.is_full() {
        stopped = control.wait(None).contains(&Command::Stop);
        // What arrived before the stop belongs to the capture; what arrives after does not.
        let stop_ns = clock::realtime_ns();
        while let Some(received) = socket.receive() {
            if capture.is_full() || (stopped && received.stamp_ns > stop_ns) {
                break;
            }
            let direction = if received.outgoing { Direction::Outbound } else { Direction::Inbound };
            received.copy_to(&mut frame);
            capture.record(0, direction, received.stamp_ns, &frame);
        }
    }
    stopped
}
