//! Values as numbers in their order, and back: what one process hands to another. How numbers lie in bytes is for whoever
//! sends them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// A value that can be written as numbers.
pub trait Numbers: Sized {
    /// Writes it behind others.
    fn put<S: Sink>(&self, to: &mut S);

    /// Reads it; none where the next numbers are not those of such a value.
    fn get<S: Source>(from: &mut S) -> Option<Self>;
}

/// Takes numbers one after the other.
pub trait Sink {
    /// Takes the next one.
    fn number(&mut self, number: u64);
}

impl Sink for Vec<u64> {
    #[inline]
    fn number(&mut self, number: u64) {
        self.push(number);
    }
}

/// Has numbers one after the other.
pub trait Source {
    /// The next one.
    fn number(&mut self) -> Option<u64>;

    /// No more than this number of them follow.
    fn left(&self) -> usize;

    /// How many items follow. Each takes a number at least: no more are announced than there can be.
    #[inline]
    fn length(&mut self) -> Option<usize> {
        let length = usize::try_from(self.number()?).ok()?;
        (length <= self.left()).then_some(length)
    }
}

/// Numbers that are read one after the other.
#[derive(Debug)]
pub struct NumberReader<'a>(&'a [u64]);

impl<'a> NumberReader<'a> {
    /// Of these numbers.
    #[must_use]
    pub fn new(numbers: &'a [u64]) -> Self {
        Self(numbers)
    }

    /// Whether all were read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

impl Source for NumberReader<'_> {
    #[inline]
    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    #[inline]
    fn left(&self) -> usize {
        self.0.len()
    }
}

/// Writes the fields of structures in their order, or the variants of enums by their numbers. A field that is added does
/// not compile until it is written, too.
#[macro_export]
macro_rules! numbers {
    ($($name:ident { $($field:ident),* $(,)? })*) => {$(
        impl $crate::Numbers for $name {
            #[inline]
            fn put<S: $crate::Sink>(&self, to: &mut S) {
                let Self { $($field),* } = self;
                $($crate::Numbers::put($field, to);)*
            }

            #[inline]
            fn get<S: $crate::Source>(from: &mut S) -> Option<Self> {
                Some(Self { $($field: $crate::Numbers::get(from)?),* })
            }
        }
    )*};
    ($($name:ident ( $field:ident ))*) => {$(
        impl $crate::Numbers for $name {
            #[inline]
            fn put<S: $crate::Sink>(&self, to: &mut S) {
                let Self($field) = self;
                $crate::Numbers::put($field, to);
            }

            #[inline]
            fn get<S: $crate::Source>(from: &mut S) -> Option<Self> {
                Some(Self($crate::Numbers::get(from)?))
            }
        }
    )*};
    (enum $name:ident {
        $($variant:ident $({ $($field:ident),* $(,)? })? $(( $($item:ident),* ))? = $number:literal),* $(,)?
    }) => {
        impl $crate::Numbers for $name {
            #[inline]
            fn put<S: $crate::Sink>(&self, to: &mut S) {
                match self {
                    $(Self::$variant $({ $($field),* })? $(( $($item),* ))? => {
                        $crate::Sink::number(to, $number);
                        $($($crate::Numbers::put($field, to);)*)?
                        $($($crate::Numbers::put($item, to);)*)?
                    })*
                }
            }

            #[inline]
            fn get<S: $crate::Source>(from: &mut S) -> Option<Self> {
                match $crate::Source::number(from)? {
                    $($number => {
                        $($(let $field = $crate::Numbers::get(from)?;)*)?
                        $($(let $item = $crate::Numbers::get(from)?;)*)?
                        Some(Self::$variant $({ $($field),* })? $(( $($item),* ))?)
                    })*
                    _ => None,
                }
            }
        }
    };
}

macro_rules! unsigned {
    ($($number:ident),*) => {$(
        impl Numbers for $number {
            #[inline]
            fn put<S: Sink>(&self, to: &mut S) {
                to.number(u64::from(*self));
            }

            #[inline]
            fn get<S: Source>(from: &mut S) -> Option<Self> {
                Self::try_from(from.number()?).ok()
            }
        }
    )*};
}

unsigned!(u8, u16, u32, u64);

impl Numbers for usize {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        to.number(*self as u64);
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Self::try_from(from.number()?).ok()
    }
}

/// Small ones of either sign are small numbers.
impl Numbers for i64 {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        to.number(((self << 1) ^ (self >> 63)) as u64);
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        let number = from.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

impl Numbers for i32 {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        i64::from(*self).put(to);
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Self::try_from(i64::get(from)?).ok()
    }
}

impl Numbers for f64 {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        to.number(self.to_bits());
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Some(Self::from_bits(from.number()?))
    }
}

impl Numbers for f32 {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        to.number(self.to_bits().into());
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Some(Self::from_bits(u32::get(from)?))
    }
}

impl Numbers for bool {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        to.number((*self).into());
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        match from.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Numbers> Numbers for Option<T> {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Some(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}

impl Numbers for String {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        put_all(self.as_bytes().iter(), to);
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Self::from_utf8(Vec::get(from)?).ok()
    }
}

fn put_all<'a, T: Numbers + 'a>(values: impl ExactSizeIterator<Item = &'a T>, to: &mut impl Sink) {
    values.len().put(to);
    values.for_each(|value| value.put(to));
}

/// Sequences: how many, then each.
macro_rules! sequences {
    ($($sequence:ty),*) => {$(
        impl<T: Numbers> Numbers for $sequence {
            #[inline]
            fn put<S: Sink>(&self, to: &mut S) {
                put_all(self.iter(), to);
            }

            #[inline]
            fn get<S: Source>(from: &mut S) -> Option<Self> {
                let length = from.length()?;
                (0..length).map(|_| T::get(from)).collect()
            }
        }
    )*};
}

sequences!(Vec<T>, VecDeque<T>, Box<[T]>, Arc<[T]>);

/// Tables: how many, then each key with its value.
macro_rules! tables {
    ($($table:ty where [$($hasher:tt)*] $key:path),*) => {$(
        impl<K: Numbers + $key, V: Numbers, $($hasher)*> Numbers for $table {
            #[inline]
            fn put<S: Sink>(&self, to: &mut S) {
                self.len().put(to);
                for (key, value) in self {
                    key.put(to);
                    value.put(to);
                }
            }

            #[inline]
            fn get<S: Source>(from: &mut S) -> Option<Self> {
                let length = from.length()?;
                (0..length).map(|_| Some((K::get(from)?, V::get(from)?))).collect()
            }
        }
    )*};
}

/// A key that has an order and a hash, as either table needs one of them.
trait HashKey: Eq + Hash {}
impl<K: Eq + Hash> HashKey for K {}

tables!(HashMap<K, V, H> where [H: BuildHasher + Default] HashKey, BTreeMap<K, V> where [] Ord);

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: Numbers> Numbers for $pointer<T> {
            #[inline]
            fn put<S: Sink>(&self, to: &mut S) {
                (**self).put(to);
            }

            #[inline]
            fn get<S: Source>(from: &mut S) -> Option<Self> {
                Some(Self::new(T::get(from)?))
            }
        }
    )*};
}

pointers!(Arc, Box);

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        self.iter().for_each(|value| value.put(to));
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        let values: Option<Vec<T>> = (0..N).map(|_| T::get(from)).collect();
        values?.try_into().ok()
    }
}

impl<One: Numbers, Other: Numbers> Numbers for (One, Other) {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        self.0.put(to);
        self.1.put(to);
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Some((One::get(from)?, Other::get(from)?))
    }
}

impl<A: Numbers, B: Numbers, C: Numbers> Numbers for (A, B, C) {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        self.0.put(to);
        self.1.put(to);
        self.2.put(to);
    }

    #[inline]
    fn get<S: Source>(from: &mut S) -> Option<Self> {
        Some((A::get(from)?, B::get(from)?, C::get(from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rank, Side};
    use std::fmt::Debug;

    #[derive(Debug, Clone, PartialEq)]
    struct Several {
        rank: Rank,
        by_name: BTreeMap<u16, Option<i64>>,
        side: Kind,
        pair: (f64, [u8; 2], Vec<bool>),
    }

    #[derive(Debug, Clone, PartialEq)]
    enum Kind {
        Empty,
        Full { of: Side, float: f32 },
        Two(u8, Option<u16>),
    }

    numbers! { Several { rank, by_name, side, pair } }
    numbers! { enum Kind { Empty = 0, Full { of, float } = 1, Two(one, other) = 2 } }

    fn there_and_back<T: Numbers + PartialEq + Debug>(value: &T) {
        let mut numbers = Vec::new();
        value.put(&mut numbers);
        let mut reader = NumberReader::new(&numbers);
        assert_eq!(T::get(&mut reader).as_ref(), Some(value));
        assert!(reader.is_at_end());
        // Cut off anywhere, nothing is made of it.
        for end in 0..numbers.len() {
            assert_eq!(T::get(&mut NumberReader::new(&numbers[..end])), None, "{end}");
        }
    }

    #[test]
    fn values_are_the_same_afterwards() {
        [0, 1, -1, i64::MIN, i64::MAX].iter().for_each(there_and_back);
        [0.0, -1.5, f64::INFINITY].iter().for_each(there_and_back);
        there_and_back(&i32::MIN);
        there_and_back(&"größer".to_owned());
        for side in [Kind::Empty, Kind::Full { of: Side::Second, float: 0.5 }, Kind::Two(1, Some(2))] {
            let by_name = BTreeMap::from([(1, None), (u16::MAX, Some(-7))]);
            there_and_back(&Several { rank: Rank(3), by_name, side, pair: (1e9, [1, 2], vec![true, false]) });
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        assert_eq!(u8::get(&mut NumberReader::new(&[256])), None);
        assert_eq!(bool::get(&mut NumberReader::new(&[2])), None);
        assert_eq!(Kind::get(&mut NumberReader::new(&[9])), None);
        // More items are announced than there are numbers.
        assert_eq!(Vec::<u64>::get(&mut NumberReader::new(&[u64::MAX, 1])), None);
    }
}
