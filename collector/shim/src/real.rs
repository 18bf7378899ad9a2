//! The real functions: found at the first call, in the MPI library that the process has really loaded.
#![expect(unsafe_code, reason = "asking the dynamic linker")]

use crate::generated::names::REAL_NAMES;
use core::ffi::{CStr, c_char, c_int, c_void};
use std::ffi::CString;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The place of a function in the table.
#[derive(Clone, Copy)]
pub(crate) struct Index(pub(crate) usize);

static REAL: [AtomicPtr<c_void>; REAL_NAMES.len()] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; REAL_NAMES.len()];
/// The library, as a handle of the dynamic linker; 0 while it is not known.
static LIBRARY: AtomicUsize = AtomicUsize::new(0);

/// What a call does whose function no library has: it returns MPI's code for "other error".
extern "C" fn missing() -> c_int {
    15
}

/// The address of a real function.
#[inline(always)]
pub(crate) fn real(index: Index) -> *const c_void {
    let known = REAL[index.0].load(Ordering::Relaxed);
    if known.is_null() { resolve(index) } else { known }
}

#[cold]
fn resolve(index: Index) -> *const c_void {
    let found = next(REAL_NAMES[index.0]).unwrap_or(missing as *mut c_void);
    // A library may still be loaded later: only successful lookups are kept.
    if found != missing as *mut c_void {
        REAL[index.0].store(found, Ordering::Relaxed);
    }
    found
}

/// The function to call in place of ours: that of a tool which is preloaded behind us, else that of the library.
fn next(name: &'static CStr) -> Option<*mut c_void> {
    let Some(plain) = name.to_bytes_with_nul().strip_prefix(b"P") else {
        // A name of Fortran: its library need not be the one with the functions of C.
        return dlsym(libc::RTLD_NEXT, name).or_else(|| loaded(name));
    };
    // Without the P, it is the name that the program calls.
    let plain = CStr::from_bytes_with_nul(plain).ok()?;
    let behind = if library() == libc::RTLD_NEXT { dlsym(libc::RTLD_NEXT, plain) } else { None };
    behind.or_else(|| symbol(name))
}

fn dlsym(handle: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the handle is one of the dynamic linker's, the name ends with a zero byte.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// A symbol of the MPI library.
pub(crate) fn symbol(name: &CStr) -> Option<*mut c_void> {
    dlsym(library(), name)
}

/// A function of the MPI library, as the type that is asked for.
macro_rules! function {
    ($name:literal) => {{
        let address = $crate::real::symbol($name)?;
        // SAFETY: the symbol of this name has this prototype in every MPI library.
        unsafe { core::mem::transmute::<*mut core::ffi::c_void, _>(address) }
    }};
}

pub(crate) use function;

/// A function of the MPI library that turns a number of Fortran into a handle of C.
pub(crate) fn convert(name: &CStr) -> Option<extern "C" fn(c_int) -> usize> {
    let address = symbol(name)?;
    // SAFETY: those that are asked for have this prototype in every MPI library.
    Some(unsafe { core::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> usize>(address) })
}

/// A variable of the MPI library. A program may hold the copy that all use (the linker's copy relocations), so the
/// whole process is asked first and the library only where it was loaded for itself.
pub(crate) fn variable(name: &CStr) -> Option<*mut c_void> {
    dlsym(libc::RTLD_DEFAULT, name).or_else(|| symbol(name)).or_else(|| loaded(name))
}

fn library() -> *mut c_void {
    let known = LIBRARY.load(Ordering::Acquire);
    if known != 0 {
        return known as *mut c_void;
    }
    let marker = c"PMPI_Init";
    // The usual case: the program is linked to its MPI library.
    if dlsym(libc::RTLD_NEXT, marker).is_some() {
        return libc::RTLD_NEXT;
    }
    // The library was loaded for itself, as Python modules do: it is among the loaded objects all the same.
    let found = objects().iter().find_map(|name| with(name, marker));
    let Some((handle, _)) = found else { return libc::RTLD_NEXT };
    LIBRARY.store(handle as usize, Ordering::Release);
    handle
}

/// A symbol of whatever loaded object has it, ourselves left out.
fn loaded(symbol: &CStr) -> Option<*mut c_void> {
    objects().iter().find_map(|name| with(name, symbol)).map(|(_, address)| address)
}

/// The names of the loaded objects.
fn objects() -> Vec<CString> {
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: the callback gets the pointer to `names`, which lives as long as the call.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast()) };
    names
}

/// Only collects: the dynamic linker holds a lock that opening a library may need.
unsafe extern "C" fn collect(object: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid object, whose name is null or a string.
    let name: *const c_char = unsafe { (*object).dlpi_name };
    if !name.is_null() {
        // SAFETY: the name is a string, and `names` the pointer that `library` passed.
        unsafe { (*names.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned()) };
    }
    0
}

/// The handle of a loaded object and the address of a symbol in it, if it has that.
fn with(name: &CStr, symbol: &CStr) -> Option<(*mut c_void, *mut c_void)> {
    if !name.to_bytes().windows(4).any(|part| part == b"/lib") {
        return None;
    }
    // SAFETY: the name is that of a loaded object; nothing is loaded by this.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return None;
    }
    match dlsym(handle, symbol).filter(|&found| !is_ours(found)) {
        Some(found) => Some((handle, found)),
        None => {
            // SAFETY: balances the `dlopen` above.
            unsafe { libc::dlclose(handle) };
            None
        }
    }
}

/// Whether an address lies in this library.
fn is_ours(address: *const c_void) -> bool {
    let object = |address: *const c_void| {
        let mut about = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: the call fills its argument, or reports that it did not; zeroes are a value of it.
        unsafe { (libc::dladdr(address, about.as_mut_ptr()) != 0).then(|| about.assume_init().dli_fbase) }
    };
    object(address).is_some_and(|base| Some(base) == object(is_ours as *const c_void))
}
