//! The functions of the C interface. They check what comes in and let no panic out; the work is elsewhere.

use std::ffi::{c_char, c_void, CStr, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

use crate::abi::{self, Status};
use crate::reader::{Reader, Receiver};
use crate::report::Node;
use crate::session::{Opening, StreamDescription, Transport};
use crate::writer::Writer;

/// Why a call failed: a status and one line of text.
pub struct Failure {
    pub status: Status,
    pub text: String,
}

impl<T: Into<String>> From<T> for Failure {
    fn from(text: T) -> Self {
        Self { status: Status::Failed, text: text.into() }
    }
}

pub type Outcome<T> = Result<T, Failure>;

/// Copies of a payload: one out of the caller's bytes, which Zenoh may keep longer than the call lasts, one into the
/// batch that goes to the socket. A message above a batch (64 KiB) arrives in fragments, which are put together by one
/// copy; a smaller one is read in place. Protection adds copies of its own.
const COPIES_SENT: u32 = 2;
const COPIES_RECEIVED: u32 = 1;

/// Fragments are put together up to 1 GiB, headers included, unless the reader's configuration says otherwise.
const MAX_MESSAGE_SIZE: u64 = (1 << 30) - 4096;

pub unsafe extern "C" fn limits(out: *mut abi::Limits) -> Status {
    // SAFETY: the caller gives a valid struct; its size is looked at before anything else.
    match unsafe { out.as_mut() }.filter(|out| abi::complete(*out)) {
        Some(out) => {
            out.max_message_size = MAX_MESSAGE_SIZE;
            out.copies_sent = COPIES_SENT;
            out.copies_received = COPIES_RECEIVED;
            Status::Ok
        }
        None => Status::Failed,
    }
}

pub unsafe extern "C" fn open(request: *const abi::Open, out: *mut *mut Transport, error: *mut abi::Error) -> Status {
    guarded(error, || {
        // SAFETY: the caller gives a valid struct, whose strings live as long as the call.
        let (request, node, settings) = unsafe {
            let request = given(request)?;
            (request, text(request.node)?, text(request.settings)?)
        };
        let on_event = Node::new(request.on_event, request.context);
        let transport = Transport::open(Opening { node, settings, on_event })?;
        // SAFETY: the caller gives a place for the handle.
        unsafe { *out = Box::into_raw(Box::new(transport)) };
        Ok(())
    })
}

pub unsafe extern "C" fn advertise(
    transport: *mut Transport,
    stream: *const abi::Stream,
    out: *mut *const Writer,
    error: *mut abi::Error,
) -> Status {
    guarded(error, || {
        // SAFETY: the handle came from open(); the stream's strings live as long as the call; `out` is a place for one.
        unsafe { *out = Arc::as_ptr(&handle(transport)?.advertise(&described(stream)?)?) };
        Ok(())
    })
}

pub unsafe extern "C" fn subscribe(
    transport: *mut Transport,
    stream: *const abi::Stream,
    on_message: Option<abi::OnMessage>,
    context: *mut c_void,
    out: *mut *const Reader,
    error: *mut abi::Error,
) -> Status {
    guarded(error, || {
        let on_message = on_message.ok_or("subscribe() without on_message")?;
        let receiver = Receiver::new(on_message, context);
        // SAFETY: as in advertise().
        unsafe { *out = Arc::as_ptr(&handle(transport)?.subscribe(&described(stream)?, receiver)?) };
        Ok(())
    })
}

pub unsafe extern "C" fn publish(
    writer: *const Writer,
    bytes: *const u8,
    size: usize,
    error: *mut abi::Error,
) -> Status {
    guarded(error, || {
        // SAFETY: the handle came from advertise(), its transport is open; `bytes` are `size` bytes.
        let (writer, bytes) = unsafe { (handle(writer)?, std::slice::from_raw_parts(bytes, size)) };
        writer.publish(bytes)
    })
}

pub unsafe extern "C" fn statistics(transport: *mut Transport, json: *mut c_char, capacity: usize) -> Status {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the handle came from open(); `json` has room for `capacity` bytes.
        unsafe {
            let text = handle(transport)?.statistics().to_string();
            copy_text(&text, json, capacity);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn close(transport: *mut Transport) {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the handle came from open(), is given up by this call, and no other call is under way.
        let transport = unsafe { Box::from_raw(transport) };
        transport.close();
        Ok(())
    });
}

/// Runs `work`; turns a failure and a panic into a status and a text.
fn guarded(error: *mut abi::Error, work: impl FnOnce() -> Outcome<()>) -> Status {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("Zenoh panicked; see the log".into()));
    let Err(failure) = outcome else {
        return Status::Ok;
    };
    // SAFETY: null, or a place for an error text.
    if let Some(error) = unsafe { error.as_mut() } {
        let capacity = error.text.len();
        // SAFETY: the text has that capacity.
        unsafe { copy_text(&failure.text, error.text.as_mut_ptr(), capacity) };
    }
    failure.status
}

/// # Safety
/// `to` must have room for `capacity` bytes. The text is cut between characters and zero-terminated.
unsafe fn copy_text(text: &str, to: *mut c_char, capacity: usize) {
    let Some(most) = capacity.checked_sub(1) else {
        return;
    };
    let mut length = text.len().min(most);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: length < capacity, and the two do not overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast::<c_char>(), to, length);
        *to.add(length) = 0;
    }
}

/// # Safety
/// The pointer is null or shows a struct that is valid as far as its struct_size says.
unsafe fn given<'a, T: abi::Versioned>(pointer: *const T) -> Outcome<&'a T> {
    // SAFETY: as the caller promises.
    let given = unsafe { pointer.as_ref() }.ok_or("a struct is missing")?;
    if !abi::complete(given) {
        return Err("a struct is shorter than in ABI version 1: build with this version's header".into());
    }
    Ok(given)
}

/// # Safety
/// The pointer is null or shows what the interface made.
unsafe fn handle<'a, T>(pointer: *const T) -> Outcome<&'a T> {
    // SAFETY: as the caller promises.
    unsafe { pointer.as_ref() }.ok_or_else(|| "a handle is missing".into())
}

/// # Safety
/// The pointer is null or shows a zero-terminated string.
unsafe fn text<'a>(pointer: *const c_char) -> Outcome<&'a str> {
    if pointer.is_null() {
        return Err("a string is missing".into());
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| "a string is not UTF-8".into())
}

/// # Safety
/// As for `given`, and its strings are null or zero-terminated.
unsafe fn described<'a>(stream: *const abi::Stream) -> Outcome<StreamDescription<'a>> {
    // SAFETY: as the caller promises.
    unsafe {
        let stream = given(stream)?;
        Ok(StreamDescription {
            id: stream.stream,
            topic: text(stream.topic)?,
            codec: text(stream.codec)?,
            reliable: stream.reliable != 0,
        })
    }
}

/// A text for a C string: what follows a zero byte is cut.
pub fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
