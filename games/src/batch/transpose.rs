//! 64 states of 64 facts to 64 facts of 64 lanes, and back.

#[cfg(target_arch = "x86_64")]
use crate::compiled_network::features::{self, Avx2, Kernel};

/// Transposes a matrix of bits: bit `j` of row `i` and bit `i` of row `j` change
/// places (Warren, *Hacker's Delight*, 7-3: swap ever smaller quarters).
///
/// A function of its own: the compiler makes slower code of it for AVX-512, for which most
/// callers are compiled.
#[inline(never)]
pub(crate) fn transpose(rows: &mut [u64; 64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect() {
        return features::run(WithAvx2(rows), avx2);
    }
    swap_all(rows);
}

#[cfg(target_arch = "x86_64")]
struct WithAvx2<'a>(&'a mut [u64; 64]);

#[cfg(target_arch = "x86_64")]
impl Kernel for WithAvx2<'_> {
    type Output = ();
    type Proof = Avx2;

    #[inline(always)]
    fn run(self) {
        swap_all(self.0);
    }
}

#[inline(always)]
fn swap_all(rows: &mut [u64; 64]) {
    swap_quarters::<32>(rows, 0x0000_0000_FFFF_FFFF);
    swap_quarters::<16>(rows, 0x0000_FFFF_0000_FFFF);
    swap_quarters::<8>(rows, 0x00FF_00FF_00FF_00FF);
    swap_quarters::<4>(rows, 0x0F0F_0F0F_0F0F_0F0F);
    swap_quarters::<2>(rows, 0x3333_3333_3333_3333);
    swap_quarters::<1>(rows, 0x5555_5555_5555_5555);
}

/// In each square of twice this width on the diagonal, swaps the quarter above the diagonal
/// with that below. `mask` has the columns of the left halves.
#[inline(always)]
fn swap_quarters<const WIDTH: usize>(rows: &mut [u64; 64], mask: u64) {
    for square in rows.chunks_exact_mut(2 * WIDTH) {
        let (upper, lower) = square.split_at_mut(WIDTH);
        for (upper, lower) in upper.iter_mut().zip(lower) {
            let differ = (*upper >> WIDTH ^ *lower) & mask;
            *upper ^= differ << WIDTH;
            *lower ^= differ;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let mut seed = 1_u64;
        let rows: [u64; 64] = std::array::from_fn(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed
        });
        let mut columns = rows;
        transpose(&mut columns);
        for (i, row) in rows.iter().enumerate() {
            for (j, column) in columns.iter().enumerate() {
                assert_eq!(row >> j & 1, column >> i & 1);
            }
        }
        transpose(&mut columns);
        assert_eq!(rows, columns);
    }
}
