//! 64 states of 64 facts to 64 facts of 64 lanes, and back.

/// Transposes a matrix of bits: bit `j` of row `i` and bit `i` of row `j` change
/// places (Warren, *Hacker's Delight*, 7-3: swap ever smaller quarters).
pub(crate) fn transpose(rows: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_FFFF_FFFF_u64;
    while width > 0 {
        let mut row = 0;
        while row < 64 {
            let differ = (rows[row] >> width ^ rows[row + width]) & mask;
            rows[row] ^= differ << width;
            rows[row + width] ^= differ;
            row = (row + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
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
