//! Numeric columns as blobs: a reader maps them onto a typed array without touching single values.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A column of whole numbers below 2^32: on the wire a blob, 4 bytes a value, little-endian.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "Uint8Array"))]
pub struct U32Column(pub Vec<u32>);

/// A column of counts, bytes or nanoseconds: on the wire a blob, 8 bytes a value, little-endian.
///
/// A page has no 64-bit integers in its fast arrays; doubles are exact up to 2^53, which is 104 days in nanoseconds
/// and 8 PiB, and beyond that they are still right to 16 digits.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "Uint8Array"))]
pub struct F64Column(pub Vec<f64>);

impl FromIterator<u32> for U32Column {
    fn from_iter<I: IntoIterator<Item = u32>>(values: I) -> Self {
        U32Column(values.into_iter().collect())
    }
}

impl FromIterator<f64> for F64Column {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        F64Column(values.into_iter().collect())
    }
}

impl FromIterator<u64> for F64Column {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        F64Column(values.into_iter().map(|value| value as f64).collect())
    }
}

impl Serialize for U32Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|value| value.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl Serialize for F64Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|value| value.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for U32Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Blob(bytes) = Blob::deserialize(deserializer)?;
        let (values, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(D::Error::custom("a u32 column is not a multiple of 4 bytes long"));
        }
        Ok(U32Column(values.iter().map(|value| u32::from_le_bytes(*value)).collect()))
    }
}

impl<'de> Deserialize<'de> for F64Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Blob(bytes) = Blob::deserialize(deserializer)?;
        let (values, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(D::Error::custom("an f64 column is not a multiple of 8 bytes long"));
        }
        Ok(F64Column(values.iter().map(|value| f64::from_le_bytes(*value)).collect()))
    }
}

/// Bytes as the binary type of MessagePack; serde reads a plain `Vec<u8>` from an array of numbers.
struct Blob(Vec<u8>);

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BlobVisitor;
        impl Visitor<'_> for BlobVisitor {
            type Value = Blob;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a blob of bytes")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(BlobVisitor)
    }
}
