//! The types of MPI as this library sees them, and the few functions it calls itself.
#![expect(unsafe_code, reason = "calling C and reading its memory")]
#![expect(clippy::missing_transmute_annotations, reason = "the field or variable that is set says the type")]

use crate::handle::{Handle, HandleKind};
use crate::real::{function, symbol, variable};
use crate::topology::Topology;
use core::ffi::{CStr, c_char, c_int};
use mpiscope_capture::{Family, Members, StatusLayout, StatusWords};

/// An `MPI_Status`, whatever its layout.
#[repr(C)]
pub(crate) struct Status {
    opaque: [u8; 0],
}

/// The MPI library of this process.
pub(crate) struct Library {
    pub(crate) family: &'static Family,
    /// The meaningful bits of a handle in a register, but for a file's.
    handle_mask: u64,
    /// Its description in one line.
    pub(crate) version: String,
    pub(crate) comm_world: Handle,
    pub(crate) comm_null: u64,
    comm_rank: extern "C" fn(Handle, *mut c_int) -> c_int,
    comm_size: extern "C" fn(Handle, *mut c_int) -> c_int,
    comm_group: extern "C" fn(Handle, *mut Handle) -> c_int,
    comm_remote_group: extern "C" fn(Handle, *mut Handle) -> c_int,
    comm_test_inter: extern "C" fn(Handle, *mut c_int) -> c_int,
    group_size: extern "C" fn(Handle, *mut c_int) -> c_int,
    group_translate: extern "C" fn(Handle, c_int, *const c_int, Handle, *mut c_int) -> c_int,
    group_free: extern "C" fn(*mut Handle) -> c_int,
    type_size: extern "C" fn(Handle, *mut i64) -> c_int,
    query_thread: extern "C" fn(*mut c_int) -> c_int,
    request_get_status: extern "C" fn(Handle, *mut c_int, *mut Status) -> c_int,
    error_class: extern "C" fn(c_int, *mut c_int) -> c_int,
    pub(crate) topology: Topology,
}

const THREAD_MULTIPLE: c_int = 3;

/// `MPI_Comm_group` and its like.
type GroupOf = extern "C" fn(Handle, *mut Handle) -> c_int;

/// Whether `MPI_Init` has been called, by whatever name.
pub(crate) fn is_initialized() -> bool {
    let Some(address) = symbol(c"PMPI_Initialized") else { return false };
    // SAFETY: the prototype is the standard's.
    let initialized: extern "C" fn(*mut c_int) -> c_int = unsafe { core::mem::transmute(address) };
    let mut flag = 0;
    initialized(&raw mut flag) == 0 && flag != 0
}

fn library_version() -> Option<String> {
    let version: extern "C" fn(*mut c_char, *mut c_int) -> c_int = function!(c"PMPI_Get_library_version");
    // MPICH wants room for 8,192 characters.
    let mut text = vec![0_u8; 8193];
    let mut length = 0;
    if version(text.as_mut_ptr().cast(), &raw mut length) != 0 {
        return None;
    }
    let text = CStr::from_bytes_until_nul(&text).ok()?.to_string_lossy().into_owned();
    Some(text)
}

/// Reads the status at a place in an array of statuses.
///
/// # Safety
/// The array has this element.
#[inline(always)]
pub(crate) unsafe fn read_status(layout: &StatusLayout, array: *const Status, at: usize) -> StatusWords {
    layout.read(at, |offset| {
        // SAFETY: by the caller's word; the offset is that of a word of this element.
        unsafe { array.cast::<u8>().add(offset).cast::<u32>().read_unaligned() }
    })
}

impl Library {
    /// Looks at the library that is loaded; `None` when it is of no known family.
    pub(crate) fn find() -> Option<Self> {
        let version = library_version()?;
        let family = Family::of_library(&version)?;
        let comm_world = Self::predefined(family.comm_world, c"ompi_mpi_comm_world")?;
        let comm_null = Self::predefined(family.comm_null, c"ompi_mpi_comm_null")? as u64;
        let line = version.lines().next().unwrap_or_default();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = line.split(", package:").next().unwrap_or_default().replace("MPICH Version:", "MPICH");
        Some(Self {
            family,
            handle_mask: if family.handle_bytes == 4 { u32::MAX.into() } else { u64::MAX },
            version: short,
            comm_world,
            comm_null,
            comm_rank: function!(c"PMPI_Comm_rank"),
            comm_size: function!(c"PMPI_Comm_size"),
            comm_group: function!(c"PMPI_Comm_group"),
            comm_remote_group: function!(c"PMPI_Comm_remote_group"),
            comm_test_inter: function!(c"PMPI_Comm_test_inter"),
            group_size: function!(c"PMPI_Group_size"),
            group_translate: function!(c"PMPI_Group_translate_ranks"),
            group_free: function!(c"PMPI_Group_free"),
            type_size: function!(c"PMPI_Type_size_x"),
            query_thread: function!(c"PMPI_Query_thread"),
            request_get_status: function!(c"PMPI_Request_get_status"),
            error_class: function!(c"PMPI_Error_class"),
            topology: Topology::find()?,
        })
    }

    /// A predefined handle: its number, or where the library has the variable of this name.
    pub(crate) fn predefined(number: Option<u64>, name: &CStr) -> Option<Handle> {
        match number {
            Some(number) => Some(number as usize),
            None => variable(name).map(|found| found as usize),
        }
    }

    /// The meaningful bits of a handle in a register.
    #[inline(always)]
    pub(crate) fn handle(&self, handle: Handle) -> u64 {
        handle as u64 & self.handle_mask
    }

    /// The size of a type, holes left out.
    #[inline]
    pub(crate) fn type_size(&self, datatype: Handle) -> u64 {
        let mut size = 0_i64;
        (self.type_size)(datatype, &raw mut size);
        u64::try_from(size).unwrap_or_default()
    }

    /// The status of a request that completed, which stays as it is.
    pub(crate) fn status_of(&self, request: u64) -> Option<StatusWords> {
        // Greater than a status of any family.
        let (mut status, mut flag) = ([0_u64; 16], 0);
        let place: *mut Status = status.as_mut_ptr().cast();
        let known = (self.request_get_status)(request as Handle, &raw mut flag, place) == 0 && flag != 0;
        // SAFETY: it lies in `status`.
        known.then(|| unsafe { read_status(&self.family.status, place, 0) })
    }

    /// Whether a call failed because a message was longer than its receive: it was taken all the same.
    pub(crate) fn is_truncation(&self, error: c_int) -> bool {
        let mut class = 0;
        (self.error_class)(error, &raw mut class) == 0 && class == self.family.error_truncate
    }

    /// Whether other ranks started this one (`MPI_Comm_spawn`): its world is not theirs.
    pub(crate) fn is_spawned(&self) -> bool {
        let Some(address) = symbol(c"PMPI_Comm_get_parent") else { return false };
        // SAFETY: the function has this prototype.
        let parent_of: extern "C" fn(*mut Handle) -> c_int = unsafe { core::mem::transmute(address) };
        let mut parent: Handle = 0;
        parent_of(&raw mut parent) == 0 && self.handle(parent) != self.comm_null
    }

    /// Whether several threads may call MPI at once.
    pub(crate) fn has_threads(&self) -> bool {
        let mut level = 0;
        (self.query_thread)(&raw mut level) == 0 && level == THREAD_MULTIPLE
    }

    /// Rank and size.
    pub(crate) fn place_in(&self, comm: Handle) -> Option<(u32, u32)> {
        let (mut rank, mut size) = (0, 0);
        let known = (self.comm_rank)(comm, &raw mut rank) == 0 && (self.comm_size)(comm, &raw mut size) == 0;
        if !known {
            return None;
        }
        Some((u32::try_from(rank).ok()?, u32::try_from(size).ok()?))
    }

    /// Who belongs to a communicator.
    pub(crate) fn members(&self, comm: Handle) -> Option<Members> {
        let (own_rank, _) = self.place_in(comm)?;
        let mut inter = 0;
        (self.comm_test_inter)(comm, &raw mut inter);
        let remote = if inter == 0 { None } else { Some(self.world_ranks(comm, self.comm_remote_group)?) };
        Some(Members { own: self.world_ranks(comm, self.comm_group)?, own_rank, remote })
    }

    /// Who belongs to what has a group and is no communicator: a window or a file.
    pub(crate) fn members_of(&self, kind: HandleKind, handle: Handle) -> Option<Members> {
        let group_of = match kind {
            HandleKind::Window => symbol(c"PMPI_Win_get_group")?,
            _ => symbol(c"PMPI_File_get_group")?,
        };
        // SAFETY: both functions have this prototype.
        let group_of: GroupOf = unsafe { core::mem::transmute(group_of) };
        let own = self.world_ranks(handle, group_of)?;
        let (world_rank, _) = self.place_in(self.comm_world)?;
        let own_rank = own.iter().position(|&rank| rank == world_rank as i32)? as u32;
        Some(Members { own, own_rank, remote: None })
    }

    fn world_ranks(&self, comm: Handle, group_of: GroupOf) -> Option<Vec<i32>> {
        let (mut group, mut world, mut size): (Handle, Handle, c_int) = (0, 0, 0);
        if group_of(comm, &raw mut group) != 0 {
            return None;
        }
        if (self.comm_group)(self.comm_world, &raw mut world) != 0 {
            (self.group_free)(&raw mut group);
            return None;
        }
        (self.group_size)(group, &raw mut size);
        let ranks: Vec<c_int> = (0..size).collect();
        let mut translated = vec![-1; ranks.len()];
        (self.group_translate)(group, size, ranks.as_ptr(), world, translated.as_mut_ptr());
        (self.group_free)(&raw mut group);
        (self.group_free)(&raw mut world);
        let undefined = self.family.undefined;
        Some(translated.into_iter().map(|rank| if rank == undefined { -1 } else { rank }).collect())
    }
}
