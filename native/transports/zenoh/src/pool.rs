//! Buffers that Zenoh owns while it sends and that come back afterwards, so that no message faults in fresh memory.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

#[derive(Default)]
pub struct Pool {
    free: Mutex<Vec<Vec<u8>>>,
}

impl Pool {
    /// A copy of `content` in a buffer of the pool.
    pub fn fill(self: &Arc<Self>, content: &[u8]) -> Bytes {
        let mut buffer = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(content);
        Bytes::from_owner(Lent { buffer, pool: self.clone() })
    }
}

/// A buffer out of the pool.
struct Lent {
    buffer: Vec<u8>,
    pool: Arc<Pool>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.pool.free.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}
