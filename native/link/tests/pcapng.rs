//! Captures read back block by block.

use comseclab_link::pcapng::{Bounds, Capture, Direction};
use proptest::prelude::*;

type Packet = (u32, u32, u64, Vec<u8>);

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Interface names, and packets as (interface, direction, time, frame).
fn parse(mut file: &[u8]) -> (Vec<String>, Vec<Packet>) {
    let (mut names, mut packets) = (Vec::new(), Vec::new());
    while !file.is_empty() {
        let length = word(file, 4) as usize;
        let (block, rest) = file.split_at(length);
        assert_eq!(word(block, length - 4) as usize, length);
        match word(block, 0) {
            0x0A0D0D0A => assert_eq!(word(block, 8), 0x1A2B3C4D),
            1 => {
                assert_eq!((word(block, 8), word(block, 16) & 0xffff), (1, 2));
                let name_length = (word(block, 16) >> 16) as usize;
                names.push(String::from_utf8(block[20..20 + name_length].to_vec()).unwrap());
                let resolution = 20 + name_length.next_multiple_of(4);
                assert_eq!((word(block, resolution), block[resolution + 4]), (9 | (1 << 16), 9));
            }
            6 => {
                let captured = word(block, 20) as usize;
                assert_eq!(word(block, 24) as usize, captured);
                let flags = 28 + captured.next_multiple_of(4);
                assert_eq!(word(block, flags), 2 | (4 << 16));
                let time = (u64::from(word(block, 12)) << 32) | u64::from(word(block, 16));
                packets.push((word(block, 8), word(block, flags + 4), time, block[28..28 + captured].to_vec()));
            }
            kind => panic!("unknown block {kind}"),
        }
        file = rest;
    }
    (names, packets)
}

fn written(frames: u64, bytes: u64, packets: &[(usize, bool, i64, Vec<u8>)]) -> Vec<u8> {
    let path = std::env::temp_dir().join(format!("comseclab-{}-{frames}-{bytes}.pcapng", std::process::id()));
    let mut capture = Capture::create(&Bounds { path: path.clone(), frames, bytes }, &["port-a", "b"]).unwrap();
    for (interface, inbound, at_ns, frame) in packets {
        let direction = if *inbound { Direction::Inbound } else { Direction::Outbound };
        capture.record(*interface, direction, *at_ns, frame);
    }
    capture.finish().unwrap();
    let file = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_back_what_was_recorded(packets in prop::collection::vec(
            (0usize..2, any::<bool>(), 0..i64::MAX, prop::collection::vec(any::<u8>(), 0..200)), 0..20)) {
        let (names, read) = parse(&written(100, 1 << 20, &packets));
        prop_assert_eq!(names, ["port-a", "b"]);
        let expected: Vec<_> = packets.into_iter()
            .map(|(interface, inbound, at_ns, frame)| (interface as u32, if inbound { 1 } else { 2 }, at_ns as u64, frame)).collect();
        prop_assert_eq!(read, expected);
    }
}

#[test]
fn stops_at_either_bound() {
    let packets = vec![(0, true, 1, vec![7; 100]); 10];
    assert_eq!(parse(&written(3, 1 << 20, &packets)).1.len(), 3);
    let bounded = written(100, 500, &packets);
    assert!(bounded.len() <= 500);
    assert_eq!(parse(&bounded).1.len(), 2);
}

#[test]
fn a_path_that_cannot_be_written_is_refused_at_once() {
    let bounds = Bounds { path: "/nowhere/at/all.pcapng".into(), frames: 1, bytes: 1000 };
    assert!(Capture::create(&bounds, &["a"]).is_err_and(|fault| fault.to_string().contains("/nowhere/at/all.pcapng")));
}
