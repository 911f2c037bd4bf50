//! One open session with its ends.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{json, Map, Value};
use zenoh::{Config, Session, Wait};

use crate::interface::{Failure, Outcome};
use crate::keys::{key, End};
use crate::log::{self, in_one_line};
use crate::reader::{Reader, Receiver};
use crate::report::{Gate, Node, Reporter};
use crate::writer::{Qos, Writer};

/// The user's wish for Zenoh's threads.
const RUNTIME_ENV: &str = "ZENOH_RUNTIME";
/// For a last word to the others; one that does not listen any more would hold it up.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// What open() is given.
pub struct Opening<'a> {
    pub node: &'a str,
    pub settings: &'a str,
    pub on_event: Node,
}

/// What the laboratory's Python side hands to open().
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The session's configuration, in Zenoh's own format.
    config: PathBuf,
    /// See [`Qos`].
    express: bool,
    /// See [`Qos`]. Only an adversary leaves it out.
    #[serde(default = "always")]
    announce: bool,
    /// Bytes; what all who read accept.
    max_message_size: usize,
}

fn always() -> bool {
    true
}

/// What advertise() and subscribe() are given.
pub struct StreamDescription<'a> {
    pub id: u32,
    pub topic: &'a str,
    pub codec: &'a str,
    pub reliable: bool,
}

pub struct Transport {
    node: String,
    on_event: Node,
    settings: Settings,
    gate: Arc<Gate>,
    ends: Arc<Ends>,
    session: Session,
}

/// The writers and readers of a session.
#[derive(Default)]
pub struct Ends {
    /// Why someone was refused, as told so far; Zenoh tries again and again.
    refusals: Mutex<HashSet<String>>,
    writers: Mutex<Vec<Arc<Writer>>>,
    readers: Mutex<Vec<Arc<Reader>>>,
}

impl Transport {
    pub fn open(opening: Opening) -> Outcome<Self> {
        let settings: Settings =
            serde_json::from_str(opening.settings).map_err(|error| format!("settings: {error}"))?;
        // Read when Zenoh's threads are first made; a user's wish must not change a trial.
        std::env::remove_var(RUNTIME_ENV);
        log::capture();
        let config = Config::from_file(&settings.config).map_err(|error| {
            format!("{} is no configuration of Zenoh: {}", settings.config.display(), in_one_line(&error.to_string()))
        })?;
        let session = zenoh::open(config).wait().map_err(|error| in_one_line(&error.to_string()))?;
        let ends = Arc::new(Ends::default());
        log::tell(&ends);
        Ok(Self {
            node: opening.node.to_string(),
            on_event: opening.on_event,
            settings,
            gate: Arc::default(),
            ends,
            session,
        })
    }

    pub fn advertise(&self, stream: &StreamDescription) -> Outcome<Arc<Writer>> {
        let qos = Qos {
            reliable: stream.reliable,
            express: self.settings.express,
            announce: self.settings.announce,
            max_message_size: self.settings.max_message_size,
        };
        let reporter = self.reporter(stream, End::Writer);
        let writer =
            Writer::declare(&self.session, &self.node, key(stream)?, &qos, reporter).map_err(refused(stream))?;
        let writer = Arc::new(writer);
        lock(&self.ends.writers).push(writer.clone());
        Ok(writer)
    }

    pub fn subscribe(&self, stream: &StreamDescription, receiver: Receiver) -> Outcome<Arc<Reader>> {
        let reporter = self.reporter(stream, End::Reader);
        let reader =
            Reader::declare(&self.session, &self.node, key(stream)?, receiver, reporter).map_err(refused(stream))?;
        let reader = Arc::new(reader);
        lock(&self.ends.readers).push(reader.clone());
        Ok(reader)
    }

    fn reporter(&self, stream: &StreamDescription, end: End) -> Reporter {
        Reporter { node: self.on_event, gate: self.gate.clone(), stream: stream.id, end }
    }

    pub fn statistics(&self) -> Value {
        let by_stream = |all: Vec<(u32, Value)>| -> Map<String, Value> {
            all.into_iter().map(|(stream, counters)| (stream.to_string(), counters)).collect()
        };
        let writers = lock(&self.ends.writers);
        let readers = lock(&self.ends.readers);
        json!({
            "writers": by_stream(writers.iter().map(|end| (end.stream(), end.statistics())).collect()),
            "readers": by_stream(readers.iter().map(|end| (end.stream(), end.statistics())).collect()),
        })
    }

    /// No callback comes after. Zenoh's threads belong to the process and stay: to end them, as Zenoh can, frees what
    /// tasks that are still closing a link may use, and then the process aborts.
    pub fn close(self) {
        self.gate.close();
        lock(&self.ends.writers).clear();
        lock(&self.ends.readers).clear();
        if let Err(error) = self.session.close().timeout(CLOSE_TIMEOUT).wait() {
            eprintln!("zenoh: {}", in_one_line(&error.to_string()));
        }
    }
}

impl Ends {
    /// Tell all ends, once for every cause, that someone was refused or that this session was.
    pub fn rejected(&self, text: &str) {
        if !lock(&self.refusals).insert(text.to_string()) {
            return;
        }
        lock(&self.writers).iter().for_each(|end| end.matching.matches.reporter.rejected(text));
        lock(&self.readers).iter().for_each(|end| end.matching.matches.reporter.rejected(text));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused<'a>(stream: &'a StreamDescription) -> impl Fn(zenoh::Error) -> Failure + 'a {
    move |error| format!("topic \"{}\": {}", stream.topic, in_one_line(&error.to_string())).into()
}
