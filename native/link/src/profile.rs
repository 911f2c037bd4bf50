//! Link profiles: what one direction of a path does to frames. The same model as the laboratory's
//! `LinkProfile`, with the same field names, defaults and bounds.

use serde::Deserialize;

use crate::fault::Fault;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    Normal,
    Uniform,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Loopback,
    Direct,
    Emulated,
}

/// Whether frames may overtake each other.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Jitter {
    /// Frames leave in the order they came: netem with `rate` in the same qdisc.
    Fifo,
    /// Each frame's delay is its own; the rate then serialises them in the order they come out of the delay.
    Reorder,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub name: String,
    #[serde(default = "emulated")]
    pub kind: Kind,
    /// Largest IP packet, bytes.
    #[serde(default = "ethernet_mtu")]
    pub mtu: u32,
    /// Bits per second of whole Ethernet frames; 0: unlimited.
    #[serde(default)]
    pub rate_bps: u64,
    #[serde(default)]
    pub delay_ns: u64,
    /// Standard deviation (normal) or half range (uniform).
    #[serde(default)]
    pub jitter_ns: u64,
    #[serde(default = "normal")]
    pub distribution: Distribution,
    #[serde(default = "fifo")]
    pub jitter: Jitter,
    #[serde(default)]
    pub loss: f64,
    /// Probability that one bit of the frame is flipped.
    #[serde(default)]
    pub corrupt: f64,
    #[serde(default)]
    pub duplicate: f64,
    /// Probability that a frame is sent at once, ahead of the delayed ones.
    #[serde(default)]
    pub reorder: f64,
    /// Queue limit in frames; 0: chosen from rate and delay.
    #[serde(default)]
    pub limit_frames: u64,
}

fn emulated() -> Kind {
    Kind::Emulated
}
fn ethernet_mtu() -> u32 {
    1500
}
fn normal() -> Distribution {
    Distribution::Normal
}
fn fifo() -> Jitter {
    Jitter::Fifo
}

/// Delays past this (292 years) do not fit in signed nanoseconds; a fraction of it keeps every sum in range.
const LONGEST_NS: u64 = 1 << 60;

impl Profile {
    /// Refuses what the laboratory's model refuses.
    pub fn check(&self) -> Result<(), Fault> {
        let refuse = |what: &str, bounds: &str| {
            Err(Fault::new(format!("link profile '{}': {what} is out of range", self.name), format!("give {bounds}")))
        };
        if !(576..=65535).contains(&self.mtu) {
            return refuse("mtu", "576 to 65535 bytes");
        }
        if self.delay_ns > LONGEST_NS || self.jitter_ns > LONGEST_NS {
            return refuse("delay_ns or jitter_ns", "nanoseconds below 2^60");
        }
        let probabilities =
            [("loss", self.loss), ("corrupt", self.corrupt), ("duplicate", self.duplicate), ("reorder", self.reorder)];
        match probabilities.iter().find(|(_, probability)| !(0.0..=1.0).contains(probability)) {
            Some((name, _)) => refuse(name, "a probability from 0 to 1"),
            None => Ok(()),
        }
    }

    /// The queue limit in frames: as given, else room for 2 s above the longest usual delay at the rate.
    pub fn queue_limit(&self) -> usize {
        if self.limit_frames > 0 {
            return usize::try_from(self.limit_frames).unwrap_or(usize::MAX);
        }
        let rate_bps = if self.rate_bps > 0 { self.rate_bps } else { 1_000_000_000 };
        let frames_per_second = rate_bps as f64 / f64::from(8 * self.mtu);
        let seconds = 2.0 + (self.delay_ns as f64 + 4.0 * self.jitter_ns as f64) / 1e9;
        (frames_per_second * seconds).round_ties_even().max(1000.0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Profile, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn defaults_are_the_models() {
        let profile = parse(r#"{"name": "x"}"#).unwrap();
        assert_eq!((profile.mtu, profile.rate_bps, profile.delay_ns), (1500, 0, 0));
        assert_eq!((profile.distribution, profile.jitter), (Distribution::Normal, Jitter::Fifo));
        assert!(profile.check().is_ok());
    }

    #[test]
    fn queue_limit_is_the_models() {
        // 54 Mbit/s, 1500 B: 4500 frames a second; 2 s and 13 + 4 * 22 ms.
        let wifi = r#"{"name": "wifi", "rate_bps": 54000000, "delay_ns": 13000000, "jitter_ns": 22000000}"#;
        assert_eq!(parse(wifi).unwrap().queue_limit(), 9454);
        assert_eq!(parse(r#"{"name": "x", "limit_frames": 3}"#).unwrap().queue_limit(), 3);
        assert_eq!(parse(r#"{"name": "x", "rate_bps": 8}"#).unwrap().queue_limit(), 1000);
    }

    #[test]
    fn refuses_what_is_out_of_range_or_unknown() {
        for text in [r#"{"name": "x", "loss": 1.5}"#, r#"{"name": "x", "mtu": 10}"#, r#"{"name": "x", "reorder": -0.1}"#] {
            assert!(parse(text).unwrap().check().is_err(), "{text}");
        }
        assert!(parse(r#"{"name": "x", "delay": 1}"#).is_err());
    }
}
