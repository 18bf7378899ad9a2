//! Columns of numbers: lists in JSON, blobs of little-endian values in MessagePack. A reader can map a blob onto an array
//! without touching single values. In JSON, `null` stands for a value that is not a number.
//!
//! Fields use it by `#[serde(with = "crate::column")]`.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A type of number that a column can have.
pub trait Value: Copy + Serialize {
    /// Bytes of one value.
    const BYTES: usize;
    /// Appends its little-endian bytes.
    fn write(self, to: &mut Vec<u8>);
    /// Reads one value from exactly its bytes.
    fn read(bytes: &[u8]) -> Option<Self>;
    /// Converts a number of JSON; `None` if the type cannot hold it.
    fn from_number(number: Option<f64>) -> Option<Self>;
}

macro_rules! value {
    ($type:ty, $of:expr) => {
        impl Value for $type {
            const BYTES: usize = size_of::<$type>();
            fn write(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_le_bytes(bytes.try_into().ok()?))
            }
            fn from_number(number: Option<f64>) -> Option<Self> {
                $of(number)
            }
        }
    };
}

/// A whole number, if it is one within these bounds.
fn whole(number: Option<f64>, least: f64, most: f64) -> Option<f64> {
    number.filter(|number| number.fract() == 0.0 && (least..=most).contains(number))
}

value!(u32, |number| whole(number, 0.0, u32::MAX.into()).map(|number| number as u32));
value!(i32, |number| whole(number, i32::MIN.into(), i32::MAX.into()).map(|number| number as i32));
value!(f64, |number: Option<f64>| Some(number.unwrap_or(f64::NAN)));

/// Writes a column.
///
/// # Errors
/// Those of the format.
pub fn serialize<T: Value, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        return values.serialize(serializer);
    }
    let mut bytes = Vec::with_capacity(values.len() * T::BYTES);
    values.iter().for_each(|value| value.write(&mut bytes));
    serializer.serialize_bytes(&bytes)
}

/// Reads a column.
///
/// # Errors
/// When it is neither a list of such numbers nor a blob of whole ones.
pub fn deserialize<'de, T: Value, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    // Inside a tagged message it is not known any more which format this was: either is read.
    deserializer.deserialize_any(ColumnVisitor(PhantomData))
}

struct ColumnVisitor<T>(PhantomData<T>);

impl<'de, T: Value> Visitor<'de> for ColumnVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of numbers, or a blob of values of {} bytes", T::BYTES)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
        if !bytes.len().is_multiple_of(T::BYTES) {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        bytes
            .chunks_exact(T::BYTES)
            .map(|value| T::read(value).ok_or_else(|| E::custom("a value is cut off")))
            .collect()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut values = Vec::new();
        while let Some(number) = list.next_element::<Option<f64>>()? {
            values.push(
                T::from_number(number)
                    .ok_or_else(|| A::Error::custom(format!("{number:?} does not fit this column")))?,
            );
        }
        Ok(values)
    }
}
