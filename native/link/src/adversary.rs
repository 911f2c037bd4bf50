//! The hook for someone on the path.

use std::os::fd::RawFd;

/// Sees every frame that enters the switch, before the link of its port acts on it.
///
/// To alter a frame, return another; to drop it, return nothing; to delay, inject or replay, keep frames
/// and give them back from [`Adversary::release`]. The provided methods are those of one who injects nothing.
pub trait Adversary {
    /// What goes on in place of `frame`, which came in at `port`.
    fn intercept(&mut self, port: usize, at_ns: i64, frame: Vec<u8>) -> Option<Vec<u8>>;

    /// When [`Adversary::release`] has a frame to give.
    fn next_release_ns(&self) -> Option<i64> {
        None
    }

    /// A frame to enter the link of a port as if its host had sent it, with that port.
    fn release(&mut self, _now_ns: i64) -> Option<(usize, Vec<u8>)> {
        None
    }

    /// What becomes readable when there may be something to release, and hangs up when there never will be again.
    fn descriptor(&self) -> Option<RawFd> {
        None
    }
}

/// Nobody: frames pass untouched, and the compiler leaves nothing of the hook.
impl Adversary for () {
    fn intercept(&mut self, _port: usize, _at_ns: i64, frame: Vec<u8>) -> Option<Vec<u8>> {
        Some(frame)
    }
}
