//! Who is at the other end of a key, by Zenoh's liveliness.
//!
//! Every end declares a token once it can write or read, and watches the tokens of the other ends. Zenoh itself would
//! tell only *whether* there is a reader. A token leaves with its end, its session or the connection to it. A reader's
//! subscription goes out before its token, on the same link, so whoever sees the token routes messages to the reader.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait};

use crate::report::Reporter;

/// The other ends an end has now.
pub struct Matches {
    tokens: Mutex<HashSet<String>>,
    pub reporter: Reporter,
}

impl Matches {
    fn see(&self, token: &str, kind: SampleKind) {
        // Held while reporting, so that counts arrive in order.
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match kind {
            SampleKind::Put => tokens.insert(token.to_string()),
            SampleKind::Delete => tokens.remove(token),
        };
        if changed {
            self.reporter.matched(tokens.len());
        }
    }

    pub fn count(&self) -> usize {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// An end's part in matching; ends when dropped.
pub struct Matching {
    pub matches: Arc<Matches>,
    _token: LivelinessToken,
    _watch: Subscriber<()>,
}

impl Matching {
    /// Call it when the end itself is declared.
    pub fn begin(session: &Session, node: &str, key: &str, reporter: Reporter) -> zenoh::Result<Self> {
        let (end, stream) = (reporter.end, reporter.stream);
        let matches = Arc::new(Matches { tokens: Mutex::default(), reporter });
        let seen = matches.clone();
        let watch = session
            .liveliness()
            .declare_subscriber(end.other().tokens(key))
            .history(true)
            .callback(move |token| seen.see(token.key_expr().as_str(), token.kind()))
            .wait()?;
        let token = session.liveliness().declare_token(end.token(node, stream, key)).wait()?;
        Ok(Self { matches, _token: token, _watch: watch })
    }
}
