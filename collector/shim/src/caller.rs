//! Where a call comes from: the address that the program's call returns to, and the file that address lies in.
//!
//! A Rust function cannot ask for its return address. The symbols of the program's calls are therefore a few
//! instructions each: they store that address in a thread-local variable and go on in the function that does the work,
//! which finds stack and arguments as the program left them.
#![expect(unsafe_code, reason = "symbols of single instructions, and asking the dynamic linker")]

use crate::thread_pointer;
use core::ffi::{CStr, c_int, c_void};
use core::mem::size_of;
use mpiscope_capture::Located;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// The body of a symbol: stores its return address and where on the stack that is, and goes on in a function of the same prototype. The registers it
/// uses have no meaning between a call and its function.
#[cfg(target_arch = "x86_64")]
macro_rules! keep_caller {
    ($then:ident($($argument:ident),*)) => {
        core::arch::naked_asm!(
            "mov r11, qword ptr [rip + mpiscope_thread_words@gottpoff]",
            "mov rax, qword ptr [rsp]",
            "mov qword ptr fs:[r11 + 8], rax",
            "mov qword ptr fs:[r11 + 24], rsp",
            "jmp {then}",
            then = sym $then,
        )
    };
}

/// Other processors are not supported yet: calls have no site there.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! keep_caller {
    ($then:ident($($argument:ident),*)) => {
        // SAFETY: by the caller's word.
        unsafe { $then($($argument),*) }
    };
}

pub(crate) use keep_caller;

/// While this lives, the calls that a symbol leads to come from where that symbol was called: its own is not recorded,
/// for it goes on through one of another language.
pub(crate) struct PassedOn;

impl PassedOn {
    #[inline(always)]
    pub(crate) fn unless(is_recorded: bool) -> Option<Self> {
        if is_recorded { None } else { Some(Self::begin()) }
    }

    fn begin() -> Self {
        let (_, caller) = thread_pointer::get_with_caller::<()>();
        thread_pointer::set_first_caller(caller);
        Self
    }
}

impl Drop for PassedOn {
    fn drop(&mut self) {
        thread_pointer::set_first_caller(0);
    }
}

struct Search {
    address: u64,
    found: Option<Located>,
}

/// Finds the file that an address lies in.
pub(crate) fn locate(address: u64) -> Located {
    let mut search = Search { address, found: None };
    // SAFETY: the callback gets the pointer to `search`, which lives as long as the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    let Some(found) = search.found else { return Located::Nowhere };
    match found {
        // The program itself has no name there.
        Located::In { path, build_id, base } if path.is_empty() => {
            let program = std::fs::read_link("/proc/self/exe").unwrap_or_default();
            Located::In { path: program.into_os_string().into_vec(), build_id, base }
        }
        // Loaded by a name that is no whole path.
        Located::In { path, build_id, base } if !path.starts_with(b"/") => {
            let whole = std::fs::canonicalize(std::ffi::OsStr::from_bytes(&path));
            Located::In {
                path: whole.map_or(path, |whole| whole.into_os_string().into_vec()),
                build_id,
                base,
            }
        }
        found => found,
    }
}

/// Only copies: the dynamic linker holds a lock.
unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: `search` is the pointer that `locate` passed, the object is a valid one of the dynamic linker's.
    let (search, object) = unsafe { (&mut *search.cast::<Search>(), &*object) };
    if object.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the headers of a loaded object are in memory.
    let headers = unsafe { core::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let holds = |address: u64| {
        headers.iter().any(|header| {
            header.p_type == libc::PT_LOAD
                && (header.p_vaddr..header.p_vaddr.saturating_add(header.p_memsz))
                    .contains(&address.wrapping_sub(object.dlpi_addr))
        })
    };
    if !holds(search.address) {
        return 0;
    }
    let path = if object.dlpi_name.is_null() {
        Vec::new()
    } else {
        // SAFETY: the name is a string.
        unsafe { CStr::from_ptr(object.dlpi_name) }.to_bytes().to_vec()
    };
    let own = look as *const () as u64;
    search.found = Some(if holds(own) {
        Located::Own
    } else {
        let mut notes = headers.iter().filter(|header| header.p_type == libc::PT_NOTE);
        let build_id = notes.find_map(|header| {
            let start = object.dlpi_addr.wrapping_add(header.p_vaddr) as *const u8;
            // SAFETY: the notes of a loaded object are in memory at the addresses of its headers.
            build_id(unsafe { core::slice::from_raw_parts(start, header.p_memsz as usize) })
        });
        Located::In { path, build_id: build_id.unwrap_or_default(), base: object.dlpi_addr }
    });
    1
}

/// The build id among notes.
fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    const BUILD_ID: u32 = 3;
    let word = |bytes: &[u8], at: usize| {
        Some(u32::from_ne_bytes(bytes.get(at * size_of::<u32>()..)?.first_chunk().copied()?))
    };
    while notes.len() >= 12 {
        let (name_bytes, text_bytes) = (word(notes, 0)? as usize, word(notes, 1)? as usize);
        let kind = word(notes, 2)?;
        let text_at = 12 + name_bytes.checked_next_multiple_of(4)?;
        let text = notes.get(text_at..text_at.checked_add(text_bytes)?)?;
        if kind == BUILD_ID && notes.get(12..12 + name_bytes)? == b"GNU\0" {
            return Some(text.to_vec());
        }
        notes = notes.get(text_at + text_bytes.checked_next_multiple_of(4)?..)?;
    }
    None
}
