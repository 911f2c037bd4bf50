//! A stream's sending end.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

use serde_json::{json, Value};
use zenoh::bytes::Encoding;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

use crate::abi::Status;
use crate::interface::{Failure, Outcome};
use crate::matching::Matching;
use crate::pool::Pool;
use crate::report::Reporter;

pub struct Writer {
    publisher: Publisher<'static>,
    pub matching: Matching,
    pool: Arc<Pool>,
    max_message_size: usize,
    taken: AtomicU64,
}

/// How a writer behaves.
pub struct Qos {
    /// Wait for room in a full queue; else give a message up after `wait_before_drop`.
    pub reliable: bool,
    /// Send at once instead of waiting for more to fill a batch.
    pub express: bool,
    pub max_message_size: usize,
}

impl Writer {
    pub fn declare(session: &Session, node: &str, key: String, qos: &Qos, reporter: Reporter) -> zenoh::Result<Self> {
        let congestion = if qos.reliable { CongestionControl::Block } else { CongestionControl::Drop };
        let publisher = session
            .declare_publisher(key.clone())
            .congestion_control(congestion)
            .express(qos.express)
            .encoding(Encoding::APPLICATION_OCTET_STREAM)
            .wait()?;
        Ok(Self {
            publisher,
            matching: Matching::begin(session, node, &key, reporter)?,
            pool: Arc::default(),
            max_message_size: qos.max_message_size,
            taken: AtomicU64::new(0),
        })
    }

    /// Zenoh does not tell whether it dropped a message for want of room.
    pub fn publish(&self, bytes: &[u8]) -> Outcome<()> {
        if bytes.len() > self.max_message_size {
            let text = format!(
                "a message of {} bytes exceeds max_message_size, {}: raise that setting",
                bytes.len(),
                self.max_message_size
            );
            return Err(Failure { status: Status::TooLarge, text });
        }
        self.publisher.put(self.pool.fill(bytes)).wait().map_err(|error| error.to_string())?;
        self.taken.fetch_add(1, Relaxed);
        Ok(())
    }

    pub fn stream(&self) -> u32 {
        self.matching.matches.reporter.stream
    }

    pub fn statistics(&self) -> Value {
        json!({"matched": self.matching.matches.count(), "taken": self.taken.load(Relaxed)})
    }
}
