//! Calls into the node: events of a stream's end, and the gate that ends all calls when the transport closes.

use std::ffi::{c_int, c_void};
use std::mem::size_of;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::abi;
use crate::interface::c_string;
use crate::keys::End;

/// Where the node takes events.
#[derive(Clone, Copy)]
pub struct Node {
    on_event: Option<abi::OnEvent>,
    context: *mut c_void,
}

// SAFETY: the interface allows callbacks from any thread; the context is the node's business.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

impl Node {
    pub fn new(on_event: Option<abi::OnEvent>, context: *mut c_void) -> Self {
        Self { on_event, context }
    }
}

/// Open until the transport closes. Every call into the node holds a pass.
pub struct Gate {
    open: RwLock<bool>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { open: RwLock::new(true) }
    }
}

impl Gate {
    /// None once the gate is closed.
    pub fn pass(&self) -> Option<RwLockReadGuard<'_, bool>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.then_some(open)
    }

    /// Returns when no call is under way; none begins after.
    pub fn close(&self) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

/// Hands events of one end of a stream to the node.
pub struct Reporter {
    pub node: Node,
    pub gate: Arc<Gate>,
    pub stream: u32,
    pub end: End,
}

impl Reporter {
    pub fn matched(&self, count: usize) {
        self.report(abi::EventKind::Matched, count as u64, None);
    }

    pub fn rejected(&self, text: &str) {
        self.report(abi::EventKind::Rejected, 1, Some(text));
    }

    fn report(&self, kind: abi::EventKind, count: u64, text: Option<&str>) {
        let (Some(on_event), Some(_pass)) = (self.node.on_event, self.gate.pass()) else {
            return;
        };
        let text = text.map(c_string);
        let event = abi::Event {
            struct_size: size_of::<abi::Event>() as u32,
            kind,
            stream: self.stream,
            is_writer: c_int::from(matches!(self.end, End::Writer)),
            count,
            text: text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()),
        };
        // SAFETY: the event and its text live as long as the call.
        unsafe { on_event(self.node.context, &event) };
    }
}
