//! A histogram of durations with bounded relative error, after Tene's HdrHistogram: every power of two is
//! divided into equal buckets. Recording neither allocates nor searches.

use serde::Serialize;

const BITS: u32 = 7;
const PER_OCTAVE: usize = 1 << BITS;
const BUCKETS: usize = (64 - BITS as usize) * PER_OCTAVE;

pub struct Histogram {
    buckets: Box<[u64]>,
    max: u64,
    count: u64,
}

/// Nanoseconds; percentiles are at most 1 part in 128 above the true value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
    pub n: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS].into(), max: 0, count: 0 }
    }
}

impl Histogram {
    pub fn record(&mut self, value: u64) {
        self.buckets[bucket(value)] += 1;
        self.max = self.max.max(value);
        self.count += 1;
    }

    pub fn percentiles(&self) -> Percentiles {
        Percentiles { p50: self.quantile(0.5), p99: self.quantile(0.99), max: self.max, n: self.count }
    }

    /// The upper end of the bucket that holds the value of rank ceil(share * n); 0 where nothing was recorded.
    fn quantile(&self, share: f64) -> u64 {
        let rank = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        let holds = self.buckets.iter().position(|bucket| {
            seen += bucket;
            seen >= rank.max(1)
        });
        holds.map_or(0, |bucket| upper_end(bucket).min(self.max))
    }
}

fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    shift as usize * PER_OCTAVE + (value >> shift) as usize
}

fn upper_end(bucket: usize) -> u64 {
    let shift = (bucket / PER_OCTAVE).saturating_sub(1);
    let mantissa = (bucket - shift * PER_OCTAVE) as u64;
    (mantissa << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_percentiles() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentiles(), Percentiles { p50: 0, p99: 0, max: 0, n: 0 });
        (1..=100).for_each(|value| histogram.record(value));
        assert_eq!(histogram.percentiles(), Percentiles { p50: 50, p99: 99, max: 100, n: 100 });
    }

    #[test]
    fn every_value_lies_within_one_part_in_128_of_its_bucket() {
        let spread = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + ((1 << bit) >> 1)]);
        for value in spread.chain([u64::MAX]) {
            let end = upper_end(bucket(value));
            assert!(end >= value && end - value <= value / 128, "{value} {end}");
        }
    }
}
