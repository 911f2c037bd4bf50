//! A cheap source of load: `blast INTERFACE DESTINATION_MAC RATE_BPS FRAME_BYTES SECONDS` sends frames of an
//! experimental EtherType at a steady rate and prints `{"sent":N,"refused":N,"seconds":S}`.

use std::process::ExitCode;
use std::time::Duration;

use comseclab_link::clock;
use comseclab_link::fault::{self, Fault};
use comseclab_link::packet_socket::{Frames, PacketSocket, MOST_SENT_AT_ONCE};

const USAGE: &str = "blast INTERFACE DESTINATION_MAC RATE_BPS FRAME_BYTES SECONDS";
/// IEEE 802 local experimental EtherType 1.
const ETHERTYPE: [u8; 2] = [0x88, 0xB5];

fn main() -> ExitCode {
    fault::run("blast", || {
        let words: Vec<_> = std::env::args().skip(1).collect();
        let [interface, destination, numbers @ ..] = words.as_slice() else { return Err(Fault::new("too few arguments", USAGE)) };
        let address: Vec<u8> = destination.split(':').filter_map(|part| u8::from_str_radix(part, 16).ok()).collect();
        let numbers: Vec<i64> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
        let (&[rate_bps @ 1..=100_000_000_000, frame_bytes @ 60..=1514, seconds], 6) = (numbers.as_slice(), address.len()) else {
            return Err(Fault::new("arguments are not understood", USAGE));
        };
        let source = [0x02, 0, 0, 0, 0, 0x01];
        let mut frame = [address.as_slice(), &source, &ETHERTYPE].concat();
        frame.resize(frame_bytes as usize, 0);
        blast(&PacketSocket::open(interface, Frames::Inbound)?, &frame, rate_bps, seconds * 1_000_000_000);
        Ok(())
    })
}

/// Sends batches, each when its first frame is due.
fn blast(socket: &PacketSocket, frame: &[u8], rate_bps: i64, duration_ns: i64) {
    let batch_ns = MOST_SENT_AT_ONCE as i64 * frame.len() as i64 * 8 * 1_000_000_000 / rate_bps;
    let batch = [frame; MOST_SENT_AT_ONCE];
    let (start_ns, mut sent, mut refused) = (clock::monotonic_ns(), 0u64, 0u64);
    let mut due_ns = start_ns;
    while due_ns < start_ns + duration_ns {
        let left_ns = due_ns - clock::monotonic_ns();
        if left_ns > 0 {
            std::thread::sleep(Duration::from_nanos(left_ns as u64));
        }
        socket.send(&batch, |_| refused += 1);
        sent += MOST_SENT_AT_ONCE as u64;
        due_ns += batch_ns;
    }
    let seconds = (clock::monotonic_ns() - start_ns) as f64 / 1e9;
    println!("{{\"sent\":{},\"refused\":{refused},\"seconds\":{seconds:.3}}}", sent - refused);
}
