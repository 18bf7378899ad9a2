//! The MPI functions that are recorded: their stable ids and names.

use crate::function_entry::FunctionEntry;
pub use crate::generated::functions::{FUNCTIONS, id};

/// One more than the greatest id.
const IDS: usize = FUNCTIONS[FUNCTIONS.len() - 1].id as usize + 1;

/// By id, the place in [`FUNCTIONS`], counted from 1.
const PLACES: [u16; IDS] = {
    let (mut places, mut at) = ([0; IDS], 0);
    while at < FUNCTIONS.len() {
        places[FUNCTIONS[at].id as usize] = at as u16 + 1;
        at += 1;
    }
    places
};
const _: () = assert!(FUNCTIONS.len() < u16::MAX as usize);

/// The function of an id.
#[inline]
#[must_use]
pub fn by_id(id: u16) -> Option<&'static FunctionEntry> {
    let place = *PLACES.get(usize::from(id))?;
    FUNCTIONS.get(usize::from(place).checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_and_returns_at_once_polls_and_nothing_else() {
        let polls = FUNCTIONS.iter().filter(|function| function.polls).map(|function| function.name);
        let expected = [
            "MPI_Test",
            "MPI_Testall",
            "MPI_Testany",
            "MPI_Testsome",
            "MPI_Iprobe",
            "MPI_Improbe",
            "MPI_Parrived",
            "MPI_Request_get_status",
            "MPI_Win_test",
        ];
        assert_eq!(polls.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn windows_and_files_have_calls_that_all_make_together() {
        let together = FUNCTIONS.iter().filter(|function| function.is_made_by_all());
        let together: Vec<&str> = together.map(|function| function.name).collect();
        for name in
            ["MPI_Win_fence", "MPI_File_write_at_all_c", "MPI_File_read_ordered_end", "MPI_File_close"]
        {
            assert!(together.contains(&name), "{name} in {together:?}");
        }
        for name in
            ["MPI_Put", "MPI_Win_lock_all", "MPI_File_iwrite_at_all", "MPI_File_write_at", "MPI_Allreduce"]
        {
            assert!(!together.contains(&name), "{name} in {together:?}");
        }
        assert_eq!(together.len(), 40);
    }

    #[test]
    fn every_id_finds_its_function() {
        for function in FUNCTIONS {
            assert_eq!(by_id(function.id), Some(function));
        }
        assert_eq!((by_id(0), by_id(u16::MAX)), (None, None));
    }
}
