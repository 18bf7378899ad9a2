//! What differs between families of MPI libraries: one table each.

/// Where things lie in an `MPI_Status`, as offsets in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusLayout {
    /// Its size.
    pub bytes: usize,
    /// `MPI_SOURCE`.
    pub source: usize,
    /// `MPI_TAG`.
    pub tag: usize,
    /// The low half of the received bytes.
    pub count_low: usize,
    /// The high half, or the word that holds it.
    pub count_high: usize,
    /// How far the high half is shifted within its word.
    pub count_high_shift: u32,
    /// The word that says whether the operation was cancelled.
    pub cancelled: usize,
    /// Which bits of that word.
    pub cancelled_mask: u32,
}

/// One family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// The bytes of a handle, and of an element of a request array.
    pub handle_bytes: usize,
    /// `MPI_ANY_SOURCE`.
    pub any_source: i32,
    /// `MPI_PROC_NULL`.
    pub proc_null: i32,
    /// `MPI_ROOT`.
    pub root: i32,
    /// `MPI_ANY_TAG`.
    pub any_tag: i32,
    /// `MPI_UNDEFINED`.
    pub undefined: i32,
    /// `MPI_CART`, `MPI_GRAPH` and `MPI_DIST_GRAPH`.
    pub grid: i32,
    /// See there.
    pub graph: i32,
    /// See there.
    pub distributed_graph: i32,
    /// `MPI_ERR_TRUNCATE`.
    pub error_truncate: i32,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE` as addresses.
    pub status_ignore: usize,
    /// `MPI_IN_PLACE` as an address.
    pub in_place: usize,
    /// `MPI_COMM_WORLD` where it is a number; where it is an address, the symbol is looked up.
    pub comm_world: Option<u64>,
    /// `MPI_COMM_NULL`, likewise.
    pub comm_null: Option<u64>,
    /// `MPI_BYTE`, likewise.
    pub byte: Option<u64>,
    /// `MPI_DOUBLE`, likewise.
    pub double: Option<u64>,
    /// `MPI_SUM`, likewise.
    pub sum: Option<u64>,
    /// Bits of a datatype's handle, and their value in those that are never freed. Of others the size is not remembered
    /// where the library frees some of its own unseen, as MPICH does for sections of arrays in Fortran.
    pub lasting_types: (u64, u64),
    /// The layout of `MPI_Status`.
    pub status: StatusLayout,
}

/// Open MPI 4 and its kin.
pub static OPEN_MPI: Family = Family {
    name: "Open MPI",
    handle_bytes: 8,
    any_source: -1,
    proc_null: -2,
    root: -4,
    any_tag: -1,
    undefined: -32766,
    grid: 1,
    graph: 2,
    distributed_graph: 3,
    error_truncate: 15,
    status_ignore: 0,
    in_place: 1,
    comm_world: None,
    comm_null: None,
    byte: None,
    double: None,
    sum: None,
    lasting_types: (0, 0),
    status: OPEN_MPI_STATUS,
};

const OPEN_MPI_STATUS: StatusLayout = StatusLayout {
    bytes: 24,
    source: 0,
    tag: 4,
    count_low: 16,
    count_high: 20,
    count_high_shift: 0,
    cancelled: 12,
    cancelled_mask: u32::MAX,
};

/// MPICH 4 and its kin.
pub static MPICH: Family = Family {
    name: "MPICH",
    handle_bytes: 4,
    any_source: -2,
    proc_null: -1,
    root: -3,
    any_tag: -1,
    undefined: -32766,
    grid: 2,
    graph: 1,
    distributed_graph: 3,
    error_truncate: 14,
    status_ignore: 1,
    in_place: usize::MAX,
    comm_world: Some(0x4400_0000),
    comm_null: Some(0x0400_0000),
    byte: Some(0x4C00_010D),
    double: Some(0x4C00_080B),
    sum: Some(0x5800_0003),
    lasting_types: (0xC000_0000, 0x4000_0000),
    status: MPICH_STATUS,
};

const MPICH_STATUS: StatusLayout = StatusLayout {
    bytes: 20,
    source: 8,
    tag: 12,
    count_low: 0,
    count_high: 4,
    count_high_shift: 1,
    cancelled: 4,
    cancelled_mask: 1,
};

/// A status, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusWords {
    /// The source, a rank of the communicator.
    pub source: i32,
    /// The tag.
    pub tag: i32,
    /// The received bytes.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
}

impl Family {
    /// The family of a library that describes itself so.
    #[must_use]
    pub fn of_library(version: &str) -> Option<&'static Self> {
        let mpich_kin = ["MPICH", "MVAPICH", "Intel(R) MPI", "CRAY MPICH"];
        if version.contains("Open MPI") {
            Some(&OPEN_MPI)
        } else if mpich_kin.iter().any(|name| version.contains(name)) {
            Some(&MPICH)
        } else {
            None
        }
    }
}

impl StatusLayout {
    /// Reads the status at an index of an array through `word`, which returns the 32-bit word at an offset. Where the
    /// layout is a constant, reading is a few loads; the size identifies the family.
    #[inline(always)]
    #[must_use]
    pub fn read(&self, at: usize, word: impl Fn(usize) -> u32) -> StatusWords {
        if self.bytes == OPEN_MPI_STATUS.bytes {
            OPEN_MPI_STATUS.read_as(at, word)
        } else {
            MPICH_STATUS.read_as(at, word)
        }
    }

    #[inline(always)]
    fn read_as(&self, at: usize, word: impl Fn(usize) -> u32) -> StatusWords {
        let word = |offset| word(at * self.bytes + offset);
        let high = word(self.count_high) >> self.count_high_shift;
        StatusWords {
            source: word(self.source) as i32,
            tag: word(self.tag) as i32,
            bytes: u64::from(word(self.count_low)) | u64::from(high) << 32,
            cancelled: word(self.cancelled) & self.cancelled_mask != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_as_each_family_writes_them() {
        let open_mpi = [3, 7, 0, 0, 100, 2];
        let read = OPEN_MPI.status.read(0, |offset| open_mpi[offset / 4]);
        assert_eq!(read, StatusWords { source: 3, tag: 7, bytes: 100 + (2 << 32), cancelled: false });
        let mpich = [100, 2 << 1 | 1, 3, 7, 0];
        let read = MPICH.status.read(0, |offset| mpich[offset / 4]);
        assert_eq!(read, StatusWords { source: 3, tag: 7, bytes: 100 + (2 << 32), cancelled: true });
    }

    #[test]
    fn libraries_are_recognized() {
        assert_eq!(
            Family::of_library("Open MPI v4.1.4, package: Debian").map(|family| family.name),
            Some("Open MPI")
        );
        assert_eq!(Family::of_library("MPICH Version:\t4.0.2\n").map(|family| family.name), Some("MPICH"));
        assert_eq!(Family::of_library("Something else"), None);
    }
}
