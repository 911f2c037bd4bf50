//! Captures in the pcapng format (draft-ietf-opsawg-pcapng), nanosecond time stamps, little-endian.
//!
//! Frames are held in memory that was set aside beforehand and written at the end, so that capturing never waits for a disk.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use serde::Deserialize;

use crate::fault::Fault;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const LINKTYPE_ETHERNET: u32 = 1;
const OPTION_END: u16 = 0;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_TIME_RESOLUTION: u16 = 9;
const OPTION_PACKET_FLAGS: u16 = 2;
/// Bytes of an enhanced packet block around the frame and its padding.
const PACKET_OVERHEAD: usize = 44;

/// Where to capture to, and how much: the first frames up to either bound.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    pub path: PathBuf,
    pub frames: u64,
    /// Size of the file.
    pub bytes: u64,
}

/// The direction of a frame, seen from the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Inbound = 1,
    Outbound = 2,
}

pub struct Capture {
    path: PathBuf,
    file: File,
    blocks: Vec<u8>,
    frames_left: u64,
    most_bytes: usize,
}

impl Capture {
    /// Opens the file, so that a path that cannot be written is known before the first frame.
    pub fn create(bounds: &Bounds, interfaces: &[&str]) -> Result<Self, Fault> {
        let file = File::create(&bounds.path)
            .map_err(|error| Fault::new(format!("capture file {}: {error}", bounds.path.display()), "name a file in a folder that can be written"))?;
        let most_bytes = usize::try_from(bounds.bytes).unwrap_or(usize::MAX);
        let mut blocks = Vec::new();
        blocks
            .try_reserve_exact(most_bytes)
            .map_err(|_| Fault::new(format!("no memory for a capture of {most_bytes} bytes"), "lower its bound"))?;
        section(&mut blocks, interfaces);
        Ok(Self { path: bounds.path.clone(), file, blocks, frames_left: bounds.frames, most_bytes })
    }

    /// Keeps a frame that crossed `interface` at `at_ns` (nanoseconds since 1970); a frame past the bounds ends the capture.
    pub fn record(&mut self, interface: usize, direction: Direction, at_ns: i64, frame: &[u8]) {
        let room = self.blocks.len() + PACKET_OVERHEAD + frame.len().next_multiple_of(4);
        if self.frames_left == 0 || room > self.most_bytes {
            self.frames_left = 0;
            return;
        }
        self.frames_left -= 1;
        packet(&mut self.blocks, interface as u32, direction, at_ns as u64, frame);
    }

    /// Whether no further frame will be kept.
    pub fn is_full(&self) -> bool {
        self.frames_left == 0
    }

    /// Writes the file.
    pub fn finish(mut self) -> Result<(), Fault> {
        self.file.write_all(&self.blocks).map_err(|error| {
            Fault::new(format!("capture file {}: {error}", self.path.display()), "free space on its disk or lower its bound")
        })
    }
}

fn section(out: &mut Vec<u8>, interfaces: &[&str]) {
    block(out, SECTION_HEADER, |out| {
        put32(out, 0x1A2B_3C4D);
        put16(out, 1);
        put16(out, 0);
        out.extend_from_slice(&u64::MAX.to_le_bytes());
    });
    for name in interfaces {
        block(out, INTERFACE_DESCRIPTION, |out| {
            put32(out, LINKTYPE_ETHERNET);
            put32(out, 0);
            option(out, OPTION_INTERFACE_NAME, name.as_bytes());
            option(out, OPTION_TIME_RESOLUTION, &[9]);
            option(out, OPTION_END, &[]);
        });
    }
}

fn packet(out: &mut Vec<u8>, interface: u32, direction: Direction, at_ns: u64, frame: &[u8]) {
    block(out, ENHANCED_PACKET, |out| {
        put32(out, interface);
        put32(out, (at_ns >> 32) as u32);
        put32(out, at_ns as u32);
        put32(out, frame.len() as u32);
        put32(out, frame.len() as u32);
        padded(out, frame);
        option(out, OPTION_PACKET_FLAGS, &(direction as u32).to_le_bytes());
        option(out, OPTION_END, &[]);
    });
}

/// A block: type, length, body, length again.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    put32(out, kind);
    put32(out, 0);
    body(out);
    let length = (out.len() + 4 - start) as u32;
    out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    put32(out, length);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    put16(out, code);
    put16(out, value.len() as u16);
    padded(out, value);
}

fn padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(4), 0);
}

fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}
