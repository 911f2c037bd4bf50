//! Zenoh says why a connection fails only in its log. It goes to standard error, and refusals to the node as events.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::session::Ends;

/// Where Zenoh tells of its attempts to connect, as mere debugging.
const CONNECTING: &str = "zenoh::net::runtime::orchestrator";

/// How rustls begins what it has against the other side's certificate, or hears against its own.
const REFUSALS: [&str; 3] = ["invalid peer certificate", "received fatal alert", "peer sent no certificates"];

static SESSIONS: Mutex<Vec<Weak<Ends>>> = Mutex::new(Vec::new());

/// Take over Zenoh's log. Idempotent.
pub fn capture() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if tracing::subscriber::set_global_default(Log).is_err() {
            eprintln!("zenoh: its log is already taken");
        }
    });
}

/// Have refusals told to the ends of a session for as long as it lives.
pub fn tell(ends: &Arc<Ends>) {
    let mut sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    sessions.retain(|session| session.strong_count() > 0);
    sessions.push(Arc::downgrade(ends));
}

struct Log;

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN || (*metadata.level() == Level::DEBUG && metadata.target() == CONNECTING)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn new_span(&self, _attributes: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message::default();
        event.record(&mut message);
        let text = in_one_line(&message.0);
        if *event.metadata().level() == Level::DEBUG && !text.contains("Unable to connect") {
            return;
        }
        eprintln!("zenoh: {text}");
        if let Some(cause) = refusal(&text) {
            let sessions: Vec<_> =
                SESSIONS.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect();
            sessions.iter().for_each(|ends| ends.rejected(cause));
        }
    }
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            let _ = write!(self.0, "{value:?}");
        }
    }
}

/// What one side said against the other's certificate, or nothing where the text is about something else.
fn refusal(text: &str) -> Option<&str> {
    let at = REFUSALS.iter().find_map(|cause| text.find(cause))?;
    let cause = text[at..].split(" Retry in ").next()?;
    Some(cause.trim_end_matches(['.', ' ']))
}

/// Zenoh's errors name the place in its source after " at /": that and line ends are cut.
pub fn in_one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut kept = String::new();
    let mut rest = line.as_str();
    while let Some(at) = rest.find(" at /") {
        kept.push_str(&rest[..at]);
        let place = &rest[at + 4..];
        rest = &place[place.find([' ', ')', ']']).unwrap_or(place.len())..];
    }
    kept.push_str(rest);
    kept
}
