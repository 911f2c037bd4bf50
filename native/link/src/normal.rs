//! netem's `distribution normal`: 4096 quantiles of the standard normal, scaled by 8192.

use std::sync::OnceLock;

/// Table units in one standard deviation (`NETEM_DIST_SCALE`).
pub const SCALE: i64 = 8192;
const ENTRIES: usize = 4096;
/// iproute2's generator tabulates the inverse on this finer scale and keeps every fourth entry.
const FINE: usize = 16384;
/// It scans sigma from -10 upwards in steps of this size.
const FIRST: f64 = -10.0;
const STEP: f64 = 0.00005;
const STEPS: u32 = 401_000;

extern "C" {
    fn erf(x: f64) -> f64;
}

/// The table as iproute2's `normal.c` makes it; entries rise from about -4 to +3.5 sigma.
pub fn table() -> &'static [i16; ENTRIES] {
    static TABLE: OnceLock<[i16; ENTRIES]> = OnceLock::new();
    TABLE.get_or_init(|| std::array::from_fn(|entry| quantile(entry * FINE / ENTRIES)))
}

/// The largest grid point that still rounds to cell `cell` of the fine scale, by bisection.
fn quantile(cell: usize) -> i16 {
    let (mut inside, mut outside) = (0, STEPS);
    while outside - inside > 1 {
        let middle = inside.midpoint(outside);
        if fine_cell(middle) <= cell as f64 {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    (grid(inside) * SCALE as f64).round_ties_even() as i16
}

fn grid(step: u32) -> f64 {
    FIRST + f64::from(step) * STEP
}

fn fine_cell(step: u32) -> f64 {
    // SAFETY: erf of the C library takes any double and touches no memory.
    let probability = 0.5 + 0.5 * unsafe { erf(grid(step) / std::f64::consts::SQRT_2) };
    (FINE as f64 * probability).round_ties_even()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a over the little-endian entries of the `normal.dist` that iproute2 6.1 installs.
    const INSTALLED_TABLE_FNV: u64 = 0x3f19_8b60_14c3_b3b8;

    #[test]
    fn equals_the_table_iproute2_installs() {
        let hash = table().iter().flat_map(|value| value.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3_u64)
        });
        assert_eq!(hash, INSTALLED_TABLE_FNV);
    }

    #[test]
    fn spans_minus_four_to_plus_three_and_a_half_sigma() {
        let sigma = |entry: usize| f64::from(table()[entry]) / SCALE as f64;
        assert!((sigma(0) + 4.0).abs() < 0.01, "{}", sigma(0));
        assert!((sigma(ENTRIES - 1) - 3.52).abs() < 0.01, "{}", sigma(ENTRIES - 1));
        assert!(table().windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
