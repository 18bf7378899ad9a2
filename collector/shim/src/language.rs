//! The differences between the languages that call MPI: forms of handles, layout of their arrays, addresses of
//! constants, the first index.
//!
//! A Fortran call goes on to the library exactly as it came: no constant is ever translated. This module only reads
//! the arguments beside it.
#![expect(unsafe_code, reason = "reading what the program's pointers point to")]

use crate::handle::{Handle, HandleKind};
use crate::mpi::{Library, Status};
use crate::process;
use crate::real::{convert, variable};
use crate::recorded_family;
use core::ffi::{CStr, c_int, c_void};
use mpiscope_capture::{Family, OPEN_MPI};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A language's view of the arguments.
pub(crate) trait Language {
    /// The first index of an array, found from these indices of completed requests. `gone` returns whether the request
    /// at a place has changed.
    fn first(indices: &[c_int], gone: impl Fn(c_int) -> bool) -> c_int;

    /// Whether calls through this language's symbols are recorded here, and not by those that they lead to.
    fn is_recorded() -> bool;

    /// The handle as the language writes it, at a place of an array.
    ///
    /// # Safety
    /// The array has this element.
    unsafe fn element(library: &Library, kind: HandleKind, array: *const Handle, at: usize) -> Handle;

    /// The handle in C of one that is written in this language.
    fn handle(kind: HandleKind, written: Handle) -> Handle;

    /// What a handle at a place of an array is known by, whatever the language.
    ///
    /// # Safety
    /// The array has this element.
    #[inline(always)]
    unsafe fn key(library: &Library, kind: HandleKind, array: *const Handle, at: usize) -> u64 {
        // SAFETY: by the caller's word.
        Self::handle(kind, unsafe { Self::element(library, kind, array, at) }) as u64
    }

    /// Whether the program does not want the status.
    fn is_ignored(library: &Library, status: *const Status) -> bool;

    /// Whether a buffer is the constant for data in place.
    fn is_in_place(library: &Library, buffer: *const c_void) -> bool;
}

/// C, and whatever calls its functions.
pub(crate) struct C;

impl Language for C {
    #[inline(always)]
    fn first(_: &[c_int], _: impl Fn(c_int) -> bool) -> c_int {
        0
    }

    #[inline(always)]
    fn is_recorded() -> bool {
        true
    }

    #[inline(always)]
    unsafe fn element(library: &Library, kind: HandleKind, array: *const Handle, at: usize) -> Handle {
        // SAFETY: by the caller's word; the stride is the family's, but that a file is an address in all of them.
        unsafe {
            if library.family.handle_bytes == 4 && kind != HandleKind::File {
                array.cast::<u32>().add(at).read_unaligned() as Handle
            } else {
                array.cast::<u64>().add(at).read_unaligned() as Handle
            }
        }
    }

    #[inline(always)]
    fn handle(_: HandleKind, written: Handle) -> Handle {
        written
    }

    #[inline(always)]
    fn is_ignored(library: &Library, status: *const Status) -> bool {
        status.addr() == library.family.status_ignore
    }

    #[inline(always)]
    fn is_in_place(library: &Library, buffer: *const c_void) -> bool {
        buffer.addr() == library.family.in_place
    }
}

/// A handle in Fortran: a whole number.
type Number = c_int;

/// Addresses that are constants, and the conversions of handles; null or 0 where the library has none.
struct Tables {
    status_ignore: [usize; 10],
    in_place: [usize; 4],
    comm: Conversion,
    datatype: Conversion,
    request: Conversion,
    message: Conversion,
    window: Conversion,
    file: Conversion,
}

/// `MPI_Comm_f2c` and its like.
type Conversion = Option<extern "C" fn(Number) -> Handle>;

static TABLES: OnceLock<Tables> = OnceLock::new();

fn tables() -> &'static Tables {
    TABLES.get_or_init(|| {
        let address = |name: &CStr| variable(name).map_or(0, |found| found as usize);
        Tables {
            // The compilers name a common block in four ways; which of them a program uses depends on its compiler.
            status_ignore: [
                c"mpi_fortran_status_ignore_",
                c"mpi_fortran_statuses_ignore_",
                c"mpi_fortran_status_ignore",
                c"mpi_fortran_statuses_ignore",
                c"mpi_fortran_status_ignore__",
                c"mpi_fortran_statuses_ignore__",
                c"MPI_FORTRAN_STATUS_IGNORE",
                c"MPI_FORTRAN_STATUSES_IGNORE",
                c"MPIR_F08_MPI_STATUS_IGNORE_OBJ",
                c"MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
            ]
            .map(address),
            in_place: [
                c"mpi_fortran_in_place_",
                c"mpi_fortran_in_place",
                c"mpi_fortran_in_place__",
                c"MPI_FORTRAN_IN_PLACE",
            ]
            .map(address),
            comm: convert(c"PMPI_Comm_f2c"),
            datatype: convert(c"PMPI_Type_f2c"),
            request: convert(c"PMPI_Request_f2c"),
            message: convert(c"PMPI_Message_f2c"),
            window: convert(c"PMPI_Win_f2c"),
            file: convert(c"PMPI_File_f2c"),
        }
    })
}

/// `mpif.h` and `use mpi`: under Open MPI they do not come through a function of C that a tool sees. Under MPICH they do.
pub(crate) struct Fortran;

/// `use mpi_f08`. Under MPICH functions with a buffer have another symbol, and come through functions of C.
pub(crate) struct Fortran08;

fn of_family(family: &'static Family) -> bool {
    core::ptr::eq(recorded(), family)
}

/// The family that is recorded; null when none is. At the first call recording may have to begin.
#[inline(always)]
fn recorded() -> *const Family {
    let known = recorded_family::get();
    if known.is_null() { begun() } else { known }
}

#[cold]
#[inline(never)]
fn begun() -> *const Family {
    let _ = process::current();
    recorded_family::get()
}

fn is_one_of(addresses: &[usize], address: usize) -> bool {
    address != 0 && addresses.contains(&address)
}

impl Language for Fortran {
    fn first(_: &[c_int], _: impl Fn(c_int) -> bool) -> c_int {
        1
    }

    #[inline(always)]
    fn is_recorded() -> bool {
        of_family(&OPEN_MPI)
    }

    unsafe fn element(_: &Library, _: HandleKind, array: *const Handle, at: usize) -> Handle {
        // SAFETY: by the caller's word.
        unsafe { array.cast::<u32>().add(at).read_unaligned() as Handle }
    }

    fn handle(kind: HandleKind, written: Handle) -> Handle {
        let tables = tables();
        let conversion = match kind {
            HandleKind::Comm => tables.comm,
            HandleKind::Datatype => tables.datatype,
            HandleKind::Request => tables.request,
            HandleKind::Message => tables.message,
            HandleKind::Window => tables.window,
            HandleKind::File => tables.file,
        };
        conversion.map_or(0, |conversion| conversion(written as Number))
    }

    fn is_ignored(_: &Library, status: *const Status) -> bool {
        is_one_of(&tables().status_ignore, status.addr())
    }

    fn is_in_place(_: &Library, buffer: *const c_void) -> bool {
        is_one_of(&tables().in_place, buffer.addr())
    }
}

/// Whether MPICH's `mpi_f08` was seen to count from 1, as it should. Version 4.0 counts from 0 there.
static COUNTS_FROM_ONE: AtomicBool = AtomicBool::new(false);

impl Language for Fortran08 {
    fn first(indices: &[c_int], gone: impl Fn(c_int) -> bool) -> c_int {
        if of_family(&OPEN_MPI) {
            return 1;
        }
        // Completed requests show it, because they are null now; only those of persistent requests stay as they were.
        let from = |first: c_int| indices.iter().all(|index| gone(index - first));
        match (from(0), from(1)) {
            (false, true) => COUNTS_FROM_ONE.store(true, Ordering::Relaxed),
            (true, false) => COUNTS_FROM_ONE.store(false, Ordering::Relaxed),
            _ => {}
        }
        c_int::from(COUNTS_FROM_ONE.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn is_recorded() -> bool {
        !recorded().is_null()
    }

    unsafe fn element(library: &Library, kind: HandleKind, array: *const Handle, at: usize) -> Handle {
        // SAFETY: by the caller's word.
        unsafe { Fortran::element(library, kind, array, at) }
    }

    fn handle(kind: HandleKind, written: Handle) -> Handle {
        // MPICH's numbers are the same in all languages, but for its files, which are addresses in C.
        if of_family(&OPEN_MPI) || kind == HandleKind::File {
            Fortran::handle(kind, written)
        } else {
            written
        }
    }

    fn is_ignored(library: &Library, status: *const Status) -> bool {
        Fortran::is_ignored(library, status)
    }

    fn is_in_place(library: &Library, buffer: *const c_void) -> bool {
        Fortran::is_in_place(library, buffer)
    }
}
