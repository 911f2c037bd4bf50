//! comseclab/transport.h, ABI version 1, as Rust sees it. Names and order are the header's.

use std::ffi::{c_char, c_int, c_void};
use std::mem::size_of;

pub const ABI_VERSION: u32 = 1;
pub const ERROR_TEXT: usize = 512;

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    TooLarge = 2,
    Failed = 3,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub enum EventKind {
    Matched = 1,
    Rejected = 4,
}

#[repr(C)]
pub struct Error {
    pub text: [c_char; ERROR_TEXT],
}

#[repr(C)]
pub struct Event {
    pub struct_size: u32,
    pub kind: EventKind,
    pub stream: u32,
    pub is_writer: c_int,
    pub count: u64,
    pub text: *const c_char,
}

#[repr(C)]
pub struct Sender {
    pub bytes: [u8; 16],
}

pub type OnEvent = unsafe extern "C" fn(*mut c_void, *const Event);
pub type OnMessage = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const Sender);

#[repr(C)]
pub struct Open {
    pub struct_size: u32,
    pub node: *const c_char,
    pub settings: *const c_char,
    pub on_event: Option<OnEvent>,
    pub context: *mut c_void,
}

#[repr(C)]
pub struct Stream {
    pub struct_size: u32,
    pub stream: u32,
    pub topic: *const c_char,
    pub r#type: *const c_char,
    pub codec: *const c_char,
    pub reliable: c_int,
    pub max_size: u32,
    pub rate_hz: f64,
}

#[repr(C)]
pub struct Limits {
    pub struct_size: u32,
    pub max_message_size: u64,
    pub copies_sent: u32,
    pub copies_received: u32,
}

/// The handles stand for `comseclab_transport`, `comseclab_writer` and `comseclab_reader`.
#[repr(C)]
pub struct Api<Transport, Writer, Reader> {
    pub abi_version: u32,
    pub struct_size: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub limits: unsafe extern "C" fn(*mut Limits) -> Status,
    pub open: unsafe extern "C" fn(*const Open, *mut *mut Transport, *mut Error) -> Status,
    pub advertise: unsafe extern "C" fn(*mut Transport, *const Stream, *mut *const Writer, *mut Error) -> Status,
    pub subscribe: unsafe extern "C" fn(
        *mut Transport,
        *const Stream,
        Option<OnMessage>,
        *mut c_void,
        *mut *const Reader,
        *mut Error,
    ) -> Status,
    pub publish: unsafe extern "C" fn(*const Writer, *const u8, usize, *mut Error) -> Status,
    pub statistics: unsafe extern "C" fn(*mut Transport, *mut c_char, usize) -> Status,
    pub close: unsafe extern "C" fn(*mut Transport),
}

/// What a caller hands in, with its size as the caller knows it.
pub trait Versioned {
    fn struct_size(&self) -> u32;
}

macro_rules! versioned {
    ($($name:ident),*) => {$(
        impl Versioned for $name {
            fn struct_size(&self) -> u32 {
                self.struct_size
            }
        }
    )*};
}
versioned!(Open, Stream, Limits);

/// Whether a struct of the caller's has all the fields of ours.
pub fn complete<T: Versioned>(given: &T) -> bool {
    given.struct_size() as usize >= size_of::<T>()
}
