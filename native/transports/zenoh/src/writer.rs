//! A stream's sending end.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

use serde_json::{json, Value};
use zenoh::bytes::Encoding;
use zenoh::key_expr::KeyExpr;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

use crate::abi::Status;
use crate::interface::{Failure, Outcome};
use crate::matching::Matching;
use crate::pool::Pool;
use crate::report::Reporter;

pub struct Writer {
    way: Way,
    pub matching: Matching,
    pool: Arc<Pool>,
    max_message_size: usize,
    taken: AtomicU64,
}

/// How messages leave.
enum Way {
    Announced(Publisher<'static>),
    /// Zenoh sends what nobody announced to whoever it is connected with, whether they say that they read it or not.
    Unannounced { session: Session, key: KeyExpr<'static>, congestion: CongestionControl, express: bool },
}

/// How a writer behaves.
pub struct Qos {
    /// Wait for room in a full queue; else give a message up after `wait_before_drop`.
    pub reliable: bool,
    /// Send at once instead of waiting for more to fill a batch.
    pub express: bool,
    /// Declare the writer to others, and send to none but those who declare that they read.
    pub announce: bool,
    pub max_message_size: usize,
}

impl Writer {
    pub fn declare(session: &Session, node: &str, key: String, qos: &Qos, reporter: Reporter) -> zenoh::Result<Self> {
        let congestion = if qos.reliable { CongestionControl::Block } else { CongestionControl::Drop };
        let way = if qos.announce {
            let declared = session
                .declare_publisher(key.clone())
                .congestion_control(congestion)
                .express(qos.express)
                .encoding(Encoding::APPLICATION_OCTET_STREAM);
            Way::Announced(declared.wait()?)
        } else {
            let key = KeyExpr::try_from(key.clone())?;
            Way::Unannounced { session: session.clone(), key, congestion, express: qos.express }
        };
        Ok(Self {
            way,
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
        let bytes = self.pool.fill(bytes);
        let put = match &self.way {
            Way::Announced(publisher) => publisher.put(bytes).wait(),
            Way::Unannounced { session, key, congestion, express } => session
                .put(key, bytes)
                .congestion_control(*congestion)
                .express(*express)
                .encoding(Encoding::APPLICATION_OCTET_STREAM)
                .wait(),
        };
        put.map_err(|error| error.to_string())?;
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
