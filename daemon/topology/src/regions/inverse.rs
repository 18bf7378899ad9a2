//! The inverse of a symmetric positive definite matrix whose entries off the diagonal are not positive.
//!
//! Pivots are swept block by block. Everything is sums of terms of one sign, except on the diagonal: even entries that
//! are many orders of magnitude smaller than others keep nearly all their digits. There is no fused multiplication,
//! and the order of all sums is fixed: every processor finds the same bits.

/// Pivots that are swept at once.
const BLOCK: usize = 64;
/// The tile that the innermost loop keeps in registers: rows times columns.
const TILE_ROWS: usize = 4;
const TILE_COLUMNS: usize = 8;

/// A square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Square {
    size: usize,
    entries: Vec<f64>,
}

impl Square {
    pub(super) fn zeros(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.size..(row + 1) * self.size]
    }

    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.entries[row * self.size..(row + 1) * self.size]
    }

    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    /// Copies the lower triangle to the upper one; piece by piece, for the caches.
    pub(super) fn mirror(&mut self) {
        const PIECE: usize = 32;
        let size = self.size;
        for rows in (0..size).step_by(PIECE) {
            for columns in (0..=rows).step_by(PIECE) {
                for row in rows..(rows + PIECE).min(size) {
                    for column in columns..(columns + PIECE).min(row) {
                        self.entries[column * size + row] = self.entries[row * size + column];
                    }
                }
            }
        }
    }
}

/// Inverts the matrix in place; reads only what is on and below the diagonal.
pub(super) fn invert(matrix: &mut Square) {
    pulp::Arch::new().dispatch(|| sweep_all(matrix));
    for entry in &mut matrix.entries {
        *entry = -*entry;
    }
    matrix.mirror();
}

#[inline(always)]
fn sweep_all(matrix: &mut Square) {
    let size = matrix.size;
    let mut panels = Panels::build(size);
    for begin in (0..size).step_by(BLOCK) {
        let width = BLOCK.min(size - begin);
        let pivot = sweep_pivot(matrix, begin, width);
        panels.fill(matrix, begin, width, &pivot);
        panels.update(matrix, width);
        panels.put(matrix, begin, width, &pivot);
    }
}

/// The negative inverse of a block on the diagonal, one pivot after the other.
#[inline(always)]
fn sweep_pivot(matrix: &Square, begin: usize, width: usize) -> Vec<[f64; BLOCK]> {
    // Only the lower triangle is kept.
    let entry = |row: usize, column: usize| matrix.get(begin + row.max(column), begin + row.min(column));
    let row = |row| std::array::from_fn(|column| if column < width { entry(row, column) } else { 0.0 });
    let mut block: Vec<[f64; BLOCK]> = (0..width).map(row).collect();
    for pivot in 0..width {
        let of_pivot = block[pivot];
        let by = 1.0 / of_pivot[pivot];
        for (row, entries) in block.iter_mut().enumerate() {
            if row == pivot {
                entries.iter_mut().for_each(|entry| *entry *= by);
                entries[pivot] = -by;
            } else {
                let factor = entries[pivot] * by;
                entries.iter_mut().zip(&of_pivot).for_each(|(entry, other)| *entry -= factor * other);
                entries[pivot] = factor;
            }
        }
    }
    block
}

/// The columns of the pivots, before and after the sweep, cut into pieces as the innermost loop reads them.
struct Panels {
    size: usize,
    /// By tile of rows and pivot, a row of the tile each.
    before: Vec<[f64; TILE_ROWS]>,
    after: Vec<[f64; TILE_COLUMNS]>,
}

impl Panels {
    fn build(size: usize) -> Self {
        Self {
            size,
            before: vec![[0.0; TILE_ROWS]; size.div_ceil(TILE_ROWS) * BLOCK],
            after: vec![[0.0; TILE_COLUMNS]; size.div_ceil(TILE_COLUMNS) * BLOCK],
        }
    }

    #[inline(always)]
    fn fill(&mut self, matrix: &Square, begin: usize, width: usize, pivot: &[[f64; BLOCK]]) {
        for row in 0..self.size {
            let mut before = [0.0; BLOCK];
            if row < begin {
                for (at, entry) in before[..width].iter_mut().enumerate() {
                    *entry = matrix.get(begin + at, row);
                }
            } else if row >= begin + width {
                before[..width].copy_from_slice(&matrix.row(row)[begin..begin + width]);
            }
            let mut after = [0.0; BLOCK];
            for (of_pivot, factor) in pivot.iter().zip(before) {
                after.iter_mut().zip(of_pivot).for_each(|(sum, entry)| *sum -= factor * entry);
            }
            for at in 0..width {
                self.before[row / TILE_ROWS * BLOCK + at][row % TILE_ROWS] = before[at];
                self.after[row / TILE_COLUMNS * BLOCK + at][row % TILE_COLUMNS] = after[at];
            }
        }
    }

    /// Takes from each entry on and below the diagonal the product of its row before and its column after.
    #[inline(always)]
    fn update(&self, matrix: &mut Square, width: usize) {
        let size = self.size;
        for (tile, before) in self.before.chunks_exact(BLOCK).enumerate() {
            let rows = tile * TILE_ROWS..(tile * TILE_ROWS + TILE_ROWS).min(size);
            let columns = rows.end.div_ceil(TILE_COLUMNS);
            for (column, after) in self.after.chunks_exact(BLOCK).enumerate().take(columns) {
                let mut sums = [[0.0; TILE_COLUMNS]; TILE_ROWS];
                for (before, after) in before[..width].iter().zip(&after[..width]) {
                    for (sums, factor) in sums.iter_mut().zip(before) {
                        sums.iter_mut().zip(after).for_each(|(sum, other)| *sum += factor * other);
                    }
                }
                let from = column * TILE_COLUMNS;
                let to = (from + TILE_COLUMNS).min(size);
                for (row, sums) in rows.clone().zip(&sums) {
                    let entries = &mut matrix.row_mut(row)[from..to];
                    entries.iter_mut().zip(sums).for_each(|(entry, sum)| *entry -= sum);
                }
            }
        }
    }

    #[inline(always)]
    fn put(&self, matrix: &mut Square, begin: usize, width: usize, pivot: &[[f64; BLOCK]]) {
        for (at, pivots) in pivot.iter().enumerate() {
            let after = |row: usize| self.after[row / TILE_COLUMNS * BLOCK + at][row % TILE_COLUMNS];
            for row in 0..begin {
                matrix.row_mut(begin + at)[row] = after(row);
            }
            matrix.row_mut(begin + at)[begin..begin + width].copy_from_slice(&pivots[..width]);
            for row in begin + width..self.size {
                matrix.row_mut(row)[begin + at] = after(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One whose rows sum to little more than nothing, with a weak link in the middle.
    fn matrix(size: usize) -> Square {
        let mut matrix = Square::zeros(size);
        let mut state = 7_u64;
        for row in 0..size {
            for column in 0..row {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let weight = if (row < size / 2) == (column < size / 2) { 1.0 } else { 1e-9 };
                matrix.row_mut(row)[column] = -((state >> 40) as f64 / f64::from(1 << 24)) * weight;
            }
        }
        matrix.mirror();
        for row in 0..size {
            let sum: f64 = matrix.row(row).iter().sum();
            matrix.row_mut(row)[row] = 0.05 - 1.05 * sum;
        }
        matrix
    }

    #[test]
    fn the_product_with_the_inverse_is_one() {
        for size in [1, 2, 7, 63, 64, 65, 130, 200] {
            let matrix = matrix(size);
            let mut inverse = matrix.clone();
            invert(&mut inverse);
            for row in 0..size {
                for column in 0..size {
                    let product: f64 =
                        (0..size).map(|at| matrix.get(row, at) * inverse.get(at, column)).sum();
                    let one = if row == column { 1.0 } else { 0.0 };
                    assert!((product - one).abs() < 1e-11, "{size}: {row}, {column}: {product}");
                    assert!(inverse.get(row, column) > 0.0 || size == 1);
                    assert_eq!(inverse.get(row, column), inverse.get(column, row));
                }
            }
        }
    }

    #[test]
    fn the_least_entries_have_their_digits_too() {
        // A path, whose inverse is known: entries fall by a constant factor.
        let size = 150;
        let mut path = Square::zeros(size);
        for row in 0..size {
            path.row_mut(row)[row] = 2.5;
            if row > 0 {
                path.row_mut(row)[row - 1] = -1.0;
            }
        }
        invert(&mut path);
        for column in 1..100 {
            let factor = path.get(149, column) / path.get(149, column - 1);
            let expected =
                2.0 * (1.0 - 0.25_f64.powi(column as i32 + 1)) / (1.0 - 0.25_f64.powi(column as i32));
            assert!((factor / expected - 1.0).abs() < 1e-12, "{column}: {factor} {expected}");
        }
        assert!(path.get(149, 0) < 1e-40);
    }
}
