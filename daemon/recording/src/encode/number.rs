//! The numbers of columns as Parquet has them.

use parquet::file::statistics::{Statistics, ValueStatistics};
use std::hash::Hash;

/// A value of a column that is written here; all others are left to the library.
pub(super) trait Plain: Copy + Ord + Default {
    /// Writes values as they are.
    fn put_plain(values: &[Self], to: &mut Vec<u8>);

    /// What is known of those of a column.
    fn statistics(bounds: Option<(Self, Self)>, absent: u64) -> Statistics;
}

/// One that can be counted with.
pub(super) trait Number: Plain + Hash {
    /// How many differences have one width.
    const PIECE: usize;

    /// Itself.
    fn wide(self) -> i64;

    /// The difference. It wraps around at the ends of the type.
    fn minus(self, other: Self) -> i64;
}

macro_rules! number {
    ($number:ty, $piece:literal) => {
        impl Plain for $number {
            fn put_plain(values: &[Self], to: &mut Vec<u8>) {
                to.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }

            fn statistics(bounds: Option<(Self, Self)>, absent: u64) -> Statistics {
                statistics(bounds, absent).into()
            }
        }

        impl Number for $number {
            const PIECE: usize = $piece;

            #[inline]
            fn wide(self) -> i64 {
                i64::from(self)
            }

            #[inline]
            fn minus(self, other: Self) -> i64 {
                i64::from(self.wrapping_sub(other))
            }
        }
    };
}

number!(i32, 32);
number!(i64, 64);

impl Plain for bool {
    fn put_plain(values: &[Self], to: &mut Vec<u8>) {
        let byte = |eight: &[Self]| eight.iter().rev().fold(0, |bits, bit| bits << 1 | u8::from(*bit));
        to.extend(values.chunks(8).map(byte));
    }

    fn statistics(bounds: Option<(Self, Self)>, absent: u64) -> Statistics {
        statistics(bounds, absent).into()
    }
}

fn statistics<V>(bounds: Option<(V, V)>, absent: u64) -> ValueStatistics<V> {
    let (least, greatest) = bounds.unzip();
    let statistics = ValueStatistics::new(least, greatest, None, Some(absent), false);
    // Old readers know only one order of numbers, which is that of all these.
    statistics.with_backwards_compatible_min_max(true)
}
