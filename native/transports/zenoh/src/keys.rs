//! Key expressions: of streams, and of the liveliness tokens by which their ends find each other.

use crate::interface::Outcome;
use crate::session::StreamDescription;

/// `/scan` -> `scan`; bytes in another codec than CDR go under a key of their own, `scan/ros1`, `scan/opaque`.
pub fn key(stream: &StreamDescription) -> Outcome<String> {
    let path = stream.topic.strip_prefix('/').unwrap_or(stream.topic);
    if path.is_empty() {
        return Err(format!("topic \"{}\" is empty: name it as ROS does, such as /scan", stream.topic).into());
    }
    Ok(if stream.codec == "cdr" { path.to_string() } else { format!("{path}/{}", stream.codec) })
}

/// Which end of a stream.
#[derive(Clone, Copy)]
pub enum End {
    Writer,
    Reader,
}

impl End {
    pub fn other(self) -> Self {
        match self {
            Self::Writer => Self::Reader,
            Self::Reader => Self::Writer,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
        }
    }

    /// What an end declares: `@comseclab/reader/NODE/STREAM/KEY`.
    pub fn token(self, node: &str, stream: u32, key: &str) -> String {
        format!("@comseclab/{}/{node}/{stream}/{key}", self.name())
    }

    /// All such ends of a key.
    pub fn tokens(self, key: &str) -> String {
        format!("@comseclab/{}/*/*/{key}", self.name())
    }
}
