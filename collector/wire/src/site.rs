//! Slots that define the number of a call site: an address within a module, and the file of the module.
//!
//! ```text
//!            word 0                                        word 1     word 2     word 3
//! site       kind u8, -, number u32                        offset     module u32, parent u32
//! module     kind u8, build id's bytes u8, path's bytes    the build id, or its first 24 bytes
//!            u16, number u32
//! path       kind u8, bytes u8, -, module's number u32     up to 24 bytes of the path, which go on where it was
//! ```
//!
//! They precede the first call that has the number, and come again after a loss.

use crate::slot::{KIND_MODULE, KIND_PATH, KIND_SITE, Slot, bytes_of, words_of};

/// No module: the address lies in no file.
pub const NO_MODULE: u32 = u32::MAX;
/// The greatest number of a site.
pub const MAX_SITE: u32 = 0xF_FFFF;
/// Most bytes of a build id.
pub(crate) const BUILD_ID_BYTES: usize = 24;
/// Bytes of a path in one slot.
pub(crate) const PATH_PART_BYTES: usize = 24;
/// No path is longer.
pub const MOST_PATH_BYTES: usize = 4096;

/// What a number of a call site means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteDefinition {
    /// The process's own number. 0 means nothing but that the process has met more sites than it has numbers for: its
    /// calls from the others have none.
    pub number: u32,
    /// The process's own number of the module, or [`NO_MODULE`].
    pub module: u32,
    /// The return address, counted from where the module was loaded; without a module as it is.
    pub offset: u64,
    /// Where call paths are recorded: the process's own number of the site that called the function which this one is in. 0
    /// for none.
    pub parent: u32,
}

/// A file that is loaded into the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleDefinition {
    /// The process's own number.
    pub number: u32,
    /// The bytes of its path, which come in parts.
    pub path_bytes: u16,
    /// The bytes of its build id; 0 for none.
    pub build_id_bytes: u8,
    /// The build id, and zeros.
    pub build_id: [u8; BUILD_ID_BYTES],
}

/// A part of a module's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPart {
    /// Whose.
    pub module: u32,
    /// How many bytes it is.
    pub length: u8,
    /// The bytes, and zeros.
    pub bytes: [u8; PATH_PART_BYTES],
}

impl SiteDefinition {
    /// Its slot.
    #[must_use]
    pub fn encode(&self) -> Slot {
        let place = u64::from(self.module) | u64::from(self.parent) << 32;
        [u64::from(KIND_SITE) | u64::from(self.number) << 32, self.offset, place, 0]
    }

    pub(crate) fn decode(high: u32, slot: &Slot) -> Self {
        Self { number: high, module: slot[2] as u32, offset: slot[1], parent: (slot[2] >> 32) as u32 }
    }
}

impl ModuleDefinition {
    /// The module of a number; what its path and build id have too much is cut.
    #[must_use]
    pub fn new(number: u32, path: &[u8], build_id: &[u8]) -> Self {
        let kept = build_id.len().min(BUILD_ID_BYTES);
        let mut whole = [0; BUILD_ID_BYTES];
        whole[..kept].copy_from_slice(&build_id[..kept]);
        Self {
            number,
            path_bytes: path.len().min(MOST_PATH_BYTES) as u16,
            build_id_bytes: kept as u8,
            build_id: whole,
        }
    }

    /// Its build id.
    #[must_use]
    pub fn build_id(&self) -> &[u8] {
        &self.build_id[..usize::from(self.build_id_bytes).min(BUILD_ID_BYTES)]
    }

    /// Its slot.
    #[must_use]
    pub fn encode(&self) -> Slot {
        let head = u64::from(KIND_MODULE)
            | u64::from(self.build_id_bytes) << 8
            | u64::from(self.path_bytes) << 16
            | u64::from(self.number) << 32;
        let [first, second, third] = words_of(&self.build_id);
        [head, first, second, third]
    }

    pub(crate) fn decode(low: u32, high: u32, slot: &Slot) -> Self {
        Self {
            number: high,
            path_bytes: (low >> 16) as u16,
            build_id_bytes: (low >> 8) as u8,
            build_id: bytes_of([slot[1], slot[2], slot[3]]),
        }
    }
}

impl PathPart {
    /// A path in parts.
    pub fn all(module: u32, path: &[u8]) -> impl Iterator<Item = Self> + '_ {
        path[..path.len().min(MOST_PATH_BYTES)].chunks(PATH_PART_BYTES).map(move |chunk| {
            let mut bytes = [0; PATH_PART_BYTES];
            bytes[..chunk.len()].copy_from_slice(chunk);
            Self { module, length: chunk.len() as u8, bytes }
        })
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length).min(PATH_PART_BYTES)]
    }

    /// Its slot.
    #[must_use]
    pub fn encode(&self) -> Slot {
        let head = u64::from(KIND_PATH) | u64::from(self.length) << 8 | u64::from(self.module) << 32;
        let [first, second, third] = words_of(&self.bytes);
        [head, first, second, third]
    }

    pub(crate) fn decode(low: u32, high: u32, slot: &Slot) -> Self {
        Self { module: high, length: (low >> 8) as u8, bytes: bytes_of([slot[1], slot[2], slot[3]]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entry;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sites_survive(number in 0..=MAX_SITE, module: u32, offset: u64, parent in 0..=MAX_SITE) {
            let site = SiteDefinition { number, module, offset, parent };
            prop_assert_eq!(Entry::decode(&site.encode()), Some(Entry::Site(site)));
        }

        #[test]
        fn modules_survive(
            number: u32, path in proptest::collection::vec(any::<u8>(), 0..200),
            build_id in proptest::collection::vec(any::<u8>(), 0..=BUILD_ID_BYTES),
        ) {
            let module = ModuleDefinition::new(number, &path, &build_id);
            prop_assert_eq!(module.build_id(), &build_id[..]);
            prop_assert_eq!(Entry::decode(&module.encode()), Some(Entry::Module(module)));
            let mut joined = Vec::new();
            for part in PathPart::all(number, &path) {
                prop_assert_eq!(Entry::decode(&part.encode()), Some(Entry::Path(part)));
                joined.extend_from_slice(part.bytes());
            }
            prop_assert_eq!(joined.len(), usize::from(module.path_bytes));
            prop_assert_eq!(joined, path);
        }
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let path = vec![b'a'; MOST_PATH_BYTES + 30];
        let module = ModuleDefinition::new(0, &path, &[7; 40]);
        assert_eq!(usize::from(module.path_bytes), MOST_PATH_BYTES);
        assert_eq!(module.build_id(), [7; BUILD_ID_BYTES]);
        let path_bytes: usize = PathPart::all(0, &path).map(|part| part.bytes().len()).sum();
        assert_eq!(path_bytes, MOST_PATH_BYTES);
        let broken = PathPart { module: 0, length: 255, bytes: [0; PATH_PART_BYTES] };
        assert_eq!(broken.bytes().len(), PATH_PART_BYTES);
    }
}
