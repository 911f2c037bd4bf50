//! A stream's receiving end.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{json, Value};
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Session, Wait};

use crate::abi;
use crate::matching::Matching;
use crate::report::{Gate, Reporter};

/// Where the node takes messages.
pub struct Receiver {
    on_message: abi::OnMessage,
    context: *mut c_void,
}

// SAFETY: the interface allows callbacks from any thread; the context is the node's business.
unsafe impl Send for Receiver {}
// SAFETY: as above.
unsafe impl Sync for Receiver {}

impl Receiver {
    pub fn new(on_message: abi::OnMessage, context: *mut c_void) -> Self {
        Self { on_message, context }
    }

    fn take(&self, bytes: &[u8]) {
        // Zenoh names the sender of a sample only if the sender itself wants it (unstable `source_info`).
        let unknown = abi::Sender { bytes: [0; 16] };
        // SAFETY: bytes and sender live as long as the call.
        unsafe { (self.on_message)(self.context, bytes.as_ptr(), bytes.len(), &unknown) };
    }
}

pub struct Reader {
    _subscriber: Subscriber<()>,
    pub matching: Matching,
    delivery: Arc<Delivery>,
}

struct Delivery {
    receiver: Receiver,
    gate: Arc<Gate>,
    /// Where fragments are put together. Samples of several writers may arrive at once.
    whole: Mutex<Vec<u8>>,
    delivered: AtomicU64,
    put_together: AtomicU64,
}

impl Reader {
    pub fn declare(
        session: &Session,
        node: &str,
        key: String,
        receiver: Receiver,
        reporter: Reporter,
    ) -> zenoh::Result<Self> {
        let delivery = Arc::new(Delivery {
            receiver,
            gate: reporter.gate.clone(),
            whole: Mutex::default(),
            delivered: AtomicU64::new(0),
            put_together: AtomicU64::new(0),
        });
        let delivering = delivery.clone();
        let subscriber =
            session.declare_subscriber(key.clone()).callback(move |sample| delivering.deliver(&sample)).wait()?;
        Ok(Self { _subscriber: subscriber, matching: Matching::begin(session, node, &key, reporter)?, delivery })
    }

    pub fn stream(&self) -> u32 {
        self.matching.matches.reporter.stream
    }

    pub fn statistics(&self) -> Value {
        json!({
            "matched": self.matching.matches.count(),
            "delivered": self.delivery.delivered.load(Relaxed),
            "put_together": self.delivery.put_together.load(Relaxed),
        })
    }
}

impl Delivery {
    fn deliver(&self, sample: &Sample) {
        if sample.kind() != SampleKind::Put {
            return;
        }
        let Some(_pass) = self.gate.pass() else {
            return;
        };
        self.delivered.fetch_add(1, Relaxed);
        let mut slices = sample.payload().slices();
        match (slices.next(), slices.next()) {
            (Some(only), None) => self.receiver.take(only),
            (None, _) => self.receiver.take(&[]),
            _ => self.deliver_fragments(sample.payload()),
        }
    }

    fn deliver_fragments(&self, payload: &ZBytes) {
        self.put_together.fetch_add(1, Relaxed);
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        whole.clear();
        whole.reserve(payload.len());
        payload.slices().for_each(|slice| whole.extend_from_slice(slice));
        self.receiver.take(&whole);
    }
}
