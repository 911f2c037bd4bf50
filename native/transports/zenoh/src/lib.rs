//! comseclab's transport for Zenoh: the C interface of comseclab/transport.h over one session in peer mode.
//!
//! A ROS topic `/scan` is the key `scan`; bytes that are not CDR have a key of their own, `scan/ros1` or `scan/opaque`.
//! A payload is the bytes as they are. Who writes and reads a key is known by liveliness tokens, see [`matching`].

mod abi;
mod interface;
mod keys;
mod log;
mod matching;
mod pool;
mod reader;
mod report;
mod session;
mod writer;

use std::ffi::{c_char, CString};
use std::mem::size_of;
use std::sync::OnceLock;

use reader::Reader;
use session::Transport;
use writer::Writer;

type Api = abi::Api<Transport, Writer, Reader>;

struct Table {
    api: Api,
    /// What `api.version` points to.
    _version: CString,
}

// SAFETY: the table is never changed, and what its pointers show lives as long as it does.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// The one exported symbol. Returns a table with static lifetime.
#[no_mangle]
pub extern "C" fn comseclab_transport_entry() -> *const Api {
    static TABLE: OnceLock<Table> = OnceLock::new();
    &TABLE.get_or_init(make_table).api
}

fn make_table() -> Table {
    let version = CString::new(zenoh_version()).unwrap_or_default();
    let api = Api {
        abi_version: abi::ABI_VERSION,
        struct_size: size_of::<Api>() as u32,
        name: c"zenoh".as_ptr().cast::<c_char>(),
        version: version.as_ptr(),
        limits: interface::limits,
        open: interface::open,
        advertise: interface::advertise,
        subscribe: interface::subscribe,
        publish: interface::publish,
        statistics: interface::statistics,
        close: interface::close,
    };
    Table { api, _version: version }
}

/// "1.10.2" of "v1.10.2-release".
fn zenoh_version() -> &'static str {
    let whole = zenoh::GIT_VERSION;
    let bare = whole.strip_prefix('v').unwrap_or(whole);
    bare.split('-').next().unwrap_or(bare)
}
